package lock

import (
	"cmp"
	"fmt"
	"slices"

	"stackgen/internal/finding"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A stackDecider decides for one stack.
type stackDecider struct {
	*decider
	stack     *schema.Stack
	lock      *Stack
	inSpec    map[string]bool // keys of the spec's VMs
	retired   map[string]bool // names in the spec's retired list
	forgotten map[string]bool
	old       map[string]*VM     // entries of the lock, by key
	addresses map[string]Address // of these entries until this run, by key
	counts    map[string]int     // VMs of the stack on each node
	turns     map[schema.Pos]int // how often a placement was asked
	next      int                // where to look for a free VMID
	moving    int                // units whose records begin to move

	publishing map[string]bool // see publishingUnits; nil until it is asked for
}

// rename moves the entries of renamed VMs to their new keys.
func (d *stackDecider) rename() {
	at := make(map[string]int, len(d.lock.VMs))
	for i, e := range d.lock.VMs {
		at[e.Key] = i
	}
	index := func(key string) int {
		if i, ok := at[key]; ok {
			return i
		}
		return -1
	}
	between := map[string]bool{} // keys that are renamed again
	for _, r := range d.stack.Renamed {
		between[r.To] = true
	}
	for _, r := range d.stack.Renamed {
		from, to := index(r.From), index(r.To)
		switch {
		case from < 0 && to < 0 && !d.lock.Had(r.From):
			d.error(r.Pos, "renamed", schema.CodeListClash, "remove the line, or correct the old key", "the lock has no VM %q", r.From)
		case from >= 0 && to >= 0:
			d.error(r.Pos, "renamed", schema.CodeListClash, "retire or forget one of them", "%s and %s are both in the lock, and two VMs cannot become one", r.From, r.To)
		case from >= 0:
			v := &d.lock.VMs[from]
			delete(at, r.From)
			at[r.To] = from
			v.Key = r.To
			d.addresses[r.To] = d.addresses[r.From]
			delete(d.addresses, r.From)
			d.release(v.Value.VMID, d.stack.Name+"/"+r.From, d.stack.Name+"/"+r.To)
		case to >= 0 && !between[r.From] && !d.lock.Had(r.From): // a lock that was lost does not know
			v := &d.lock.VMs[to].Value
			v.Former = append(slices.Clone(v.Former), Address{v.Address(r.To).Profile, r.From})
		}
	}
}

// leave handles the VMs that the lock has and the spec has not.
func (d *stackDecider) leave() {
	var kept Ordered[VM]
	for _, e := range d.lock.VMs {
		v := e.Value
		switch {
		case d.inSpec[e.Key]:
			v.Status = Live
		case d.retired[e.Key]:
			v.Status = Retired
		case d.forgotten[e.Key]:
			if v.Status == Live {
				d.note("%s/%s is forgotten: as long as the state has it, the guard refuses every apply, which would destroy it; first run: %s", d.stack.Name, e.Key, d.stateRemove(e.Key, &v))
			}
			v.Status = Forgotten
		case v.Status != Live:
			d.note("%s/%s: the %s VM leaves the lock; VMID %d is free again", d.stack.Name, e.Key, v.Status, v.VMID)
			d.release(v.VMID, d.stack.Name+"/"+e.Key, "")
			continue
		default:
			d.vmGone(e.Key, &v)
		}
		kept = append(kept, Entry[VM]{e.Key, v})
	}
	d.lock.VMs = kept
	d.old = kept.byKey()
	units := d.lock.Units.byKey()
	for _, w := range append(slices.Clone(d.stack.Retired), d.stack.Forgotten...) {
		if d.old[w.Name] == nil && units[w.Name] == nil {
			d.warnUnknown(w, "VM or unit")
		}
	}
}

// entries is a line of the spec such as `retired: [web01, web02]`, with what the
// spec has in it already.
func entries(list string, ways []schema.ListItem, key string) finding.Line {
	var keys []string
	for _, w := range ways {
		keys = append(keys, w.Name)
	}
	return finding.Entries(list, append(keys, key)...)
}

// vmGone refuses to drop a VM that its spec no longer has.
func (d *stackDecider) vmGone(key string, v *VM) {
	spec, name := d.lock.Spec, d.stack.Name
	forget := finding.DoAll("or leave it alone from now on: add to "+spec+", then render", entries("forgotten", d.stack.Forgotten, key), "stackgen render")
	forget.Lines = append(forget.Lines, d.stateRemove(key, v))
	refusal := d.refuse(finding.Removed, finding.VM, key, "in the lock and no longer in "+spec+": an apply would destroy it",
		finding.DoAll("destroy it and its records: add to "+spec+", then render and apply", entries("retired", d.stack.Retired, key), "stackgen render", "(cd stacks/"+name+" && terragrunt stack run apply)"),
		forget,
		finding.DoAll("or give it another key: add to "+spec+", then render", finding.Line{Text: "renamed: {{}}", Items: []string{key + ": NEW-KEY"}, Sep: ", "}, "stackgen render"))
	refusal.VMID = v.VMID
}

// stateRemove is the command that makes OpenTofu forget a VM.
func (d *stackDecider) stateRemove(key string, v *VM) finding.Line {
	return finding.Line{Text: fmt.Sprintf("(cd stacks/%s && terragrunt stack clean && terragrunt stack generate && cd .terragrunt-stack/%s && terragrunt state rm {})", d.stack.Name, UnitVM),
		Items: []string{shell.Quote(d.address(key, v))}, Sep: " "}
}

// address is where OpenTofu has a VM: the resource block of its profile.
func (d *stackDecider) address(key string, v *VM) string {
	return schema.VMAddress(v.Profile, key)
}

// decide decides for every VM of the spec, in the order they are written in.
func (d *stackDecider) decide() {
	for _, v := range d.stack.VMs {
		if was := d.old[v.Key]; was != nil && was.Node != "" && v.Placement != nil {
			d.counts[was.Node]++
		}
	}
	var added Ordered[VM] // at the end, since d.old points into d.lock.VMs
	for _, v := range d.stack.VMs {
		was := d.old[v.Key]
		if was == nil {
			added = append(added, Entry[VM]{Key: v.Key, Value: d.vm(v, &VM{})})
			continue
		}
		d.steady(v, was)
		*was = d.vm(v, was)
	}
	d.lock.VMs = append(d.lock.VMs, added...)
	d.lock.recordAddresses(d.addresses)
}

// steady refuses what would make an existing VM another one.
func (d *stackDecider) steady(v *schema.VM, was *VM) {
	spec := d.lock.Spec
	if v.VMID != 0 && !v.Adopt && v.VMID != was.VMID {
		d.refuse(finding.OtherVM, finding.VM, v.Key, fmt.Sprintf("it has VMID %d in the lock, and the spec says %d: an apply would destroy it and create another VM", was.VMID, v.VMID),
			finding.Do("restore in "+spec, fmt.Sprintf("vmid: %d", was.VMID)),
			finding.Do(fmt.Sprintf("or, if VM %d exists already and is the one you mean, write instead", v.VMID), fmt.Sprintf("adopt: {vmid: %d}", v.VMID)),
			finding.Step{What: "or, for a new VM, give it a new key and retire this one", Lines: []finding.Line{entries("retired", d.stack.Retired, v.Key)}})
	}
	if v.Adopt && was.VMID != 0 && v.VMID != was.VMID && !d.harmless(v.Profile) {
		d.refuse(finding.OtherVM, finding.VM, v.Key, fmt.Sprintf("it has VMID %d in the lock, and the spec adopts VMID %d under profile %s: if VM %d was ever created, an apply would destroy it", was.VMID, v.VMID, v.Profile, was.VMID),
			finding.Do("adopt it first under a profile that destroys nothing: in "+spec+" remove", "profile: "+v.Profile),
			finding.Do("or restore in "+spec, fmt.Sprintf("vmid: %d", was.VMID)))
	}
	if was.Member != "" && v.Member != "" && was.Member != v.Member {
		d.refuse(finding.OtherVM, finding.VM, v.Key, fmt.Sprintf("it belongs to %s, and the roster now gives it to %s", was.Member, v.Member),
			finding.Do("restore "+was.Member+" at its place in the roster, and add new names at its end"),
			finding.Do("or let keys follow names, not positions: in "+spec, `key: "{name}"`))
	}
}

// harmless reports whether no plan under a profile can destroy a VM.
func (d *stackDecider) harmless(profile string) bool {
	return slices.ContainsFunc(d.project.Profiles, func(p schema.Profile) bool {
		return p.Name == profile && (p.IgnoreAll || p.PreventDestroy)
	})
}

// vm decides what a VM's entry lacks. What the spec says outright is taken from
// there; what it leaves open is kept as it was decided.
func (d *stackDecider) vm(v *schema.VM, was *VM) VM {
	out := VM{VMID: was.VMID, MACs: v.MACs, Unit: was.Unit, Member: cmp.Or(v.Member, was.Member), Former: was.Former, Fingerprint: was.Fingerprint}
	if v.Profile != "default" {
		out.Profile = v.Profile
	}
	if v.VMID != 0 {
		if holder := d.used[v.VMID]; holder != "" && holder != d.stack.Name+"/"+v.Key {
			d.vmError(v, v.Pos, v.Path, schema.CodeVMIDClash, "choose another VMID; to move a VM from another stack, add it to forgotten there, render, and adopt it here", "VMID %d is recorded for %s", v.VMID, holder)
		}
		out.VMID = v.VMID
	}
	if out.VMID == 0 {
		out.VMID = d.allocate(v)
	}
	if out.VMID != was.VMID {
		out.Fingerprint = nil // that was another VM's
		if was.VMID != 0 && v.Adopt {
			d.note("%s/%s: VMID %d takes the place of %d, which stackgen knows nothing of from now on", d.stack.Name, v.Key, out.VMID, was.VMID)
		}
	}
	d.used[out.VMID] = d.stack.Name + "/" + v.Key
	out.Node = d.node(v, was)
	d.source(v, was, &out)
	return out
}

// allocate takes the lowest free VMID of the stack's range.
func (d *stackDecider) allocate(v *schema.VM) int {
	r := d.stack.VMIDs
	if r == nil {
		d.vmError(v, v.Pos, v.Path, schema.CodeNoVMIDs, "add vmids: FIRST-LAST to the stack, or vmid: N to the VM", "no VMID, and the stack has no vmids to allocate one from")
		return 0
	}
	for d.next = max(d.next, r.First); d.next <= r.Last; d.next++ {
		if d.used[d.next] == "" {
			return d.next
		}
	}
	d.vmError(v, r.Pos, "vmids", schema.CodeVMIDsExhausted, "widen the range; the VMID of a retired VM is free after its retired line is removed", "the range %d-%d has no free VMID", r.First, r.Last)
	return 0
}

// node decides where a VM is created.
func (d *stackDecider) node(v *schema.VM, was *VM) string {
	if v.Node != "" {
		return v.Node
	}
	turn := d.turns[v.Placement.Pos]
	d.turns[v.Placement.Pos]++
	if was.Node != "" {
		return was.Node
	}
	nodes, full := v.Placement.Nodes, v.Placement.MaxPerNode
	switch v.Placement.Strategy {
	case "fixed":
		nodes, turn = nodes[:min(1, len(nodes))], 0
	case "round-robin":
	default:
		d.vmError(v, v.Placement.Pos, "placement", schema.CodeResolve, "choose strategy: round-robin or fixed, or set node", "the lock has no node for placement by %s, which needs the cluster", v.Placement.Strategy)
		return ""
	}
	for i := range nodes {
		node := nodes[(turn+i)%len(nodes)]
		if full == 0 || d.counts[node] < full {
			d.counts[node]++
			return node
		}
	}
	if len(nodes) > 0 {
		d.vmError(v, v.Placement.Pos, "placement", schema.CodeNoNode, "raise max_per_node, or add nodes", "every node already has max_per_node (%d) VMs", full)
	}
	return ""
}

// source decides what a VM is cloned from, and how.
func (d *stackDecider) source(v *schema.VM, was *VM, out *VM) {
	if v.Template == nil {
		return // adopted, and nothing to create it from
	}
	t := v.Template
	switch {
	case t.VMID != 0:
		out.Template = &Template{VMID: t.VMID, Node: cmp.Or(t.Node, out.Node)}
	case was.Template != nil && was.Template.Name == t.Name:
		out.Template = was.Template
	default:
		d.vmError(v, t.Pos, "template", schema.CodeResolve, "write the template's VMID", "the lock has no VMID for the template %q", t.Name)
	}
	out.Clone = v.Clone
	if v.Clone == "auto" {
		out.Clone = was.Clone
		if was.Clone == "" {
			d.vmError(v, v.At("clone"), "clone", schema.CodeResolve, "write clone: full or clone: linked", "the lock has no clone mode for clone: auto, which needs the cluster")
		}
	}
}
