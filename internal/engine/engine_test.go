package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// script makes a tool of a project.
func script(t *testing.T, project, name, body string) {
	t.Helper()
	bin := filepath.Join(project, ".tools", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	project := t.TempDir()
	script(t, project, "tofu", `echo "said $1 in $(pwd) with $SAID"; echo aside >&2; exit 7`)
	tools, err := Find(project, []string{"PATH=" + os.Getenv("PATH"), "SAID=nothing"})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tools.With("SAID=much").Run(t.Context(), dir, "tofu", "plan")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Text(), "said plan in "+dir+" with much\naside\n"; got != want || r.Code != 7 {
		t.Errorf("exit %d, %q; want exit 7, %q", r.Code, got, want)
	}
}

// TestRunCollectsLess: tools collect less memory, unless the user says how much.
func TestRunCollectsLess(t *testing.T) {
	project := t.TempDir()
	script(t, project, "tofu", `echo "$GOGC"`)
	for _, c := range []struct{ env, want string }{{"", "400\n"}, {"GOGC=50", "50\n"}} {
		tools, err := Find(project, []string{"PATH=" + os.Getenv("PATH"), c.env})
		if err != nil {
			t.Fatal(err)
		}
		r, err := tools.Run(t.Context(), project, "tofu")
		if err != nil || string(r.Stdout) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.env, r.Stdout, err, c.want)
		}
	}
}

func TestMissingTool(t *testing.T) {
	tools, err := Find(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tools.Run(t.Context(), ".", "stackgen-has-no-such-tool"); err == nil || !strings.Contains(err.Error(), "is not installed") {
		t.Errorf("got %v, want that the tool is not installed", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	project := t.TempDir()
	script(t, project, "tofu", "exec sleep 60")
	tools, err := Find(project, []string{"PATH=" + os.Getenv("PATH")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := tools.Run(ctx, project, "tofu"); err == nil || time.Since(start) > 10*time.Second {
		t.Errorf("got %v after %s, want an error at once", err, time.Since(start))
	}
}

// TestCommand: what Terragrunt runs for OpenTofu is what states are read with.
func TestCommand(t *testing.T) {
	none := t.TempDir()
	tofu := t.TempDir()
	script(t, tofu, "tofu", "exit 0")
	terraform := t.TempDir()
	script(t, terraform, "terraform", "exit 0")
	t.Setenv("PATH", none)
	for _, c := range []struct {
		project, want string
		env           []string
	}{
		{tofu, "tofu", nil},
		{terraform, "terraform", nil},
		{none, "tofu", nil}, // so that the message names it
		{tofu, "/opt/tofu", []string{"TG_TF_PATH=/opt/tofu"}},
	} {
		tools, err := Find(c.project, c.env)
		if err != nil {
			t.Fatal(err)
		}
		if got := tools.command(); got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
	}
	if got := Inherited([]string{"TG_CTX_TF_PATH=terraform", "TG_TF_PATH=tofu"}).command(); got != "terraform" {
		t.Errorf("in a hook: %s, want what Terragrunt runs", got)
	}
}

// TestStateOfBackend: arguments and a workspace in the environment lead to no other
// state than the backend's.
func TestStateOfBackend(t *testing.T) {
	project := t.TempDir()
	script(t, project, "tofu", `echo "$1 $TF_CLI_ARGS$TF_CLI_ARGS_init$TF_WORKSPACE"`)
	tools, err := Find(project, []string{"PATH=" + os.Getenv("PATH"), "TF_CLI_ARGS=-x", "TF_CLI_ARGS_init=-backend-config=path=y", "TF_WORKSPACE=z"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tools.State(t.Context(), nil); err != nil || string(got) != "state \n" {
		t.Errorf("%q, %v", got, err)
	}
}
