package generator

import (
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// stackFile is a stack file with VMs, as it is rendered.
func stackFile(vms string) []byte {
	return []byte("unit \"proxmox-vm\" {\n  values = {\n    vms = {" + vms + "}\n  }\n}\n")
}

// TestOtherVMs: a render that would replace a VM which was rendered before is
// refused, unless the spec says which VM it is.
func TestOtherVMs(t *testing.T) {
	rendered := &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: lock.Stack{VMs: lock.Ordered[lock.VM]{{Key: "known", Value: lock.VM{VMID: 309}}}}}}}
	const web, other, efi = `"web" = { vm_id = 300, efi_disk = { type = "4m" } }`, `"web" = { vm_id = 301 }`, `"web" = { vm_id = 300, efi_disk = { type = "2m" } }`
	for name, c := range map[string]struct {
		before, after string
		vm            schema.VM
		renamed       []schema.Rename
		want          string // in the reason; empty if nothing is refused
	}{
		"the same":          {before: web, after: web},
		"another VMID":      {before: web, after: other, want: "rendered-with-other-vmid"},
		"adopted":           {before: web, after: other, vm: schema.VM{Adopt: true}},
		"renamed to it":     {before: web, after: other, renamed: []schema.Rename{{From: "old", To: "web"}}},
		"another EFI disk":  {before: web, after: efi, want: "efi-type-changes 4m 2m"},
		"ignored EFI disk":  {before: web, after: efi, vm: schema.VM{Profile: "fixed"}},
		"lost":              {before: web, after: "", want: "rendered-and-lost"},
		"left by the lock":  {before: `"known" = { vm_id = 309 }`, after: ""},
		"unreadable before": {before: "<<<<<<<", after: web},
	} {
		vm := c.vm
		vm.Key = "web"
		p := &schema.Project{Stacks: []*schema.Stack{{Name: "lab", VMs: []*schema.VM{&vm}, Renamed: c.renamed}},
			Profiles: []schema.Profile{{Name: "fixed", IgnoreChanges: []string{"efi_disk"}}}}
		got, err := OtherVMs(p, rendered, "lab", stackFile(c.before), stackFile(c.after))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %+v", name, got)
		case c.want != "" && (len(got) != 1 || !strings.Contains(got[0].Reason.String(), c.want) || got[0].VMID != 300 || len(got[0].Steps) < 2):
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
	if got, err := OtherVMs(&schema.Project{}, rendered, "lab", stackFile(web), nil); err != nil || len(got) != 1 {
		t.Errorf("a removed stack file: %+v, %v", got, err)
	}
}
