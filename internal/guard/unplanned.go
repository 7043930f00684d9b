package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// What a VM has or lacks, and no plan shows: the provider reads some of it only while the state has it, and some of it only
// while the VM has it.

// unplanned says in what the VM is not as its spec says, although no plan shows it.
func (s *subject) unplanned() {
	if s.Destroy || len(s.states) != 1 || !s.comparable() {
		return
	}
	state, field := s.states[0].Values, func(key string) *schema.Field { return schema.FieldOf(s.guest.Kind, key) }
	s.Unread, s.Lacks = s.unreadDisks(state), Lacks(state, s.match.VM, s.guest, s.profile.Ignores)
	begun := s.begun(s.Stack, s.Key, s.guest)
	s.Lacks = slices.DeleteFunc(s.Lacks, func(key string) bool {
		sent := slices.ContainsFunc(s.Updates, func(u finding.Update) bool { return strings.HasPrefix(u.Attribute, field(key).Attribute()+".") })
		return sent || begun && field(key).Type == schema.Object // an apply adds it
	})
	if s.Stops() {
		return
	}
	if len(s.Unread) > 0 {
		s.Because("it has %s, and neither its spec nor its state: an apply leaves that, and detaches it as soon as it changes another disk",
			strings.Join(s.Unread, ", "))
		s.Steps = append(s.Steps, UnreadSteps(s.Finding, s.guest, s.Inventory, s.Unread)...)
	}
	for _, key := range s.Lacks {
		s.Because("it has no %s, and its spec does: no plan shows that, and an apply leaves it as it is", field(key).Entry())
		s.Steps = append(s.Steps, LacksSteps(s.Finding, s.match.VM, s.guest, s.Inventory, key)...)
	}
}

// unreadDisks are the disks that the VM has and its state does not. Those of its template are no surprise, and of a clone
// whose template is not known, any disk may be one.
func (s *subject) unreadDisks(state tf.Values) []string {
	if s.profile.Ignores("disk") {
		return nil
	}
	disks := Unread(state, s.match.VM, s.guest)
	if len(disks) == 0 || state[CloneOf] == "" {
		return disks
	}
	if template := TemplateOf(state, s.guest, s.Inventory); template != nil {
		return without(disks, configuredDisks(template))
	}
	return nil
}

// leaves reports whether a restart will remove an entry from the configuration of a VM.
func leaves(g *cluster.Guest, entry string) bool {
	return slices.ContainsFunc(g.Config.Pending, func(p cluster.Pending) bool { return p.Key == entry && p.New == "" })
}

// Unread are the disks of a VM that neither its spec nor its state has: somebody attached them, or an update failed before it
// detached them. The provider does not read them, so no plan shows them. One that a restart will detach is none of them.
func Unread(state tf.Values, v *schema.VM, g *cluster.Guest) []string {
	if !state.Has("disk") || len(v.Interfaces()) == 0 || g.Config == nil { // without disks in its spec, those of a VM are not managed
		return nil
	}
	return slices.DeleteFunc(configuredDisks(g), func(at string) bool {
		return v.Disk(at) != nil || state.Has("disk."+at) || leaves(g, at)
	})
}

// UnreadSteps are the ways out where a VM has such disks. Proxmox VE refuses to detach one while something holds the VM, and
// knows no unused disk that is not the VM's own.
func UnreadSteps(of *finding.Finding, g *cluster.Guest, now *cluster.Inventory, disks []string) []finding.Step {
	f := &finding.Finding{}
	f.Next("to keep it, import the VM again: this says how", "stackgen drift --accept "+of.String())
	if holdOn(now, g).blocks != nothing {
		return f.Steps
	}
	lines := []string{set(g, "--delete "+strings.Join(disks, ","))}
	if protected(g) {
		lines = []string{set(g, "--protection 0"), lines[0], set(g, "--protection 1")}
	}
	what := "or, to detach it, which leaves its volume as an unused disk"
	if len(without(disks, foreignDisks(g))) < len(disks) {
		what = "or, to detach it"
	}
	f.Next(what, lines...)
	return f.Steps
}

// Lacks are the keys of properties that the spec has, and the guest has lost: somebody removed them, or a creation failed before
// it added them. The provider leaves them in the state, or reads the value of the spec where there is none. What a restart will
// remove is none of them.
func Lacks(state tf.Values, v *schema.VM, g *cluster.Guest, ignores func(attribute string) bool) (keys []string) {
	if g.Config == nil || len(g.Config.Raw) == 0 {
		return nil
	}
	for _, f := range schema.Fields(g.Kind) {
		value, entry := v.Values.Get(f.Key), f.Entry()
		if !f.Sticky || value == nil || g.Config.Raw[entry] != "" || ignores(f.Attribute()) || leaves(g, entry) || isAbsent(&f, value.Str()) {
			continue
		}
		unplanned := state.Has(f.HCL) || state[f.HCL] != ""
		if f.ReadAbsent {
			unplanned = value.Str() == f.Unset
		}
		if unplanned {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// isAbsent reports whether a guest without the entry of a property has this value of it.
func isAbsent(f *schema.Field, value string) bool {
	if f.Key == guest.Hotplug {
		return value == "1" || slices.Equal(slices.Sorted(strings.SplitSeq(value, ",")), strings.Fields("disk network usb"))
	}
	return value != "" && value == f.Implied
}

// LacksSteps are the ways out where a VM lacks a property. A volume that it had may be one of those that it does not use.
func LacksSteps(of *finding.Finding, v *schema.VM, g *cluster.Guest, now *cluster.Inventory, key string) []finding.Step {
	f, field, value := &finding.Finding{}, schema.FieldOf(g.Kind, key), v.Values.Get(key)
	if holdOn(now, g).blocks != nothing { // Proxmox VE refuses it
		return nil
	}
	give := func(what, text string) { f.Next(what, set(g, fmt.Sprintf("--%s %s", field.Entry(), shell.Word(text)))) }
	if field.Type != schema.Object {
		give("to set it as the spec says", value.Str())
		return f.Steps
	}
	storage, or := value.Get(guest.Datastore).Str(), ""
	for _, volume := range unusedVolumes(g) {
		if pve.ParseVolume(volume).Storage == storage {
			give(fmt.Sprintf("%sif %s is the one that it had, attach that", or, volume), volume+optionsOf(field, value, guest.Format))
			or = "or, "
		}
	}
	give(or+"to add a new one, as the spec says", storage+":1"+optionsOf(field, value))
	return f.Add(finding.Step{
		What:  fmt.Sprintf("or, to leave the VM without it, remove `%s` from its spec, and import the VM again", key),
		Lines: []finding.Line{{Text: "stackgen render"}, lock.StateRemove(of.Stack, of.Unit, of.Resource), {Text: "stackgen import-blocks"}},
	}).Steps
}

// optionsOf are the options of a volume of the firmware, as Proxmox VE has them, without some. One that exists has its format.
func optionsOf(field *schema.Field, value *schema.Node, without ...string) (text string) {
	for _, f := range field.Fields {
		n := value.Get(f.Key)
		switch {
		case n == nil || f.Key == guest.Datastore || slices.Contains(without, f.Key):
		case f.Type == schema.Bool:
			text += fmt.Sprintf(",%s=%d", f.PVE, map[bool]int{true: 1}[n.Bool()])
		default:
			text += fmt.Sprintf(",%s=%s", f.PVE, n.Str())
		}
	}
	return text
}

// TemplateOf is the template that a VM was cloned from, by its state, if it is still the same one, or nil. A clone has the
// creation time of its template: a template that was built again has another one, and says nothing of the older clones.
func TemplateOf(state tf.Values, g *cluster.Guest, now *cluster.Inventory) *cluster.Guest {
	if state[CloneOf] == "" || len(g.Config.Raw) == 0 {
		return nil
	}
	i := slices.IndexFunc(now.Guests, func(t cluster.Guest) bool {
		return t.Template && fmt.Sprint(t.VMID) == state[CloneOf] && t.Config != nil && len(t.Config.Raw) > 0
	})
	if i < 0 {
		return nil
	}
	t := &now.Guests[i]
	if t.Config.Created == 0 || t.Config.Created != g.Config.Created {
		return nil
	}
	return t
}
