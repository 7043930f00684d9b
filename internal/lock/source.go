package lock

import (
	"cmp"
	"maps"
	"slices"

	"stackgen/guest"
	"stackgen/schema"
)

// source decides what a VM is cloned from, and how. It leaves open what only the cluster
// knows.
func (d *stackDecider) source(v *schema.VM, was *VM, out *VM) {
	if v.Template == nil {
		return // adopted: it is never created
	}
	t := v.Template
	switch {
	case d.project.TemplateOf(t) != nil:
		d.fromReplica(v, out)
	case t.VMID != 0:
		out.Template = &Template{VMID: t.VMID, Node: cmp.Or(t.Node, was.foundTemplate(t.VMID), out.Node)}
	case was.Template != nil && was.Template.Name == t.Name && (t.Node == "" || t.Node == was.Template.Node || was.Fingerprint != nil):
		out.Template = was.Template
	}
	out.Clone = v.Clone
	if v.Clone == "auto" {
		out.Clone, out.CloneReason = was.Clone, was.CloneReason
		otherTemplate := was.Template != nil && (out.Template == nil || was.Template.VMID != out.Template.VMID)
		if otherTemplate || was.Fingerprint == nil && was.Node != "" && out.Node != was.Node {
			out.Clone, out.CloneReason = "", "" // decided for another template or node
		}
	}
}

// madeFrom is what an existing VM was made from, if that is not what its creation clones
// now: a template acts at creation.
func (d *stackDecider) madeFrom(v *schema.VM, was, out *VM) {
	from := cmp.Or(was.MadeFrom, was.Template)
	if out.VMID != was.VMID || from == nil || out.Template == nil || from.VMID == out.Template.VMID {
		return
	}
	if was.Fingerprint != nil {
		out.MadeFrom = from
	}
	if was.Template.VMID != out.Template.VMID {
		d.otherTemplate[out.Template.VMID] = append(d.otherTemplate[out.Template.VMID], v.Key)
	}
}

// templateNotes say which VMs have another template in the spec than before.
func (d *stackDecider) templateNotes() {
	for _, vmid := range slices.Sorted(maps.Keys(d.otherTemplate)) {
		d.note("%s: template %d is another one than before: %s. A template acts at creation: a VM that exists stays as it was made",
			d.stack.Name, vmid, some(d.otherTemplate[vmid]))
	}
}

// foundTemplate is the node on which resolve found a template that a spec gives by its
// VMID alone. Before that, the template is taken to be on the VM's own node.
func (v *VM) foundTemplate(vmid int) string {
	if t := v.Template; t != nil && t.VMID == vmid && t.Name == "" && t.Node != v.Node {
		return t.Node
	}
	return ""
}

// resolve asks the cluster for what is open, if this run has read it, and refuses what
// stays open.
func (d *stackDecider) resolve(v *schema.VM, was *VM, out *VM) {
	if ask := d.options.Resolve; ask != nil {
		problems := ask(d.stack, v, was, out, d.replicaOn(v))
		for _, p := range problems {
			p.Severity = schema.SeverityError
			d.problems.AddVMText(d.stack, v, p)
		}
		if len(problems) > 0 {
			return
		}
	}
	if was.Node == "" && out.Node != "" && v.Placement != nil && v.Placement.NeedsCluster() {
		d.counts[out.Node]++
	}
	if v.Template != nil && v.Template.VMID != 0 && out.Template.Node == "" {
		out.Template.Node = out.Node
	}
	command := "run `stackgen resolve`, or "
	if slices.Contains(d.options.StateMoved, d.stack.Name) {
		command = "run `stackgen resolve --state-moved " + d.stack.Name + "`, or "
	}
	if v.Template != nil && out.Template == nil && d.project.TemplateOf(v.Template) == nil {
		d.open(v, v.Template.Pos, guest.Template, command+"write the template's VMID",
			"the lock has no VMID for the template %q, which needs the cluster", v.Template.Name)
	}
	if v.Template != nil && out.Clone == "" {
		d.open(v, v.At(guest.Clone), guest.Clone, command+"write clone: full or clone: linked",
			"the lock has no clone mode for clone: auto, which needs the cluster")
	}
	if out.Node == "" && v.Placement.NeedsCluster() {
		d.open(v, v.Placement.Pos, guest.Placement, command+"choose strategy: round-robin or fixed, or set node",
			"the lock has no node for placement by %s, which needs the cluster", v.Placement.Strategy)
	}
}

// open adds the problem of a decision that needs the cluster.
func (d *stackDecider) open(v *schema.VM, at schema.Pos, path, fix, format string, args ...any) {
	p := schema.Problem{Pos: at, Path: path, Severity: schema.SeverityError, Code: schema.CodeResolve, Fix: fix}
	if d.options.Open {
		p.Severity = schema.SeverityNote
	}
	d.problems.AddVM(d.stack, v, p, format, args...)
}
