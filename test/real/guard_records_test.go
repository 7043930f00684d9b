package real

import (
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

const (
	recordsDefaults = "defaults: {node: pve1, template: 9002, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\n"
	recordsB        = "  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}}\n"
	recordsBoth     = recordsDefaults + "vms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n" + recordsB
	recordsRetired  = recordsDefaults + "retired: [a]\nvms:\n" + recordsB
	recordsC        = "  c: {name: new, cloud_init: {ipv4: 10.0.0.9/24}}\n"
)

// onEachGuard runs a case in both DNS modes, with both levels of the guard.
func onEachGuard(t *testing.T, do func(t *testing.T, g *dnsCluster, dns, unit string)) {
	for mode, unit := range map[string]string{"per-vm": "dns-b", "per-stack": "dns"} {
		for _, level := range []string{"full", "fast"} {
			t.Run(mode+"/"+level, func(t *testing.T) {
				dns := "DNS, mode: " + mode + "\nguard: " + level + " # \n"
				g := newDNSCluster(t, dns+recordsBoth)
				g.apply()
				do(t, g, dns, unit)
			})
		}
	}
}

// is renders another spec.
func (c *dnsCluster) is(rest string) {
	c.Helper()
	c.write("specs/live.yaml", c.liveText(rest))
	c.render()
}

// protect sets the protection of the VM that is to be retired.
func (c *dnsCluster) protect(value string) {
	c.sim.Change(func(seed *pvesim.Seed) {
		for _, g := range seed.Guests {
			if g.Config["name"] == "web" {
				g.Config["protection"] = value
			}
		}
	})
}

// refused runs Terragrunt, which must be refused, and leave the cluster and DNS as they
// were.
func (c *dnsCluster) refused(dir, command string, want ...string) {
	c.Helper()
	c.sim.ResetLog()
	c.fails(dir, strings.Fields(command), want...)
	if n := c.sim.Counters().Writes; n != 0 {
		c.Errorf("%s was refused after %d writes", command, n)
	}
	c.has("web", "10.0.0.7")
	c.has("db", "10.0.0.8")
}

// TestGuardRefusedKeepsRecords: a refused apply removes no record of a retired VM. A
// right one removes its record and the VM in one run.
func TestGuardRefusedKeepsRecords(t *testing.T) {
	onEachGuard(t, func(t *testing.T, g *dnsCluster, dns, unit string) {
		g.is(dns + recordsRetired)
		g.protect("1")
		for _, command := range []string{"stack run apply --non-interactive", "stack run apply --non-interactive --queue-ignore-errors"} {
			g.refused("stacks/live", command, "its protection is on")
		}
		g.protect("0")

		// The VM unit alone would leave the record in DNS.
		const alone = "apply of this unit alone destroys the VM, and its record stays in DNS"
		g.refused(unitDir("live", "proxmox-vm"), "apply -auto-approve", alone, "(cd stacks/live && terragrunt stack run apply)")
		g.refused("stacks/live", "stack run apply --non-interactive --queue-include-dir .terragrunt-stack/proxmox-vm", alone)

		g.apply()
		g.has("web")
		g.has("db", "10.0.0.8")
		g.emptyPlans(map[string]int{"dns-b": 3, "dns": 2}[unit])
		g.is(dns + recordsDefaults + "retired: [a]\nvms:\n" + recordsB)
		g.succeeds("stacks/live", "terragrunt", "stack", "run", "destroy", "--non-interactive")
		g.has("db")
	})
}

// TestGuardRecordsDestroyed: no argument and no saved plan makes the apply of a unit of
// records remove records that the spec has.
func TestGuardRecordsDestroyed(t *testing.T) {
	onEachGuard(t, func(t *testing.T, g *dnsCluster, dns, unit string) {
		plan := filepath.Join(t.TempDir(), "plan")
		g.refused("stacks/live", "stack run apply --non-interactive --queue-ignore-errors -- -destroy", "-destroy turns this apply into a destroy")
		g.refused(unitDir("live", unit), "apply -auto-approve -destroy=true", "-destroy turns this apply into a destroy")
		g.refused(unitDir("live", unit), "apply -auto-approve -target=x", "-target makes this apply skip")
		g.refused(unitDir("live", unit), `apply -auto-approve -replace=dns_a_record_set.this["db"]`, "-replace makes this apply replace")
		g.with(`TF_VAR_addresses={"a":"10.6.6.6","b":"10.6.6.6"}`, func() {
			g.refused(unitDir("live", unit), "apply -auto-approve", "TF_VAR_addresses sets a variable of the unit")
		})
		g.succeeds(unitDir("live", unit), "terragrunt", "plan", "-destroy", "-out="+plan)
		g.refused(unitDir("live", unit), "apply "+plan, `the plan destroys it, and the spec has it`, `dns_a_record_set.this["db"]`)
		g.succeeds(unitDir("live", unit), "terragrunt", "apply", "-auto-approve")
		g.has("db", "10.0.0.8")
	})
}

// TestGuardForeignAddress: the apply of a unit of records adds no address to a record of
// somebody else.
func TestGuardForeignAddress(t *testing.T) {
	onEachGuard(t, func(t *testing.T, g *dnsCluster, dns, unit string) {
		if unit == "dns-b" {
			unit = "dns-c"
		}
		g.is(dns + recordsBoth + recordsC)
		g.succeeds("stacks/live", "terragrunt", "stack", "generate")
		g.succeeds(unitDir("live", "proxmox-vm"), "terragrunt", "apply", "-auto-approve")
		check(t, g.server.Add("new IN A 10.9.9.9"))
		for dir, command := range map[string]string{unitDir("live", unit): "apply -auto-approve", "stacks/live": "stack run apply --non-interactive --queue-ignore-errors"} {
			g.refused(dir, command, "in DNS with another address: an apply would add the VM's, and clients would receive both addresses")
			g.has("new", "10.9.9.9")
		}
		check(t, g.server.Remove("new"))
		g.apply()
		g.has("new", "10.0.0.9")
	})
}

// TestGuardRecordsUnguarded: without the guard the same runs remove records, and add
// an address to a record of somebody else.
func TestGuardRecordsUnguarded(t *testing.T) {
	g := newDNSCluster(t, "DNS\n"+recordsBoth)
	g.write("stackgen.yaml", noGuard)
	g.render()
	g.apply()
	check(t, g.server.Add("new IN A 10.9.9.9"))
	g.is("DNS\n" + recordsBoth + recordsC)
	g.apply()
	g.has("new", "10.0.0.9", "10.9.9.9")

	g.is("DNS\n" + recordsDefaults + "retired: [a]\nvms:\n" + recordsB + recordsC)
	g.protect("1")
	if r := g.run("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive"); r.Code == 0 {
		t.Errorf("a protected VM was destroyed\n%s", r.Text())
	}
	g.has("web") // the VM is still there
}
