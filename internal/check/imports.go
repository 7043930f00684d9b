package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stackgen/generator"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
)

const maxImports = 64 << 20 // of an import file

// importFiles are the import files of the selected stacks. A file that cannot be read is an
// error; one that stackgen did not write, or that is damaged, only if the files are judged.
func (s *Session) importFiles(judged bool) (map[tf.Unit]guard.Imports, error) {
	out := map[tf.Unit]guard.Imports{}
	var errs []error
	for _, u := range s.Units() {
		file := filepath.Join(s.Project.StackDir(u.Stack), "imports", u.Unit+".tf")
		body, err := files.Read(file, maxImports)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot read %s: %w", file, err))
			continue
		}
		if generator.OriginOf(filepath.ToSlash(file), body) == generator.Foreign {
			err = fmt.Errorf("%s was not written by stackgen: move it away, then run the same command again", file)
		} else {
			out[u], err = guard.ParseImports(file, body)
		}
		if judged {
			errs = append(errs, err)
		}
	}
	return out, errors.Join(errs...)
}

// Imports are the import files of the selected stacks.
type Imports struct {
	Findings   []finding.Finding // everything that was judged
	Unrendered []finding.Finding // if the specs say more than was rendered
	Files      []files.File
	Changes    []files.Change // that make the files on disk those
}

// Imports reads the cluster and the states, and renders the import file of every
// unit that has something to import.
func (s *Session) Imports(ctx context.Context) (*Imports, error) {
	r, err := s.Run(ctx, Config{Unrendered: finding.Outdated, Locks: true})
	if err != nil {
		return nil, err
	}
	out := &Imports{Findings: r.Found, Unrendered: r.Unrendered}
	if r.InUse {
		return out, nil
	}
	adoptions := guard.Adoptions(out.Findings)
	var roots []string
	for _, stack := range s.Project.SelectedStacks() {
		if guard.NotJudged(out.Findings, stack.Name) {
			continue // its import files may be right for the cluster that the lock records
		}
		roots = append(roots, "stacks/"+stack.Name+"/imports")
		for _, u := range s.Units() {
			if u.Stack != stack.Name || len(adoptions[u]) == 0 {
				continue
			}
			var list []generator.Import
			for _, a := range adoptions[u] {
				list = append(list, generator.Import(a))
			}
			f, err := generator.Imports(stack, u.Unit, list)
			if err != nil {
				return nil, fmt.Errorf("a defect of stackgen, please report it: %w", err)
			}
			out.Files = append(out.Files, files.File{Path: f.Path, Body: f.Body})
		}
	}
	out.Changes, err = files.Compare(s.Project.Root, out.Files, files.Options{
		Marker: generator.IsOurs,
		Owner: s.Project.Owner(func(path string) bool {
			return slices.ContainsFunc(out.Files, func(f files.File) bool { return f.Path == path })
		}),
		Managed: func(string) bool { return true },
		Roots:   roots,
	})
	return out, err
}

// Listed are the findings that are imported, and those that a person should see.
func (i *Imports) Listed() []finding.Finding {
	out := slices.Clone(i.Unrendered)
	for _, f := range i.Findings {
		if adopted(f) || f.Stops() || f.Kind == finding.Orphan || f.Kind == finding.OtherState {
			out = append(out, f)
		}
	}
	return out
}

func adopted(f finding.Finding) bool { return f.Kind == finding.Adopt && !f.Stops() }

// Count is the number of resources to import.
func (i *Imports) Count() int {
	n := 0
	for _, f := range i.Findings {
		if adopted(f) {
			n++
		}
	}
	return n
}

// WriteImports makes the changes. A file that is not ours blocks only itself.
func (s *Session) WriteImports(changes []files.Change) error {
	ours := slices.DeleteFunc(slices.Clone(changes), func(c files.Change) bool { return c.Kind == files.Refused })
	if err := files.Apply(s.Project.Root, ours); err != nil {
		return err
	}
	if len(ours) < len(changes) {
		return errors.New("not all import files could be written; see above")
	}
	return nil
}

// PlanImports plans every unit that has an import file.
func (s *Session) PlanImports(ctx context.Context, verdicts []finding.Finding) (plans []guard.ImportPlan, err error) {
	adoptions := guard.Adoptions(verdicts)
	tools, err := s.planner("import-blocks --verify")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "stackgen-plan-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	stack := ""
	for i, u := range s.Units() {
		if len(adoptions[u]) == 0 {
			continue
		}
		if stack != u.Stack { // the units of a stack follow each other
			stack = u.Stack
			if err := tools.Generate(ctx, s.Project.StackDir(stack)); err != nil {
				return nil, err
			}
		}
		var args []string
		if slices.ContainsFunc(tf.GuestUnits(u.Stack), func(u tf.Unit) bool { return len(adoptions[u]) > 0 }) {
			args = guard.AddressArgs(u, verdicts)
		}
		body, failed := tools.Plan(ctx, s.Project.StackDir(u.Stack), u.Unit, filepath.Join(dir, fmt.Sprint(i)), args...)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case failed != nil:
			plans = append(plans, guard.ImportPlan{Unit: u, Failed: failed})
			continue
		}
		plan, err := tf.ParsePlan(body)
		if err != nil {
			return nil, fmt.Errorf("the plan of %s: %w", u, err)
		}
		plans = append(plans, guard.ReadImportPlan(u, plan, len(adoptions[u]), guard.Settling(u, verdicts)))
	}
	return plans, nil
}
