package lock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/shell"
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

	RecordsMoved []string // stacks whose records are in their new units, as the user says

	Project string // a random id, for a lock that has none
}

// Decide makes the decisions that p needs and old does not have. It does not
// change old.
func Decide(p *schema.Project, old *Lock, o Options) Result {
	d := &decider{project: p, old: old, options: o, lock: old.clone(), used: map[int]string{}, left: map[int]string{}, usedMACs: map[string]string{}}
	d.lock.Project = cmp.Or(d.lock.Project, o.Project)
	d.reserve()
	for _, s := range p.Stacks {
		d.result.Stacks = append(d.result.Stacks, s)
		if o.Selected(s.Name) {
			d.stack(s)
		}
	}
	d.gone()
	d.lock.sort()
	d.result.Lock = d.lock
	d.result.Problems = d.problems.Problems()
	return d.result
}

// A decider holds one run of Decide.
type decider struct {
	project *schema.Project
	old     *Lock
	lock    *Lock
	options Options
	used    map[int]string // VMID -> who has it
	left    map[int]string // VMID -> the forgotten VM that has it, which another stack may adopt
	result  Result

	usedMACs map[string]string // MAC address -> who has it

	problems schema.Collector
}

// reserve notes every VMID that is used or pinned, so that allocation avoids it.
func (d *decider) reserve() {
	take := func(vmid int, holder string) {
		if vmid != 0 && d.used[vmid] == "" {
			d.used[vmid] = holder
		}
	}
	d.reserveOld(take)
	for _, s := range d.old.Stacks {
		for _, v := range s.Value.VMs {
			if v.Value.Template != nil {
				take(v.Value.Template.VMID, "a template")
			}
		}
	}
	for _, s := range d.project.Stacks {
		for _, v := range s.VMs {
			if v.Template != nil {
				take(v.Template.VMID, "a template")
			}
		}
	}
	for _, s := range d.project.Stacks {
		for _, v := range s.VMs {
			take(v.VMID, s.Name+"/"+v.Key)
			for _, mac := range v.MACs {
				d.takeMAC(mac, s.Name+"/"+v.Key)
			}
		}
	}
}

// reserveOld reserves the VMIDs and MAC addresses of the lock: first of VMs that are
// managed, then VMIDs of forgotten ones, which may be managed elsewhere in the project.
func (d *decider) reserveOld(take func(vmid int, holder string)) {
	forgotten := map[string]bool{}
	for _, i := range d.project.Forgotten {
		forgotten[i.Name+"/"] = true
	}
	for _, s := range d.project.Stacks {
		for _, i := range s.Forgotten {
			forgotten[s.Name+"/"+i.Name] = true
		}
	}
	var left Ordered[VM]
	for _, s := range d.old.Stacks {
		for _, v := range s.Value.VMs {
			v.Key = s.Key + "/" + v.Key
			if v.Value.Status == Forgotten || s.Value.Status == Forgotten || forgotten[v.Key] || forgotten[s.Key+"/"] {
				left = append(left, v)
				continue
			}
			take(v.Value.VMID, v.Key)
			for _, mac := range v.Value.recordedMACs() {
				d.takeMAC(mac, v.Key)
			}
		}
	}
	for _, v := range left {
		if d.used[v.Value.VMID] == "" {
			d.left[v.Value.VMID] = v.Key
		}
		take(v.Value.VMID, v.Key)
	}
}

// release gives the VMID and the MAC addresses that a VM has to another name of it, or
// frees them.
func (d *decider) release(v *VM, holder, heir string) {
	if d.used[v.VMID] == holder {
		d.used[v.VMID] = heir
	}
	for _, mac := range v.recordedMACs() {
		if d.usedMACs[mac] == holder {
			d.usedMACs[mac] = heir
		}
	}
}

// clash adds a problem of the lists retired, forgotten and renamed.
func (d *decider) clash(at schema.Pos, path, fix, format string, args ...any) {
	d.problems.Add(schema.Problem{Pos: at, Path: path, Severity: schema.SeverityError, Code: schema.CodeListClash, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// vmError adds a problem of a VM: the same for many VMs is one problem.
func (d *stackDecider) vmError(v *schema.VM, at schema.Pos, path, code, fix, format string, args ...any) {
	d.problems.AddVM(d.stack, v, schema.Problem{Pos: at, Path: path, Severity: schema.SeverityError, Code: code, Fix: fix}, format, args...)
}

// refuse stops the render for a VM, pool or unit of the stack.
func (d *stackDecider) refuse(kind finding.Kind, of finding.Type, key, reason string, steps ...finding.Step) *finding.Finding {
	f := finding.Finding{Address: finding.Address{Stack: d.stack.Name, Type: of, Key: key}, Kind: kind, Severity: finding.Blocked, Reason: reason, Steps: steps}
	if of == finding.Unit {
		f.Unit, f.Key = key, ""
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
		d.lock.Stacks = append(d.lock.Stacks, Entry[Stack]{Key: s.Name})
		i = len(d.lock.Stacks) - 1
	} else if was := d.lock.Stacks[i].Value; was.Status == Live {
		d.stateMove(s, &was)
		if p := was.Proxmox; p != nil && s.Proxmox.Set && p.Endpoint != s.Proxmox.Endpoint && p.Endpoint != "" {
			d.note("%s: the endpoint was %s and is %s now; if that is another cluster, an apply creates every VM there again, or changes VMs of others that have the same VMIDs", s.Name, p.Endpoint, s.Proxmox.Endpoint)
		}
	}
	l := &d.lock.Stacks[i].Value
	l.Status, l.Spec = Live, d.options.Specs[s.Name]
	remember(l, s)
	e := &stackDecider{decider: d, stack: s, lock: l, inSpec: map[string]bool{}, retired: namesOf(s.Retired), forgotten: namesOf(s.Forgotten),
		addresses: l.addresses(), had: map[string]bool{}, counts: map[string]int{}, turns: map[schema.Pos]int{}}
	for _, v := range l.VMs {
		e.had[v.Key] = true
	}
	for _, v := range s.VMs {
		e.inSpec[v.Key] = true
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
	l.Backend = Backend{Type: s.Backend.Type, Bucket: s.Backend.Bucket, Region: s.Backend.Region, Endpoint: s.Backend.Endpoint, PathStyle: s.Backend.PathStyle}
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

// gone handles the stacks that the lock has and no spec.
func (d *decider) gone() {
	has := map[string]bool{}
	for _, s := range d.project.Stacks {
		has[s.Name] = true
	}
	named := func(list []schema.ListItem, name string) bool {
		return slices.ContainsFunc(list, func(i schema.ListItem) bool { return i.Name == name })
	}
	var kept Ordered[Stack]
	for _, e := range d.lock.Stacks {
		l := e.Value
		retired, forgotten := named(d.project.Retired, e.Key), named(d.project.Forgotten, e.Key)
		switch {
		case has[e.Key] && (retired || forgotten):
			d.clash(listPos(append(d.project.Retired, d.project.Forgotten...), e.Key), "", "remove the spec, or the line", "stack %s is in retired or forgotten and also has a spec", e.Key)
		case has[e.Key]:
		case retired && forgotten:
			d.clash(listPos(d.project.Forgotten, e.Key), "", "keep one of them", "stack %s is in retired and also in forgotten", e.Key)
		case retired:
			before := l.addresses()
			l.retire()
			l.recordAddresses(before, nil)
			d.result.Stacks = append(d.result.Stacks, tombstone(e.Key, &l, d.project.Guard))
		case forgotten:
			l.Status = Forgotten
		case l.Status == Forgotten && slices.ContainsFunc(l.VMs, func(v Entry[VM]) bool { return !v.Value.Gone }):
			// its line is gone, and its VMs may still exist: their VMIDs stay reserved
		case l.Status == Retired && !l.seenGone():
			d.result.Refusals = append(d.result.Refusals, d.stackUnseen(e.Key))
		case l.Status != Live:
			d.note("%s: the %s stack is removed from the lock; its VMIDs are free again", e.Key, l.Status)
			continue
		default:
			d.result.Refusals = append(d.result.Refusals, d.stackGone(e.Key, &l))
		}
		kept = append(kept, Entry[Stack]{e.Key, l})
	}
	d.lock.Stacks = kept
	for _, w := range append(slices.Clone(d.project.Retired), d.project.Forgotten...) {
		if d.lock.Stacks.index(w.Name) < 0 {
			d.warnUnknown(w, "stack")
		}
	}
}

func listPos(list []schema.ListItem, name string) schema.Pos {
	for _, i := range list {
		if i.Name == name {
			return i.Pos
		}
	}
	return schema.Pos{}
}

func (d *decider) warnUnknown(w schema.ListItem, what string) {
	d.problems.Add(schema.Problem{Pos: w.Pos, Severity: schema.SeverityWarning, Code: schema.CodeListClash,
		Message: fmt.Sprintf("the lock has no %s %q", what, w.Name), Fix: "remove the line"})
}

// retire marks everything of a stack for destruction, except what is forgotten.
func (s *Stack) retire() {
	s.Status = Retired
	for i := range s.VMs {
		if v := &s.VMs[i].Value; v.Status == Live {
			v.Status = Retired
		}
	}
	for i := range s.Units {
		if u := &s.Units[i].Value; u.Status == Live || u.Status == Moving {
			u.Status = Retired
		}
	}
}

// tombstone is a stack that only the lock has: it has no VMs, and all of its
// resources will be destroyed.
func tombstone(name string, l *Stack, guard string) *schema.Stack {
	s := &schema.Stack{Spec: l.Spec, Kind: schema.KindStack, Name: name, Environment: l.Environment, Guard: guard,
		Backend: schema.Backend{Type: l.Backend.Type, Bucket: l.Backend.Bucket, Region: l.Backend.Region, Endpoint: l.Backend.Endpoint,
			PathStyle: l.Backend.PathStyle, Lock: l.Backend.Lock}}
	if p := l.Proxmox; p != nil {
		s.Proxmox = schema.Proxmox{Endpoint: p.Endpoint, Insecure: p.Insecure, CAFile: p.CAFile, Set: true}
	}
	return s
}

// Tombstones are the retired stacks that the lock has and no spec.
func (l *Lock) Tombstones(p *schema.Project) []*schema.Stack {
	var out []*schema.Stack
	for i := range l.Stacks {
		e := &l.Stacks[i]
		if e.Value.Status == Retired && !slices.ContainsFunc(p.Stacks, func(s *schema.Stack) bool { return s.Name == e.Key }) {
			out = append(out, tombstone(e.Key, &e.Value, p.Guard))
		}
	}
	return out
}

// stackGone refuses to drop a stack whose spec is gone.
func (d *decider) stackGone(name string, l *Stack) finding.Finding {
	n := 0
	for _, v := range l.VMs {
		if v.Value.Status == Live {
			n++
		}
	}
	vms := "1 VM"
	if n != 1 {
		vms = fmt.Sprintf("%d VMs", n)
	}
	return finding.Finding{Address: finding.Address{Stack: name, Type: finding.Stack}, Kind: finding.Removed, Severity: finding.Blocked,
		Reason:   "the stack is in the lock, and its spec is gone",
		Evidence: []string{fmt.Sprintf("its spec was %s; it has %s", l.Spec, vms)},
		Steps: []finding.Step{
			finding.Do("restore the spec", "git checkout -- "+shell.Word(l.Spec)),
			d.stackLine(name, "or destroy its VMs and records: ", ", then render and apply", "retired", "stackgen render", "(cd stacks/"+name+" && terragrunt stack run apply)"),
			d.stackLine(name, "or stop managing its VMs and records: ", ", then render", "forgotten", "stackgen render"),
		}}
}

// stackLine is a step that names a stack in the settings of the project.
func (d *decider) stackLine(name, before, after, list string, commands ...string) finding.Step {
	write, head := "add to stackgen.yaml", []finding.Line(nil)
	if !d.project.Settings {
		write, head = "create stackgen.yaml", finding.Lines("apiVersion: "+schema.APIVersion, "kind: "+schema.KindProject)
	}
	entry := finding.Line{Text: list + ": {stacks: [{}]}", Items: []string{name}, Sep: ", "}
	return finding.Step{What: before + write + after, Lines: slices.Concat(head, []finding.Line{entry}, finding.Lines(commands...))}
}

// seenGone reports whether nothing of a retired stack exists any more.
func (s *Stack) seenGone() bool {
	return !slices.ContainsFunc(s.VMs, func(e Entry[VM]) bool { return e.Value.Status == Retired && !e.Value.Gone }) &&
		!slices.ContainsFunc(s.Units, func(e Entry[Unit]) bool { return e.Value.Status == Retired && !e.Value.Gone })
}

// stackUnseen refuses to drop a retired stack that may exist.
func (d *decider) stackUnseen(name string) finding.Finding {
	return finding.Finding{Address: finding.Address{Stack: name, Type: finding.Stack}, Kind: finding.Removed, Severity: finding.Blocked,
		Reason: "the stack is retired, but its line in stackgen.yaml was removed before its destroy was seen: its VMIDs would be free while its VMs may exist",
		Steps: []finding.Step{
			finding.Do("if an apply has destroyed it, record that, then render", "stackgen resolve", "stackgen render"),
			d.stackLine(name, "otherwise ", ", then render and apply", "retired", "stackgen render", "(cd stacks/"+name+" && terragrunt stack run apply)", "stackgen resolve"),
		}}
}
