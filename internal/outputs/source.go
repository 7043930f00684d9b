package outputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// A Source is what is known of one stack.
type Source struct {
	Stack   *schema.Stack
	Command func(name string) string // a command of stackgen for the stack
	Lock    *lock.Stack
	Applied bool                       // a state of its guests has resources
	Values  map[string]json.RawMessage // the outputs of the VM unit, by name
	Live    map[string]Live            // what the cluster has, by key; nil if it was not read

	Containers map[string]json.RawMessage // the outputs of the unit of containers

	Partial bool     // an apply has failed: VMs without outputs are left out, and named
	Without []string // with Partial, the keys of VMs that the apply has not completed: they are left out, too
}

// Live is what the cluster has of a VM.
type Live struct {
	Node      string   // empty if no guest is certainly the VM
	Addresses []string // that its guest agent reports
}

// machine is an element of the output vms.
type machine struct {
	ID   *int    `json:"id"`
	Name *string `json:"name"`
	Node *string `json:"node"`
	IPv4 *string `json:"ipv4"`
	MAC  *string `json:"mac"`
}

// Read joins what is known of a stack. An error says which VMs it cannot tell anything
// of, why, and what to do.
func (s *Source) Read() (*Registration, error) {
	machines, absent, err := s.machines()
	if err != nil {
		return nil, err
	}
	meta, err := s.meta()
	if err != nil {
		return nil, err
	}
	r := &Registration{Stack: s.Stack.Name, spec: s.Stack.Spec, base: Base(s.Stack)}
	if s.Stack.Kind == schema.KindClass {
		r.Class = s.Stack.Name
	}
	var errs []error
	if len(absent) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: not in the files, because the apply has not completed it: %s", r.Stack, list(absent)))
	}
	for _, v := range s.Stack.VMs {
		if slices.Contains(absent, v.Key) {
			continue
		}
		vm, err := newVM(s.Stack, v, machines[v.Key], meta[v.Key])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s/%s: %w", s.Stack.Name, v.Key, err))
		}
		r.VMs = append(r.VMs, vm)
	}
	if len(errs) == 0 && s.Live != nil {
		errs = append(errs, s.takeLive(r))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if endpoint := s.Stack.Proxmox.Endpoint; endpoint != "" {
		for i := range r.VMs {
			v := &r.VMs[i]
			v.Console = optional(v.kind.Console(endpoint, v.VMID, v.Name, v.Node))
		}
	}
	slices.SortFunc(r.VMs, func(a, b VM) int { return natural.Compare(a.Key, b.Key) })
	r.warn(s.Live != nil)
	return r, r.twins()
}

// outputs are the elements of the outputs with the guests, by key.
func (s *Source) outputs() (map[string]machine, error) {
	out, name := map[string]machine{}, s.Stack.Name
	kinds := slices.DeleteFunc(guest.Kinds(), func(kind guest.Kind) bool {
		return !slices.ContainsFunc(s.Stack.VMs, func(v *schema.VM) bool { return v.IsContainer() == (kind == guest.Container) })
	})
	for i, kind := range kinds {
		body := s.Values[kind.List()]
		if kind == guest.Container {
			body = s.Containers[kind.List()]
		}
		if len(body) == 0 && len(kinds) > 1 && (s.Partial || i > 0) {
			continue // their guests are named as those without outputs
		}
		switch {
		case len(body) == 0 && !s.Applied:
			return nil, s.apply("%s has no outputs: it was never applied, or its state is empty; "+
				"apply it, then run the same command again", name)
		case len(body) == 0:
			return nil, s.apply("the state of %s has guests and no output "+kind.List()+"; apply it again, then run the same command again", name)
		}
		var of map[string]machine
		if err := json.Unmarshal(body, &of); err != nil {
			return nil, s.apply("the output "+kind.List()+" of %s is not that of the module of this stackgen; "+
				"render, apply, then run the same command again", name)
		}
		maps.Copy(out, of)
	}
	return out, nil
}

// machines are the elements of the output vms, one for each VM of the lock. absent are the
// keys of the VMs that are left out.
func (s *Source) machines() (found map[string]machine, absent []string, err error) {
	name := s.Stack.Name
	if len(s.Stack.VMs) == 0 {
		return nil, nil, fmt.Errorf("%s has no outputs: its spec has no VM and no container", name)
	}
	out, err := s.outputs()
	if err != nil {
		return nil, nil, err
	}
	var missing, others, foreign []string
	entries := s.Lock.VMs.ByKey()
	for _, v := range s.Stack.VMs {
		m, ok := out[v.Key]
		switch entry := entries[v.Key]; {
		case !ok || m.ID == nil, s.Partial && slices.Contains(s.Without, v.Key):
			missing = append(missing, v.Key)
		case entry != nil && entry.VMID != *m.ID:
			others = append(others, fmt.Sprintf("%s (VMID %d; %d in the lock)", v.Key, *m.ID, entry.VMID))
		}
	}
	for key := range out {
		if entries[key] == nil {
			if ok, _ := schema.Matches("key", key); !ok {
				key = strconv.Quote(key)
			}
			foreign = append(foreign, key)
		}
	}
	slices.SortFunc(foreign, natural.Compare)
	slices.SortFunc(missing, natural.Compare)
	switch {
	case len(others) > 0:
		return nil, nil, s.preflight("%s: the outputs are those of other guests: %s. "+
			"It is the state of another spec, or the lock was changed", name, list(others))
	case len(missing) == len(s.Stack.VMs) && len(foreign) > 0:
		return nil, nil, s.preflight("%s: the state has outputs of other guests only: %s. "+
			"It is the state of another spec", name, list(foreign))
	case len(missing) > 0 && (!s.Partial || len(missing) == len(s.Stack.VMs)):
		return nil, nil, s.apply("%s: no outputs of %s: not applied yet, or the apply failed; "+
			"apply, then run the same command again", name, list(missing))
	}
	return out, missing, nil
}

// meta is the output meta. A module without it, or without any, has none.
func (s *Source) meta() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for _, body := range []json.RawMessage{s.Values[guest.Meta], s.Containers[guest.Meta]} {
		if len(body) == 0 {
			continue
		}
		if err := json.Unmarshal(body, &out); err != nil {
			return nil, s.apply("the output meta of %s is not that of the module of this stackgen; "+
				"render, apply, then run the same command again", s.Stack.Name)
		}
	}
	return out, nil
}

// apply is an error that an apply resolves.
func (s *Source) apply(format string, args ...any) error {
	return fmt.Errorf(format+"\n  %s", append(args, s.Command("apply"))...)
}

// preflight is an error that preflight explains.
func (s *Source) preflight(format string, args ...any) error {
	return fmt.Errorf(format+"\n  %s", append(args, s.Command("preflight"))...)
}

// takeLive takes nodes and addresses from the cluster.
func (s *Source) takeLive(r *Registration) error {
	var absent, silent, others []string
	for i := range r.VMs {
		v := &r.VMs[i]
		live := s.Live[v.Key]
		if live.Node == "" {
			absent = append(absent, v.Key)
			continue
		}
		v.Node = live.Node
		if err := v.check(); err != nil {
			return fmt.Errorf("%s/%s: %w", r.Stack, v.Key, err)
		}
		switch now := firstIPv4(live.Addresses); {
		case slices.Contains(live.Addresses, string(v.IPv4)):
		case now != "" && v.static: // a guest can report any address, and the spec says which one it has
			others = append(others, v.Key)
		case now != "":
			v.IPv4 = optional(now)
		case v.IPv4 != "" && !v.static:
			silent = append(silent, v.Key)
		}
	}
	slices.SortFunc(absent, natural.Compare)
	slices.SortFunc(silent, natural.Compare)
	slices.SortFunc(others, natural.Compare)
	if len(others) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: the address of %s is that of the spec: the guest agent reports other ones only",
			r.Stack, list(others)))
	}
	if len(silent) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: the address of %s is that of the last apply: no guest agent reports one now",
			r.Stack, list(silent)))
	}
	if len(absent) > 0 {
		return s.preflight("%s: the cluster has no guest that is certainly %s", r.Stack, list(absent))
	}
	return nil
}

// listed bounds how many names a message has.
const listed = 12

// list is a list of names for a message.
func list(names []string) string {
	if more := len(names) - listed; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:listed], ", "), more)
	}
	return strings.Join(names, ", ")
}
