//go:build unix

package real

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// requestsSpec has a VM for which the provider makes as many kinds of requests as it can:
// it clones on one node and migrates, moves and grows a disk, and adds another one.
const requestsSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true}
vms:
  a:
    node: pve2
    template: {vmid: 9002, node: pve1}
    tags: [web]
    memory: 1024
    cloud_init: {datastore: local-zfs, user: admin, ipv4: dhcp}
    disks: [{interface: scsi0, size: 8, datastore: local-zfs}, {interface: scsi1, size: 2, datastore: local-lvm}]
`

// TestApplyKilledAtEachRequest kills everything before each request that changes a new VM.
// The same command is right in the end, and the next one has nothing to do.
func TestApplyKilledAtEachRequest(t *testing.T) {
	t.Parallel()
	all := changesOfCreate(t)
	if len(all) < 5 {
		t.Fatalf("a create changes the VM by %d requests only: %v", len(all), all)
	}
	earlier := map[string]int{}
	for i, request := range all {
		after := earlier[request]
		earlier[request]++
		t.Run(fmt.Sprintf("%d %s", i+1, strings.ReplaceAll(request, "/", ".")), func(t *testing.T) {
			t.Parallel()
			killedAtRequest(t, request, after)
		})
	}
}

// changesOfCreate are the requests that a whole apply sends about the new VM, apart from
// reads, each as METHOD /path.
func changesOfCreate(t *testing.T) (out []string) {
	p := newProject(t, map[string]string{"specs/live.yaml": requestsSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	for _, r := range sim.Requests() {
		if r.Write && (r.VMID == 300 || strings.HasSuffix(r.Path, "/clone")) {
			out = append(out, r.Method+" "+strings.TrimPrefix(r.Path, "/api2/json"))
		}
	}
	return out
}

// killedAtRequest kills an apply before one request is executed, and applies again.
func killedAtRequest(t *testing.T, request string, after int) {
	p := newProject(t, map[string]string{"specs/live.yaml": requestsSpec})
	sim := p.simulate()
	p.render()
	method, path, _ := strings.Cut(request, " ")
	check(t, sim.AddFault(&pvesim.Fault{Method: method, Path: path, After: after, Do: pvesim.DoError, Delay: time.Hour})) // the request of a killed client must not end meanwhile
	p.killedOnce(func() bool { return sim.Faults()[0].Hits > 0 })
	sim.ClearFaults()
	t.Log(p.deployed(0, "apply --yes", "live is as its spec says"))
	p.complete(sim, 300)
	p.deployed(0, "apply --yes", "nothing to do")
}
