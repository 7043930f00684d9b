package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tools are the programs of a project: those in its .tools folder, and otherwise
// those on PATH.
type Tools struct {
	Env  []string // of every program; the last of two entries for a name counts
	bin  string
	tofu string // the program that runs for OpenTofu, if not tofu
}

// A Result is what a tool printed, and its exit code.
type Result struct {
	Stdout, Stderr []byte
	Code           int
}

// Text is everything that the tool printed.
func (r Result) Text() string { return string(r.Stdout) + string(r.Stderr) }

// releaseTime is how long an interrupted tool may take to release its locks.
const releaseTime = 20 * time.Second

// Find finds the tools of a project. The .tools folder, which `make tools` fills
// with its own builds, has a provider mirror. Its providers must not get into the
// cache that Terragrunt shares between projects.
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

// Inherited are the tools of the Terragrunt run that started this hook: the
// OpenTofu or Terraform of that run, in its environment.
func Inherited(environ []string) *Tools {
	return &Tools{Env: slices.Clone(environ), tofu: value(environ, "TG_CTX_TF_PATH")}
}

// command is the program that Terragrunt runs for OpenTofu.
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

// With returns the same tools with more variables.
func (t *Tools) With(env ...string) *Tools {
	return &Tools{Env: append(slices.Clone(t.Env), env...), bin: t.bin, tofu: t.tofu}
}

// Path is the path of a tool.
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

// environ is the environment of a program. OpenTofu, Terragrunt and providers are Go
// programs that live for seconds: they may use memory instead of collecting it, which saves
// a fifth of the processor time of a plan and takes 15 MB more, unless the environment says.
func (t *Tools) environ() []string {
	if value(t.Env, "GOGC") != "" {
		return t.Env
	}
	return append(slices.Clone(t.Env), "GOGC=400")
}

// Run runs a tool in a folder. The error says that it could not run; its own
// success is the exit code in the result.
func (t *Tools) Run(ctx context.Context, dir, name string, args ...string) (Result, error) {
	return t.run(ctx, dir, nil, name, args...)
}

// run runs a tool in a folder, which reads from in, or nothing if that is nil.
func (t *Tools) run(ctx context.Context, dir string, in io.Reader, name string, args ...string) (Result, error) {
	path, err := t.Path(name)
	if err != nil {
		return Result{}, err
	}
	var out, errOut bytes.Buffer
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = dir, t.environ(), in, &out, &errOut
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = releaseTime
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

// firstWithEvents is the first minor version of OpenTofu 1 that writes the events of a
// run into a file, beside what it prints.
const firstWithEvents = 12

var tofuVersion = regexp.MustCompile(`(?m)^OpenTofu v1\.(\d+)\.`)

// WritesEvents reports whether the tool that runs for OpenTofu is one that writes the
// events of a run into a file.
func (t *Tools) WritesEvents(ctx context.Context) (bool, error) {
	r, err := t.With(quiet...).Run(ctx, os.TempDir(), t.command(), "version")
	if err != nil {
		return false, err
	}
	m := tofuVersion.FindSubmatch(r.Stdout)
	if m == nil {
		return false, nil
	}
	minor, err := strconv.Atoi(string(m[1]))
	return err == nil && minor >= firstWithEvents, nil
}
