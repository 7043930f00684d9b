package deploy

import (
	"fmt"
	"slices"
	"time"

	"stackgen/internal/check"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/report"
)

// The limits of taking checkpoints after an apply.
const (
	savedAtOnce = 4
	saveTimeout = 5 * time.Minute // of one VM
)

// checkpointNote announces the checkpoints that follow an apply; it is empty without any.
func (r *run) checkpointNote(s *check.Session) []string {
	n := 0
	for _, stack := range r.p.SelectedStacks() {
		for _, v := range stack.VMs {
			e := r.p.Lock.Stacks.Get(stack.Name).VMs.Get(v.Key)
			if e == nil || !v.WantsCheckpoint() {
				continue
			}
			if g := s.Inventory.Guest(e.VMID); g == nil || g.Config == nil || g.Config.Raw["parent"] == "" {
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("afterwards, %s without a snapshot: the checkpoint %s is taken, as the specs say",
		report.Count(n, "VM"), operate.Baseline)}
}

// checkpoints takes a checkpoint of the VMs of stacks whose specs want one and that have none.
// Nothing is left to apply in these stacks. A run that was killed before this does it when it
// runs again.
func (r *run) checkpoints(s *check.Session, stacks []string) error {
	p, err := r.open() // with what this run has recorded
	if err != nil {
		return err
	}
	p.Selected = func(stack string) bool { return slices.Contains(stacks, stack) }
	view := operate.Wanted(p, s.Inventory)
	if len(view.VMs) == 0 {
		return nil
	}
	q := operate.Request{
		Action: power.OfSnapshots(power.Snapshot), VMs: view.VMs, AtOnce: savedAtOnce, Timeout: saveTimeout, Name: operate.Baseline,
		Report: func(operate.One) {},
	}
	planned, err := view.PlanApplied(r.ctx, q)
	if err != nil {
		return err
	}
	if n := operate.Count(planned, power.Planned); n > 0 {
		r.say("taking the checkpoint %s of %s", q.Name, report.Count(n, "VM"))
	}
	ended, err := view.Run(r.ctx, q, planned)
	if err != nil {
		return err
	}
	for i := range ended {
		o := &ended[i]
		r.failed = r.failed || o.Result == power.Failed || o.Result == power.Left
		if o.Result != power.Done && o.Result != power.InState {
			err = report.Text(r.Out, "note: no checkpoint of "+o.String()+": "+o.Text+"\n")
		}
	}
	for _, line := range view.Grants(q.Action, ended) {
		err = report.Text(r.Out, "  > "+line+"\n")
	}
	return err
}
