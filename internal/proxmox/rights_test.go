package proxmox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// A rightsCase is a set of ACL entries, and what a token then can see.
type rightsCase struct {
	name    string
	privsep bool
	grants  func(*pvesim.Seed)
	gaps    string   // paths and privileges
	guests  string   // visible VMIDs
	free    string   // of 201, 203, 300
	fix     []string // parts of the commands that close the gaps
}

func rightsCases() []rightsCase {
	const token = "--tokens 'audit@pve!t' --roles PVEAuditor"
	const user = "--users 'audit@pve' --roles PVEAuditor"
	return []rightsCase{
		{"none", true, func(*pvesim.Seed) {}, "/ Sys.Audit, /vms VM.Audit", "[]", "[]",
			[]string{"pveum acl modify /vms " + token, "pveum acl modify / " + token}},
		{"everything", true, func(s *pvesim.Seed) { grant(s, "/", "PVEAuditor", true) }, "", "[123 124 125 201 202 203 700 9000 9002 9010 9011]", "[300]", nil},
		{"everything, without privsep", false, func(s *pvesim.Seed) {
			s.ACL = append(s.ACL, &pvesim.Grant{Path: "/", To: "audit@pve", Role: "PVEAuditor"})
		}, "", "[123 124 125 201 202 203 700 9000 9002 9010 9011]", "[300]", nil},
		{"the user, not its token", true, func(s *pvesim.Seed) {
			s.ACL = append(s.ACL, &pvesim.Grant{Path: "/", To: "audit@pve", Role: "PVEAuditor"})
		}, "/ Sys.Audit, /vms VM.Audit", "[]", "[]", []string{token}},
		{"one VM only", true, func(s *pvesim.Seed) { grant(s, "/vms/201", "PVEAuditor", false) }, "/ Sys.Audit, /vms VM.Audit", "[201]", "[]",
			[]string{"pveum acl modify /vms " + token + " && pveum acl modify /vms " + user}},
		{"a VMID that does not exist", true, func(s *pvesim.Seed) { grant(s, "/vms/300", "PVEAuditor", false) }, "/ Sys.Audit, /vms VM.Audit", "[]", "[300]", nil},
		{"on /vms, not propagated", true, func(s *pvesim.Seed) { grant(s, "/vms", "PVEAuditor", false) }, "/ Sys.Audit, /vms VM.Audit", "[]", "[]", nil},
		{"on /vms", true, func(s *pvesim.Seed) { grant(s, "/vms", "PVEAuditor", true) }, "/ Sys.Audit", "[123 124 125 201 202 203 700 9000 9002 9010 9011]", "[300]", nil},
		{"all but one", true, func(s *pvesim.Seed) { grant(s, "/", "PVEAuditor", true); grant(s, "/vms/203", "NoAccess", true) }, "/vms/203 VM.Audit",
			"[123 124 125 201 202 700 9000 9002 9010 9011]", "[300]", []string{"pveum acl delete /vms/203 --tokens 'audit@pve!t' --roles NoAccess && pveum acl delete /vms/203 --users 'audit@pve' --roles NoAccess"}},
		{"all but one, by a role without VM.Audit", true, func(s *pvesim.Seed) {
			grant(s, "/", "PVEAuditor", true)
			grant(s, "/vms/203", "PVEDatastoreUser", true)
		}, "/vms/203 VM.Audit",
			"[123 124 125 201 202 700 9000 9002 9010 9011]", "[300]", nil},
		{"a pool", true, func(s *pvesim.Seed) { grant(s, "/pool/lab", "PVEAuditor", false) }, "/ Sys.Audit, /vms VM.Audit", "[201 202]", "[]", nil},
		{"on / without VM.Audit", true, func(s *pvesim.Seed) { grant(s, "/", "PVEDatastoreUser", true) }, "/ Sys.Audit, /vms VM.Audit", "[]", "[]",
			[]string{"pveum acl modify / " + token}},
	}
}

func TestRights(t *testing.T) {
	for _, version := range []string{"8.4", "9"} {
		for _, c := range rightsCases() {
			t.Run(version+" "+c.name, func(t *testing.T) {
				seed := smallCluster(t)
				addAuditor(seed, c.privsep)
				c.grants(seed)
				s := start(t, pvesim.Options{Seed: seed, Version: version})
				inv := mustRead(t, s, "audit@pve!t", proxmox.Wanted{VMIDs: []int{201, 203, 300}})
				guests := []int{}
				for _, g := range inv.Guests {
					guests = append(guests, g.VMID)
				}
				if got := gaps(inv); got != c.gaps {
					t.Errorf("gaps %q, want %q", got, c.gaps)
				}
				if got := fmt.Sprint(guests); got != c.guests {
					t.Errorf("guests %s, want %s", got, c.guests)
				}
				if got := fmt.Sprint(inv.Free); got != c.free {
					t.Errorf("free %s, want %s", got, c.free)
				}
				fix := ""
				for _, g := range inv.Gaps {
					fix += g.Fix + "\n"
				}
				for _, want := range c.fix {
					if !strings.Contains(fix, want) {
						t.Errorf("the commands lack %q:\n%s", want, fix)
					}
				}
				blind := len(inv.GapsForVM(300)) > 0
				if blind != (c.free != "[300]") {
					t.Errorf("blind for 300: %t", blind)
				}
			})
		}
	}
}

// TestFixClosesGaps runs the commands of gaps. A role that is added beside NoAccess
// changes nothing, so that role is removed.
func TestFixClosesGaps(t *testing.T) {
	for name, c := range map[string]struct {
		grants func(*pvesim.Seed)
		gaps   string
	}{
		"nothing is granted": {func(*pvesim.Seed) {}, "/ Sys.Audit, /vms VM.Audit, /pool/lab Pool.Audit"},
		"NoAccess on a VM":   {func(s *pvesim.Seed) { grant(s, "/", "PVEAuditor", true); grant(s, "/vms/203", "NoAccess", true) }, "/vms/203 VM.Audit"},
		"NoAccess on all VMs, whose list of entries cannot be read": {func(s *pvesim.Seed) {
			grant(s, "/", "PVEAuditor", true)
			grant(s, "/vms", "NoAccess", true)
			grant(s, "/access", "PVEDatastoreUser", true)
		}, "/vms VM.Audit"},
		"NoAccess on the pool": {func(s *pvesim.Seed) { grant(s, "/", "PVEAuditor", true); grant(s, "/pool/lab", "NoAccess", true) }, "/pool/lab Pool.Audit"},
		"NoAccess for the token only": {func(s *pvesim.Seed) {
			grant(s, "/", "PVEAuditor", true)
			s.ACL = append(s.ACL, &pvesim.Grant{Path: "/vms", Type: "token", To: "audit@pve!t", Role: "NoAccess"})
		}, "/vms VM.Audit"},
	} {
		t.Run(name, func(t *testing.T) {
			seed := smallCluster(t)
			addAuditor(seed, true)
			c.grants(seed)
			s := start(t, pvesim.Options{Seed: seed})
			want := proxmox.Wanted{VMIDs: []int{203}, Pools: []string{"lab"}, Paths: []string{"/pool/lab"}}
			inv := mustRead(t, s, "audit@pve!t", want)
			if gaps(inv) != c.gaps {
				t.Fatalf("gaps %q", gaps(inv))
			}
			for _, g := range inv.Gaps {
				for line := range strings.SplitSeq(g.Fix, " && ") {
					modifyACL(t, s.Server, line)
				}
			}
			if inv = mustRead(t, s, "audit@pve!t", want); gaps(inv) != "" || len(inv.Guests) != 11 {
				t.Errorf("gaps %q after the commands, %d guests", gaps(inv), len(inv.Guests))
			}
		})
	}
}

// modifyACL runs pveum acl modify, or delete.
func modifyACL(t *testing.T, s *pvesim.Server, line string) {
	t.Helper()
	f := strings.Fields(line)
	if len(f) != 8 || f[0]+f[1] != "pveumacl" || f[2] != "modify" && f[2] != "delete" {
		t.Fatalf("not a pveum command: %q", line)
	}
	grant := pvesim.Grant{Path: f[3], Type: strings.TrimSuffix(strings.TrimPrefix(f[4], "--"), "s"), To: strings.Trim(f[5], "'"), Role: f[7]}
	s.Change(func(seed *pvesim.Seed) {
		if f[2] == "modify" {
			seed.ACL = append(seed.ACL, &grant)
			return
		}
		seed.ACL = slices.DeleteFunc(seed.ACL, func(g *pvesim.Grant) bool { return *g == grant })
	})
}

func TestAgentPrivileges(t *testing.T) {
	for version, want := range map[string]string{"8.4": "/vms VM.Monitor", "9": ""} {
		seed := smallCluster(t)
		addAuditor(seed, true)
		grant(seed, "/", "PVEAuditor", true)
		s := start(t, pvesim.Options{Seed: seed, Version: version})
		inv := mustRead(t, s, "audit@pve!t", proxmox.Wanted{VMIDs: []int{123}})
		if gaps(inv) != want || len(inv.GapsForVM(123)) != 0 || (len(inv.GapsForAgent(123)) > 0) != (want != "") {
			t.Errorf("%s: gaps %q", version, gaps(inv))
		}
		if want != "" && (inv.Guest(123).Config.Agent != "" || !strings.Contains(inv.Gaps[0].Fix, "pveum role add StackgenAgent --privs VM.Monitor")) {
			t.Errorf("%s: %+v", version, inv.Gaps)
		}
		if want == "" && inv.Guest(123).Config.Agent != cluster.AgentAnswers && inv.Guest(123).Config.Agent != cluster.AgentSilent {
			t.Errorf("%s: the agent was not queried", version)
		}
	}
}
