package lock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// ImageAddress is the address of the image of a template in the state of its unit.
func ImageAddress(key string) string { return fmt.Sprintf("%s.this[%q]", guest.FileResource, key) }

// image decides what a template is made from. It acts at creation: one that exists keeps what it
// was made from.
func (d *stackDecider) image(v *schema.VM, was, out *VM) {
	if v.Replica == nil {
		return
	}
	image := v.Replica.Image
	out.Release, out.Image, out.ImageSeen = v.Replica.Release, &image, was.ImageSeen
	if was.Image == nil || was.Fingerprint == nil && !was.ImageSeen || *was.Image == image {
		return
	}
	out.Image = was.Image
	d.note("%s/%s: the image in the spec is another one than it was made from. It acts at creation: write another release for another image",
		d.stack.Name, v.Key)
}

// replicas are the templates that a Template has in the lock, except those that leave.
func (d *decider) replicas(template string) []Entry[VM] {
	l := d.lock.Stacks.Get(template)
	if l == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.VMs), func(e Entry[VM]) bool {
		return e.Value.Image == nil || e.Value.Status != Live || l.Status != Live
	})
}

// MadeFromAny reports whether a VM of a stack that was not seen yet is made from one of some templates,
// which are given as STACK/KEY.
func (l *Lock) MadeFromAny(stack string, templates []string) bool {
	vmids := map[int]bool{}
	for _, s := range l.Stacks {
		for _, e := range s.Value.VMs {
			vmids[e.Value.VMID] = slices.Contains(templates, s.Key+"/"+e.Key)
		}
	}
	s := l.Stacks.Get(stack)
	return s != nil && slices.ContainsFunc(s.VMs, func(e Entry[VM]) bool {
		return e.Value.Status == Live && e.Value.Fingerprint == nil && e.Value.Template != nil && vmids[e.Value.Template.VMID]
	})
}

// LeavesLast reports whether an apply of some stacks applies a Template after the others: VMs leave that
// are made from a template which leaves, too, and Proxmox VE destroys none before its linked clones. A
// Template is not last if a VM waits for a template that it has not made yet.
func (l *Lock) LeavesLast(template string, selected func(stack string) bool) bool {
	leaves, missing := map[int]bool{}, map[int]bool{}
	for _, s := range l.Stacks {
		for _, e := range s.Value.VMs {
			if v := e.Value; s.Key == template && v.Image != nil && !v.Gone {
				leaves[v.VMID], missing[v.VMID] = v.Status == Retired, v.Status == Live && v.Fingerprint == nil
			}
		}
	}
	last := false
	for _, s := range l.Stacks {
		for _, e := range s.Value.VMs {
			v := &e.Value
			from := cmp.Or(v.MadeFrom, v.Template)
			switch {
			case from == nil || !selected(s.Key):
			case v.Status == Live && v.Fingerprint == nil && v.Template != nil && missing[v.Template.VMID]:
				return false
			case v.Status == Retired && !v.Gone && leaves[from.VMID]:
				last = true
			}
		}
	}
	return last
}

// releaseOf is the release that a VM gets: the one that its spec pins, else the one that the Template
// makes, else the newest that the lock has.
func (d *stackDecider) releaseOf(v *schema.VM) string {
	if v.Template.Release != "" {
		return v.Template.Release
	}
	newest := ""
	makes := d.project.TemplateOf(v.Template).Template.Get(guest.Release).Str()
	for _, e := range d.replicas(v.Template.Name) {
		if e.Value.Release == makes {
			return makes
		}
		if newest == "" || natural.Compare(e.Value.Release, newest) > 0 {
			newest = e.Value.Release
		}
	}
	return newest
}

// replicaOn returns what a VM is cloned from on a node, or nil if no Template of the project makes
// it. The result of the function is nil where there is none: a clone to another node is possible
// from shared storage only, where a release has one replica.
func (d *stackDecider) replicaOn(v *schema.VM) func(node string) *Template {
	if d.project.TemplateOf(v.Template) == nil {
		return nil
	}
	release := d.releaseOf(v)
	var all []*Template
	for _, e := range d.replicas(v.Template.Name) {
		if e.Value.Release == release {
			all = append(all, &Template{VMID: e.Value.VMID, Node: e.Value.Node, Name: v.Template.Name, Release: release})
		}
	}
	return func(node string) *Template {
		if i := slices.IndexFunc(all, func(t *Template) bool { return t.Node == node }); i >= 0 {
			return all[i]
		}
		if len(all) == 1 {
			return all[0]
		}
		return nil
	}
}

// fromReplica chooses the replica that a VM is cloned from. It stays open while the node is.
func (d *stackDecider) fromReplica(v *schema.VM, out *VM) {
	t, of := v.Template, d.project.TemplateOf(v.Template)
	var releases []string
	for _, e := range d.replicas(t.Name) {
		releases = append(releases, e.Value.Release)
	}
	slices.SortFunc(releases, natural.Compare)
	releases = slices.Compact(releases)
	switch release := d.releaseOf(v); {
	case len(releases) == 0:
		d.vmError(v, t.Pos, guest.Template, schema.CodeTemplate, "run `stackgen render "+d.options.Specs[of.Name]+"` first",
			"the lock has no release of the Template %s yet", t.Name)
	case !slices.Contains(releases, release):
		d.vmError(v, t.Pos, guest.Template, schema.CodeTemplate, "releases: "+strings.Join(releases, ", "),
			"the Template %s has no release %s, or retires it", t.Name, release)
	case out.Node == "":
	default:
		if out.Template = d.replicaOn(v)(out.Node); out.Template == nil {
			d.vmError(v, t.Pos, guest.Template, schema.CodeTemplate, "add "+out.Node+" to nodes of "+d.options.Specs[of.Name],
				"release %s of the Template %s is not on node %s", release, t.Name, out.Node)
		}
	}
}

// refuseRetiredTemplates refuses to retire a template that the lock says a VM is cloned from when it
// is created.
func (d *decider) refuseRetiredTemplates() {
	leaving := map[int]string{} // VMID -> STACK/KEY
	for _, s := range d.lock.Stacks {
		for _, e := range s.Value.VMs {
			if e.Value.Image != nil && !e.Value.Gone && (e.Value.Status == Retired || s.Value.Status == Retired) {
				leaving[e.Value.VMID] = s.Key + "/" + e.Key
			}
		}
	}
	for _, s := range d.lock.Stacks {
		for _, e := range s.Value.VMs {
			t := e.Value.Template
			if t == nil || leaving[t.VMID] == "" || e.Value.Status != Live || s.Value.Status != Live {
				continue
			}
			template, key, _ := strings.Cut(leaving[t.VMID], "/")
			f := finding.Finding{Address: finding.Address{Stack: template, Type: finding.VM, Key: key}, Kind: finding.Removed,
				Severity: finding.Blocked, Reason: finding.Why("template-named")}
			f.VMID = t.VMID
			f.Because("%s/%s is made from it", s.Key, e.Key)
			f.Next("render that stack too, which gives it the newest release; or remove the release from `retired`", "stackgen render")
			d.result.Refusals = append(d.result.Refusals, f)
		}
	}
}

// removable notes the releases that nothing names any more.
func (d *decider) removable() {
	named := map[int]bool{}
	for _, s := range d.lock.Stacks {
		for _, e := range s.Value.VMs {
			for _, t := range []*Template{e.Value.Template, e.Value.MadeFrom} {
				if t != nil && e.Value.Status == Live {
					named[t.VMID] = true
				}
			}
		}
	}
	for _, s := range d.project.Stacks {
		if !s.IsTemplate() || !d.options.Selected(s.Name) {
			continue
		}
		used := map[string]bool{}
		var releases []string
		for _, e := range d.replicas(s.Name) {
			releases = append(releases, e.Value.Release)
			used[e.Value.Release] = used[e.Value.Release] || named[e.Value.VMID]
		}
		slices.SortFunc(releases, natural.Compare)
		releases = slices.Compact(releases)
		makes := s.Template.Get(guest.Release).Str()
		releases = slices.DeleteFunc(releases, func(r string) bool { return r == makes })
		releases = releases[:max(0, len(releases)-(s.Keep-1))] // the release of the spec is one of those to keep
		releases = slices.DeleteFunc(releases, func(r string) bool { return used[r] })
		if len(releases) > 0 {
			d.note("%s: no VM of the lock is made from these releases: %s. To remove them, add to %s: %s",
				s.Name, strings.Join(releases, ", "), d.options.Specs[s.Name], Entries("retired", s.Retired, releases...).String())
		}
	}
}
