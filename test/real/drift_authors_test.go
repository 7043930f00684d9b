//go:build unix

package real

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

const authorsSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false}
vms:
  a: {}
  b: {}
`

// setWithTask changes the cores of the VM 300 by hand, which a task does, and setWithout
// without one. Times have seconds.
func (w *acceptWorld) setWithTask(cores string) {
	w.Helper()
	callAPI(w.T, w.sim, "POST", "/nodes/pve1/qemu/300/config", url.Values{"cores": {cores}})
	time.Sleep(1100 * time.Millisecond)
}

func (w *acceptWorld) setWithout(cores string) {
	w.Helper()
	setByHand("cores", cores)(w, "/nodes/pve1/qemu/300")
}

// names runs drift and compares whether it names a task for the cores of the VM.
func (w *acceptWorld) names(want bool, more ...string) {
	w.Helper()
	_, out := w.stackgen("drift", "--verbose", w.dir)
	w.contains(out, append(more, "live/a cores")...)
	if strings.Contains(out, "task log: qmconfig") != want {
		w.Errorf("a task is named: %t, want %t\n%s", !want, want, out)
	}
}

// TestDriftAuthors names the task that changed a VM after the last apply, also if a VM was
// removed from the state since, and none from before that apply.
func TestDriftAuthors(t *testing.T) {
	t.Parallel()
	w := &acceptWorld{project: newProject(t, map[string]string{"specs/live.yaml": authorsSpec})}
	w.sim = w.simulate()
	w.render()
	w.deployed(0, "apply --yes")
	remove := func() {
		w.succeeds("stacks/live/.terragrunt-stack/proxmox-vm", "terragrunt", "state", "rm", `proxmox_virtual_environment_vm.this["b"]`)
	}
	w.setWithTask("3")
	w.names(true)
	remove() // the state has no time of an apply now
	w.names(true, "nothing says when live/proxmox-vm was applied last")
	w.deployed(0, "import-blocks")
	w.deployed(0, "apply --yes")
	w.setWithout("4") // the task is from before the apply
	w.names(false)
	time.Sleep(1100 * time.Millisecond)
	w.setWithTask("5")
	remove()
	w.names(true)
	w.deployed(0, "import-blocks")
	w.deployed(0, "apply --yes")
	w.setWithout("4")
	remove()
	w.names(false)
}

// TestDriftAuthorsS3 tells tasks before the last apply by the tasks of the apply on other VMs:
// a state in a bucket says nothing of its time.
func TestDriftAuthorsS3(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&bucketServer{objects: map[string][]byte{}})
	t.Cleanup(server.Close)
	spec := strings.Replace(authorsSpec, "vmids:", "backend: {type: s3, bucket: states, region: us-east-1, endpoint: "+server.URL+", path_style: true, lock: true}\nvmids:", 1)
	w := &acceptWorld{project: newProject(t, map[string]string{"specs/live.yaml": spec})}
	w.sim = w.simulate()
	w.render()
	w.deployed(0, "apply --yes")
	time.Sleep(1100 * time.Millisecond)
	w.setWithTask("3")
	w.names(true, "nothing says when live/proxmox-vm was applied last: the tasks that are named may be from before that")
	w.write("specs/live.yaml", spec+"  c: {}\n")
	w.render()
	w.deployed(0, "apply --yes")
	w.setWithout("4") // the apply that created c has set the cores back
	w.names(false)
}
