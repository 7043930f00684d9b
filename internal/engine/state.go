package engine

import (
	"context"
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

// State is the state of a generated unit, decrypted, wherever its backend keeps
// it. It is empty where the backend has none yet; everything else that keeps it
// from being read is an error.
func (t *Tools) State(ctx context.Context, stack, unit string) ([]byte, error) {
	dir := UnitDir(stack, unit)
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%s is not there: `terragrunt stack generate` did not make it; run `stackgen render`", dir)
	}
	r, err := t.must(ctx, dir, "terragrunt", "run", "--", "state", "pull")
	return r.Stdout, err
}

// Plan plans a generated unit and returns the plan as JSON. A plan that failed
// and was written all the same is returned with the error.
func (t *Tools) Plan(ctx context.Context, stack, unit, file string) ([]byte, error) {
	dir := UnitDir(stack, unit)
	_, failed := t.must(ctx, dir, "terragrunt", "run", "--", "plan", "-input=false", "-lock=false", "-out="+file)
	if !isFile(file) && failed != nil {
		return nil, failed
	}
	r, err := t.must(ctx, dir, "terragrunt", "run", "--", "show", "-json", file)
	if err != nil {
		return nil, err
	}
	return r.Stdout, failed
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
