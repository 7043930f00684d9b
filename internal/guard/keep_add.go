package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// add are the ways out where updates add disks with the volumes of others, or empty ones
// instead of volumes that the VM has.
func (k *keeper) add(updates []effect.Update) []finding.Step {
	f := &finding.Finding{Steps: k.former(updates)}
	had := k.state.Devices("disk")
	removes := len(without(had, k.vm.Interfaces())) > 0
	former := slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Harm == effect.Abandons })
	shares := slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Volume != "" })
	kept := k.disks(func(at string) bool { return slices.Contains(had, at) })
	switch {
	case !shares && !(former && removes):
	case removes && len(kept) == 0:
		return append(f.Steps, k.addFirst(had, updates)...)
	case removes:
		if !former {
			f.Next("let stackgen make two applies of it, one that removes disks and one that adds some", "stackgen apply "+shell.Path(k.spec))
		}
		f.Add(k.twice("or make two applies yourself: write into "+k.spec+" first what remains, and then what is added", kept, k.disks(nil)))
	case k.had == nil:
		return append(f.Steps, k.addAfterImport()...)
	case k.entry == nil || k.entry.OrderAs(k.had, k.vm.Interfaces()) == nil:
		f.Next(renderAndPlan, "stackgen render")
	default:
		f.Next("to put it after the other disks, record the order that these have in the state", "stackgen resolve", "stackgen render")
	}
	return f.Steps
}

// disks are the disks of the spec that are kept; nil keeps all.
func (k *keeper) disks(keeps func(at string) bool) []*schema.Node {
	return slices.DeleteFunc(slices.Clone(k.vm.Values.Get(guest.Disks).List()), func(d *schema.Node) bool {
		return keeps != nil && !keeps(d.Get(guest.Interface).Str())
	})
}

// twice is the step that gives the VM some disks, runs commands and an apply, and then gives it
// other ones.
func (k *keeper) twice(what string, first, then []*schema.Node, commands ...string) finding.Step {
	lines := append(k.rendered(k.reading.Disks(k.vm, first)), commands...)
	return finding.DoPhases(what, append(lines, "stackgen apply "+shell.Path(k.spec)), k.rendered(k.reading.Disks(k.vm, then)))
}

// addFirst are the steps that add disks before they remove all others: an apply either removes
// disks or adds some. had are those of the state. The steps of a VM that boots from one of them do
// that, too.
func (k *keeper) addFirst(had []string, updates []effect.Update) []finding.Step {
	all := k.reading.WithDisks(k.vm, had)
	switch {
	case slices.Contains(harmsOf(updates), effect.BootsFrom):
		return nil
	case len(all) == 0 || len(k.disks(nil)) == 0: // the plan is not of this spec
		return []finding.Step{finding.Do(renderAndPlan, "stackgen render")}
	}
	what := "make two applies yourself: write into " + k.spec + " first all disks, and then what remains"
	return []finding.Step{k.twice(what, all, k.disks(nil))}
}

// addAfterImport is the step that imports a VM without the disks that its spec adds.
func (k *keeper) addAfterImport() []finding.Step {
	had := configuredDisks(k.guest)
	kept, then := k.disks(func(at string) bool { return slices.Contains(had, at) }), k.disks(nil)
	if len(kept) == 0 { // an apply does not replace all disks
		then = k.reading.WithDisks(k.vm, had)
		kept = slices.DeleteFunc(slices.Clone(then), func(d *schema.Node) bool { return !slices.Contains(had, d.Get(guest.Interface).Str()) })
	}
	what := "to add it after the import, write into " + k.spec + " what the VM has, import the VM, and then what it gets"
	return []finding.Step{k.twice(what, kept, then, "stackgen import-blocks")}
}

// former are the ways out where updates add empty disks although the VM has the volumes that
// these disks had. The provider does not update a VM without a disk that the state has.
func (k *keeper) former(updates []effect.Update) []finding.Step {
	f := &finding.Finding{}
	var unused, names, attach, remove []string
	for _, u := range updates {
		if u.Harm != effect.Abandons {
			continue
		}
		volume := set(k.guest, fmt.Sprintf("--%s %s", u.Device, shell.Word(u.Former)))
		had := slices.IndexFunc(configuredDisks(k.guest), func(at string) bool { return volumeAt(k.guest, at) == u.Former })
		switch {
		case had < 0:
			unused, names, attach = append(unused, u.Former), append(names, u.Device), append(attach, volume)
			remove = append(remove, unusedEntry(k.guest, u.Former))
		case !slices.Contains(bootDevices(k.guest, k.vm), configuredDisks(k.guest)[had]):
			from := configuredDisks(k.guest)[had]
			f.Next(fmt.Sprintf("if %s is the disk that %s was, give it that interface yourself, as root on a node", u.Device, from),
				set(k.guest, "--delete "+shell.Word(from))+" && "+volume)
			f.Add(finding.Step{
				What:  fmt.Sprintf("when %s has its volume, import the VM again, in the project", u.Device),
				Lines: []finding.Line{k.remove, {Text: "stackgen import-blocks"}},
			})
		}
	}
	if len(unused) == 0 {
		return f.Steps
	}
	with, its, other := "the disk "+names[0]+" with its data", "its volume", "for a new disk, give it another interface than "+names[0]
	if len(unused) > 1 {
		all := strings.Join(names, ", ")
		with, its, other = "the disks "+all+" with their data", "their volumes", "for new disks, give them other interfaces than "+all
	}
	f.Next("to have "+with+", attach "+its+" again, then run preflight again", attach...)
	if lines := k.otherInterfaces(names); lines != nil {
		f.Next("or, "+other+": write into "+k.spec, k.lines(lines)...)
	}
	f.Next("or, if you do not need the data any more, delete "+its+", then run preflight again",
		set(k.guest, "--delete "+strings.Join(remove, ",")))
	return f.Steps
}

// otherInterfaces are the disks of the spec, of which some have other interfaces that are free.
func (k *keeper) otherInterfaces(names []string) []string {
	var disks []*schema.Node
	taken := slices.Concat(k.vm.Interfaces(), k.state.Devices("disk"), names)
	for _, d := range k.vm.Values.Get(guest.Disks).List() {
		if at := d.Get(guest.Interface).Str(); slices.Contains(names, at) {
			free := k.freeInterface(at, taken)
			if free == "" {
				return nil
			}
			taken = append(taken, free)
			d = d.With(schema.Scalar(d.Pos, schema.ShapeString, guest.Interface), schema.Scalar(d.Pos, schema.ShapeString, free))
		}
		disks = append(disks, d)
	}
	return k.reading.Disks(k.vm, disks)
}

// freeInterface is an interface of the same bus that neither the VM uses nor a disk had whose
// volume the VM keeps; "" if there is none.
func (k *keeper) freeInterface(at string, taken []string) string {
	bus := strings.TrimRight(at, "0123456789")
	for n := range 31 { // a bus with fewer refuses it in the line
		free := fmt.Sprintf("%s%d", bus, n)
		if k.guest.Config.Raw[free] == "" && !slices.Contains(taken, free) && (k.entry == nil || len(k.entry.DetachedVolumes(free)) == 0) {
			return free
		}
	}
	return ""
}
