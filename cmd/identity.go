package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/generator"
	"stackgen/internal/disk"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/schema"
)

const stackFile = "terragrunt.stack.hcl"

// identities refuses what would make another VM of one that was rendered
// before. The lock can be lost or edited; what was rendered from it then still
// says which VMs may exist.
func (r *rendering) identities() error {
	for _, c := range r.changes {
		parts := strings.Split(c.Path, "/")
		if len(parts) != 3 || parts[0] != "stacks" || parts[2] != stackFile || c.Old == nil {
			continue
		}
		was, err := generator.Identities(c.Old)
		if err != nil {
			continue // a merge conflict, perhaps: it says nothing that can be relied on
		}
		now := map[string]generator.Identity{}
		if c.Kind == disk.Changed {
			if now, err = generator.Identities(c.New); err != nil {
				return fmt.Errorf("a defect of stackgen, please report it: %w", err)
			}
		}
		for _, key := range slices.SortedFunc(maps.Keys(was), schema.NaturalCompare) {
			if message := r.another(parts[1], key, was[key], now); message != "" {
				r.project.Refusals = append(r.project.Refusals, otherVM(parts[1], key, message, was[key], now[key]))
			}
		}
	}
	return nil
}

// another says what makes a VM another one, or nothing.
func (r *rendering) another(stack, key string, was generator.Identity, now map[string]generator.Identity) string {
	is, stays := now[key]
	if !stays {
		if r.project.Rendered.Has(stack, key) { // how it leaves was judged by the lock
			return ""
		}
		return "rendered before, and neither in the lock nor in a spec: an apply would destroy it"
	}
	s, v := r.vm(stack, key)
	if v == nil || v.Adopt || slices.ContainsFunc(s.Renamed, func(n schema.Rename) bool { return n.To == key }) {
		return "" // somebody said which VM it is
	}
	switch {
	case is.VMID != was.VMID:
		return fmt.Sprintf("rendered with VMID %d before, and with %d now, from a lock that was lost or edited: an apply would destroy it and create another VM", was.VMID, is.VMID)
	case r.keeps(v, "efi_disk", was.EFIType, is.EFIType):
		return fmt.Sprintf("the type of its EFI disk would change from %s to %s: an apply would destroy the VM and create another", was.EFIType, is.EFIType)
	case r.keeps(v, "tpm_state", was.TPMVersion, is.TPMVersion):
		return fmt.Sprintf("the version of its TPM would change from %s to %s: an apply would destroy the VM and create another", was.TPMVersion, is.TPMVersion)
	}
	return ""
}

// keeps reports whether a value that a VM has for good is given another one,
// and its profile does not ignore that.
func (r *rendering) keeps(v *schema.VM, attribute, was, is string) bool {
	if was == "" || is == "" || was == is {
		return false
	}
	return !slices.ContainsFunc(r.project.Stacks.Profiles, func(p schema.Profile) bool { return p.Name == v.Profile && p.Ignores(attribute) })
}

func (r *rendering) vm(stack, key string) (*schema.Stack, *schema.VM) {
	for _, s := range r.project.Stacks.Stacks {
		if i := slices.IndexFunc(s.VMs, func(v *schema.VM) bool { return v.Key == key }); s.Name == stack && i >= 0 {
			return s, s.VMs[i]
		}
	}
	return nil, nil
}

// otherVM refuses to make another VM of one that was rendered before.
func otherVM(stack, key, reason string, was, is generator.Identity) finding.Finding {
	f := finding.Finding{Address: finding.Address{Stack: stack, Type: finding.VM, Key: key}, Object: finding.Object{VMID: was.VMID},
		Kind: finding.OtherVM, Severity: finding.Blocked, Reason: reason}
	if was.VMID != is.VMID {
		f.Next("restore the lock", "git checkout -- "+lock.File)
		f.Next("or, if it is lost, write into the spec which VM this is", fmt.Sprintf("%s: {vmid: %d}", key, was.VMID))
	} else {
		f.Next("undo the change in the spec")
		f.Add(finding.DoAll("or, for a new VM, give it a new key and retire this one", finding.Entries("retired", key)))
	}
	f.Next("or, if nothing of this stack was ever applied, remove what was rendered", "rm stacks/"+stack+"/"+stackFile, "stackgen render")
	return f
}
