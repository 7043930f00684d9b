//go:build unix

package real

import (
	"net/http"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestPartOfClone: the task of a clone is killed on its node. What it has made is never completed with an empty disk, also
// after somebody has unlocked it: the printed line destroys it, and the next apply clones it again.
func TestPartOfClone(t *testing.T) {
	t.Parallel()
	for _, unlocked := range []bool{false, true} {
		t.Run(map[bool]string{false: "locked", true: "unlocked"}[unlocked], func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "a: {}", "a: {agent: false}", 1)})
			sim := p.simulate()
			p.render()
			check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodPost, Path: "/nodes/*/qemu/*/clone", Count: 1, Do: pvesim.DoKillWorker}))
			p.deployed(1, "apply --yes")
			line := "pvesh delete /nodes/pve1/qemu/300 --skiplock 1"
			if unlocked {
				sim.Change(func(s *pvesim.Seed) {
					for _, g := range s.Guests {
						delete(g.Config, "lock")
					}
				})
				line = "pvesh delete /nodes/pve1/qemu/300\n"
			}
			sim.ResetLog()
			out := p.deployed(3, "apply --yes", line)
			noWrites(t, sim)
			if strings.Contains(out, "unlock") {
				t.Errorf("a part of a clone is not complete without its lock:\n%s", out)
			}
			callAPI(t, sim, http.MethodDelete, "/nodes/pve1/qemu/300?skiplock=1", nil)
			waitUntil(t, "VM 300 is gone", func() bool { return stateOf(sim).guests[300].kind == "" })
			p.deployed(0, "apply --yes", "live is as its spec says")
			if scsi0 := stateOf(sim).guests[300].config["scsi0"]; !strings.Contains(scsi0, "size=8G") {
				t.Errorf("its disk is %s", scsi0)
			}
			p.complete(sim, 300)
		})
	}
}
