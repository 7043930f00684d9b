package cmd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/cluster"
	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/schema"
)

// A matching is what adopt --match does: it writes the hardware that VMs have
// into their specs.
type matching struct {
	*adopting
	names    []string // KEY or STACK/KEY, as they were given
	inv      *cluster.Inventory
	state    guard.State
	targets  []*target
	refusals []finding.Finding
}

// isPath tells a PATH from a KEY where both may stand.
func isPath(arg string) bool {
	_, err := os.Stat(arg)
	return err == nil
}

// match adds the hardware of what was named, and of what was just decided, to
// the edited specs. What cannot be said is refused, and stops nothing else.
func (m *matching) match(c *cli.Context, edited map[string][]byte) error {
	p, err := m.reload(edited)
	if err != nil {
		return err
	}
	if m.inv == nil || !c.IsSet("inventory") {
		if m.inv, err = m.inventory(c, p, false); err != nil {
			return err
		}
	}
	if err := m.find(p); err != nil {
		return err
	}
	if err := m.states(c, p); err != nil {
		return err
	}
	for _, t := range m.targets {
		m.read(t)
	}
	if m.try(edited, m.targets...) == nil {
		return nil
	}
	for _, t := range m.targets { // one of them spoils it: each on its own
		if t.lines == nil {
			continue
		}
		if err := m.try(edited, t); err != nil {
			m.refuse(t, finding.Step{What: err.Error()})
		}
	}
	return nil
}

// reload reads the project as if the edited specs were written.
func (m *matching) reload(edited map[string][]byte) (*project.Project, error) {
	p, err := project.LoadEdited(m.paths, "", edited)
	if err != nil {
		return nil, err
	}
	if err := decide(p); err != nil {
		return nil, err
	}
	return p, nil
}

// decide decides for edited specs that are not written yet.
func decide(p *project.Project) error {
	err := p.Decide(lock.Options{})
	if blocked := (*project.BlockedError)(nil); errors.As(err, &blocked) && blocked.Invalid() {
		blocked.Then = "what would be written is no valid spec; nothing was written"
	}
	return err
}

// find finds the VMs that were named and those that were decided, and their
// guests.
func (m *matching) find(p *project.Project) error {
	wanted := slices.Collect(maps.Keys(m.chosen))
	var errs []error
	for _, name := range m.names {
		stack, key, qualified := strings.Cut(name, "/")
		if !qualified {
			stack, key = "", name
		}
		var found []guard.UnitID
		for _, s := range p.Stacks.Stacks {
			has := slices.ContainsFunc(s.VMs, func(v *schema.VM) bool { return v.Key == key })
			if has && (qualified && s.Name == stack || !qualified && p.Selected(s.Name)) {
				found = append(found, guard.UnitID{Stack: s.Name, Unit: key})
			}
		}
		switch len(found) {
		case 0:
			errs = append(errs, fmt.Errorf("%s: no spec here has a VM %q, and there is no such file", name, name))
		case 1:
			wanted = append(wanted, found[0])
		default:
			errs = append(errs, fmt.Errorf("%s: several stacks have such a VM: write %s or %s", name, found[0], found[1]))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, match := range cluster.Matches(p.Stacks.Stacks, p.Lock, m.inv) {
		u := guard.UnitID{Stack: match.Stack, Unit: match.Key}
		if match.VM != nil && slices.Contains(wanted, u) {
			m.targets = append(m.targets, &target{UnitID: u, vm: match.VM, guest: match.Guest, spec: match.VM.File})
		}
	}
	slices.SortFunc(m.targets, func(a, b *target) int { return schema.NaturalCompare(a.String(), b.String()) })
	return nil
}

// read settles what is to be written of one VM, or refuses it.
func (m *matching) read(t *target) {
	again := "`stackgen preflight` says more"
	switch {
	case t.guest == nil:
		m.refuse(t, finding.Step{What: "which VM of the cluster it is, is not certain; " + again})
		return
	case t.guest.Config == nil || len(t.guest.Config.Raw) == 0:
		m.refuse(t, finding.Step{What: "its configuration was not read; " + again})
		return
	case t.guest.Lock != "":
		m.refuse(t, finding.Step{What: "it is locked (" + t.guest.Lock + "), so its configuration is about to change; " + again})
		return
	}
	if why := m.cloned(t); why != "" {
		m.refuse(t, finding.Step{What: why})
		return
	}
	t.reading = hardware.Read(t.guest)
	lines := []edit.Setting{}
	if t.vm.Profile == "adopted" {
		lines = append(lines, edit.Setting{Key: "profile", Line: "profile: default"})
	}
	ways := m.kept(t)
	for _, d := range t.reading.Missing(t.vm) {
		if d.Reason != "" {
			ways = append(ways, finding.Step{What: d.Config + ": " + d.Reason, Lines: finding.Lines(d.Commands...)})
			continue
		}
		lines = append(lines, edit.Setting{Key: d.Field, Line: d.Line})
		switch {
		case d.Field == "name" && len(t.vm.Records) > 0 && t.vm.Values.Get("dns", "records") == nil:
			lines = append(lines, t.records()) // or its record would take the other name
		case d.Field == "cloud_init" && len(t.vm.Records) > 0 && t.vm.Address.IsValid() && !strings.Contains(d.Line, t.vm.Address.String()):
			ways = append(ways, finding.Step{What: fmt.Sprintf("the spec's address %s stands in DNS, and the VM's configuration does not have it: take it out of the spec first, and let the guest agent tell it", t.vm.Address)})
		}
	}
	switch place, of, _ := strings.Cut(t.vm.Path, "."); {
	case len(ways) > 0:
		m.refuse(t, ways...)
	case place != "vms" && len(lines) > 0:
		way := finding.Step{What: "it has no entry of its own: write this into " + t.spec + ", " + t.vm.Path}
		if place == "groups" {
			way.What += ", if all VMs of " + of + " are so"
		} else if place == "students" {
			way.What = "it has no entry of its own: write this into " + t.spec + ", students.overrides." + t.Unit
		}
		for _, l := range lines {
			way.Lines = append(way.Lines, finding.Lines(l.Line)...)
		}
		m.refuse(t, way)
	default:
		t.lines = lines
	}
}

// refuse leaves a VM as it is.
func (m *matching) refuse(t *target, steps ...finding.Step) {
	f := finding.Finding{Address: finding.Address{Stack: t.Stack, Type: finding.VM, Key: t.Unit}, Kind: finding.Unmatched, Severity: finding.Blocked,
		Reason: "its hardware was not written", Steps: steps}
	if t.vm.Profile == "adopted" {
		f.Reason = "it stays in profile adopted, and its hardware was not written"
	}
	if t.guest != nil {
		f.VMID = t.guest.VMID
	}
	m.refusals = append(m.refusals, f)
	t.lines = nil
}

// try writes the hardware of some VMs, and looks whether then nothing is left to
// write. If so, the edited specs are theirs.
func (m *matching) try(edited map[string][]byte, targets ...*target) error {
	for range 3 { // one property may bring another's default with it
		next, err := m.set(edited, targets)
		if err != nil {
			return err
		}
		p, err := project.LoadEdited(m.paths, "", next)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(p.Problems, func(p schema.Problem) bool { return p.Severity == schema.SeverityError }); i >= 0 {
			return errors.New("the spec would not be valid: " + p.Problems[i].Message)
		}
		more := false
		for _, t := range targets {
			found, err := t.more(p)
			if err != nil {
				return err
			}
			more = more || found
		}
		if more {
			continue
		}
		for _, t := range targets {
			t.done = t.lines != nil
		}
		maps.Copy(edited, next)
		return nil
	}
	return errors.New("what the VM inherits cannot be taken back in its own entry: change that first")
}

// set is the edited specs with the lines of some VMs in them.
func (m *matching) set(edited map[string][]byte, targets []*target) (map[string][]byte, error) {
	next := maps.Clone(edited)
	for _, t := range targets {
		if len(t.lines) == 0 {
			continue
		}
		src, ok := next[t.spec]
		if !ok {
			src = m.project.Sources[t.spec]
		}
		body, err := edit.Set(src, t.Unit, t.lines)
		if err != nil {
			return nil, err
		}
		next[t.spec] = body
	}
	return next, nil
}

// report says whose hardware was written, and what was refused.
func (m *matching) report() error {
	for _, t := range m.targets {
		switch {
		case !t.done:
		case t.vm.Profile == "adopted":
			fmt.Fprintf(m.errOut, "%s: the spec says what VM %d has; its profile is default now.\n", t, t.guest.VMID)
		default:
			fmt.Fprintf(m.errOut, "%s: the spec says what VM %d has.\n", t, t.guest.VMID)
		}
	}
	if len(m.refusals) == 0 {
		return nil
	}
	refused := report.NewFindings(m.refusals, nil)
	refused.Answer = fmt.Sprintf("not written: the hardware of %s", report.Count(len(m.refusals), "VM"))
	return refused.Print(m.errOut, report.Options{Color: color(m.errOut), Verbose: m.verbose})
}
