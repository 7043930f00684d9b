package deploy

import (
	"fmt"
	"slices"
	"time"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/report"
	"stackgen/schema"
)

// The limits of taking checkpoints after an apply.
const (
	savedAtOnce = 4
	saveTimeout = 5 * time.Minute // of one VM
)

// checkpointNote announces the checkpoints that follow an apply; it is empty without any.
func (r *run) checkpointNote(s *check.Session) []string {
	var without []*schema.VM
	for _, stack := range r.p.SelectedStacks() {
		for _, v := range stack.VMs {
			e := r.p.Lock.Stacks.Get(stack.Name).VMs.Get(v.Key)
			if e == nil || !v.WantsCheckpoint() {
				continue
			}
			if g := s.Inventory.Guest(e.VMID); g == nil || g.Config == nil || g.Config.Raw["parent"] == "" {
				without = append(without, v)
			}
		}
	}
	if len(without) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("afterwards, %s without a snapshot: the checkpoint %s is taken, as the specs say",
		guest.Count(without, func(v *schema.VM) guest.Kind { return v.Kind }), operate.Baseline)}
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
	if operate.Count(planned, power.Planned) > 0 {
		due := slices.DeleteFunc(slices.Clone(planned), func(o operate.One) bool { return o.Result != power.Planned })
		r.say("taking the checkpoint %s of %s", q.Name, guest.Count(due, func(o operate.One) guest.Kind { return o.Spec.Kind }))
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
