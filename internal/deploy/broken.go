package deploy

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// broken ends the apply of a stack that failed or was interrupted. The records of the VMs
// that exist are made all the same.
func (r *run) broken(p *plans, result *toolRun, a *announcement) error {
	r.failed = true
	if text := refusal(result.log); text != "" {
		if err := errors.Join(report.Text(r.Out, text), r.notMade(p.stack)); err != nil {
			return err
		}
		return ended{finding.Blocked}
	}
	if r.ctx.Err() != nil {
		return nil
	}
	r.explain(p, result)
	r.readBack(p)
	return r.rescue(p, result, a)
}

// notMade drops the record of VMs that a refused apply was about to create and that do not exist: with
// it, a VM that somebody creates later would count as one that the apply left halfway. What cannot be
// read keeps its record.
func (r *run) notMade(st *stack) error {
	from := r.sources()
	from.Progress = nil
	s := check.New(r.p, from)
	if _, err := s.Preflight(r.background(), false, false); err != nil {
		r.say("what %s was about to create stays recorded, because the cluster cannot be read: %v", st.name, err)
		return nil
	}
	for _, m := range s.Matches() {
		vm := st.unfinished[m.Key]
		if m.Stack == st.name && m.Guest == nil && !vm.Unanswered && len(s.Inventory.GapsForVM(vm.VMID)) == 0 &&
			!vm.Clone.MayBe(s.Inventory.Guest(vm.VMID)) {
			delete(st.unfinished, m.Key)
		}
	}
	return st.keepUnfinished()
}

var unanswered = regexp.MustCompile(check.Unanswered)

// refusalLines are the beginnings of the lines of a refusal after the first: of a finding, of what
// belongs to one, and of what is said of all.
var refusalLines = []string{finding.Blocked.String() + " ", finding.Failed.String() + " ", finding.Outdated.String() + " ", "note: ", " "}

// refusal is what the guard said in a run that it refused, or empty.
func refusal(log string) string {
	var out []string
	open := false
	for l := range strings.Lines(log) {
		switch l = strings.TrimRight(l, "\n"); {
		case strings.HasPrefix(l, "stackgen guard refuses"):
			open = true
		case open:
			open = slices.ContainsFunc(refusalLines, func(word string) bool { return strings.HasPrefix(l, word) })
		}
		if open {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

// rescue completes what does not depend on the VMs that failed: the outputs of the VMs
// that exist, and their records. It makes sure that the next apply goes on with a VM that
// this one could not complete, and does not destroy it.
func (r *run) rescue(p *plans, result *toolRun, a *announcement) error {
	s := check.New(r.p, check.Sources{})
	var units []tf.Unit
	for _, u := range p.units {
		if u.unit.HasGuests() {
			units = append(units, u.unit)
		}
	}
	if err := s.ReadStates(r.ctx, units); err != nil {
		return err
	}
	if err := r.untaint(p, s.State); err != nil {
		return err
	}
	records := r.unfinished(p, result, a)
	for _, unit := range units {
		if err := r.refreshOutputs(p.stack, unit); err != nil {
			r.say("the outputs of %s could not be written, so the records of its new %ss have to wait: %s", unit, unit.Kind().Name(), err)
			records = nil
		}
	}
	later := r.laterOf(p.stack, records, a)
	after, _, err := r.reread(p.stack)
	if err != nil {
		return errors.Join(later, err)
	}
	r.completed(p.stack, after)
	p.stack.unfinished.Taken(result.log)
	if unanswered.MatchString(result.log) {
		p.stack.unfinished.Keep()
	}
	p.stack.unfinished.NotMade(after.Inventory)
	return errors.Join(later, p.stack.keepUnfinished(), r.record(after, p.stack.name))
}

// untaint keeps the VMs whose creation failed halfway. A VM that is tainted in the state
// is destroyed by the next apply, which the guard refuses. Of a container, it is asked whose it is: a stranger may
// have got the VMID.
func (r *run) untaint(p *plans, states tf.States) error {
	made := map[string]bool{}
	for _, c := range p.changes() {
		made[c.Address] = (c.Action == tf.Create || c.Action == tf.Replace) && c.Type == finding.VM
	}
	judged := sync.OnceValues(func() ([]finding.Finding, error) {
		_, found, err := r.reread(p.stack)
		return found, err
	})
	for _, resource := range states.Guests(p.stack.name) {
		if !resource.Tainted || !made[resource.Address] {
			continue
		}
		if resource.Type == guest.ContainerResource {
			found, err := judged()
			if err != nil {
				return err
			}
			if !ours(found, p.stack.name, resource.Address) {
				continue
			}
		}
		if err := r.keep(p.stack, &resource, "untaint", "-no-color"); err != nil {
			return err
		}
	}
	return nil
}

// unit runs Terragrunt in the folder of a unit, which must succeed.
func (r *run) unit(st *stack, unit string, args ...string) error {
	result, err := r.terragrunt(st, filepath.Join(st.dir, generated, unit), r.files(st), nil, args...)
	if err == nil && result.code != 0 {
		err = toolError{problems(result.log)}
	}
	return err
}

// A toolError is what a tool said when it failed.
type toolError struct{ text string }

func (e toolError) Error() string { return e.text }

// refreshOutputs writes the outputs of the VMs that exist, which a failed apply does not
// write. Its plan leaves out what has failed, and changes nothing else.
func (r *run) refreshOutputs(st *stack, unit tf.Unit) error {
	var without []string
	for range 2 {
		files := r.files(st)
		args := []string{"run", "--all", "--out-dir", files, "--json-out-dir", files, "--", "plan", "-refresh=false", "-input=false"}
		for _, address := range without {
			args = append(args, "-exclude="+address)
		}
		if err := r.unit(st, unit.Unit, args...); err != nil {
			return err
		}
		plan, err := check.ReadPlan(unit, filepath.Join(files, "tfplan.json"))
		if err != nil {
			return err
		}
		changes := tf.Summaries(unit, plan)
		if len(changes) == 0 {
			return r.unit(st, unit.Unit, "run", "--", "apply", "-input=false", "-no-color", filepath.Join(files, "tfplan.tfplan"))
		}
		for _, c := range changes {
			without = append(without, c.Address)
		}
	}
	return toolError{"a plan without what failed still changes something"}
}

// unfinished are the units of records that this apply has not applied, or that wait, and
// whose VMs all exist.
func (r *run) unfinished(p *plans, result *toolRun, a *announcement) []string {
	units := slices.Clone(a.later(p.stack.name))
	for _, u := range p.units {
		if u.unit.HasRecords() && result.result(u.unit.Unit) != "succeeded" {
			units = append(units, u.unit.Unit)
		}
	}
	return units
}
