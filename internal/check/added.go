package check

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/generator"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/project"
	"stackgen/schema"
)

// generatedDir is the folder in which Terragrunt generates the units of a stack.
const generatedDir = project.GeneratedDir

// added are the findings about the selected stacks for files that stackgen did not write
// where OpenTofu or Terragrunt reads them.
func (s *Session) added() ([]finding.Finding, error) {
	changes, err := files.Compare(s.Project.Root, nil, files.Options{
		Marker:   generator.IsOurs,
		Owner:    s.Project.Owner(func(string) bool { return false }),
		Reserved: generator.ReadPaths(s.Project.Stacks, s.Project.Lock, s.Project.Selected),
		Roots:    []string{"modules", "units", "stacks", "root.hcl"},
	})
	if err != nil {
		return nil, err
	}
	var out []finding.Finding
	for _, stack := range s.Project.SelectedStacks() {
		var added []guard.AddedFile
		for _, c := range changes {
			if c.Kind == files.Refused && readBy(stack, c) {
				added = append(added, guard.AddedFile{Path: c.Path, Edited: c.Edited})
			}
		}
		more, err := s.addedToGenerated(stack)
		if err != nil {
			return nil, err
		}
		if added = append(added, more...); len(added) > 0 {
			out = append(out, guard.Added(finding.Address{Stack: stack.Name, Type: finding.Stack}, added))
		}
	}
	return out, nil
}

// readBy reports whether a run of a stack reads a file that stackgen did not write. What was
// edited in the files of the stack itself is compared with what its spec says.
func readBy(stack *schema.Stack, c files.Change) bool {
	parts := strings.Split(c.Path, "/")
	if parts[0] == "stacks" {
		return len(parts) == 2 || parts[1] == stack.Name && !c.Edited
	}
	return len(parts) == 1 || stack.Catalog == nil
}

// addedToGenerated are such files in the folder in which Terragrunt generates the units of a
// stack. What units of a catalog have is not known here.
func (s *Session) addedToGenerated(stack *schema.Stack) (out []guard.AddedFile, err error) {
	root := filepath.Join(s.Project.StackDir(stack.Name), generatedDir)
	if _, missing := os.Lstat(root); missing != nil || stack.Catalog != nil {
		return nil, nil
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		parts := strings.Split(filepath.ToSlash(project.Relative(root, path)), "/")
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".terragrunt-cache", ".terraform"}, name):
			return filepath.SkipDir
		case d.IsDir() || !generator.ReadByTerragrunt(name) && !(generator.ReadByTofu(name) && len(parts) == 2):
			return nil
		case len(parts) == 2:
			body, err := files.Read(path, maxRendered)
			if err == nil && !generator.AddedUnit(parts[0], name, body) {
				return nil
			}
		}
		out = append(out, guard.AddedFile{Path: s.inProject(path)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot list what Terragrunt generated: %w", files.Cause(err))
	}
	return out, nil
}

// addedToRootModule are such files in the root module of the unit, which is where a hook
// runs: what OpenTofu finds there, it applies.
func (h *Hook) addedToRootModule() ([]guard.AddedFile, error) {
	if !hooked() || h.stack().Catalog != nil {
		return nil, nil
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("cannot list the root module of the unit: %w", files.Cause(err))
	}
	var out []guard.AddedFile
	for _, e := range entries {
		if e.IsDir() || !generator.ReadByTofu(e.Name()) {
			continue
		}
		body, err := files.Read(e.Name(), maxRendered)
		if err != nil || generator.Added(h.Unit.Stack, h.Unit.Unit, e.Name(), body) {
			out = append(out, guard.AddedFile{Path: h.inProject(e.Name())})
		}
	}
	return out, nil
}

// addedFiles is the finding about such files that the run of the unit reads, or nil.
func (h *Hook) addedFiles() (*finding.Finding, error) {
	found, err := h.added()
	if err != nil || len(found) > 0 {
		return first(found), err
	}
	added, err := h.addedToRootModule()
	if err != nil || len(added) == 0 {
		return nil, err
	}
	f := guard.Added(finding.Address{Stack: h.Unit.Stack, Unit: h.Unit.Unit, Type: finding.Unit}, added)
	return &f, nil
}

func first(found []finding.Finding) *finding.Finding {
	if len(found) == 0 {
		return nil
	}
	return &found[0]
}

// inProject is the path of a file from the project, with slashes, if it is in there.
func (s *Session) inProject(file string) string {
	if rel := project.Relative(s.Project.Root, file); filepath.IsLocal(rel) {
		return rel
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(abs)
}
