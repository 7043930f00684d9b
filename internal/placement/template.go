package placement

import (
	"cmp"
	"fmt"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// template decides what a VM is cloned from, and checks that its node, which clones it,
// is online if the VM is new.
func (r *Resolver) template(v *schema.VM, was, out *lock.VM, d *Decision) *schema.Problem {
	if problem := r.find(v, was, out, d); problem != nil || out.Template == nil || was.VMID != 0 {
		return problem
	}
	if n := r.inv.Node(out.Template.Node); n != nil && !n.Online {
		what, _ := n.Wake()
		return r.bad(v, fmt.Sprintf("its template %d is on node %s, which is %s", out.Template.VMID, n.Name, n.Down()),
			what+", or write another template"+r.offer())
	}
	return nil
}

// find finds the VMID of a template's name, and the node of a VMID.
func (r *Resolver) find(v *schema.VM, was, out *lock.VM, d *Decision) *schema.Problem {
	switch {
	case v.Template == nil:
		return nil
	case out.Template == nil:
		return r.named(v, out, d)
	case was.Fingerprint != nil || r.guests[was.VMID] != nil:
		return nil // the VM exists: nothing is cloned any more
	}
	vmid := out.Template.VMID
	g := r.guests[vmid]
	if g == nil {
		if was.VMID != 0 || len(r.inv.GapsForVM(vmid)) > 0 {
			return nil // for preflight to say
		}
		return r.bad(v, fmt.Sprintf("the cluster has no template %d", vmid), "write another template"+r.offer())
	}
	switch {
	case was.VMID == 0 && !g.Template:
		return r.bad(v, fmt.Sprintf("%d is no VM template: %s", vmid, g.Brief()), "make a template of it, or write another one"+r.offer())
	case was.VMID == 0 && v.Template.Node != "" && v.Template.Node != g.Node:
		return r.bad(v, fmt.Sprintf("its template %d is on node %s, and the spec says %s", vmid, g.Node, v.Template.Node), "write "+line(g))
	case v.Template.Node == "" && out.Template.Node != g.Node:
		d.Template = &lock.Template{VMID: vmid, Node: g.Node, Name: v.Template.Name}
		out.Template = d.Template
	}
	return nil
}

// named finds the template of a name.
func (r *Resolver) named(v *schema.VM, out *lock.VM, d *Decision) *schema.Problem {
	t := v.Template
	var templates, others []string
	var found *cluster.Guest
	for _, g := range r.inv.Named(t.Name) {
		switch {
		case !g.Template:
			others = append(others, g.Brief())
		case t.Node == "" || t.Node == g.Node:
			found = cmp.Or(found, g)
			templates = append(templates, fmt.Sprintf("%d on %s", g.VMID, g.Node))
		default:
			others = append(others, g.Brief())
		}
	}
	where := ""
	if t.Node != "" {
		where = " on node " + t.Node
	}
	switch {
	case len(templates) > 1:
		return r.bad(v, fmt.Sprintf("several templates%s are called %q: %s", where, t.Name, strings.Join(templates, ", ")),
			"write the one to clone, such as "+line(found))
	case found != nil:
		out.Template = &lock.Template{VMID: found.VMID, Node: found.Node, Name: t.Name}
		d.Template = out.Template
		return nil
	case len(others) > 0:
		return r.bad(v, fmt.Sprintf("no template%s is called %q; the cluster has %s", where, t.Name, strings.Join(others, ", ")),
			"make a template of it, or write another one"+r.offer())
	case len(r.inv.GapsForNames()) > 0:
		return r.bad(v, fmt.Sprintf("no template%s called %q can be seen, and the token may not see all guests", where, t.Name),
			"run `stackgen preflight`, which says what the token lacks, or write the template's VMID")
	}
	return r.bad(v, fmt.Sprintf("the cluster has no template called %q%s", t.Name, where), "write another one"+r.offer())
}

// bad is the problem of a template.
func (r *Resolver) bad(v *schema.VM, message, fix string) *schema.Problem {
	return &schema.Problem{Pos: v.Template.Pos, Path: guest.Template, Code: schema.CodeTemplate, Message: message, Fix: fix}
}

// line is a template as a spec has it.
func line(g *cluster.Guest) string {
	return fmt.Sprintf("template: {vmid: %d, node: %s}", g.VMID, g.Node)
}

// offer names some templates of the cluster.
func (r *Resolver) offer() string {
	var names []string
	for i := range r.inv.Guests {
		if g := &r.inv.Guests[i]; g.Template && g.Kind == guest.VM && g.Name != "" {
			names = append(names, fmt.Sprintf("%s (%d on %s)", g.Name, g.VMID, g.Node))
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 5:
		names = append(names[:5], fmt.Sprintf("and %d more", len(names)-5))
	}
	return ", such as " + strings.Join(names, ", ")
}
