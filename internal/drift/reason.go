package drift

import (
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// reason says why a change is planned, and what it does; the same for changes that are
// alike.
func (r *resource) reason(f *finding.Finding, u effect.Update) finding.Reason {
	return finding.Why("changed-"+finding.Code(f.Change.Cause), f.Change.Property).Of(r.does(f, u))
}

// does is what an apply does about a change.
func (r *resource) does(f *finding.Finding, u effect.Update) finding.Reason {
	switch {
	case u.Harm != "":
		return finding.Why("harm", u.Harm)
	case f.Kind == finding.Noise:
		return finding.Why("sends-nothing")
	case f.Kind == finding.Replace:
		return finding.Why("replaces-it")
	case f.Kind == finding.Migrate:
		return finding.Why("migrates-it")
	case r.at.Type == finding.Record:
		return finding.Why("publishes-it")
	case f.Change.Cause == finding.ByHand:
		return finding.Why("sets-back", afterComma(u))
	}
	return finding.Why("sets", afterComma(u))
}

// afterComma is what an update does, in words after a comma.
func afterComma(u effect.Update) string {
	verb, _, _ := strings.Cut(u.Does, " ")
	if slices.Contains([]string{"restarts", "stops", "replugs", "connects"}, verb) {
		return "and " + u.Does
	}
	return u.Does
}

// steps adds what to do about a change.
func (r *resource) steps(f *finding.Finding) {
	c := f.Change
	if f.Severity == finding.Blocked {
		r.stops(f)
		r.accepts(f, "to keep what Proxmox VE has, write it into the spec")
		return
	}
	switch {
	case f.Kind == finding.ProviderOnly:
		f.Next("an apply sets it", r.apply(r.at.Stack))
	case c.Cause == finding.ByHand, c.Cause == finding.ByBoth:
		f.Next("to undo the change by hand, apply", r.apply(r.at.Stack))
		r.accepts(f, "or, to keep it, write it into the spec")
	case c.Cause == finding.BySpec:
		f.Next("to make the change, apply", r.apply(r.at.Stack))
		r.accepts(f, "or, to keep what Proxmox VE has, write it into the spec")
	default:
		f.Next("an apply does it", r.apply(r.at.Stack))
	}
}

// stops adds the step for what blocks. Preflight, which compares specs and cluster without a
// plan, knows nothing of what only a plan has.
func (r *resource) stops(f *finding.Finding) {
	if f.Kind == finding.Unknown || r.verdict == nil {
		f.Next("do not apply; read all of the plan", lock.InUnit(r.at.Stack, r.at.Unit, "terragrunt plan"))
		return
	}
	f.Next("do not apply; preflight names the ways out", command("stackgen preflight", r.specOf(r.at.Stack)))
}

// accepts adds the step that writes what is real into the spec, for a property of a VM.
func (r *resource) accepts(f *finding.Finding, what string) {
	if r.vm == nil || f.Change.Property == "" || f.Change.At == nil {
		return
	}
	if reading := r.read(f.VMID); reading != nil {
		lines, _ := reading.Accept(r.vm, []string{hardware.Named(r.vm.Kind, f.Change.Attribute)})
		for _, a := range lines {
			f.Change.Accept, f.Change.NoAccept = a.Line, a.Reason
			if a.Reason != "" && len(a.Commands) == 0 {
				return // it would say no more
			}
		}
	}
	line := finding.Line{Text: "stackgen drift --accept {}", Items: []string{r.at.Stack + "/" + r.vm.Key}, Sep: " "}
	f.Add(finding.Step{What: what, Lines: []finding.Line{line}})
}

// read reads the configuration of the VM; nil if that is not known.
func (r *resource) read(vmid int) *hardware.Reading {
	if r.reading == nil {
		if g := r.Inventory.Guest(vmid); g != nil && g.Config != nil {
			r.reading = hardware.Read(g)
		}
	}
	return r.reading
}

// password adds the step that removes a password that somebody set.
func (r *resource) password(f *finding.Finding) {
	if f.Change.Attribute != hardware.Password || f.Change.Real == "" {
		return
	}
	f.Change.NoAccept = hardware.NoPasswords
	if reading := r.read(f.VMID); reading != nil {
		f.Change.Undo = reading.Set("--delete cipassword")
		f.Next("to change it back, on any node", f.Change.Undo)
	}
}

// node is the value of a property in the spec of the VM, or the nearest one around it, or
// nil. Of a list of devices it is that of the device. exact is false for one around it.
func (r *resource) node(c tf.Change) (n *schema.Node, exact bool) {
	row := r.row(c)
	if r.vm == nil || row == nil || row.Key == "" {
		return nil, false
	}
	key := row.Key
	if key == guest.IPConfigs { // a container has them in its networks
		key = guest.Networks
	}
	n = r.vm.Values.Get(key)
	below := strings.Split(row.Name, ".")[1:]
	if row.Key != guest.CloudInit || c.Device != "0" { // the first network device has keys of its own
		if row.Key == guest.CloudInit && c.Device != "" {
			n, below = n.Get(guest.IPConfigs), slices.DeleteFunc(below, func(key string) bool { return key == guest.IPConfigs })
		}
		if list := n; c.Device != "" {
			if n = device(list, c.Device, key); n == list {
				return n, false
			}
		}
	}
	for _, key := range below {
		sub := n.Get(key)
		if sub == nil {
			return n, false
		}
		n = sub
	}
	return n, n != nil
}

// says reports whether the spec, or one of its defaults, has a value for a property.
func (r *resource) says(c tf.Change) bool {
	_, exact := r.node(c)
	return exact
}

// device is the entry of a device in the list of a property: by its interface, or by its number. Network devices have
// only a number: the interface of one is its name in a container.
func device(list *schema.Node, name, property string) *schema.Node {
	if n, err := strconv.Atoi(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz")); err == nil {
		for i, item := range list.List() {
			at := item.Get(guest.Interface).Str()
			if property == guest.Networks {
				at = ""
			}
			if at == name || item.Get(guest.Device).Str() == name || at == "" && i == n {
				return item
			}
		}
	}
	return list
}

// place is where the spec says a property, and its unit. It is nil for what no property sets.
func (r *resource) place(c tf.Change) (at *finding.Place, unit string) {
	row := r.row(c)
	if r.vm == nil || row == nil || row.Key == "" {
		return nil, ""
	}
	if f := schema.FieldAt(r.vm.Kind, row.Name); f != nil {
		unit = f.Unit
	}
	pos := r.vm.Pos
	if n, _ := r.node(c); n != nil && n.File != "" {
		pos = n.Pos
		if at, found := r.poolOf(n); found && row.Key == guest.Pool {
			pos = at
		}
	}
	return &finding.Place{File: pos.File, Line: pos.Line, Column: pos.Col}, unit
}

// isDefault reports whether the spec does not say a property of the VM: its value is a default,
// or follows from another one, such as the name from the key.
func (r *resource) isDefault(c tf.Change) bool {
	n, exact := r.node(c)
	return !exact || n.File == "" || n.Pos == r.vm.Pos
}

// poolOf is where the spec has the pool of its VMs, for a VM without a pool of its own.
func (r *resource) poolOf(n *schema.Node) (schema.Pos, bool) {
	for _, s := range r.Project.Stacks {
		if s.Name == r.at.Stack && s.Pool != nil && n != nil && n.Pos == r.vm.Pos && n.Text == s.Pool.ID {
			return s.Pool.Pos, true
		}
	}
	return schema.Pos{}, false
}

// onlyInState reports whether no VM has a property, but only the state.
func (r *resource) onlyInState(c tf.Change) bool {
	row := r.row(c)
	if row == nil || row.Key == "" {
		return false
	}
	f := schema.FieldAt(guest.KindOf(r.change.Type), row.Name)
	return f != nil && f.Settles
}
