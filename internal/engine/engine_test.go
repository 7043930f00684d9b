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
