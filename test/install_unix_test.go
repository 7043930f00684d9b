//go:build unix

package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/test/page"
)

// TestInstall runs the commands of README.md that write into GOPATH, with an empty one,
// and the program that is there afterwards.
func TestInstall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := append(os.Environ(), "GOPATH="+dir, "GOBIN=")
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		is, err := exec.Command("go", "env", name).Output()
		check(t, err)
		env = append(env, name+"="+strings.TrimSpace(string(is)))
	}
	inCheckout(t, env, "README.md", "TestInstall")
	c := exec.Command("sh", "-c", `PATH="$(go env GOPATH)/bin:$PATH" && cd / && stackgen --version && command -v stackgen`)
	c.Env = env
	out, err := c.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "\n"+dir+"/bin/stackgen\n") {
		t.Errorf("the installed program: %v\n%s", err, out)
	}
}

// TestConformance replays the recordings of genuine servers. It fails if other exchanges match than
// docs/sim.md shows, if a difference has no reason, or if a reason is not needed any more.
func TestConformance(t *testing.T) {
	t.Parallel()
	inCheckout(t, os.Environ(), "docs/sim.md", "TestConformance")
}

// inCheckout runs the blocks of a page that name a test in the folder of the repository.
func inCheckout(t *testing.T, env []string, name, test string) {
	t.Helper()
	blocks, err := page.Read(filepath.Join("..", name))
	check(t, err)
	wrong, err := page.Run(t.Context(), page.Shell{Dir: "..", Env: env}, blocks, test)
	check(t, err)
	for _, w := range wrong {
		t.Errorf("%s: %s", name, w)
	}
}
