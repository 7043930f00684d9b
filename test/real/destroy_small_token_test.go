//go:build unix

package real

import (
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestDestroyWithSmallToken: a token that sees its own VMs only destroys them, unless a volume with their VMID may be that of a
// guest that it does not see.
func TestDestroyWithSmallToken(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(diskSpec(disksOf(8)), "  a: {", "  b: {vmid: 301, "+disksOf(8)+"}\n  a: {vmid: 300, ", 1)
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	seed, err := pvesim.DefaultSeed()
	check(t, err)
	const secret = "5f3c9a10-7e61-4c55-9a53-0000000000aa"
	seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: secret}}})
	seed.Roles = append(seed.Roles, &pvesim.Role{ID: "Cluster", Privileges: []string{"Sys.Audit"}},
		&pvesim.Role{ID: "Operator", Privileges: []string{"VM.Audit", "VM.PowerMgmt", "VM.Monitor", "VM.Config.Options", "VM.Config.Disk"}})
	seed.ACL = append(seed.ACL, &pvesim.Grant{Path: "/", To: "ci@pve", Type: "user", Role: "Cluster", NoPropagate: true})
	for path, role := range map[string]string{"/vms/300": "PVEVMAdmin", "/vms/301": "PVEVMAdmin", "/vms/9002": "PVETemplateUser",
		"/storage/shared": "PVEDatastoreUser", "/sdn/zones/localnetwork": "PVESDNUser"} {
		seed.ACL = append(seed.ACL, &pvesim.Grant{Path: path, To: "ci@pve", Type: "user", Role: role})
	}
	sim := p.simulateSeed(seed)
	p.render()
	p.deployed(0, "apply --yes")
	const lent = "shared:301/vm-301-disk-7.qcow2"
	has := func() (volume, attached bool) {
		sim.Change(func(s *pvesim.Seed) {
			volume = slices.ContainsFunc(s.Volumes, func(v *pvesim.Volume) bool { return v.ID == lent })
			attached = slices.ContainsFunc(s.Guests, func(g *pvesim.Guest) bool { return g.VMID == 123 && strings.HasPrefix(g.Config["scsi5"], lent) })
		})
		return volume, attached
	}
	sim.Change(func(s *pvesim.Seed) {
		s.Volumes = append(s.Volumes, &pvesim.Volume{ID: lent, VMID: 301, Size: 1 << 30, Format: "qcow2", Content: "images"})
		for _, g := range s.Guests {
			if g.VMID == 123 {
				g.Config["scsi5"] = lent + ",size=1G"
			}
		}
	})
	p.tools = p.tools.With("PROXMOX_VE_API_TOKEN=ci@pve!t=" + secret)
	t.Log(p.deployed(3, "destroy live/b --yes", "its destroy may delete a volume that another guest has, which could not be read", lent+" has its VMID",
		"delete_unreferenced_disks: false", "grep -l vm-301-disk-7.qcow2 /etc/pve/nodes/*/*/*.conf"))
	if volume, attached := has(); !volume || !attached {
		t.Errorf("volume %v, attached %v", volume, attached)
	}
	p.write("specs/live.yaml", strings.Replace(spec, "  b: {", "  b: {delete_unreferenced_disks: false, ", 1))
	p.render()
	p.deployed(0, "apply --yes")
	t.Log(p.deployed(0, "destroy live/b --yes"))
	if volume, attached := has(); !volume || !attached || len(stateOf(sim).guests[301].config) > 0 {
		t.Errorf("volume %v, attached %v", volume, attached)
	}

	// One that may stop a VM, and not delete it: the provider would do just that.
	role := func(name string) {
		sim.Change(func(s *pvesim.Seed) {
			for _, g := range s.ACL {
				if g.Path == "/vms/300" {
					g.Role = name
				}
			}
		})
	}
	role("Operator")
	sim.ResetLog()
	t.Log(p.deployed(3, "destroy live/a --yes", "its destroy would fail: the token lacks privileges that it needs",
		"VM.Allocate on /vms: to delete it", "pveum acl modify"))
	noWrites(t, sim)
	role("PVEVMAdmin")
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "  a: {", "  a: {memory: 4096, ", 1))
	p.render() // the units that Terragrunt has generated are of another render now
	t.Log(p.deployed(0, "destroy live/a --yes"))
}
