package lock

import (
	"cmp"
	"fmt"
	"strings"

	"stackgen/internal/finding"
	"stackgen/schema"
)

// A Result is what Decide found. Lock and Stacks are usable only without
// refusals and errors.
type Result struct {
	Lock     *Lock
	Stacks   []*schema.Stack // the project's, and those that only the lock has
	Refusals []finding.Finding
	Problems []schema.Problem
	Notes    []string // what the user should know, such as what was removed from the lock
}

// Options are what Decide cannot see in specs and lock.
type Options struct {
	Specs      map[string]string // stack -> path of its spec, relative to the project
	Selected   func(stack string) bool
	StateMoved []string // stacks whose state the user has moved

	// Stored reports whether the local backend has a state of a unit of the stack with a state key.
	Stored func(stateKey, unit string) bool

	RecordsMoved []string // stacks whose records are in their new units, as the user says

	Project string // a random id, for a lock that has none

	Again []string // STACK/KEY of VMs that get other MAC addresses, and another VMID if something else has theirs
	MACs  []string // addresses of guests of the cluster, which are not chosen
	VMIDs []int    // of guests of the cluster, which are not chosen

	Cluster *Cluster // that was read, for stacks that the lock does not have

	// Orders records the order of the disks, and the networks, of entries from before locks
	// had them. Nothing else depends on that: without it, disks have their first order, and
	// NICs are known by their numbers.
	Orders bool

	// Rendered is what the files that were rendered before say for a property of a VM, or
	// nothing if that is not known; nil if they were not read.
	Rendered func(s *schema.Stack, key, property string) string

	// Open says that what only the cluster knows may stay open: that is a note then, and
	// no error. The lock of the result is of no use.
	Open bool

	// Resolve decides for a VM what out leaves open and only the cluster knows: its
	// node, template and clone mode. was is its entry before this run, or empty. It is
	// called for every VM, in the order of decisions; nil if the cluster was not read.
	// template is what it is cloned from on a node, if a Template of the project makes that, and
	// otherwise nil.
	Resolve func(s *schema.Stack, v *schema.VM, was, out *VM, template func(node string) *Template) []schema.Problem
}

// Decide makes the decisions that p needs and old does not have. It does not
// change old.
func Decide(p *schema.Project, old *Lock, o Options) Result {
	d := &decider{
		project:  p,
		old:      old,
		options:  o,
		lock:     old.clone(),
		used:     map[int]string{},
		left:     map[int]string{},
		usedMACs: map[string]string{},
		renamed:  map[string]string{},
	}
	d.lock.Project = cmp.Or(d.lock.Project, o.Project)
	d.renameStacks()
	d.mergeKeys()
	d.again()
	d.refuseDuplicates()
	d.reserve()
	d.reserveBefore()
	d.result.Stacks = append(d.result.Stacks, p.Stacks...)
	for _, templates := range []bool{true, false} { // VMs are made from what the lock has then
		for _, s := range p.Stacks {
			if s.IsTemplate() == templates && o.Selected(s.Name) {
				d.stack(s)
			}
		}
	}
	d.gone()
	d.refuseRetiredTemplates()
	d.removable()
	d.lock.sort()
	d.result.Lock = d.lock
	d.result.Problems = d.problems.Problems()
	return d.result
}

// A decider holds one run of Decide.
type decider struct {
	project *schema.Project
	old     *Lock
	before  *Lock // with the decisions that options.Again replaces
	lock    *Lock
	options Options
	used    map[int]string    // VMID -> who has it
	left    map[int]string    // VMID -> the forgotten VM that has it, which another stack may adopt
	renamed map[string]string // new name of a stack -> its name until this run
	result  Result

	usedMACs map[string]string // MAC address -> who has it
	shared   map[string]bool   // MAC addresses that several entries have, which is refused

	problems schema.Collector
}

// reserve notes every VMID that is used or pinned, so that allocation avoids it.
func (d *decider) reserve() {
	d.reserveOld()
	for _, vmid := range d.templates() {
		d.takeVMID(vmid, "a template")
	}
	for _, s := range d.old.Stacks {
		for _, v := range s.Value.VMs {
			if v.Value.RebuildBegun() {
				d.takeVMID(v.Value.Rebuild.Holder, "the new disks of "+s.Key+"/"+v.Key)
			}
		}
	}
	for _, s := range d.project.Stacks {
		for _, v := range s.VMs {
			d.takeVMID(v.VMID, s.Name+"/"+v.Key)
			for _, mac := range v.MACs {
				d.takeMAC(mac, s.Name+"/"+v.Key)
			}
		}
	}
}

// takeVMID reserves a VMID for a VM or template, unless something else has it.
func (d *decider) takeVMID(vmid int, holder string) {
	if vmid != 0 && d.used[vmid] == "" {
		d.used[vmid] = holder
	}
}

// templates are the VMIDs of the templates in the lock and the specs.
func (d *decider) templates() []int {
	var out []int
	for _, s := range d.old.Stacks {
		for _, v := range s.Value.VMs {
			for _, t := range []*Template{v.Value.Template, v.Value.MadeFrom} {
				if t != nil {
					out = append(out, t.VMID)
				}
			}
		}
	}
	for _, s := range d.project.Stacks {
		for _, v := range s.VMs {
			if v.Template != nil {
				out = append(out, v.Template.VMID)
			}
		}
	}
	return out
}

// reserveOld reserves the VMIDs and MAC addresses of the lock: first of VMs that are
// managed, then VMIDs of forgotten ones, which may be managed elsewhere in the project.
func (d *decider) reserveOld() {
	forgotten := d.forgottenNow()
	var left Ordered[VM]
	for _, s := range d.old.Stacks {
		if d.probablyRenamed(s) {
			continue // what its VMs have is no mistake of the new stack
		}
		for _, v := range s.Value.VMs {
			v.Key = s.Key + "/" + v.Key
			if v.Value.Status == Forgotten || s.Value.Status == Forgotten || forgotten[v.Key] || forgotten[s.Key+"/"] {
				left = append(left, v)
				continue
			}
			d.takeVMID(v.Value.VMID, v.Key)
			for _, mac := range v.Value.RecordedMACs() {
				d.takeMAC(mac, v.Key)
			}
		}
	}
	for _, v := range left {
		if d.used[v.Value.VMID] == "" {
			d.left[v.Value.VMID] = v.Key
		}
		d.takeVMID(v.Value.VMID, v.Key)
	}
}

// forgottenNow are the stacks and VMs that the specs forget, as STACK/ and STACK/KEY.
func (d *decider) forgottenNow() map[string]bool {
	out := map[string]bool{}
	for _, i := range d.project.Forgotten {
		out[i.Name+"/"] = true
	}
	for _, s := range d.project.Stacks {
		for _, i := range s.Forgotten {
			out[s.Name+"/"+i.Name] = true
		}
	}
	return out
}

// release gives the VMID and the MAC addresses that a VM has to another name of it, or
// frees them.
func (d *decider) release(v *VM, holder, heir string) {
	if d.used[v.VMID] == holder {
		d.used[v.VMID] = heir
	}
	for _, mac := range v.RecordedMACs() {
		if d.usedMACs[mac] == holder {
			d.usedMACs[mac] = heir
		}
	}
}

// clash adds a problem of the lists retired, forgotten and renamed.
func (d *decider) clash(at schema.Pos, path, fix, format string, args ...any) {
	d.problems.Add(schema.Problem{
		Pos:      at,
		Path:     path,
		Severity: schema.SeverityError,
		Code:     schema.CodeListClash,
		Message:  fmt.Sprintf(format, args...),
		Fix:      fix,
	})
}

// vmError adds a problem of a VM: the same for many VMs is one problem.
func (d *stackDecider) vmError(v *schema.VM, at schema.Pos, path, code, fix, format string, args ...any) {
	d.problems.AddVM(d.stack, v, schema.Problem{Pos: at, Path: path, Severity: schema.SeverityError, Code: code, Fix: fix}, format, args...)
}

// refuse stops the render for a VM, pool or unit of the stack.
func (d *stackDecider) refuse(
	kind finding.Kind, of finding.Type, key string, reason finding.Reason, steps ...finding.Step,
) *finding.Finding {
	f := finding.Finding{
		Address:  finding.Address{Stack: d.stack.Name, Type: of, Key: key},
		Kind:     kind,
		Severity: finding.Blocked,
		Reason:   reason,
		Steps:    steps,
	}
	if of == finding.Unit {
		f.Unit, f.Key = key, ""
	}
	if e := d.lock.VMs.Get(key); of == finding.VM && e != nil {
		f.Container = e.IsContainer()
	}
	d.result.Refusals = append(d.result.Refusals, f)
	return &d.result.Refusals[len(d.result.Refusals)-1]
}

func (d *decider) note(format string, args ...any) {
	d.result.Notes = append(d.result.Notes, fmt.Sprintf(format, args...))
}

// StateKey is the part of a state's key that a stack's units share.
func StateKey(s *schema.Stack) string {
	var parts []string
	for _, p := range []string{s.Backend.Prefix, s.Environment, s.Name} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "/")
}

// stack makes the decisions of one stack.
func (d *decider) stack(s *schema.Stack) {
	i := d.lock.Stacks.index(s.Name)
	if i < 0 {
		seen := Observed{Cluster: d.options.Cluster}.readable()
		d.lock.Stacks = append(d.lock.Stacks, Entry[Stack]{s.Name, Stack{Cluster: seen.Cluster}})
		i = len(d.lock.Stacks) - 1
	} else {
		was := d.lock.Stacks[i].Value
		d.stateMove(s, &was)
		if p := was.Proxmox; was.Cluster == nil && p != nil && s.Proxmox.Set && p.Endpoint != s.Proxmox.Endpoint && p.Endpoint != "" {
			d.note("%s: the endpoint was %s and is %s now; if that is another cluster, an apply creates every guest there again, "+
				"or changes guests of others that have the same VMIDs", s.Name, p.Endpoint, s.Proxmox.Endpoint)
		}
	}
	l := &d.lock.Stacks[i].Value
	l.forgetVMs()
	l.Status, l.Spec = Live, d.options.Specs[s.Name]
	remember(l, s)
	e := &stackDecider{
		decider:       d,
		stack:         s,
		lock:          l,
		inSpec:        map[string]*schema.VM{},
		retired:       namesOf(s.Retired),
		forgotten:     namesOf(s.Forgotten),
		addresses:     l.addresses(),
		had:           map[string]bool{},
		counts:        map[string]int{},
		turns:         map[schema.Pos]int{},
		otherTemplate: map[int][]string{},
		otherCreation: map[creationChange][]string{},
	}
	for _, v := range l.VMs {
		e.had[v.Key] = true
	}
	for _, v := range s.VMs {
		e.inSpec[v.Key] = v
	}
	e.rename()
	e.leave()
	e.decide()
	e.units()
}

// remember records how to reach the stack's state and DNS records after its spec
// is gone.
func remember(l *Stack, s *schema.Stack) {
	l.Environment, l.StateKey = s.Environment, StateKey(s)
	l.Backend = Backend{
		Type:      s.Backend.Type,
		Bucket:    s.Backend.Bucket,
		Region:    s.Backend.Region,
		Endpoint:  s.Backend.Endpoint,
		PathStyle: s.Backend.PathStyle,
	}
	if s.Backend.Type == "s3" {
		l.Backend.Lock = s.Backend.Lock
	}
	l.Proxmox = nil
	if s.Proxmox.Set {
		l.Proxmox = &Proxmox{Endpoint: s.Proxmox.Endpoint, Insecure: s.Proxmox.Insecure, CAFile: s.Proxmox.CAFile}
	}
	if s.DNS != nil { // kept when dns leaves the spec: its records are still there
		l.DNS = &DNS{Zone: s.DNS.Zone, Server: s.DNS.Server, Port: s.DNS.Port, KeyName: s.DNS.KeyName, Algorithm: s.DNS.Algorithm}
	}
}

// namesOf returns the names in a list of retired or forgotten.
func namesOf(list []schema.ListItem) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, i := range list {
		out[i.Name] = true
	}
	return out
}
