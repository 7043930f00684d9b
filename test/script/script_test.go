// Package script runs the scripts of this folder: command lines of stackgen in a folder, and
// what they print and write there.
package script

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"stackgen/test/filetree"
)

// TestScript runs *.txtar; README.md says how to write one. UPDATE=1 writes what the commands
// print now into the scripts; review the diff. The scripts run one after the other, and are a
// package of their own so that the tests of the folder above run beside them.
func TestScript(t *testing.T) {
	start, err := os.Getwd()
	if err := errors.Join(err, filetree.NoProjectAbove(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	t.Chdir(start) // and back, afterwards
	testscript.RunT(serial{t}, testscript.Params{
		Dir:                start,
		UpdateScripts:      os.Getenv("UPDATE") != "",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", filepath.Join(start, "../.."))
			p := &project{t: env.T().(serial).T, root: env.WorkDir, shared: filepath.Join(start, "shared")}
			env.Values[projectKey{}] = p
			env.Defer(p.unchanged)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"append":   appendLine,
			"crlf":     crlf,
			"exits":    exits,
			"folder":   folder,
			"json":     setJSON,
			"lines":    lines,
			"ls":       ls,
			"plan":     makePlan,
			"project":  copyShared,
			"replace":  replace,
			"stackgen": stackgen,
			"unset":    unsetJSON,
			"write":    writeText,
		},
	})
}

// serial runs scripts one after the other: stackgen runs in this process, which
// has one working directory.
type serial struct{ *testing.T }

func (serial) Parallel() {}

func (serial) Verbose() bool { return testing.Verbose() }

func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}
