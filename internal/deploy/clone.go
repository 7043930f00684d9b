package deploy

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/operate"
	"stackgen/internal/pve"
	"stackgen/internal/report"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A container with a template is cloned here and not by the provider, which takes every other container that has got the
// VMID for its clone. A run that is killed in between has left the token in its record, and the next one goes on.

// cloned clones the containers that plans create from a template. It returns plans in which OpenTofu imports the clones
// and configures them, and the rest is as it was confirmed.
func (r *run) cloned(p *plans) (*plans, error) {
	st := p.stack
	creates := slices.DeleteFunc(p.changes(), func(c tf.Summary) bool {
		return c.Type != finding.VM || c.Action != tf.Create || r.source(st, c.Key) == 0
	})
	if len(creates) == 0 {
		return p, nil
	}
	if err := r.poolFirst(p); err != nil {
		return nil, err
	}
	for _, c := range creates {
		if r.ctx.Err() != nil {
			return nil, errInterrupted
		}
		template := p.was.Guest(r.source(st, c.Key))
		if template == nil || template.Config == nil {
			return nil, r.notCloned(st, c.Key, errors.New("its template could not be read"))
		}
		if err := st.marks(c, template, r.p.Lock.Stacks.Get(st.name)); err != nil {
			return nil, err
		}
		r.say("cloning container %d to %d for %s/%s", template.VMID, c.VMID, st.name, c.Key)
		if err := r.clone(st, c.Key, template.Node, func(api *operate.Cloner, of *operate.Clone) error {
			return api.Make(r.ctx, of, template)
		}); err != nil {
			return nil, r.notCloned(st, c.Key, err)
		}
		st.clones = append(st.clones, c.Key)
	}
	return r.replan(p, creates, "the containers of "+st.name+" were cloned")
}

// replan plans a stack again, a part of whose plans is done: these are clones of containers, or what is said was done. The
// rest is what was confirmed, or the command ends.
func (r *run) replan(p *plans, clones []tf.Summary, done string) (*plans, error) {
	s, found, err := r.reread(p.stack)
	if err != nil {
		return nil, err
	}
	if len(clones) == 0 { // an image that is in the state is what the lock says; later, the spec may say another one
		if err := r.record(s, p.stack.name); err != nil {
			return nil, err
		}
	}
	next, err := r.plan(s, p.stack, found, p.only, p.without)
	if err != nil {
		return nil, err
	}
	if found, err = s.Rejudge(r.ctx, false); err != nil {
		return nil, err
	}
	switch {
	case anyStops(found):
		r.say("%s, and the rest was not applied; the next apply goes on, once nothing stops it", done)
		return nil, r.refuse(s, found)
	case !p.covers(next, clones) || len(next.images()) > 0 || p.stack.restartsMore(found):
		if err := report.Printf(r.Out, "%s, and the rest was not applied: more is to do now than was confirmed. "+
			"To see and confirm that: `%s`\n", done, r.Line); err != nil {
			return nil, err
		}
		return nil, ended{finding.Blocked}
	}
	return next, nil
}

// covers reports whether later plans do nothing that these do not, but import and configure clones.
func (p *plans) covers(next *plans, clones []tf.Summary) bool {
	is := func(c tf.Summary) func(tf.Summary) bool {
		return func(of tf.Summary) bool { return of.Address == c.Address && of.VMID == c.VMID }
	}
	return !slices.ContainsFunc(next.changes(), func(c tf.Summary) bool {
		if slices.ContainsFunc(clones, is(c)) {
			return !c.Imports || c.Action != tf.NoOp && c.Action != tf.Update
		}
		was, is := p.change(c.Address), next.change(c.Address)
		return was == nil || is == nil || was.Action != is.Action || was.Imports != is.Imports || c.Type == finding.VM && !same(was, is)
	})
}

// change is what plans say of a resource, or nil.
func (p *plans) change(address string) *tf.ResourceChange {
	for _, u := range p.units {
		i := slices.IndexFunc(u.plan.Changes, func(c *tf.ResourceChange) bool { return c.Address == address })
		if i >= 0 {
			return u.plan.Changes[i]
		}
	}
	return nil
}

// same reports whether a change is what was confirmed. What was not known then of what is created, as the ID of an image,
// makes no difference.
func same(was, is *tf.ResourceChange) bool {
	if was.Action == tf.Create {
		return len(tf.OfPlan(tf.All(is.After), tf.All(was.After))) == 0
	}
	return slices.Equal(differences(was), differences(is))
}

// differences are the values that a change changes, secrets included.
func differences(c *tf.ResourceChange) []tf.Change {
	return tf.OfPlan(tf.All(c.Before), tf.All(c.After))
}

// poolFirst applies the plan of the pool of a stack: a clone is made in it.
func (r *run) poolFirst(p *plans) error {
	i := slices.IndexFunc(p.units, func(u planned) bool { return u.unit.Unit == lock.UnitPool })
	if i < 0 || len(tf.Summaries(p.units[i].unit, p.units[i].plan)) == 0 {
		return nil
	}
	only := *p
	only.units = p.units[i : i+1]
	if err := only.unchanged(); err != nil {
		return err
	}
	result, err := r.applyUnit(&only)
	if err != nil || r.ctx.Err() != nil || !result.failed() {
		return err
	}
	if err := r.broken(&only, result, announce(nil, nil)); err != nil {
		return err
	}
	return ended{finding.Failed}
}

// source is the template that a container of a stack is cloned from, or 0.
func (r *run) source(st *stack, key string) int {
	if v := r.specOf(st, key); v != nil {
		return v.ClonedFrom
	}
	return 0
}

// specOf is what the spec of a stack says of a guest, or nil.
func (r *run) specOf(st *stack, key string) *schema.VM {
	for _, s := range r.p.SelectedStacks() {
		if i := slices.IndexFunc(s.VMs, func(v *schema.VM) bool { return v.Key == key }); s.Name == st.name && i >= 0 {
			return s.VMs[i]
		}
	}
	return nil
}

// marks records that a container is about to be cloned. The token of an earlier run stays: its request may be carried
// out late.
func (st *stack) marks(c tf.Summary, template *cluster.Guest, l *lock.Stack) error {
	vm := check.BegunVM{VMID: c.VMID, Start: true, Clone: &cluster.CloneRecord{Template: template.VMID}}
	if before := st.unfinished[c.Key]; before.VMID == c.VMID && before.Clone != nil && before.Clone.Template == template.VMID {
		vm.Clone.Token = before.Clone.Token
	}
	vm.Clone.Token = cmp.Or(vm.Clone.Token, "cloned by stackgen "+rand.Text())
	for _, d := range pve.Mounts(template.Config.Raw) {
		vm.Clone.Volumes = append(vm.Clone.Volumes, d.Key)
	}
	st.unfinished.Begin(c.Key, vm, l)
	return st.keepUnfinished()
}

// clone makes or completes the clone for a container on a node.
func (r *run) clone(st *stack, key, node string, do func(*operate.Cloner, *operate.Clone) error) error {
	config, err := check.ClusterConfig(r.p)
	if err != nil {
		return err
	}
	api, err := operate.OpenCloner(r.ctx, config, stepTime)
	if err != nil {
		return err
	}
	defer api.Close()
	v, e, begun := r.specOf(st, key), r.p.Lock.Stacks.Get(st.name).VMs.Get(key), st.unfinished[key]
	params := map[string]string{"hostname": v.Name, "storage": v.Values.Get(guest.RootFS, guest.Datastore).Str()}
	if v.PoolID != "" {
		params[guest.Pool] = v.PoolID
	}
	return do(api, &operate.Clone{
		Guest: &cluster.Guest{VMID: begun.VMID, Node: node, Kind: guest.Container}, Record: begun.Clone,
		Params: params, Networks: networkEntries(v, e), Without: unsaid(v),
	})
}

// unsaid are the entries of the configuration of a container that a spec could say and does not. OpenTofu leaves
// them as they are.
func unsaid(v *schema.VM) (keys []string) {
	for i := range schema.ContainerFields {
		if f := &schema.ContainerFields[i]; f.PVE != "" && !f.Creation && v.Values.Get(f.Key) == nil && f.Key != guest.Description {
			keys = append(keys, f.PVE)
		}
	}
	return keys
}

// networkEntries are the entries of the network devices of a container, with the MAC addresses that the lock has.
func networkEntries(v *schema.VM, e *lock.VM) map[string]string {
	out := map[string]string{}
	rows := schema.FieldOf(guest.Container, guest.Networks).Elem.Fields
	for i, n := range v.Values.Get(guest.Networks).List() {
		var entry pve.Entry
		for j := range rows {
			value := n.Get(rows[j].Key).Str()
			switch {
			case rows[j].Key == guest.MAC && i < len(e.MACs):
				value = e.MACs[i]
			case rows[j].Type == schema.Bool && n.Get(rows[j].Key).Bool():
				value = "1"
			case rows[j].Type == schema.Bool:
				value = ""
			}
			if value != "" {
				entry = entry.With(rows[j].PVE, value)
			}
		}
		out[fmt.Sprintf("net%d", i)] = entry.String()
	}
	return out
}

// completeClones gives clones their MAC addresses that killed runs have left without, unless anything else stops the run. It
// reports whether it did. What keeps one from that is said, and its finding stays.
func (r *run) completeClones(s *check.Session, found []finding.Finding) (done bool) {
	open := func(f finding.Finding) bool { return f.Case == finding.OpenClone }
	if r.DryRun || !r.applies() || slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Stops() && !open(f) }) {
		return false
	}
	for _, st := range r.stacks {
		for _, f := range found {
			g := s.Inventory.Guest(f.VMID)
			if f.Stack != st.name || !open(f) || g == nil || st.unfinished[f.Key].Clone == nil {
				continue
			}
			r.say("%s was cloned by an apply that was interrupted; it gets its MAC addresses now", f.Address)
			if err := r.clone(st, f.Key, g.Node, func(api *operate.Cloner, of *operate.Clone) error {
				return api.Complete(r.ctx, of)
			}); err != nil {
				r.say("%s cannot be completed: %v", f.Address, err)
				continue
			}
			done, r.gaveMACs = true, true
		}
	}
	return done
}

// notCloned ends the apply of a stack in which a container could not be cloned. The record of a clone that exists or
// may come stays.
func (r *run) notCloned(st *stack, key string, err error) error {
	if r.ctx.Err() != nil {
		return errInterrupted
	}
	if vm, begun := st.unfinished[key]; begun {
		vm.Unanswered = operate.GoesOn(err)
		st.unfinished[key] = vm
	}
	if err := report.Printf(r.Out, "%s/%s could not be cloned: %s. OpenTofu did not apply the rest of %[1]s. What is in the way: `%[4]s`\n",
		st.name, key, strings.TrimSuffix(err.Error(), "."), r.p.Command("preflight", st.name)); err != nil {
		return err
	}
	if err := r.notMade(st); err != nil {
		return err
	}
	return ended{finding.Failed}
}
