//go:build unix

package real

import (
	"os/exec"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// keepSpecs commits the project and pushes it, so that a step can restore a file of it,
// or pull what a colleague has pushed.
func (w *faultCase) keepSpecs() {
	w.Helper()
	w.write(".gitignore", "/.state/\n/backup/\n.terragrunt-stack/\n.terragrunt-cache/\n")
	origin := w.TempDir()
	w.git("init", "-q", "--bare", origin)
	w.git("init", "-q")
	w.git("remote", "add", "origin", origin)
	w.commit("as applied")
}

// commit commits everything and pushes it.
func (w *faultCase) commit(subject string) {
	w.Helper()
	w.git("add", "-A")
	w.git("-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "-qm", subject)
	w.git("push", "-qu", "origin", "HEAD")
}

func (w *faultCase) git(args ...string) {
	w.Helper()
	c := exec.CommandContext(w.Context(), "git", args...)
	c.Dir = w.dir
	if out, err := c.CombinedOutput(); err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// wayActs are what a person does in addition to the lines of a step, by a part of its text.
var wayActs = []struct {
	part string
	do   func(*faultCase)
}{
	{"start node", startNodes},
	{"restart the services of its API", startNodes},
	{"start the missing nodes", startNodes},
	{"wait until it has booted", func(w *faultCase) { w.change(300, func(g *pvesim.Guest) { g.Agent.Mode = "present" }) }},
	{"wait until it has ended", func(w *faultCase) { w.waitUntil("no task is running", w.noRunningTask) }},
	{"or is an old one, restore the right one", (*faultCase).restoreState},
	{"undo the change, in the spec or in Proxmox VE", restoreAndRender}, // then drift
	{"or remove it from `mounts`", restoreAndRender},
	{"make the bridge VLAN-aware", func(w *faultCase) {
		w.sim.Change(func(s *pvesim.Seed) { s.Nodes[0].VLANAware = s.Nodes[0].Bridges })
	}},
	{"undo the change", restoreSpecs},
	{"restore what asked for it", restoreSpecs},
}

// startNodes connects all nodes, and waits until the cluster reports them.
func startNodes(w *faultCase) {
	for _, n := range []string{"pve1", "pve2", "pve3"} {
		check(w.T, w.sim.SetNode(n, pvesim.NodeOnline))
	}
	w.waitUntil("the nodes are seen online", func() bool {
		return strings.Count(w.get("/cluster/resources?type=node"), `"status":"online"`) == 3
	})
}

// restoreSpecs restores the specs as they were when the world was built.
func restoreSpecs(w *faultCase) {
	if reason := w.shell([]string{"git checkout -q -- specs stackgen.yaml"}); reason != "" {
		w.Fatal(reason)
	}
}

func restoreAndRender(w *faultCase) {
	restoreSpecs(w)
	w.must(w.stackgen("render"))
}

// wayStates are the refused rows of the fault matrix, and states for the findings that
// no row shows.
func wayStates() []*wayState {
	var out []*wayState
	for _, f := range faults() {
		if f.apply.verdicts == "" || f.byCommand {
			continue
		}
		s := &wayState{name: f.name, world: f.world, pool: f.pool, seed: f.seed, event: f.event, command: f.command, words: f.words, acts: f.acts, foreign: f.foreign, not: f.notWay}
		if strings.HasPrefix(f.apply.verdicts, "misled") { // only the run itself sees it
			refusedApply(s)
		}
		out = append(out, s)
	}
	return slices.Concat(out, moreWayStates())
}
