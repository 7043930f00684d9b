package cmd

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"stackgen/internal/cluster"
	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A target is one VM whose hardware is to be written.
type target struct {
	guard.UnitID
	vm      *schema.VM
	guest   *cluster.Guest
	spec    string // path of its spec, as shown
	reading *hardware.Reading
	lines   []edit.Setting
	done    bool
}

// states reads the state of the units that the VMs are in.
func (m *matching) states(c *cli.Context, p *project.Project) error {
	j := &judging{env: m.env, project: p, input: guard.Input{State: guard.State{}}}
	m.state = j.input.State
	if c.IsSet("state") {
		return j.readState(c)
	}
	var units []guard.UnitID
	for _, t := range m.targets {
		if u := (guard.UnitID{Stack: t.Stack, Unit: lock.UnitVM}); !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	return j.askBackends(c.Context, units)
}

// cloned is why a VM in state must not be matched, or nothing.
func (m *matching) cloned(t *target) string {
	state := m.state[guard.UnitID{Stack: t.Stack, Unit: lock.UnitVM}]
	if state.Unreadable != "" {
		return "whether a state has it is not known: " + state.Unreadable
	}
	if slices.ContainsFunc(state.Resources, func(r guard.Resource) bool { return r.Type == guard.TypeVM && r.VMID == t.guest.VMID && r.Cloned }) {
		return "it was cloned by OpenTofu, whose state has only what the spec said: all that was written now would be a change in the next plan. Its spec is complete as it is"
	}
	return ""
}

// kept is the way out where a state has a block that the spec would leave out: it
// came there when the VM had something else, or nothing that the provider knows.
func (m *matching) kept(t *target) []finding.Step {
	for _, r := range m.state[guard.UnitID{Stack: t.Stack, Unit: lock.UnitVM}].Resources {
		if r.Type != guard.TypeVM || r.VMID != t.guest.VMID {
			continue
		}
		for _, block := range t.reading.OmittedBlocks() {
			if slices.Contains(r.Blocks, block) {
				stack := "stacks/" + t.Stack
				return []finding.Step{{What: "its state has a block " + block + " from an earlier time, which the next plan would remove: take it out of the state, and import it anew", Lines: finding.Lines(
					"(cd "+stack+" && terragrunt stack generate)",
					"(cd "+stack+"/.terragrunt-stack/"+lock.UnitVM+" && terragrunt state rm "+shell.Quote(r.Address)+")",
					"stackgen adopt --match "+t.String()+" && stackgen render && stackgen import-blocks")}}
			}
		}
	}
	return nil
}

// more looks what a spec still does not say of its VM, and adds the lines.
func (t *target) more(p *project.Project) (bool, error) {
	if t.lines == nil {
		return false, nil
	}
	var missing []hardware.Difference
	for _, s := range p.Stacks.Stacks {
		for _, v := range s.VMs {
			if s.Name == t.Stack && v.Key == t.Unit {
				missing = t.reading.Missing(v)
			}
		}
	}
	for _, d := range missing {
		line := edit.Setting{Key: d.Field, Line: d.Line}
		if d.Reason != "" || slices.Contains(t.lines, line) {
			return false, fmt.Errorf("it has %s, and the spec would say %s: what the VM inherits cannot be taken back in its own entry, so change that first", d.Config, d.Spec)
		}
		t.lines = slices.DeleteFunc(t.lines, func(l edit.Setting) bool { return l.Key == d.Field })
		t.lines = append(t.lines, line)
	}
	return len(missing) > 0, nil
}

// records keeps the record that a VM has by the name that the spec gave it.
func (t *target) records() edit.Setting {
	line := fmt.Sprintf("dns: {records: [%q]", t.vm.Records[0].Name)
	if ttl := t.vm.Values.Get("dns", "ttl"); ttl != nil {
		line += ", ttl: " + ttl.Text
	}
	return edit.Setting{Key: "dns", Line: line + "}"}
}
