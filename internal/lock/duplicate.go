package lock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/schema"
)

// again drops what was decided of VMs that were never created: their MAC addresses,
// nodes, templates and clone modes, and the VMID of one that another VM of the lock or a guest
// of the cluster has. A VM that was seen in the cluster keeps all of it.
func (d *decider) again() {
	for _, name := range d.options.Again {
		stack, key, _ := strings.Cut(name, "/")
		var v *VM
		if s := d.lock.Stacks.Get(stack); s != nil {
			v = s.VMs.Get(key)
		}
		f := finding.Finding{Address: finding.Address{Stack: stack, Type: finding.VM, Key: key}, Kind: finding.OtherVM, Severity: finding.Blocked,
			Container: v != nil && v.IsContainer()}
		switch {
		case v == nil:
			f.Kind, f.Reason = finding.NotFound, finding.Why("nothing-decided")
		case v.Status != Live:
			f.Reason = finding.Why("vmid-reserved", v.Status)
		case v.seen():
			f.Reason = finding.Why("vmid-seen")
		default:
			vmid := v.VMID
			if d.old.shared(vmid) || slices.Contains(d.options.VMIDs, vmid) {
				vmid = 0
			}
			*v = VM{
				Kind:    v.Kind,
				VMID:    vmid,
				MACs:    []string{},
				Profile: v.Profile,
				Unit:    v.Unit,
				Member:  v.Member,
				Email:   v.Email,
				Seat:    v.Seat,
				Former:  v.Former,
				at:      v.at,
			}
			continue
		}
		d.result.Refusals = append(d.result.Refusals, f)
	}
	d.before, d.old = d.old, d.lock.clone()
}

// shared reports whether several VMs have a VMID.
func (l *Lock) shared(vmid int) bool {
	n := 0
	for _, s := range l.Stacks {
		for _, v := range s.Value.VMs {
			if v.Value.VMID == vmid && v.Value.Status != Forgotten && s.Value.Status != Forgotten {
				n++
			}
		}
	}
	return n > 1
}

// reserveBefore keeps the VMIDs and MAC addresses of VMs that get others, and those of guests
// of the cluster, from being chosen.
func (d *decider) reserveBefore() {
	for _, name := range d.options.Again {
		stack, key, _ := strings.Cut(name, "/")
		if s := d.before.Stacks.Get(stack); s != nil && s.VMs.Get(key) != nil {
			v := s.VMs.Get(key)
			d.used[v.VMID] = cmp.Or(d.used[v.VMID], "what "+name+" was")
			for _, mac := range v.RecordedMACs() {
				d.takeMAC(mac, "what "+name+" was")
			}
		}
	}
	for _, mac := range d.options.MACs {
		d.takeMAC(mac, "a guest of the cluster")
	}
	for _, vmid := range d.options.VMIDs {
		d.used[vmid] = cmp.Or(d.used[vmid], "a guest of the cluster")
	}
}

// A holder is a VM that has a VMID or MAC address in the lock.
type holder struct {
	stack, key string
	*VM
}

func (h holder) String() string { return h.stack + "/" + h.key }

// refuseDuplicates refuses a lock in which two VMs have one VMID or one MAC address: two
// branches took it, and the merge kept both. A forgotten VM does not count, because
// another stack may have adopted it.
func (d *decider) refuseDuplicates() {
	given := d.givenMACs() // where specs give an address twice, that is their problem
	forgotten := d.forgottenNow()
	vmids, macs := map[int][]holder{}, map[string][]holder{}
	var numbers []int
	var addresses []string
	for i := range d.old.Stacks {
		s := &d.old.Stacks[i]
		for k := range s.Value.VMs {
			v := holder{s.Key, s.Value.VMs[k].Key, &s.Value.VMs[k].Value}
			if s.Value.Status == Forgotten || v.Status == Forgotten || v.VMID == 0 || forgotten[s.Key+"/"] || forgotten[v.String()] {
				continue
			}
			numbers, vmids[v.VMID] = append(numbers, v.VMID), append(vmids[v.VMID], v)
			for _, mac := range v.MACs {
				if mac != "" && mac != schema.AutoMAC && !given[mac] {
					addresses, macs[mac] = append(addresses, mac), append(macs[mac], v)
				}
			}
		}
	}
	slices.Sort(numbers)
	for _, vmid := range slices.Compact(numbers) {
		d.refuseDuplicate(fmt.Sprintf("VMID %d", vmid), "VMID", vmids[vmid])
	}
	d.shared = map[string]bool{}
	slices.Sort(addresses)
	for _, mac := range slices.Compact(addresses) {
		d.shared[mac] = d.refuseDuplicate("MAC address "+mac, "MAC address", macs[mac])
	}
}

// givenMACs are the MAC addresses that specs give.
func (d *decider) givenMACs() map[string]bool {
	out := map[string]bool{}
	for _, s := range d.project.Stacks {
		for _, v := range s.VMs {
			for _, mac := range v.MACs {
				out[mac] = true
			}
		}
	}
	return out
}

// refuseDuplicate refuses what several VMs have, and says which of them was applied
// where that is recorded. It reports whether several have it.
func (d *decider) refuseDuplicate(what, kind string, all []holder) bool {
	if len(all) < 2 {
		return false
	}
	var applied *holder
	certain := 0
	for i := range all {
		if all[i].seen() {
			applied, certain = &all[i], certain+1
		}
	}
	for i, h := range all {
		known := slices.ContainsFunc(d.result.Refusals, func(f finding.Finding) bool {
			return f.Kind == finding.Conflict && f.String() == h.String()
		})
		if known || certain == 1 && h.VM == applied.VM {
			continue
		}
		f := finding.Finding{
			Address:  finding.Address{Stack: h.stack, Type: finding.VM, Key: h.key},
			Object:   finding.Object{VMID: h.VMID},
			Kind:     finding.Conflict,
			Severity: finding.Blocked,
			Reason:   finding.Why("decided-twice", kind),

			Container: h.IsContainer(),
		}
		switch {
		case certain == 1:
			f.Reason = finding.Why("decided-for-applied-vm", kind)
			f.Because("%s: %s is %s's, applied; %s was never applied", h.at, what, applied, h)
			f.Next("give it another "+kind, "stackgen resolve --again "+h.String(), "stackgen render")
		case certain > 1: // one was destroyed, and its VMID given to another one, on a branch that did not know of the observation
			f.Because("%s: %s is that of %s, and %s was seen in the cluster", h.at, what, join(all), h)
			d.forgetDestroyed(&f, h)
		default:
			f.Because("%s: %s is that of %s; which of them was applied is not recorded", h.at, what, join(all))
			f.Next("record which of them was applied, which makes this certain", "stackgen resolve")
			if i > 0 {
				f.Next("or, if none of them was applied, give it another "+kind, "stackgen resolve --again "+h.String(), "stackgen render")
			}
		}
		d.result.Refusals = append(d.result.Refusals, f)
	}
	return true
}

// forgetDestroyed adds the way out for a VM that was destroyed on another branch, where its stack has a spec.
func (d *decider) forgetDestroyed(f *finding.Finding, h holder) {
	i := slices.IndexFunc(d.project.Stacks, func(s *schema.Stack) bool { return s.Name == h.stack })
	if i < 0 {
		return
	}
	s, spec := d.project.Stacks[i], d.options.Specs[h.stack]
	what := "if it does not exist any more, forget it: add to "
	if slices.ContainsFunc(s.VMs, func(v *schema.VM) bool { return v.Key == h.key }) {
		what = "if it does not exist any more, remove it from " + spec + ", and forget it: add to "
	}
	f.Add(finding.DoAll(what+spec+", then render", Entries("forgotten", s.Forgotten, h.key), "stackgen render"))
}

func join(all []holder) string {
	var out []string
	for _, h := range all {
		out = append(out, h.String())
	}
	return strings.Join(out, " and ")
}
