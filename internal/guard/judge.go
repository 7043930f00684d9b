package guard

import (
	"fmt"
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// An Input is everything that verdicts are made from.
type Input struct {
	Project   *schema.Project // its stacks as the lock's decisions left them, those without a spec included
	Lock      *lock.Lock
	Selected  func(stack string) bool // which stacks to report on; all are looked at
	State     State
	Inventory *cluster.Inventory
	Imports   map[UnitID]Imports // the import files on disk; nil if they are not to be judged
	Destroy   bool               // whole stacks are about to be destroyed, on somebody's word
	Running   bool               // the run has begun: an import file that can do nothing is right
}

// Judge gives one verdict for every VM, pool and DNS record of the selected
// stacks, and for every guest that is listed with them. The order is total.
func Judge(in Input) []finding.Finding {
	j := &judge{Input: in, matches: cluster.Matches(in.Project.Stacks, in.Lock, in.Inventory), kinds: map[string]finding.Kind{}, listed: map[int]bool{}}
	for _, s := range in.Project.Stacks {
		at := j.home(s.Name)
		if at == nil {
			continue
		}
		j.pools(at)
		j.vms(at)
		j.records(at)
		j.strays(at)
	}
	j.orphans()
	j.quorum()
	for _, s := range in.Project.Stacks {
		if at := j.home(s.Name); at != nil {
			j.stale(at)
		}
	}
	for i := range j.out {
		if j.out[i].Evidence == nil {
			j.out[i].Evidence = []string{}
		}
		if j.out[i].Steps == nil {
			j.out[i].Steps = []finding.Step{}
		}
	}
	finding.Sort(j.out)
	return j.out
}

// A judge holds one run of Judge.
type judge struct {
	Input
	matches []cluster.Match
	out     []finding.Finding
	kinds   map[string]finding.Kind // of VMs that were judged, by stack/key
	listed  map[int]bool            // guests that a verdict names
}

// A place is a stack and its decisions.
type place struct {
	*schema.Stack
	lock *lock.Stack
}

// add begins a verdict. The pointer is good until the next one.
func (j *judge) add(at *place, unit string, of finding.Type, key string) *finding.Finding {
	j.out = append(j.out, finding.Finding{Address: finding.Address{Stack: at.Name, Unit: unit, Type: of, Key: key}})
	return &j.out[len(j.out)-1]
}

// held are the resources that a unit's state has for a type and a key. Of a
// state that was not read, the reason is returned.
func (j *judge) held(at *place, unit, kind string, keys ...string) (held []Resource, unread string) {
	state, ok := j.State[UnitID{at.Name, unit}]
	if !ok {
		state.Unreadable = "its state was not read"
	}
	for _, r := range state.Resources {
		if r.Type == kind && slices.Contains(keys, r.Key) {
			held = append(held, r)
		}
	}
	return held, state.Unreadable
}

// unread is the verdict where the state could not be read: the one thing that
// must not be taken for an empty state.
func unread(v *finding.Finding, reason string) {
	v.Is(finding.Unknown).Because("the state of unit %s could not be read: %s", v.Unit, reason)
	v.Next("mend what keeps the state from being read, then look again; an apply would take what it cannot see for missing", inUnit(v.Stack, v.Unit, "terragrunt state list")...)
	v.Severity = finding.Failed
}

// gaps makes a verdict unknown for what could not be seen, and says how to mend
// it. It reports whether there was anything.
func gaps(v *finding.Finding, gaps []cluster.Gap) bool {
	found := false
	for _, g := range gaps {
		found = true
		v.Is(finding.Unknown).Because("%s: %s", g.Path, g.Reason)
		if g.Fix != "" {
			v.Next("let the look see it, then look again", g.Fix)
		}
	}
	return found
}

// inUnit are the lines that run a command in a unit's folder.
func inUnit(stack, unit, command string) []string {
	return []string{
		"(cd stacks/" + stack + " && terragrunt stack generate)",
		"(cd stacks/" + stack + "/.terragrunt-stack/" + unit + " && " + command + ")",
	}
}

// retire says how a VM is retired; the line to write follows.
func retire(spec string) string { return "take it out of vms in " + spec + ", and retire it there" }

// quorum makes every right verdict of a cluster without quorum unknown: there,
// reads work, and some writes fail halfway.
func (j *judge) quorum() {
	if j.Inventory.Quorate {
		return
	}
	for i := range j.out {
		v := &j.out[i]
		if v.Stops() || v.Type == finding.Record || v.Type == finding.Guest {
			continue
		}
		was := v.Kind
		v.Evidence, v.Steps, v.Differs, v.Import = nil, nil, nil, ""
		v.Is(finding.Unknown).Because("the cluster has no quorum: writes fail, some of them after the disks are gone; otherwise this would be %s", was)
		v.Next("bring the missing nodes back, then look again", "pvecm status")
	}
}

// strays are what a state has and neither spec nor lock knows.
func (j *judge) strays(at *place) {
	for _, e := range at.lock.Units {
		state, read := j.State[UnitID{at.Name, e.Key}]
		if (e.Value.Status == lock.Retired || e.Value.Status == lock.Moving) && (!read || state.Unreadable != "") {
			v := j.add(at, e.Key, finding.Unit, "")
			_, reason := j.held(at, e.Key, "")
			unread(v, reason)
		}
		for _, r := range state.Resources {
			switch r.Type {
			case TypeVM:
				if at.lock.VMs.Get(r.Key) == nil && !j.renamed(at, r.Key) {
					j.stray(at, e.Key, r)
				}
			case TypePool:
				if e.Value.Status == lock.Live && !(at.Pool != nil && at.Pool.Create && at.Pool.ID == r.Key) {
					j.strayPool(at, e.Key, r)
				}
			}
		}
	}
}

func (j *judge) renamed(at *place, key string) bool {
	return at.lock.Had(key) || slices.ContainsFunc(at.Renamed, func(n schema.Rename) bool { return n.From == key })
}

func (j *judge) stray(at *place, unit string, r Resource) {
	v := j.add(at, unit, finding.VM, r.Key)
	v.VMID, v.Node, v.Name, v.Resource = r.VMID, r.Node, r.Name, r.Address
	g := j.Inventory.Guest(r.VMID)
	if g == nil && gaps(v, j.Inventory.GapsForVM(r.VMID)) {
		return
	}
	v.Is(finding.WouldDestroy).Because("%s (VMID %d) is in state, and neither the spec nor the lock has a VM %s: an apply would destroy it", r.Address, r.VMID, r.Key)
	if g == nil {
		v.Is(finding.Gone).Because("no guest of the cluster has VMID %d", r.VMID)
	} else {
		j.listed[g.VMID] = true
		v.Because("%s", describe(g))
		v.Next("keep it: put it back into "+at.Spec, r.Key+": {vmid: "+fmt.Sprint(r.VMID)+"}  # with the rest of what it had")
	}
	v.Next("leave it alone: take it out of the state", inUnit(at.Name, unit, "terragrunt state rm "+shell.Quote(r.Address))...)
}

func (j *judge) strayPool(at *place, unit string, r Resource) {
	v := j.add(at, unit, finding.Pool, r.Key)
	v.Resource = r.Address
	v.Is(finding.WouldDestroy).Because("%s is in state, and the spec does not create a pool %s: an apply would delete it", r.Address, r.Key)
	v.Next("keep it: put it back into "+at.Spec, "pool: {id: "+r.Key+", create: true}")
	v.Next("leave it alone: take it out of the state", inUnit(at.Name, unit, "terragrunt state rm "+shell.Quote(r.Address))...)
}

// orphans lists the guests that are ours by tag or pool and in no spec, and those
// that carry the name of a VM without being it.
func (j *judge) orphans() {
	for _, m := range j.matches {
		at := j.home(m.Stack)
		if at == nil {
			continue
		}
		for _, g := range vmsOf(m.Others) {
			if !j.listed[g.VMID] {
				j.orphan(at, g, fmt.Sprintf("it carries the name of %s/%s, which is another VM", m.Stack, m.Key))
			}
		}
	}
	for _, o := range cluster.Orphans(j.Project.Stacks, j.matches, j.Inventory) {
		if at := j.home(o.Stack); at != nil && !j.listed[o.Guest.VMID] {
			j.orphan(at, o.Guest, "it has "+o.Mark+" of stack "+o.Stack+" and is in no spec")
		}
	}
}

// home is the place of a selected stack, or nil.
func (j *judge) home(stack string) *place {
	for _, s := range j.Project.Stacks {
		if l := j.Lock.Stacks.Get(s.Name); s.Name == stack && l != nil && l.Status != lock.Forgotten && j.Selected(stack) {
			return &place{s, l}
		}
	}
	return nil
}

func (j *judge) orphan(at *place, g *cluster.Guest, why string) {
	j.listed[g.VMID] = true
	v := j.add(at, "", finding.Guest, fmt.Sprint(g.VMID))
	v.VMID, v.Node, v.Name = g.VMID, g.Node, g.Name
	v.Is(finding.Orphan).Because("%s", why).Because("%s", describe(g))
	v.Next("look at it; no apply touches it", inspect(g))
}
