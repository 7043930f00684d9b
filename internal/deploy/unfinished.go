package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stackgen/generator"
	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/progress"
	"stackgen/internal/report"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// keepUnfinished writes the guests that applies began to create and did not complete, and those that runs
// have stopped. The provider configures such a guest later, but it does not start it: the profiles ignore
// `started` after the creation.
func (st *stack) keepUnfinished() error {
	return errors.Join(st.unfinished.Write(st.root, st.name), st.stopped.Write(st.root, st.name))
}

// begins adds the VMs that plans create.
func (st *stack) begins(p *plans, l *lock.Stack) error {
	for _, c := range p.changes() {
		if c.Type == finding.VM && c.Action == tf.Create {
			st.unfinished.Begin(c.Key, check.BegunVM{VMID: c.VMID, Start: true}, l)
		}
	}
	return st.keepUnfinished()
}

// resumes adds the VMs that were cloned and not configured: nobody has started them. Their
// apply has written them, too, but the folder of the file may be gone since.
func (st *stack) resumes(found []finding.Finding, l *lock.Stack) {
	for i := range found {
		if f := &found[i]; f.Stack == st.name && f.Case == finding.HalfMade {
			st.unfinished.Begin(f.Key, check.BegunVM{VMID: f.VMID, Start: true, Half: true}, l)
		}
	}
}

// completed drops the VMs whose creation the provider has completed, those that run, those
// that need not run and are in the state, and those that the spec does not have any more.
func (r *run) completed(st *stack, s *check.Session) {
	st.dropRunning(s)
	starts := check.Starts(r.p, st.name)
	st.unfinished.Created(s.State, st.name)
	inState := map[string]bool{}
	for _, resource := range s.State.Guests(st.name) {
		inState[resource.Key] = !resource.Tainted
	}
	maps.DeleteFunc(st.unfinished, func(key string, vm check.BegunVM) bool {
		if _, known := starts[key]; !known {
			return true
		}
		g := s.Inventory.Guest(vm.VMID)
		return g != nil && inState[key] && (g.Status == "running" || !starts[key])
	})
}

// keepBegun keeps the VMs that an apply has created halfway and that it did not live to
// untaint: the next plan would destroy them. It removes from the states what an apply which failed
// did not add: the provider cannot update such a VM, or never adds it. It reports whether a state is
// another one now.
func (r *run) keepBegun(s *check.Session, found []finding.Finding) (bool, error) {
	if r.DryRun {
		return false, nil
	}
	kept := false
	for _, st := range r.stacks {
		st.unfinished.Created(s.State, st.name) // a run of Terragrunt has completed these
		for _, resource := range s.State.Guests(st.name) {
			if !ours(found, st.name, resource.Address) || resource.VMID == 0 || r.asBefore(s, st, resource.Key) {
				continue
			}
			changed, err := r.keepGuest(st, &resource, s.Inventory, anyStops(found))
			if err != nil {
				return false, fmt.Errorf("cannot keep %s/%s: %w", st.name, resource.Key, err)
			}
			kept = kept || changed
		}
	}
	return kept, nil
}

// keepGuest keeps one guest. blocked is whether anything stops the run: then only what stackgen has begun is changed.
func (r *run) keepGuest(st *stack, resource *tf.Resource, now *cluster.Inventory, blocked bool) (changed bool, err error) {
	begun := st.unfinished[resource.Key].VMID == resource.VMID
	if begun || r.applies() && !blocked {
		if changed, err = r.dropUnadded(st, []tf.Resource{*resource}, now, begun); changed || err != nil {
			return changed, err
		}
	}
	if !begun || !resource.Tainted {
		return false, nil
	}
	if err := r.keep(st, resource); err != nil {
		return false, err
	}
	r.say("%s/%s was created halfway by an apply that was interrupted; "+
		"its state is not marked as tainted any more, so that this apply completes it", st.name, resource.Key)
	return true, nil
}

// dropUnadded removes from the state of VMs what an apply that failed did not add. It reports whether there was anything.
func (r *run) dropUnadded(st *stack, vms []tf.Resource, now *cluster.Inventory, begun bool) (changed bool, err error) {
	guests, lacks := map[string]tf.Restored{}, []string{}
	for i := range vms {
		if unadded, lists := guard.NeverAdded(&vms[i], now.Guest(vms[i].VMID), begun); len(unadded) > 0 {
			guests[vms[i].Address] = tf.Restored{Lists: lists}
			lacks = append(lacks, fmt.Sprintf("%s/%s lacks %s", st.name, vms[i].Key, strings.Join(unadded, ", ")))
		}
	}
	if len(guests) == 0 {
		return false, nil
	}
	changed, err = r.restoreDevices(tf.VMUnit(st.name), guests)
	if changed && err == nil {
		for _, lack := range lacks {
			r.say("%s, which an apply that failed did not add, and its state does not say it any more", lack)
		}
	}
	return changed, err
}

// ours reports whether findings say that a resource in the state of a stack is the guest of its spec.
func ours(found []finding.Finding, stack, address string) bool {
	return slices.ContainsFunc(found, func(f finding.Finding) bool {
		return f.Stack == stack && f.Type == finding.VM && (f.Kind == finding.WouldDestroy || f.Kind.Exists()) && f.Resource == address
	})
}

// asBefore reports whether a rebuild of a VM has begun, and the guest of before exists: nothing of
// another one was made.
func (r *run) asBefore(s *check.Session, st *stack, key string) bool {
	l, vm := r.p.Lock.Stacks.Get(st.name), st.unfinished[key]
	if !vm.Replaces || l == nil || l.VMs.Get(key) == nil || l.VMs.Get(key).Rebuild == nil {
		return false
	}
	g := s.Inventory.Guest(vm.VMID)
	return g != nil && g.Config != nil && strings.EqualFold(g.Config.UUID, l.VMs.Get(key).Rebuild.UUID)
}

// keep removes from the state of a VM the mark with which the next plan would destroy it. Before,
// it records that the provider does not start the VM any more.
func (r *run) keep(st *stack, vm *tf.Resource) error {
	begun := st.unfinished[vm.Key]
	begun.VMID, begun.Start, begun.Half = vm.VMID, true, true
	st.unfinished[vm.Key] = begun
	if err := st.keepUnfinished(); err != nil {
		return err
	}
	return r.changeState(st, guest.KindOf(vm.Type).Unit(), "untaint", "-no-color", vm.Address)
}

// off are the guests of a stack that exist and are off because a run did not start them: it created them, or has stopped
// them. The records of those that run end.
func (r *run) off(st *stack, s *check.Session, found []finding.Finding) []finding.Finding {
	stopped := st.stopped
	if !r.applies() {
		stopped = nil
	}
	out := slices.DeleteFunc(s.NotStarted(st.name, st.unfinished, stopped, found), func(f finding.Finding) bool {
		g := s.Inventory.Guest(f.VMID)
		if g != nil && f.Kind != finding.Adopt && g.Status == string(power.Running) {
			delete(st.unfinished, f.Key)
		}
		return !s.Off(f.VMID)
	})
	slices.SortFunc(out, func(a, b finding.Finding) int { return natural.Compare(a.Key, b.Key) })
	return out
}

// start starts the VMs that an interrupted apply has left, after they were configured. ok is false if one could not
// be started: its plan is empty all the same.
func (r *run) start(st *stack, a *announcement) (ok bool, err error) {
	if len(st.unfinished)+len(st.stopped) == 0 {
		return true, nil
	}
	s, found, err := r.reread(st)
	if err != nil {
		return false, err
	}
	off := r.off(st, s, found)
	r.runAlready(st, a, s.Inventory)
	if len(off) == 0 {
		return true, nil
	}
	whose := " that an interrupted run has left"
	if !slices.ContainsFunc(off, func(f finding.Finding) bool { return !slices.Contains(st.clones, f.Key) }) {
		whose = ""
	}
	r.say("starting %s of %s%s", report.Guests(off), st.name, whose)
	ok = true
	for _, unit := range tf.GuestUnits(st.name) {
		var keys []string
		for _, f := range off {
			if f.Unit == unit.Unit {
				keys = append(keys, f.Key)
			}
		}
		if len(keys) == 0 {
			continue
		}
		started, err := r.startUnit(st, unit, keys, found)
		if err != nil {
			return false, err
		}
		ok = ok && started
	}
	if ok {
		return true, nil
	}
	if s, found, err = r.reread(st); err != nil {
		return false, err
	}
	st.dropRunning(s)
	r.off(st, s, found) // the records of those that have started end
	return false, st.keepUnfinished()
}

// runAlready shows which guests of a stack run already: somebody has started them since they were announced.
func (r *run) runAlready(st *stack, a *announcement, inv *cluster.Inventory) {
	for i := range a.starts {
		s := &a.starts[i]
		if g := inv.Guest(s.VMID); s.Stack == st.name && g != nil && g.Status == string(power.Running) {
			r.view.Event(progress.Event{Type: progress.Ended, Action: progress.Start, Target: s.target()})
		}
	}
}

// startUnit starts guests of one unit.
func (r *run) startUnit(st *stack, unit tf.Unit, keys []string, found []finding.Finding) (ok bool, err error) {
	p, err := r.planStart(st, unit, keys, found)
	if err != nil {
		return false, err
	}
	r.began = time.Now() // their guests boot from now on
	result, err := r.applyUnit(p)
	if err != nil {
		return false, err
	}
	if text := refusal(result.log); text != "" {
		return false, errors.Join(report.Text(r.Out, text), ended{finding.Blocked})
	}
	if result.code != 0 {
		if r.ctx.Err() == nil {
			r.failed = true
			r.explain(p, result)
		}
		return false, nil
	}
	starts := map[string]bool{}
	for _, c := range p.changes() {
		starts[c.Key] = starts[c.Key] || c.Type == finding.VM
	}
	var ignored []string
	for _, key := range keys {
		delete(st.unfinished, key) // whoever stops it from now on wants it stopped
		delete(st.stopped, key)
		if !starts[key] {
			ignored = append(ignored, st.name+"/"+key)
		}
	}
	if len(ignored) > 0 {
		r.say("off, because no plan of %s profile starts %s; to do that: `%s`", one(ignored, "its", "their"), one(ignored, "it", "them"),
			operate.Named(r.p, nil, ignored).Step("stackgen power start "+strings.Join(ignored, " ")))
	}
	return true, st.keepUnfinished()
}

// planStart plans the start of VMs, and nothing else but what an import has left: with an override of the module in
// which their profiles do not ignore whether they run.
func (r *run) planStart(st *stack, unit tf.Unit, keys []string, found []finding.Finding) (*plans, error) {
	l := r.p.Lock.Stacks.Get(st.name)
	var profiles []*schema.Profile
	var addresses []string
	starts := guard.Settling(unit, found) // an import has left that, and it is set, too
	for _, key := range keys {
		name := cmp.Or(l.VMs.Get(key).Profile, "default")
		for _, p := range r.p.Stacks.Profiles {
			if p.Name == name {
				profiles = append(profiles, &p)
			}
		}
		addresses = append(addresses, schema.GuestAddress(unit.Kind(), name, key))
		starts[key] = append(starts[key], "started")
	}
	env, err := override(r.files(st), unit.Unit, generator.Starting(unit.Kind(), profiles))
	if err != nil {
		return nil, err
	}
	p, err := r.planTargets(st, unit, env, addresses)
	if err != nil {
		return nil, err
	}
	if only := guard.ReadImportPlan(unit, p.units[0].plan, 0, starts); !only.Exact() {
		return nil, fmt.Errorf("the plan that starts %s does more: %s", some(keys), strings.Join(only.Changes, "; "))
	}
	return p, nil
}

// override writes an override of the module of a unit to a folder. The result gives it to plans.
func override(folder, unit string, body []byte) (env []string, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(folder, unit+".tf") // by its name, the other units of a run know that it is not for them
	return []string{guard.StartingVariable + "=" + file}, os.WriteFile(file, body, 0o600)
}

// applyUnit applies the plan of one unit.
func (r *run) applyUnit(p *plans) (*toolRun, error) {
	files := r.files(p.stack)
	events := filepath.Join(files, "events")
	if err := os.MkdirAll(events, 0o700); err != nil {
		return nil, err
	}
	defer r.watch(p, events)()
	var env []string
	if r.events {
		env = append(env, guard.EventsVariable+"="+events)
	}
	return r.terragrunt(p.stack, filepath.Join(p.stack.dir, generated, p.units[0].unit.Unit), files, env,
		"run", "--", "apply", "-input=false", p.units[0].file)
}

// bootTime is how long the guest agent of a VM may take that was just started.
const bootTime = 5 * time.Minute

// begun reports whether a finding is about a guest that an apply began to create, or that a run has stopped.
func (r *run) begun(f *finding.Finding) bool {
	return slices.ContainsFunc(r.stacks, func(st *stack) bool {
		return st.name == f.Stack && f.VMID != 0 && (st.unfinished[f.Key].VMID == f.VMID || st.stopped[f.Key] == f.VMID)
	})
}

// isBooting reports whether a finding is about an unfinished VM that is too new for the lists,
// or whose guest is booting: its agent does not answer, or reports no address yet.
func (r *run) isBooting(s *check.Session, f *finding.Finding) bool {
	if f.Kind != finding.Unknown || f.Type != finding.VM || time.Since(r.began) > bootTime {
		return false
	}
	g := s.Inventory.Guest(f.VMID)
	if r.begun(f) && f.Case == finding.NotRead {
		return true
	}
	return r.begun(f) && g != nil && g.Status == "running" && g.Config != nil &&
		slices.Contains([]string{cluster.AgentSilent, cluster.AgentNoAddress, cluster.AgentRefuses}, g.Config.Agent)
}
