package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// quiet keeps Terragrunt from prompts, colors and prefixes.
var quiet = []string{
	"TG_NON_INTERACTIVE=true", "TG_NO_COLOR=true", "TG_TF_FORWARD_STDOUT=true",
	"TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
}

// Generate generates the units of a stack, as every run of Terragrunt does.
func (t *Tools) Generate(ctx context.Context, stack string) error {
	_, err := t.must(ctx, stack, "terragrunt", "stack", "generate")
	return err
}

// UnitDir is the folder of a generated unit.
func UnitDir(stack, unit string) string { return filepath.Join(stack, ".terragrunt-stack", unit) }

// State reads a state, decrypted, from the backend of a configuration. It is empty
// if the backend has none yet.
func (t *Tools) State(ctx context.Context, backend []byte) (state []byte, err error) {
	err = t.inBackend(ctx, backend, func(own *Tools, dir string) error {
		r, err := own.must(ctx, dir, own.command(), "state", "pull", "-no-color")
		state = r.Stdout
		return err
	})
	return state, err
}

// ChangeState changes a state in the backend of a configuration. change returns the new one, with a higher serial, or
// nil to leave it as it is.
func (t *Tools) ChangeState(ctx context.Context, backend []byte, change func(state []byte) ([]byte, error)) error {
	return t.inBackend(ctx, backend, func(own *Tools, dir string) error {
		r, err := own.must(ctx, dir, own.command(), "state", "pull", "-no-color")
		if err != nil {
			return err
		}
		state, err := change(r.Stdout)
		if err != nil || state == nil {
			return err
		}
		r, err = own.With(quiet...).run(ctx, dir, bytes.NewReader(state), own.command(), "state", "push", "-no-color", "-")
		return failed(err, r, dir, own.command(), "state push")
	})
}

// inBackend runs a function in a root module that has only a backend: the unit's root
// module would need its providers and the outputs of other units.
func (t *Tools) inBackend(ctx context.Context, backend []byte, run func(own *Tools, dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "stackgen-state-*")
	if err != nil {
		return fmt.Errorf("cannot make a folder to read a state in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, "backend.tf"), backend, 0o600); err != nil {
		return fmt.Errorf("cannot make a folder to read a state in: %w", err)
	}
	// The user's arguments and workspace would lead to another state.
	own := t.With("TF_DATA_DIR="+filepath.Join(dir, ".terraform"), "TF_CLI_ARGS=", "TF_CLI_ARGS_init=", "TF_WORKSPACE=")
	if _, err := own.must(ctx, dir, own.command(), "init", "-input=false", "-no-color"); err != nil {
		return err
	}
	return run(own, dir)
}

// Plan plans a generated unit and returns the plan as JSON. folder is for its
// files. A plan that was written although it failed is returned with the error.
func (t *Tools) Plan(ctx context.Context, stack, unit, folder string, args ...string) ([]byte, error) {
	dir := UnitDir(stack, unit)
	// `terragrunt run` shows the plan too: `terragrunt show` would need the outputs of
	// units that were never applied, and only a plan has mocks for them.
	args = append([]string{"run", "--all", "--out-dir", folder, "--json-out-dir", folder, "--",
		"plan", "-input=false", "-lock=false"}, args...)
	_, failed := t.With("TG_SUMMARY_DISABLE=true").must(ctx, dir, "terragrunt", args...)
	if body, err := os.ReadFile(filepath.Join(folder, "tfplan.json")); err == nil {
		return body, failed
	}
	file := filepath.Join(folder, "tfplan.tfplan")
	if !isFile(file) && failed != nil {
		return nil, failed
	}
	r, err := t.must(ctx, dir, "terragrunt", "run", "--", "show", "-json", file)
	if err != nil {
		return nil, err
	}
	return r.Stdout, failed
}

// PlanIn plans in an initialized root module and returns the plan as JSON. A plan
// that was written although it failed is returned with the error.
func (t *Tools) PlanIn(ctx context.Context, dir, file string, args ...string) ([]byte, error) {
	args = append([]string{"plan", "-no-color", "-input=false", "-lock=false", "-out=" + file}, args...)
	_, failed := t.must(ctx, dir, t.command(), args...)
	if !isFile(file) && failed != nil {
		return nil, failed
	}
	body, err := t.Show(ctx, dir, file)
	if err != nil {
		return nil, err
	}
	return body, failed
}

// Show returns a plan file as JSON. dir is the root module of the plan.
func (t *Tools) Show(ctx context.Context, dir, file string) ([]byte, error) {
	r, err := t.must(ctx, dir, t.command(), "show", "-no-color", "-json", file)
	return r.Stdout, err
}

// must runs a tool. If the tool fails, the error ends with the last lines that it
// printed.
func (t *Tools) must(ctx context.Context, dir, name string, args ...string) (Result, error) {
	r, err := t.With(quiet...).Run(ctx, dir, name, args...)
	return r, failed(err, r, dir, name, strings.Join(args, " "))
}

// failed is the error of a tool that has run, or nil.
func failed(err error, r Result, dir, name, args string) error {
	if err == nil && r.Code != 0 {
		err = fmt.Errorf("`%s %s` in %s failed with exit code %d: %s", name, args, dir, r.Code, last(r.Text()))
	}
	return err
}

// last is the end of a text, on one line.
func last(text string) string {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	lines = lines[max(0, len(lines)-8):]
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, " / ")
}
