package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// quiet keeps Terragrunt from asking, coloring and wrapping what tofu prints.
var quiet = []string{"TG_NON_INTERACTIVE=true", "TG_NO_COLOR=true", "TG_TF_FORWARD_STDOUT=true", "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1"}

// Generate makes the units of a stack, as every run of it does.
func (t *Tools) Generate(ctx context.Context, stack string) error {
	_, err := t.must(ctx, stack, "terragrunt", "stack", "generate")
	return err
}

// UnitDir is where a generated unit lies.
func UnitDir(stack, unit string) string { return filepath.Join(stack, ".terragrunt-stack", unit) }

// State is a state, decrypted, from the backend that a configuration names. It is
// empty where the backend has none yet; everything else that keeps it from being
// read is an error. It is read from a root module of its own: the unit's would
// want its providers and the outputs of other units for it.
func (t *Tools) State(ctx context.Context, backend []byte) (state []byte, err error) {
	dir, err := os.MkdirTemp("", "stackgen-state-*")
	if err != nil {
		return nil, fmt.Errorf("no place to read a state from: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, "backend.tf"), backend, 0o600); err != nil {
		return nil, fmt.Errorf("no place to read a state from: %w", err)
	}
	own := t.With("TF_DATA_DIR=" + filepath.Join(dir, ".terraform"))
	if _, err := own.must(ctx, dir, own.command(), "init", "-input=false", "-no-color"); err != nil {
		return nil, err
	}
	r, err := own.must(ctx, dir, own.command(), "state", "pull", "-no-color")
	return r.Stdout, err
}

// Plan plans a generated unit, with a folder for its files, and returns the
// plan as JSON. A plan that failed
// and was written all the same is returned with the error.
func (t *Tools) Plan(ctx context.Context, stack, unit, folder string, args ...string) ([]byte, error) {
	dir := UnitDir(stack, unit)
	// Terragrunt shows the plan itself: `terragrunt show` would want outputs of
	// units that were never applied, which only a plan has mocks for.
	args = append([]string{"run", "--all", "--out-dir", folder, "--json-out-dir", folder, "--", "plan", "-input=false", "-lock=false"}, args...)
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

// PlanIn plans in a root module that is ready to run, in the way args say, and
// returns the plan as JSON. A plan that failed and was written all the same is
// returned with the error.
func (t *Tools) PlanIn(ctx context.Context, dir, file string, args ...string) ([]byte, error) {
	_, failed := t.must(ctx, dir, t.command(), append([]string{"plan", "-no-color", "-input=false", "-lock=false", "-out=" + file}, args...)...)
	if !isFile(file) && failed != nil {
		return nil, failed
	}
	body, err := t.Show(ctx, dir, file)
	if err != nil {
		return nil, err
	}
	return body, failed
}

// Show is a plan file as JSON, read in the root module that it was made in.
func (t *Tools) Show(ctx context.Context, dir, file string) ([]byte, error) {
	r, err := t.must(ctx, dir, t.command(), "show", "-no-color", "-json", file)
	return r.Stdout, err
}

// must runs a tool that is to succeed; otherwise the error ends with what it
// said last.
func (t *Tools) must(ctx context.Context, dir, name string, args ...string) (Result, error) {
	r, err := t.With(quiet...).Run(ctx, dir, name, args...)
	if err == nil && r.Code != 0 {
		err = fmt.Errorf("`%s %s` in %s ends with %d: %s", name, strings.Join(args, " "), dir, r.Code, last(r.Text()))
	}
	return r, err
}

// last is the end of what a tool said, on one line.
func last(text string) string {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	lines = lines[max(0, len(lines)-8):]
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, " / ")
}
