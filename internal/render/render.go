package render

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/generator"
	"stackgen/internal/files"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// The largest files that are read before everything is compared, in bytes.
const (
	maxRoot      = 1 << 20   // root.hcl
	maxStackFile = 256 << 20 // terragrunt.stack.hcl
)

// A Rendering is how a project's folder differs from what its specs say.
type Rendering struct {
	Project  *project.Project
	Rejected *project.BlockedError // why nothing was rendered, or nil
	Files    int                   // that the project has
	Changes  []files.Change

	moved bool // the states of some stacks
}

// New decides, renders and compares.
func New(p *project.Project, options lock.Options) (*Rendering, error) {
	r := &Rendering{Project: p, moved: len(options.StateMoved) > 0}
	if p.Empty() {
		return nil, p.NoSpecs()
	}
	if err := checkOptions(p, options); err != nil {
		return nil, err
	}
	var err error
	options.Orders, options.Rendered = true, creations(p.Root)
	if options.Project, err = projectID(p, options.Project); err != nil {
		return nil, err
	}
	if err = p.Decide(options); err == nil {
		err = r.compare()
	}
	if err == nil {
		err = r.checkIdentities(options.Again)
	}
	if errors.As(err, &r.Rejected) {
		return r, nil
	}
	return r, err
}

// creations returns what the stack files in a project say for properties that act at the
// creation of a VM. A file that cannot be read says nothing: the comparison reports it.
func creations(root string) func(s *schema.Stack, key, property string) string {
	read := map[string]map[string]map[string]string{} // by stack
	return func(s *schema.Stack, key, property string) string {
		if _, known := read[s.Name]; !known {
			body, err := files.Read(filepath.Join(root, "stacks", s.Name, generator.StackFile), maxStackFile)
			if err == nil {
				read[s.Name], err = generator.Creations(body, s)
			}
			if err != nil {
				read[s.Name] = nil
			}
		}
		return read[s.Name][key][property]
	}
}

// projectID is the id of a project whose lock has none: that of root.hcl where the lock has stacks
// and lost the line, as in a merge, or a new one.
func projectID(p *project.Project, id string) (string, error) {
	if p.Rendered == nil || p.Rendered.Project != "" || len(p.Rendered.Stacks) == 0 {
		return id, nil
	}
	file := filepath.Join(p.Root, "root.hcl")
	root, err := files.Read(file, maxRoot)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the states have the id that it has
		return "", fmt.Errorf("%s has the id of the project, which the lock lacks, and cannot be read: %w", file, err)
	}
	return cmp.Or(generator.ProjectOf(root), id), nil
}

// checkOptions refuses options about stacks that they do not fit.
func checkOptions(p *project.Project, o lock.Options) error {
	if p.Stacks == nil {
		return nil // the problems come first
	}
	for _, name := range o.StateMoved {
		if p.Specs[name] == "" {
			return fmt.Errorf("--state-moved: there is no stack %q", name)
		}
	}
	for _, name := range o.RecordsMoved {
		s := p.Rendered.Stacks.Get(name)
		switch {
		case p.Specs[name] == "":
			return fmt.Errorf("--records-moved: there is no stack %q", name)
		case !p.Selected(name):
			return fmt.Errorf("--records-moved: %s is not among the specs that are rendered", name)
		case s == nil || !slices.ContainsFunc(s.Units, func(e lock.Entry[lock.Unit]) bool { return e.Value.Status == lock.Moving }):
			return fmt.Errorf("--records-moved: no records of %s are on their way to another unit", name)
		}
	}
	return nil
}

// compare renders all files and compares them with those on disk.
func (r *Rendering) compare() error {
	p := r.Project
	rendered, err := generator.Render(p.Stacks, p.Lock, p.Selected)
	if err != nil {
		return fmt.Errorf("a defect of stackgen, please report it: %w", err)
	}
	body, err := p.Lock.Encode()
	if err != nil {
		return err
	}
	want := []files.File{{Path: lock.File, Body: body, Whole: true, Sync: true}}
	for _, f := range rendered {
		want = append(want, files.File{Path: f.Path, Body: f.Body})
	}
	wanted := map[string]bool{}
	for _, f := range want {
		wanted[f.Path] = true
	}
	r.Files = len(want)
	r.Changes, err = files.Compare(p.Root, want, files.Options{
		Marker:   generator.IsOurs,
		Owner:    p.Owner(func(path string) bool { return wanted[path] }),
		Managed:  r.managed,
		Reserved: generator.ReadPaths(p.Stacks, p.Lock, p.Selected),
		Roots:    []string{"modules", "units", "stacks", "root.hcl"},
	})
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for _, c := range r.Changes {
		changed[c.Path] = true
	}
	if changed[lock.File] {
		if err := lock.Verify(body); err != nil {
			return err
		}
	}
	if err := generator.Parse(rendered, func(path string) bool { return changed[path] }); err != nil {
		return fmt.Errorf("a defect of stackgen, please report it: %w", err)
	}
	return nil
}

// managed reports whether render removes a file that it does not render any more:
// those of the selected stacks and of stacks without a spec, and shared files if all
// stacks are selected, since the files of the others on disk may use them. It leaves
// import files alone.
func (r *Rendering) managed(path string) bool {
	p := r.Project
	parts := strings.Split(path, "/")
	if parts[0] != "stacks" {
		return len(p.SelectedStacks()) == len(p.Stacks.Stacks)
	}
	if len(parts) < 3 {
		return true
	}
	return parts[2] != "imports" && p.Selected(parts[1])
}

// checkProject refuses the lock of another project than the one that was rendered here.
func (r *Rendering) checkProject(root []byte) {
	p := r.Project
	for _, name := range p.SelectedNames() {
		isNew := slices.ContainsFunc(r.Changes, func(c files.Change) bool {
			return c.Kind == files.Created && c.Path == "stacks/"+name+"/"+generator.StackFile
		})
		if isNew {
			continue
		}
		if f := p.Rendered.OtherProject(name, generator.ProjectOf(root)); f != nil {
			p.Refusals = append(p.Refusals, *f)
		}
		return
	}
}

// checkIdentities refuses what would replace a VM that was rendered before. The
// lock decides, but it can be lost or edited; the old files still say which VMs
// there may be. VMs that get new decisions are others on purpose.
func (r *Rendering) checkIdentities(again []string) error {
	p := r.Project
	for _, c := range r.Changes {
		if c.Path == "root.hcl" {
			r.checkProject(c.Old)
		}
		parts := strings.Split(c.Path, "/")
		if len(parts) != 3 || parts[0] != "stacks" || parts[2] != generator.StackFile || c.Old == nil {
			continue
		}
		r.noteTemplates(parts[1], c)
		refusals, err := generator.OtherVMs(p.Stacks, p.Rendered, parts[1], c.Old, c.New)
		if err != nil {
			return fmt.Errorf("a defect of stackgen, please report it: %w", err)
		}
		for _, f := range refusals {
			if !slices.Contains(again, f.String()) {
				p.Refusals = append(p.Refusals, f)
			}
		}
	}
	if len(p.Refusals) > 0 {
		return &project.BlockedError{Project: p}
	}
	return nil
}

// noteTemplates notes what the spec of a Template changes of templates that exist.
func (r *Rendering) noteTemplates(stack string, c files.Change) {
	l := r.Project.Lock.Stacks.Get(stack)
	if l == nil || c.New == nil || !slices.ContainsFunc(l.VMs, func(e lock.Entry[lock.VM]) bool { return e.Value.Image != nil }) {
		return
	}
	differs := generator.OtherHardware(c.Old, c.New)
	for _, e := range l.VMs {
		if names := differs[e.Key]; len(names) > 0 && e.Value.Fingerprint != nil && e.Value.Status == lock.Live {
			r.Project.Notes = append(r.Project.Notes, fmt.Sprintf("%s/%s: the spec says another %s than before. It acts at creation: "+
				"write another release for a template that has it", stack, e.Key, strings.Join(names, ", ")))
		}
	}
}

// Blocked reports whether a file that stackgen did not write is in the way.
func (r *Rendering) Blocked() bool { return len(refused(r.Changes)) > 0 }

func refused(changes []files.Change) []files.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c files.Change) bool { return c.Kind != files.Refused })
}

// Write makes the changes, that of the lock first, and removes what Terragrunt generated
// from an earlier render and would run again. It does nothing if the rendering is
// rejected or blocked.
func (r *Rendering) Write() error {
	if r.Rejected != nil || r.Blocked() {
		return nil
	}
	lockFirst := slices.Clone(r.Changes)
	slices.SortStableFunc(lockFirst, func(a, b files.Change) int { return cmp.Compare(rank(a), rank(b)) })
	if err := files.Apply(r.Project.Root, lockFirst); err != nil {
		return err
	}
	for _, stack := range r.Project.SelectedNames() {
		if err := r.Project.RemoveStale(stack); err != nil {
			return err
		}
	}
	if r.moved { // the folders of the former place
		if err := files.RemoveEmpty(filepath.Join(r.Project.Root, lock.StateDir)); err != nil {
			return err
		}
	}
	return r.Project.RemoveLeft()
}

// WriteLock makes the change of the lock alone.
func (r *Rendering) WriteLock() error {
	return files.Apply(r.Project.Root, slices.DeleteFunc(slices.Clone(r.Changes), func(c files.Change) bool { return c.Path != lock.File }))
}

func rank(c files.Change) int {
	if c.Path == lock.File {
		return 0
	}
	return 1
}
