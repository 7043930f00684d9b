package guard

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// Observe turns what Judge found into what the lock records of the selected stacks:
// of VMs only where the finding says that the guest is the VM. It also returns the
// findings about the VMs of which it records nothing, and no steps: the findings of
// a preflight have them.
func Observe(in Input, found []finding.Finding) (seen []lock.Observed, left []finding.Finding) {
	o := newObserver(in, found)
	for i := range in.Lock.Stacks {
		stack, l := in.Lock.Stacks[i].Key, &in.Lock.Stacks[i].Value
		if in.Selected(stack) && !o.refuses(stack, l) {
			seen = append(seen, o.stack(stack, l))
		}
	}
	finding.Sort(o.left)
	return seen, o.left
}

// An observer holds one run of Observe.
type observer struct {
	Input
	index
	found    []finding.Finding
	verdicts map[finding.Address]finding.Finding
	guests   map[int]*cluster.Guest
	owner    map[int]string        // of guests that match several entries of the lock
	again    map[*lock.VM]bool     // VMs that were created after they were observed last
	specs    map[string]*schema.VM // by stack/key
	left     []finding.Finding
}

func newObserver(in Input, found []finding.Finding) *observer {
	x := newIndex(in)
	matches := x.match(in)
	o := &observer{
		Input: in, index: x, found: found, owner: owners(matches), left: undecided(in),
		verdicts: map[finding.Address]finding.Finding{}, guests: map[int]*cluster.Guest{},
		again: map[*lock.VM]bool{}, specs: map[string]*schema.VM{},
	}
	for _, f := range found {
		o.verdicts[f.Address] = f
	}
	for i := range in.Inventory.Guests {
		o.guests[in.Inventory.Guests[i].VMID] = &in.Inventory.Guests[i]
	}
	for i := range matches {
		o.again[matches[i].Entry] = matches[i].Again
	}
	for _, s := range in.Project.Stacks {
		for _, v := range s.VMs {
			o.specs[s.Name+"/"+v.Key] = v
		}
	}
	return o
}

// refuses reports whether nothing of a stack may be recorded: it is in another cluster than the
// lock says, or its state is that of another project. It keeps the finding about that.
func (o *observer) refuses(stack string, l *lock.Stack) bool {
	if o.Inventory.Compare(l.Cluster) != cluster.SameCluster && !slices.Contains(o.NewClusters, stack) {
		if f, judged := o.verdicts[finding.Address{Stack: stack, Type: finding.Stack}]; judged {
			o.left = append(o.left, f)
		}
		return true
	}
	f, judged := o.verdicts[unitAddress(tf.VMUnit(stack))]
	if !judged || !f.Stops() || otherProject(o.Input, stack) == "" || slices.Contains(o.NewStates, stack) {
		return false
	}
	o.left = append(o.left, f)
	return true
}

// stack observes a stack.
func (o *observer) stack(stack string, l *lock.Stack) lock.Observed {
	out := lock.Observed{Stack: stack, Cluster: observeCluster(o.Input, stack, l, o.found)}
	for _, e := range l.Units {
		if u, read := observeUnit(o.Input, stack, e); read {
			u.Replaces = slices.Contains(o.NewStates, stack)
			out.Units = append(out.Units, u)
		}
	}
	for i := range l.VMs {
		out.VMs = append(out.VMs, o.vm(stack, l, &l.VMs[i]))
	}
	return out
}

// vm observes a VM. It keeps the finding about one of which it records nothing.
func (o *observer) vm(stack string, l *lock.Stack, e *lock.Entry[lock.VM]) lock.ObservedVM {
	f, judged := o.verdicts[finding.Address{Stack: stack, Unit: e.Value.In(), Type: finding.VM, Key: e.Key}]
	g := o.guest(stack, e)
	v := o.byFinding(stack, e, f, g)
	v.Gone = gone(o.Input, stack, l, e)
	v.Image = e.Value.Image != nil && slices.ContainsFunc(o.State[tf.VMUnit(stack)].Resources, func(r tf.Resource) bool {
		return r.Type == guest.FileResource && r.Key == e.Key && !r.Tainted
	})
	f.Stack, f.Key = o.Lock.Renamed(o.Project, stack, e.Key)
	spec := o.specs[f.String()]
	if v.Fingerprint != nil && spec != nil && !spec.IsContainer() {
		o.hardware(&v, resourceOf(o.Input, stack, e), spec, &e.Value, g)
	}
	if judged && v.Fingerprint == nil && !v.Gone && !e.Value.Gone {
		f.Evidence, f.Steps, f.Differs = nil, nil, nil
		if spec != nil {
			f.Name = spec.Name
		}
		o.left = append(o.left, f)
	}
	return v
}

// guest is the guest with the VMID of an entry, or nil: it may be the VM of another entry.
func (o *observer) guest(stack string, e *lock.Entry[lock.VM]) *cluster.Guest {
	if name, several := o.owner[e.Value.VMID]; several && name != stack+"/"+e.Key {
		return nil
	}
	return o.guests[e.Value.VMID]
}

// hardware observes the disks and MAC addresses of a VM that has a spec.
func (o *observer) hardware(v *lock.ObservedVM, r *tf.Resource, spec *schema.VM, entry *lock.VM, g *cluster.Guest) {
	if g.Config != nil && len(g.Config.Raw) > 0 {
		v.Detached = detachedDisks(r, spec, entry, g)
		if p := o.profile(entry); p != nil && !p.Ignores("disk") {
			v.Disks = entry.OrderAs(r.Disks, spec.Interfaces())
		}
	}
	if entry.MACs == nil && !spec.Adopt {
		v.MACs = existingMACs(spec, g.Config)
	}
}

// byFinding observes a VM as far as the finding f says that the guest g, which may be nil, is
// the VM.
func (o *observer) byFinding(stack string, e *lock.Entry[lock.VM], f finding.Finding, g *cluster.Guest) lock.ObservedVM {
	v := lock.ObservedVM{Key: e.Key, VMID: e.Value.VMID}
	certain := f.VMID == v.VMID && (f.Kind.Exists() || f.Kind == finding.Adopt)
	if state, read := o.State[tf.Unit{Stack: stack, Unit: e.Value.In()}]; certain && read {
		i := slices.IndexFunc(state.Resources, func(r tf.Resource) bool { return r.Address == f.Resource })
		if i >= 0 && !e.Value.IsContainer() {
			v.MadeFrom, v.MadeWith = madeFrom(&state.Resources[i]), creationOf(&state.Resources[i])
		}
	}
	if certain && g != nil {
		v.Fingerprint, v.Node = g.Fingerprint(), g.Node
		v.Confirmed = o.again[&e.Value] // the recorded guest is gone
		if g.Config != nil {
			v.Addresses = g.Config.Address
		}
	}
	if certain || f.Kind == finding.Create {
		v.Left = leftState(o.Input, stack, e, f.Kind)
	}
	return v
}

// resourceOf is a VM in its state, or one without disks.
func resourceOf(in Input, stack string, e *lock.Entry[lock.VM]) *tf.Resource {
	all := in.State[tf.Unit{Stack: stack, Unit: e.Value.In()}].Resources
	if i := slices.IndexFunc(all, func(r tf.Resource) bool { return r.Address == e.Value.Resource(e.Value.Address(e.Key)) }); i >= 0 {
		return &all[i]
	}
	return &tf.Resource{}
}

// observeCluster is the cluster of a stack. A cluster in which none of the VMs in state
// exists is not recorded for the first time: it may be the wrong one.
func observeCluster(in Input, stack string, l *lock.Stack, found []finding.Finding) *lock.Cluster {
	if slices.Contains(in.NewClusters, stack) {
		return in.Inventory.Identity()
	}
	gone, exists := false, false
	for _, f := range found {
		if f.Stack == stack && f.Type == finding.VM {
			gone, exists = gone || f.Kind == finding.Gone, exists || f.Kind.Exists()
		}
	}
	if l.Cluster == nil && gone && !exists {
		return nil
	}
	return in.Inventory.Observed(l.Cluster)
}

// undecided are findings about the VMs of the specs that have no entry in the lock, under
// any name.
func undecided(in Input) []finding.Finding {
	known := map[string]bool{}
	for _, s := range in.Lock.Stacks {
		for _, v := range s.Value.VMs {
			stack, key := in.Lock.Renamed(in.Project, s.Key, v.Key)
			known[stack+"/"+key] = true
		}
	}
	var out []finding.Finding
	for _, s := range in.Project.Stacks {
		for _, v := range s.VMs {
			if in.Selected(s.Name) && !known[s.Name+"/"+v.Key] {
				f := finding.Finding{Address: finding.Address{Stack: s.Name, Unit: lock.UnitOf(v.Kind), Type: finding.VM, Key: v.Key}}
				f.Name = v.Name
				out = append(out, *f.Is(finding.Unrendered, finding.Why("not-in-lock")))
			}
		}
	}
	return out
}

// observeUnit observes the state of a unit, if it could be read.
func observeUnit(in Input, stack string, e lock.Entry[lock.Unit]) (lock.ObservedUnit, bool) {
	state, read := in.State[tf.Unit{Stack: stack, Unit: e.Key}]
	if !read || state.Unreadable != "" {
		return lock.ObservedUnit{}, false
	}
	u := lock.ObservedUnit{Name: e.Key, Lineage: state.Lineage}
	u.Gone = e.Value.Status == lock.Retired && unitGone(in, tf.Unit{Stack: stack, Unit: e.Key}, &e.Value)
	if e.Key == lock.UnitVM {
		u.Serial = int(state.Serial) //nolint:gosec // a serial counts changes
	}
	if pool := e.Value.Pool; pool != "" {
		applied := slices.ContainsFunc(state.Resources, func(r tf.Resource) bool { return r.Type == guest.PoolResource && r.Key == pool })
		if applied || in.Inventory.Pool(pool) == nil && len(in.Inventory.GapsForPool(pool)) == 0 {
			u.Applied = &applied // a pool that exists may have lost its state
		}
	}
	return u, true
}

// leftState are the former addresses of a VM that the state does not have. A state
// that lacks the VM may be a lost one, which has the old address when it is restored,
// unless the VM was never created.
func leftState(in Input, stack string, e *lock.Entry[lock.VM], kind finding.Kind) []lock.Address {
	state, read := in.State[tf.Unit{Stack: stack, Unit: e.Value.In()}]
	if !read || state.Unreadable != "" {
		return nil
	}
	has := func(a lock.Address) bool {
		return slices.ContainsFunc(state.Resources, func(r tf.Resource) bool { return r.Address == e.Value.Resource(a) })
	}
	if !has(e.Value.Address(e.Key)) && kind != finding.Create {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Value.Former), has)
}

// existingMACs are the MAC addresses that the NICs of a VM have, where its spec does not
// say which. They end at the first NIC that it does not have yet.
func existingMACs(v *schema.VM, c *cluster.Config) []string {
	if missingDevice(c.Raw, "net") != "" {
		return nil // the positions in spec and configuration differ
	}
	out := []string{}
	for i, given := range v.MACs {
		switch {
		case given != "":
			out = append(out, given)
		case i < len(c.MACs):
			out = append(out, strings.ToUpper(c.MACs[i]))
		default:
			return out
		}
	}
	return out
}

// owners are the VMs, as STACK/KEY, of guests that match several entries of the lock, which
// a merge of two branches can cause. The owner is the only entry with a fingerprint, else
// the only one with the name of the guest, else empty.
func owners(matches []cluster.Match) map[int]string {
	all := map[int][]*cluster.Match{}
	for i := range matches {
		if m := &matches[i]; m.Guest != nil && m.Entry != nil {
			all[m.VMID] = append(all[m.VMID], m)
		}
	}
	out := map[int]string{}
	for vmid, several := range all {
		if len(several) < 2 {
			continue
		}
		out[vmid] = ""
		for _, is := range []func(*cluster.Match) bool{
			func(m *cluster.Match) bool { return m.Entry.Fingerprint != nil },
			func(m *cluster.Match) bool { return m.Name() == m.Guest.Name },
		} {
			one := slices.DeleteFunc(slices.Clone(several), func(m *cluster.Match) bool { return !is(m) })
			if len(one) == 1 {
				out[vmid] = one[0].Stack + "/" + one[0].Key
				break
			}
		}
	}
	return out
}

// unitGone reports whether nothing is left of what a unit had made. A state that does
// not exist, but did, is a lost one.
func unitGone(in Input, id tf.Unit, u *lock.Unit) bool {
	state, read := in.State[id]
	if !read || state.Unreadable != "" || len(state.Resources) > 0 || state.Lineage == "" && u.Lineage != "" {
		return false
	}
	return u.Pool == "" || in.Inventory.Pool(u.Pool) == nil && len(in.Inventory.GapsForPool(u.Pool)) == 0
}

// gone reports whether a VM that is retired or forgotten certainly does not exist any
// more: no state that was read has it, its records are in no state, and no guest has
// its VMID.
func gone(in Input, stack string, l *lock.Stack, e *lock.Entry[lock.VM]) bool {
	v, forgotten := &e.Value, l.Status == lock.Forgotten // the units of a forgotten stack are not read
	if v.Status == lock.Live && !forgotten ||
		!in.Inventory.Quorate || in.Inventory.Guest(v.VMID) != nil || len(in.Inventory.GapsForVM(v.VMID)) > 0 {
		return false
	}
	if state, read := in.State[tf.Unit{Stack: stack, Unit: v.In()}]; !forgotten && (!read || state.Unreadable != "") {
		return false
	}
	if own := l.Units.Get(v.Unit); own != nil && own.Status == lock.Retired && !unitGone(in, tf.Unit{Stack: stack, Unit: v.Unit}, own) {
		return false
	}
	keys := []string{e.Key}
	for _, a := range v.Former {
		keys = append(keys, a.Key)
	}
	for id, state := range in.State {
		for _, r := range state.Resources {
			if id.Manages(r.Type) && (r.VMID == v.VMID || id.Stack == stack && slices.Contains(keys, r.Key)) {
				return false
			}
		}
	}
	return true
}
