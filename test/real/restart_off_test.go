//go:build unix

package real

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

const restartOffSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, restart: true, usb: [{mapping: stick}]}
vms:
  a: {cores: 2}
`

// TestRestartThatWouldLeaveVMOff: what a VM runs with was removed. An apply that restarts it is refused before the provider stops
// the VM, and is made when the VM does without it.
func TestRestartThatWouldLeaveVMOff(t *testing.T) {
	t.Parallel()
	const image = "shared:iso/debian-12-netinst.iso"
	for name, c := range map[string]struct {
		has, gone func(*pvesim.Seed)
		says      string
		edits     []string // of the spec
		line      url.Values
	}{
		"mapping": {gone: func(s *pvesim.Seed) { s.Mappings = nil }, says: "the cluster has no USB mapping stick", edits: []string{", usb: [{mapping: stick}]", ""}},
		"bridge": {gone: func(s *pvesim.Seed) { s.Nodes[0].Bridges = []string{"vmbr1"} }, says: "node pve1 has no bridge or virtual network vmbr0",
			edits: []string{"cores: 4", "cores: 4, networks: [{bridge: vmbr1}]"}},
		"CD-ROM image": {has: func(s *pvesim.Seed) { s.Guests[len(s.Guests)-1].Config["ide0"] = image + ",media=cdrom" }, gone: func(s *pvesim.Seed) {
			s.Volumes = slices.DeleteFunc(s.Volumes, func(v *pvesim.Volume) bool { return v.ID == image })
		}, says: "--ide0 none,media=cdrom", line: url.Values{"ide0": {"none,media=cdrom"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"specs/live.yaml": restartOffSpec})
			sim := p.simulate()
			p.render()
			p.deployed(0, "apply --yes")
			if c.has != nil {
				sim.Change(c.has)
			}
			sim.Change(c.gone)
			spec := strings.Replace(restartOffSpec, "cores: 2", "cores: 4", 1)
			p.write("specs/live.yaml", spec)
			p.render()
			before := len(writes(sim))
			p.deployed(3, "apply --yes", "its next update would stop it, and it would not start again", c.says)
			if after := writes(sim)[before:]; len(after) > 0 || !stateOf(sim).guests[300].running {
				t.Errorf("the apply sent %v; the VM runs: %v", after, stateOf(sim).guests[300].running)
			}
			if c.line != nil {
				callAPI(t, sim, "PUT", "/nodes/pve1/qemu/300/config", c.line) // the printed line
			}
			p.write("specs/live.yaml", strings.NewReplacer(c.edits...).Replace(spec))
			p.render()
			p.deployed(0, "apply --yes", "live is as its spec says")
			if !stateOf(sim).guests[300].running {
				t.Error("the VM is off")
			}
		})
	}
}

// TestCloudInitDriveKeepsCDROM: the provider deletes what is at the interface of a cloud-init drive that a VM gets. A CD-ROM drive
// with an image stays: the apply is refused, and made with the interface that is printed.
func TestCloudInitDriveKeepsCDROM(t *testing.T) {
	t.Parallel()
	const cdrom, spec = "shared:iso/debian-12-netinst.iso,media=cdrom", "cores: 2, cloud_init: false"
	first := strings.Replace(restartOffSpec, "cores: 2", spec, 1)
	p := newProject(t, map[string]string{"specs/live.yaml": first})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	sim.Change(func(s *pvesim.Seed) { s.Guests[len(s.Guests)-1].Config["ide2"] = cdrom })
	p.write("specs/live.yaml", strings.Replace(first, spec, "cores: 2, cloud_init: {datastore: shared}", 1))
	p.render()
	before := len(writes(sim))
	p.deployed(3, "apply --yes", "its cloud-init drive would replace CD-ROM drive ide2", "interface: ide3")
	if after := writes(sim)[before:]; len(after) > 0 || !stateOf(sim).guests[300].running {
		t.Errorf("the apply sent %v; the VM runs: %v", after, stateOf(sim).guests[300].running)
	}
	p.write("specs/live.yaml", strings.Replace(first, spec, "cores: 2, cloud_init: {datastore: shared, interface: ide3}", 1))
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	if c := stateOf(sim).guests[300].config; c["ide2"] != cdrom || !strings.Contains(c["ide3"], "cloudinit") {
		t.Errorf("ide2: %s; ide3: %s", c["ide2"], c["ide3"])
	}
}
