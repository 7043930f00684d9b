package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"stackgen/test/filetree"
)

// built is the path of the stackgen that tests run as a process. It is built
// without the race detector, which takes a second to start.
var (
	built string
	build sync.Mutex
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stackgen-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	built = filepath.Join(dir, "stackgen")
	if err := filetree.NoProjectAbove(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// process returns a command that runs stackgen in dir.
func process(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(binary(t), args...)
	c.Dir = dir
	return c
}

// binary builds stackgen once and returns its path.
func binary(t testing.TB) string {
	t.Helper()
	build.Lock()
	defer build.Unlock()
	if !exists(built) {
		if out, err := exec.Command("go", "build", "-o", built, "stackgen/cmd/stackgen").CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
	return built
}

// zeros is a source of random bytes that are none, for the same project id in every run.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
