package real

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// handmade is a project in an empty folder, with the cluster of `stackgen sim --seed handmade`.
func handmade(t *testing.T) (*project, *pvesim.Server) {
	t.Helper()
	seed, err := pvesim.HandmadeSeed()
	check(t, err)
	p := newProject(t, nil)
	sim := p.simulateSeed(seed)
	p.remove("stackgen.yaml")
	return p, sim
}

// TestDiscoverAsks answers the question on a terminal: only y and yes write the specs, and
// every other answer writes nothing. A spec that somebody changes meanwhile is kept.
func TestDiscoverAsks(t *testing.T) {
	t.Parallel()
	p, _ := handmade(t)
	before := p.list()
	ask := func(want int, answer string, contains ...string) {
		t.Helper()
		p.answered(want, "discover --specs-only --stack lab", answer, append([]string{"Nothing in the cluster is changed. Write 2 specs, 46 lines? [y/N] "}, contains...)...)
	}
	p.asksAgain("discover --specs-only --stack lab", "y\n", "not confirmed; nothing was written")
	p.sameFiles(before, "an answer before the question")
	for _, answer := range []string{"n\n", "\n", "no\n", "yess\n", "\x04"} {
		ask(1, answer, "not confirmed; nothing was written")
		p.sameFiles(before, answer)
	}
	ask(1, "\x03", "interrupted; nothing was written")
	p.sameFiles(before, "Ctrl-C")

	p.answeredAfter(1, "discover --specs-only --stack lab", "y\n", func() { p.write("specs/lab.yaml", "# mine\n") },
		"specs/lab.yaml: another program changed it during this run, so it was not written; run the same command again")
	if p.read("specs/lab.yaml") != "# mine\n" {
		t.Error("the spec that somebody wrote meanwhile is overwritten")
	}
	p.remove("specs")

	ask(0, "y\n", "written: 2 specs. The first plan imports 7 VMs and changes nothing")
	want := p.read("specs/web.yaml")
	p.remove("specs")
	ask(0, "YES\n", "written: 2 specs.")
	if got := p.read("specs/web.yaml"); got != want || !strings.Contains(got, "web1: {adopt: {vmid: 500}") {
		t.Errorf("another answer that means yes writes\n%s\nwant\n%s", got, want)
	}
}

// sameFiles fails unless the folder has these files.
func (p *project) sameFiles(want []string, after string) {
	p.Helper()
	if got := p.list(); strings.Join(got, " ") != strings.Join(want, " ") {
		p.Fatalf("after %q the files are %v, want %v", after, got, want)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "specs")); err == nil {
		p.Fatalf("after %q there is a folder specs", after)
	}
}

// TestDiscoverIntoUnapplied adds VMs to a spec that has a VM which was not applied yet. The
// commands that discover prints import them, unchanged, and create that VM.
func TestDiscoverIntoUnapplied(t *testing.T) {
	t.Parallel()
	p, sim := handmade(t)
	p.write("specs/web.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: web\npool: {id: web}\nvmids: 900-999\ndefaults: {node: pve1}\nvms:\n  new: {template: 9002, started: false}\n")
	before := digests(t, sim)
	said := p.deployed(0, "discover --pool web --yes --specs-only",
		"written: 1 spec. The first plan imports 3 VMs and changes none of them. It also creates VMs of the spec that do not exist yet: web/new. `stackgen apply` shows the whole plan and asks.")
	_, next, _ := strings.Cut(said, "asks. Next:\n")
	out := p.succeeds("", "sh", "-c", strings.TrimSpace(next)+" --yes")
	p.contains(out, "web is as its spec says")
	for vmid, digest := range digests(t, sim) {
		if was, existed := before[vmid]; existed != (vmid != 900) || existed && was != digest {
			t.Errorf("VM %d: existed %t, its configuration is the same: %t", vmid, existed, was == digest)
		}
	}
}
