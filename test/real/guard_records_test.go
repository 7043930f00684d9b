//go:build unix

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
	recordsC        = "  c: {name: new, cloud_init: {ipv4: 10.0.0.9/24}}\n"
)

// A guardedRecords is a stack whose records are applied with a level of the guard.
type guardedRecords struct {
	*dnsCluster
	dns       string // of its spec
	units     int
	b, unitOf string // the unit of the records of b, and of a VM that is added later
}

// TestGuardRecords: no apply of a unit of records removes or changes a record that it
// should not, in both modes and with both levels of the guard.
func TestGuardRecords(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"per-vm", "per-stack"} {
		for _, level := range []string{"full", "fast"} {
			t.Run(mode+"/"+level, func(t *testing.T) {
				dns := "DNS, mode: " + mode + "\nguard: " + level + "\n"
				g := &guardedRecords{newDNSCluster(t, dns+recordsBoth), dns, 4, "dns-b", "dns-c"}
				if mode == "per-stack" {
					g.units, g.b, g.unitOf = 2, "dns", "dns"
				}
				g.apply()
				g.destroyedByArguments()
				g.addedToForeignAddress()
				g.removedByRefusedApply()
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

// protect sets the protection of the VM that will be retired.
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
func (c *dnsCluster) refused(dir, command string, want ...string) string {
	c.Helper()
	c.sim.ResetLog()
	output := c.fails(dir, strings.Fields(command), want...)
	if n := c.sim.Counters().Writes; n != 0 {
		c.Errorf("%s was refused after %d writes", command, n)
	}
	c.has("web", "10.0.0.7")
	c.has("db", "10.0.0.8")
	return output
}

// destroyedByArguments: no argument and no saved plan makes an apply remove records that
// the spec has.
func (g *guardedRecords) destroyedByArguments() {
	g.Helper()
	unit, plan := unitDir("live", g.b), filepath.Join(g.TempDir(), "plan")
	g.refused("stacks/live", "stack run apply --non-interactive --queue-ignore-errors -- -destroy", "-destroy turns this apply into a destroy")
	g.refused(unit, "apply -auto-approve -destroy=true", "-destroy turns this apply into a destroy")
	g.refused(unit, "apply -auto-approve -target=x", "-target makes this apply skip")
	g.refused(unit, `apply -auto-approve -replace=dns_a_record_set.this["db"]`, "-replace makes this apply replace")
	g.with(`TF_VAR_addresses={"a":"10.6.6.6","b":"10.6.6.6"}`, func() {
		g.refused(unit, "apply -auto-approve", "TF_VAR_addresses sets a variable of the unit")
	})
	g.succeeds(unit, "terragrunt", "plan", "-destroy", "-out="+plan)
	g.refused(unit, "apply "+plan, `the plan destroys it, and the spec has it`, `dns_a_record_set.this["db"]`)
	g.succeeds(unit, "terragrunt", "apply", "-auto-approve")
}

// addedToForeignAddress: an apply adds no address to a record of somebody else, which
// appeared after the VM was created.
func (g *guardedRecords) addedToForeignAddress() {
	g.Helper()
	g.is(g.dns + recordsBoth + recordsC)
	g.generate("live")
	g.succeeds(unitDir("live", "proxmox-vm"), "terragrunt", "apply", "-auto-approve")
	check(g.T, g.server.Add("new IN A 10.9.9.9"))
	for dir, command := range map[string]string{unitDir("live", g.unitOf): "apply -auto-approve", "stacks/live": "stack run apply --non-interactive --queue-ignore-errors"} {
		g.refused(dir, command, "in DNS with another address: an apply would add the VM's, and clients would receive both addresses")
		g.has("new", "10.9.9.9")
	}
	check(g.T, g.server.Remove("new"))
	g.apply()
	g.has("new", "10.0.0.9")
}

// removedByRefusedApply: a refused apply removes no record of a retired VM. A right one
// removes its record and the VM in one run.
func (g *guardedRecords) removedByRefusedApply() {
	g.Helper()
	g.is(g.dns + recordsDefaults + "retired: [a]\nvms:\n" + recordsB + recordsC)
	g.protect("1")
	for _, command := range []string{"stack run apply --non-interactive", "stack run apply --non-interactive --queue-ignore-errors"} {
		g.refused("stacks/live", command, "its protection is on")
	}
	g.protect("0")

	// The VM unit alone would leave the record in DNS.
	const alone = "apply of this unit alone destroys the VM, and its record stays in DNS"
	output := g.refused(unitDir("live", "proxmox-vm"), "apply -auto-approve", alone)
	g.refused("stacks/live", "stack run apply --non-interactive --queue-include-dir .terragrunt-stack/proxmox-vm", alone)
	g.with("TG_NON_INTERACTIVE=true", func() { g.pasteLine(".", output, "terragrunt stack run apply") })
	g.has("web")
	g.has("db", "10.0.0.8")
	g.emptyPlans(g.units)
	g.succeeds("stacks/live", "terragrunt", "stack", "run", "destroy", "--non-interactive")
	g.has("db")
}

// TestGuardRecordsUnguarded: without the guard the same runs remove records, and add
// an address to a record of somebody else.
func TestGuardRecordsUnguarded(t *testing.T) {
	t.Parallel()
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
