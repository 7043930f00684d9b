package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stackgen/generator"
	"stackgen/internal/files"
	"stackgen/internal/finding"
)

const maxInit = 1 << 20 // of what init records in a root module

// readRootModule reads what init recorded in the unit's root module: the workspace
// and the backend that the run uses.
func (h *Hook) readRootModule() error {
	dir := os.Getenv("TF_DATA_DIR")
	if dir == "" {
		dir = ".terraform"
	}
	if body, err := files.Read(filepath.Join(dir, "environment"), maxInit); err == nil { // else OpenTofu uses the default one too
		h.command.Workspace = strings.TrimSpace(string(body))
	}
	file := filepath.Join(dir, "terraform.tfstate")
	body, err := files.Read(file, maxInit)
	if errors.Is(err, fs.ErrNotExist) && (!hooked() || h.exec) {
		return nil // nothing is initialized here
	}
	root, failed := filepath.Abs(h.Project.Root)
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("cannot read which backend the unit has: %w", err)
	}
	h.command.Backend, err = generator.OtherBackend(h.Project.Lock.Stacks.Get(h.Unit.Stack), h.Unit.Unit, filepath.ToSlash(root), body)
	if err != nil {
		return fmt.Errorf("cannot read which backend the unit has: %s: %w", file, err)
	}
	return nil
}

// hooked reports whether Terragrunt runs this process as a hook. Otherwise its parent
// may be a shell, which outlives a run.
func hooked() bool { return os.Getenv("TG_CTX_HOOK_NAME") != "" }

// outdated is the finding about a unit that Terragrunt generated before the last
// render, or nil.
func (h *Hook) outdated() (*finding.Finding, error) {
	generated, err := files.Read(generator.ValuesFile, maxRendered)
	if errors.Is(err, fs.ErrNotExist) && !hooked() {
		return nil, nil // no unit is here
	}
	var rendered []byte
	if err == nil {
		rendered, err = files.Read(filepath.Join(h.Project.StackDir(h.Unit.Stack), generator.StackFile), maxRendered)
	}
	var values []string
	if err == nil {
		values, err = generator.OtherValues(rendered, h.Unit.Unit, generated)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot compare the unit with the last render: %w", err)
	case len(values) == 0:
		return nil, nil
	}
	f := &finding.Finding{
		Address:  finding.Address{Stack: h.Unit.Stack, Unit: h.Unit.Unit, Type: finding.Unit},
		Kind:     finding.Unrendered,
		Severity: finding.Blocked,
		Reason:   finding.Why("unit-of-other-render"),
	}
	return f.Because("it differs in %s", strings.Join(values, ", ")).
		Next("generate it again", "(cd stacks/"+h.Unit.Stack+" && terragrunt stack generate)"), nil
}
