//go:build unix

package real

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// imageServer serves an image of 2 GiB on the loopback, and returns its URL and checksum.
func imageServer(t *testing.T) (url, checksum string) {
	t.Helper()
	return imageServerAfter(t, func() {})
}

// imageServerAfter is imageServer, which sends the image after a function has ended.
func imageServerAfter(t *testing.T, before func()) (url, checksum string) {
	t.Helper()
	image := []byte("QFI\xfb\x00\x00\x00\x03" + string(make([]byte, 20)) + "\x80\x00\x00\x00" + string(make([]byte, 4064)))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			before()
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(image)))
		_, _ = w.Write(image)
	}))
	t.Cleanup(web.Close)
	return web.URL, fmt.Sprintf("sha256:%x", sha256.Sum256(image))
}

// templateSpec is a Template of a release, of an image server.
func templateSpec(url, checksum, release, nodes, more string) string {
	return fmt.Sprintf(`apiVersion: stackgen/v1
kind: Template
name: base-1.0
vmids: 9100-9149
datastore: local-zfs
download: local
size: 4
nodes: %[4]s
release: "%[3]s"
image: {url: "%[1]s/%[3]s/a.img", checksum: "%[2]s", file_name: base-%[3]s.qcow2}
hardware: {cores: 1, memory: 1024, serial: socket, cloud_init: {user: ops}}
%[5]s
`, url, checksum, release, nodes, more)
}

const clonesSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {template: base-1.0, clone: linked, started: false, agent: false, serial: socket}
vms: {a: {node: pve1}, b: {node: pve2}}
`

// TestTemplateKind makes the templates of two releases on two nodes, and VMs that are linked clones
// of the first. A release with clones stays.
func TestTemplateKind(t *testing.T) {
	t.Parallel()
	web, checksum := imageServer(t)
	p := newProject(t, map[string]string{"specs/base.yaml": templateSpec(web, checksum, "1", "[pve1, pve2]", ""), "specs/live.yaml": clonesSpec})
	sim := p.simulate()
	p.render()
	p.step(3, "preflight", "its template (base-1.0, release 1) is not there yet", "      stackgen apply base-1.0")
	p.deployed(0, "apply --dry-run", "create 2 images, 2 VMs", "not looked at, because the Templates are not applied yet: live")
	p.deployed(0, "apply --yes", "base-1.0 is as its spec says", "live is as its spec says")
	for _, vmid := range []int{9100, 9101} {
		if c := stateOf(sim).guests[vmid].config; c["template"] != "1" || !strings.Contains(c["scsi0"], "size=4G") {
			t.Errorf("VM %d is no template: %v", vmid, c)
		}
	}
	lock := p.read("stackgen.lock.yaml")
	p.contains(lock, "template: {vmid: 9100, node: pve1, name: base-1.0, release: \"1\"}", "template: {vmid: 9101, node: pve2", "image_seen: true", "fingerprint: {uuid:")
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do: base-1.0 is as its spec says", "nothing to do: live is as its spec says")
	noWrites(t, sim)

	// What the spec says otherwise of the same release changes nothing.
	p.write("specs/base.yaml", strings.Replace(templateSpec(web, checksum, "1", "[pve1, pve2]", ""), "memory: 1024", "memory: 2048", 1))
	p.step(0, "render", "the spec says another memory than before")
	p.deployed(0, "preflight specs/base.yaml", "2 creation-only", "it has memory: 1024, and the spec says 2048")
	p.deployed(0, "apply --yes base-1.0", "nothing to do: base-1.0 is as its spec says, except that base-1.0/1-pve1 with memory: 1024")
	noWrites(t, sim)
	p.write("specs/base.yaml", templateSpec(web, checksum, "1", "[pve1, pve2]", ""))
	p.step(0, "render")

	// A lost state is imported without a write.
	p.remove(".state/base-1.0")
	p.step(2, "preflight", "adopt base-1.0/1-pve1")
	p.deployed(0, "apply --yes specs/base.yaml", "base-1.0 is as its spec says")
	noWrites(t, sim)

	// Another release is beside the first, whose clones stay as they are.
	retired := func(line string) {
		p.write("specs/base.yaml", templateSpec(web, checksum, "2", "[pve1, pve2]", line))
		p.step(0, "render")
	}
	retired("")
	p.deployed(0, "apply --yes", "base-1.0 is as its spec says", "live/a from 9100")
	p.step(0, "preflight", "2 outdated-template", "made from template 9100 (base-1.0, release 1), and the spec says template 9102 (base-1.0, release 2)")
	retired(`retired: ["1"]`)
	sim.ResetLog()
	p.deployed(3, "apply --yes specs/base.yaml", "VMs are linked clones of it", "linked clone: VM 300")
	noWrites(t, sim)
	retired("")
	p.deployed(0, "apply --yes", "nothing to do: base-1.0 is as its spec says")
	noWrites(t, sim)
	destroyedTogether(p, sim)
}

// TestTemplateKindRetired retires a release together with the VM that is a linked clone of it. One apply
// destroys both, and makes the next release; a linked clone of somebody else refuses it before anything is done.
func TestTemplateKindRetired(t *testing.T) {
	t.Parallel()
	web, checksum := imageServer(t)
	live := strings.Replace(clonesSpec, ", b: {node: pve2}", "", 1)
	p := newProject(t, map[string]string{"specs/base.yaml": templateSpec(web, checksum, "1", "[pve1]", ""), "specs/live.yaml": live})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.write("specs/base.yaml", templateSpec(web, checksum, "2", "[pve1]", `retired: ["1"]`))
	p.write("specs/live.yaml", strings.Replace(live, "vms: {a: {node: pve1}}", "vms: {}\nretired: [a]", 1))
	p.step(0, "render")
	other := p.otherClone(sim)
	sim.ResetLog()
	p.deployed(3, "apply --yes", "VMs are linked clones of it", "linked clone: VM 950")
	p.deployed(3, "apply --yes base-1.0", "linked clone: VM 300", "stackgen apply live")
	noWrites(t, sim)
	other()
	sim.ResetLog()
	p.step(0, "preflight", "linked clones of base-1.0 are destroyed before it: VM 300 (live-a) on pve1")
	p.deployed(0, "apply --dry-run", "destroy  live: VM  a: VM 300", "not planned, because their templates leave after the linked clones of them: base-1.0")
	noWrites(t, sim)
	p.deployed(0, "apply --yes", "templates leave after these VMs; then base-1.0", "live is as its spec says", "base-1.0 is as its spec says")
	if left := stateOf(sim); left.guests[300].config != nil || left.guests[9100].config != nil || left.guests[9101].config["template"] != "1" {
		t.Errorf("guests are left: %v", left.guests)
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do: base-1.0 is as its spec says", "nothing to do: live is as its spec says")
	noWrites(t, sim)
}

// otherClone makes a linked clone of template 9100 that is in no spec. The result removes it.
func (p *project) otherClone(sim *pvesim.Server) (remove func()) {
	p.Helper()
	callAPI(p.T, sim, "POST", "/nodes/pve1/qemu/9100/clone", url.Values{"newid": {"950"}, "name": {"other"}})
	waitUntil(p.T, "VM 950 is there", func() bool { g := stateOf(sim).guests[950]; return g.config["scsi0"] != "" && g.config["lock"] == "" })
	return func() {
		p.Helper()
		callAPI(p.T, sim, "DELETE", "/nodes/pve1/qemu/950", nil)
		waitUntil(p.T, "VM 950 is gone", func() bool { _, there := stateOf(sim).guests[950]; return !there })
	}
}

// destroyedTogether destroys templates and their linked clones by one command, which a linked clone of
// somebody else stops before anything is destroyed.
func destroyedTogether(p *project, sim *pvesim.Server) {
	p.Helper()
	other := p.otherClone(sim)
	sim.ResetLog()
	p.deployed(3, "destroy --yes", "VMs are linked clones of it", "linked clone: VM 950")
	noWrites(p.T, sim)
	other()
	sim.ResetLog()
	p.deployed(0, "destroy --dry-run", "destroy 4 images, 6 VMs", "linked clones of base-1.0 are destroyed before it: VM 300 (live-a) on pve1, VM 301 (live-b) on pve2. Right before that")
	noWrites(p.T, sim)
	p.deployed(0, "destroy --yes", "live is destroyed", "base-1.0 is destroyed")
	if left := stateOf(sim); left.guests[300].config != nil || left.guests[9100].config != nil || left.guests[9103].config != nil {
		p.Errorf("guests are left: %v", left.guests)
	}
}
