package generator

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// OtherVMs refuses what would replace VMs that were rendered before. rendered is
// the lock on disk, before and after are the stack file on disk and the new one,
// which is nil if the file is removed.
func OtherVMs(p *schema.Project, rendered *lock.Lock, stack string, before, after []byte) ([]finding.Finding, error) {
	if bytes.Equal(localsIn(before), localsIn(after)) { // else the same text has another meaning
		for _, indent := range []string{"", strings.Repeat(" ", vmIndent)} { // units, then VMs
			before, after = withoutCommon(before, after, indent)
		}
	}
	old, err := Identities(before)
	if err != nil {
		return nil, nil // it may hold a merge conflict, and proves nothing
	}
	now := map[string]Identity{}
	if after != nil {
		if now, err = Identities(after); err != nil {
			return nil, err
		}
	}
	var out []finding.Finding
	for _, key := range slices.SortedFunc(maps.Keys(old), natural.Compare) {
		is, stays := now[key]
		var reason finding.Reason
		switch {
		case stays:
			if reason = replaces(p, rendered, stack, key, old[key], is); reason.Code == "" && !rendered.Has(stack, key) {
				reason = otherMAC(p, stack, key, old[key], is)
			}
		case !rendered.Has(stack, key) && !rendered.Has(p.NewName(stack), key) &&
			!renamedIn(rendered, p, stack, key, old[key].VMID): // else the lock has decided how it leaves
			reason = finding.Why("rendered-and-lost")
		}
		if reason.Code != "" {
			_, v := findVM(p, stack, key)
			out = append(out, otherVM(v, stack, key, reason, old[key], is))
		}
	}
	return out, nil
}

// replaces says why an apply would replace a VM, or nothing.
func replaces(p *schema.Project, rendered *lock.Lock, stack, key string, was, is Identity) finding.Reason {
	s, v := findVM(p, stack, key)
	if v == nil || v.Adopt || slices.ContainsFunc(s.Renamed, func(n schema.Rename) bool { return n.To == key }) {
		return finding.Reason{} // the spec says which VM it is
	}
	switch {
	case is.VMID == v.VMID && is.VMID != was.VMID && rendered.Unseen(stack, key, was.VMID): // the spec gives it another one
	case is.VMID != was.VMID:
		return finding.Why("rendered-with-other-vmid")
	case changes(p, v, "efi_disk", was.EFIType, is.EFIType):
		return finding.Why("efi-type-changes", was.EFIType, is.EFIType)
	case changes(p, v, "tpm_state", was.TPMVersion, is.TPMVersion):
		return finding.Why("tpm-version-changes", was.TPMVersion, is.TPMVersion)
	}
	return finding.Reason{}
}

// otherMAC says which MAC address that the lock decided would change, or nothing.
func otherMAC(p *schema.Project, stack, key string, was, is Identity) finding.Reason {
	_, v := findVM(p, stack, key)
	for i := range min(len(was.MACs), len(is.MACs)) {
		if was.MACs[i] != is.MACs[i] && was.MACs[i] != "" && v != nil && v.MACs[i] == "" {
			return finding.Why("rendered-with-other-mac")
		}
	}
	return finding.Reason{}
}

// changes reports whether a value changes that the VM's profile does not ignore.
func changes(p *schema.Project, v *schema.VM, attribute, was, is string) bool {
	if was == "" || is == "" || was == is {
		return false
	}
	return !slices.ContainsFunc(p.Profiles, func(p schema.Profile) bool { return p.Name == v.Profile && p.Ignores(attribute) })
}

// renamedIn reports whether the lock has a VM with the VMID under another key, which a
// rename gave it. The stack may have another name there, too.
func renamedIn(l *lock.Lock, p *schema.Project, stack, key string, vmid int) bool {
	s := l.Stacks.Get(stack)
	if s == nil {
		stack = p.NewName(stack)
		s = l.Stacks.Get(stack)
	}
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.VMs, func(e lock.Entry[lock.VM]) bool {
		if e.Value.VMID != vmid {
			return false
		}
		spec, _ := findVM(p, stack, e.Key)
		return slices.ContainsFunc(e.Value.Former, func(a lock.Address) bool { return a.Key == key }) ||
			spec != nil && slices.ContainsFunc(spec.Renamed, func(r schema.Rename) bool { return r.From == key && r.To == e.Key })
	})
}

func findVM(p *schema.Project, stack, key string) (*schema.Stack, *schema.VM) {
	for _, s := range p.Stacks {
		if i := slices.IndexFunc(s.VMs, func(v *schema.VM) bool { return v.Key == key }); s.Name == stack && i >= 0 {
			return s, s.VMs[i]
		}
	}
	return nil, nil
}

// otherVM refuses to replace a VM that was rendered before.
func otherVM(v *schema.VM, stack, key string, reason finding.Reason, was, is Identity) finding.Finding {
	spec, line := "the spec", fmt.Sprintf("%s: {vmid: %d}", finding.Key(key), was.VMID)
	if v != nil {
		spec, line = v.File, fmt.Sprintf("vmid: %d  # %s", was.VMID, strings.Join(v.OwnEntry(), "."))
	}
	f := finding.Finding{Address: finding.Address{Stack: stack, Type: finding.VM, Key: key}, Object: finding.Object{VMID: was.VMID},
		Kind: finding.OtherVM, Severity: finding.Blocked, Reason: reason}
	f.Container = v != nil && v.IsContainer()
	switch {
	case was.VMID != is.VMID:
		if is.VMID != 0 {
			f.Because("VMID %d before, %d now", was.VMID, is.VMID)
		}
		f.Next("restore the lock", lock.Restore)
		f.Next("or, if it is lost, write into "+spec+" which VMID it has", line)
	case !slices.Equal(was.MACs, is.MACs):
		f.Because("MAC addresses %q before, %q now", was.MACs, is.MACs)
		f.Next("restore the lock", lock.Restore)
		var lines []string
		for i, mac := range was.MACs {
			lines = append(lines, fmt.Sprintf("mac: %s  # networks of %s, entry %d", cmp.Or(mac, schema.AutoMAC), key, i+1))
		}
		f.Next("or, if it is lost, write into "+spec+" which MAC addresses it has", lines...)
	default:
		f.Next("undo the change in " + spec)
		f.Add(finding.DoAll("or, for a new one, give it a new key in "+spec+" and retire this one",
			finding.Entries("retired", key), "stackgen render"))
	}
	f.Next("or, if nothing of this stack was ever applied, remove what was rendered", "rm stacks/"+stack+"/"+StackFile, "stackgen render")
	return f
}
