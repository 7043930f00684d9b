package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Tools are the programs of a project: those in its .tools folder, and those on
// PATH where it has none.
type Tools struct {
	Env  []string // of everything that is run; of two entries for a name, the last one counts
	bin  string
	tofu string // what is run for OpenTofu, if not tofu
}

// A Result is what a tool left behind.
type Result struct {
	Stdout, Stderr []byte
	Code           int
}

// Text is everything the tool said.
func (r Result) Text() string { return string(r.Stdout) + string(r.Stderr) }

// patience is how long an interrupted tool may take to put its locks away.
const patience = 20 * time.Second

// Find finds the tools of a project. Its .tools folder, where `make tools` puts
// builds of its own, comes with a provider mirror; Terragrunt's cache for all
// projects must not get providers from there.
func Find(project string, environ []string) (*Tools, error) {
	dir, err := filepath.Abs(filepath.Join(project, ".tools"))
	if err != nil {
		return nil, fmt.Errorf("cannot find the tools of %s: %w", project, err)
	}
	t := &Tools{Env: slices.Clone(environ), bin: filepath.Join(dir, "bin")}
	if _, err := os.Stat(t.bin); err != nil {
		t.bin = ""
		return t, nil
	}
	t.Env = append(t.Env, "PATH="+t.bin+string(filepath.ListSeparator)+value(environ, "PATH"))
	if mirror := filepath.Join(dir, "tofurc"); isFile(mirror) {
		t.Env = append(t.Env, "TF_CLI_CONFIG_FILE="+mirror, "TG_NO_AUTO_PROVIDER_CACHE_DIR=true")
	}
	return t, nil
}

// Inherited are the tools of the Terragrunt run that a hook belongs to: the
// OpenTofu or Terraform that it runs, in its environment.
func Inherited(environ []string) *Tools {
	return &Tools{Env: slices.Clone(environ), tofu: value(environ, "TG_CTX_TF_PATH")}
}

// command is what is run for OpenTofu: what Terragrunt runs for it.
func (t *Tools) command() string {
	if named := cmp.Or(t.tofu, value(t.Env, "TG_TF_PATH")); named != "" {
		return named
	}
	if _, err := t.Path("tofu"); err != nil {
		if _, err := t.Path("terraform"); err == nil {
			return "terraform"
		}
	}
	return "tofu"
}

// With is the same tools with more in their environment.
func (t *Tools) With(env ...string) *Tools {
	return &Tools{Env: append(slices.Clone(t.Env), env...), bin: t.bin, tofu: t.tofu}
}

// Path is where a tool lies.
func (t *Tools) Path(name string) (string, error) {
	if t.bin != "" && isFile(filepath.Join(t.bin, name)) {
		return filepath.Join(t.bin, name), nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: %w", name, err)
	}
	return filepath.Abs(path)
}

// Run runs a tool in a folder. The error is about running it: what the tool
// itself thinks of its success is in the result.
func (t *Tools) Run(ctx context.Context, dir, name string, args ...string) (Result, error) {
	path, err := t.Path(name)
	if err != nil {
		return Result{}, err
	}
	var out, errOut bytes.Buffer
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, t.Env, &out, &errOut
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = patience
	err = c.Run()
	r := Result{Stdout: out.Bytes(), Stderr: errOut.Bytes()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("%s in %s: %w", name, dir, ctx.Err())
	case errors.As(err, &exit):
		r.Code = exit.ExitCode()
	case err != nil:
		return r, fmt.Errorf("cannot run %s: %w", name, err)
	}
	return r, nil
}

// value is the value of a variable in an environment.
func value(environ []string, name string) string {
	out := ""
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			out = v
		}
	}
	return out
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
