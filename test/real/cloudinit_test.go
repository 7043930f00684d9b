//go:build unix

package real

import (
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestCloudInitWaits: Proxmox VE does not list changed settings of cloud-init among what waits for a restart, and the guest
// reads them when it starts. The apply that changes them says so, with the line that starts it again.
func TestCloudInitWaits(t *testing.T) {
	t.Parallel()
	const spec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false}
vms:
  a: {cloud_init: {ipv4: 192.0.2.8/24, gateway: 192.0.2.1}}
  b: {started: false}
  c: {restart: true}
  d: {}
`
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", strings.NewReplacer("192.0.2.8", "192.0.2.9", "b: {", "b: {cloud_init: {user: eve}, ", "c: {", "c: {cloud_init: {user: eve}, ",
		"d: {", "d: {memory: 1024, cloud_init: {user: eve}", "a: {", "a: {protection: true, tags: [x], ").Replace(spec))
	p.render()
	said := p.deployed(0, "apply --yes", "cloud_init.ipv4: 192.0.2.8/24 -> 192.0.2.9/24, after a restart",
		"live is as its spec says; changes of live/d wait for a restart: `stackgen restart --pending live`; "+
			"live/a reads its new settings of cloud-init when it starts: `stackgen power reboot live/a`")
	line := regexp.MustCompile("`stackgen (power reboot [^`]+)`").FindStringSubmatch(said)
	p.deployed(0, line[1]+" --yes", "live/a  rebooted")
	p.deployed(0, "restart --pending --yes", "live/d  rebooted")
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says\n")

	// With one that is off, and with all of the stack. The line is for the folder that the apply began in.
	plain := strings.Replace(p.read("specs/live.yaml"), ", restart: true", "", 1)
	reboots := regexp.MustCompile("`(\\(cd .+ && stackgen power reboot .+)\\)`")
	for _, named := range []string{"live/a live/c live/d", "live"} {
		domain := "one.example"
		if named == "live" {
			domain = "two.example"
			p.deployed(0, "power start live/b --yes", "live/b  started")
		}
		p.write("specs/live.yaml", strings.ReplaceAll(plain, "cloud_init: {", "cloud_init: {search_domain: "+domain+", "))
		p.render()
		_, said := p.stackgen("apply", "--yes", p.dir)
		p.contains(said, " read their new settings of cloud-init when they start: `(cd ", " && stackgen power reboot "+named+")`")
		p.succeeds(t.TempDir(), "sh", "-c", reboots.FindStringSubmatch(said)[1]+" --yes)")
	}

	// A failed apply says it of the VMs that have their new settings.
	check(t, sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/303/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	p.write("specs/live.yaml", strings.ReplaceAll(p.read("specs/live.yaml"), "two.example", "three.example"))
	p.render()
	said = p.deployed(1, "apply --yes", "VM d (VMID 303, node pve1) was not changed",
		"live/a, live/b, live/c read their new settings of cloud-init when they start: `stackgen power reboot live/a live/b live/c`\n")
	line = regexp.MustCompile("`stackgen (power reboot [^`]+)`").FindStringSubmatch(said)
	p.deployed(0, line[1]+" --yes", "live/a  rebooted")
}
