//go:build unix

package real

import (
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// feasibleFaults are new VMs whose creation fails halfway. docs/feasibility.md has all
// reasons; these rows show that the provider does what the test of that table does.
func feasibleFaults() []fault {
	add := func(properties string) func(*faultCase) {
		return func(w *faultCase) { w.editSpec(faultLast, faultLast+"  d: {node: pve1, "+properties+"}\n") }
	}
	return []fault{
		fault{name: "disk of a new VM smaller than its template's", event: add("disks: [{interface: scsi0, size: 2, datastore: shared}]"), harm: "creates 303"}.refusedInBoth("cannot-create d", "a disk is smaller than in its template"),
		fault{name: "bridge of a new VM absent", event: add("networks: [{bridge: vmbr9}]"), harm: "creates 303"}.refusedInBoth("cannot-create d", "node pve1 has no bridge or virtual network vmbr9"),
		fault{name: "boot order of a new VM with a disk that it does not have", event: add("boot_order: [scsi3]"), harm: "creates 303"}.refusedInBoth("cannot-create d", "its boot order names scsi3, which it does not have"),
		fault{name: "token without VM.Config.CPU, new VM", event: both(limitToken("VM.Config.CPU"), addToSpec), harm: "creates 303"}.refusedInBoth("cannot-create d", "the token lacks privileges that its creation needs"),
		fault{name: "token without VM.Config.Disk, new VM with the template's disk", event: both(limitToken("VM.Config.Disk"), add("disks: [{interface: scsi0, size: 3, datastore: shared}]")), harm: "creates 303"}.refusedInBoth("cannot-create d", "the token lacks privileges that its creation needs"),
	}
}

// limitToken makes the project use a token with all privileges but one.
func limitToken(privilege string) func(*faultCase) {
	return func(w *faultCase) {
		w.sim.Change(func(s *pvesim.Seed) {
			s.Users = append(s.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: feasibleSecret}}})
		})
		h := &host{faultCase: w}
		privileges := slices.DeleteFunc(strings.Split(feasibleRights, ","), func(p string) bool { return p == privilege })
		for _, c := range [][]string{{"pveum", "role", "add", "most", "--privs", strings.Join(privileges, ",")}, {"pveum", "acl", "modify", "/", "--users", "ci@pve", "--roles", "most"}} {
			if _, err := h.run(hostCommand{Args: c}); err != nil {
				w.Fatal(err)
			}
		}
		w.tools = w.tools.With("PROXMOX_VE_API_TOKEN=ci@pve!t=" + feasibleSecret)
	}
}
