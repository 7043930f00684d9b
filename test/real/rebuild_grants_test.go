//go:build unix

package real

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"stackgen/internal/pvesim"
)

// A grantCase is a token that a rebuild refuses because of what it may not see or do.
type grantCase struct {
	name  string
	blind []string // paths on which it has no VM.Audit
	none  []string // paths on which it has nothing
	vnet  bool     // the VM has a NIC on a virtual network
	zones string   // the role on all zones
	model bool     // the template has a CPU model of the administrator
	says  string
}

// TestRebuildPastesGrants runs a rebuild with tokens that may not see or do all of it. It writes nothing, and the lines
// with pveum that it prints are enough: after them, the same command rebuilds the VM.
func TestRebuildPastesGrants(t *testing.T) {
	t.Parallel()
	for _, c := range []grantCase{
		{name: "VM.Audit on the template", blind: []string{"/vms/9002"}, says: "VM.Audit on /vms/9002"},
		{name: "nothing on the template", none: []string{"/vms/9002"}, says: "VM.Clone on /vms/9002"},
		{name: "nothing on a storage", none: []string{"/storage/local-lvm"}, says: "/storage/local-lvm"},
		{name: "nothing on a bridge", none: []string{"/sdn/zones/localnetwork"}, says: "SDN.Use on /sdn/zones/localnetwork/vmbr0"},
		{name: "only audit of the zones", vnet: true, zones: "PVEAuditor", says: "SDN.Use on /sdn/zones/lab"},
		{name: "nothing on the zones", vnet: true, zones: "NoAccess", says: "the token does not see all networks"},
		{name: "nothing on the CPU model", model: true, none: []string{"/mapping/cpu/lab"}, says: "Mapping.Use on /mapping/cpu/lab"},
		{name: "nothing on the zone", vnet: true, none: []string{"/sdn/zones/lab"}, says: "virtual network vnet1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c *grantCase) run(t *testing.T) {
	spec := oneSpec
	if c.vnet {
		spec = "vms: {a: {networks: [{bridge: vnet1}]}}"
		spec = oneSpec[:len(oneSpec)-len("vms: {a: {}}\n")] + spec + "\n"
	}
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	seed, err := pvesim.DefaultSeed()
	check(t, err)
	roleWithoutAudit(seed)
	seed.VNets = append(seed.VNets, &pvesim.VNet{ID: "vnet1", Zone: "lab"})
	if c.model {
		seed.Version, seed.CPUs = "9", []string{"lab"}
		for _, g := range seed.Guests {
			if g.VMID == 9002 {
				g.Config["cpu"] = "custom-lab"
			}
		}
	}
	sim := p.simulateSeed(seed)
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	before := p.identities()

	w := &faultCase{T: t, dir: p.dir, sim: sim, tools: p.tools}
	hideGuests(c.blind...)(w)
	sim.Change(func(s *pvesim.Seed) {
		for _, path := range c.none {
			s.ACL = append(s.ACL, &pvesim.Grant{Path: path, Type: "token", To: "root@pam!narrow", Role: "NoAccess"})
		}
		if c.zones != "" {
			s.ACL = append(s.ACL, &pvesim.Grant{Path: "/sdn/zones", Type: "token", To: "root@pam!narrow", Role: c.zones})
		}
	})
	w.startHost()
	p.tools = w.tools
	said := ""
	for round := 1; ; round++ {
		sim.ResetLog()
		command := p.command("rebuild live/a --yes")
		out, _ := command.CombinedOutput() // its exit code is looked at
		if said = string(out); command.ProcessState.ExitCode() == 0 {
			break
		}
		p.Logf("%s", said)
		noWrites(t, sim)
		if now := p.identities(); !maps.Equal(now, before) {
			t.Fatalf("%v, before %v", now, before)
		}
		if round == 1 {
			p.contains(said, c.says)
		}
		lines := pastedGrant.FindAllStringSubmatch(said, -1)
		if round > 2 || len(lines) == 0 || command.ProcessState.ExitCode() != 3 { // the second is for what the first one shows
			t.Fatalf("round %d: exit %d\n%s", round, command.ProcessState.ExitCode(), said)
		}
		for _, line := range lines {
			p.succeeds("", "sh", "-c", line[1])
			p.Log(line[1])
		}
	}
	p.contains(said, "live is as its spec says")
	if now := p.identities(); now["a"].uuid == before["a"].uuid {
		t.Error("live/a was not rebuilt")
	}
}

// TestDestroyMovedPasted destroys a container that was migrated by hand, by the lines that the refusal prints: the apply imports
// it from where it is, without a write to it.
func TestDestroyMovedPasted(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\n" +
		"containers:\n  a: {node: pve1, template: \"local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz\", networks: [{bridge: vmbr0}]}\n"})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	callAPI(t, sim, http.MethodPost, "/nodes/pve1/lxc/300/migrate", url.Values{"target": {"pve2"}, "restart": {"1"}})
	waitUntil(t, "the container is on pve2", func() bool { g := stateOf(sim).guests[300]; return g.node == "pve2" && g.running })
	for _, part := range []string{"", " live/a"} {
		sim.ResetLog()
		said := p.deployed(3, "destroy --yes"+part, "blocked moved", "let an apply import it from where it is, then destroy it")
		line := regexp.MustCompile(`(?m)^ +stackgen (apply .*)$`).FindStringSubmatch(said)
		if line == nil {
			t.Fatalf("it prints no apply\n%s", said)
		}
		if part == "" { // it is the same line: it is pasted once
			continue
		}
		p.deployed(0, line[1]+" --yes", "live is as its spec says")
		if n := sim.Writes(300); n != 0 {
			t.Errorf("%d writes to the container", n)
		}
		p.deployed(0, "destroy --yes"+part, "destroyed live/a")
	}
	if g, left := stateOf(sim).guests[300]; left {
		t.Errorf("it exists: %v", g)
	}
}
