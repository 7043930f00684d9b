package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"stackgen/internal/files"
	"stackgen/internal/lock"
	"stackgen/schema"
)

const (
	maxDocument  = 64 << 20 // of a spec or lock; package schema has a lower limit, with a position
	maxReference = 4 << 20  // of a file that a spec names: keys and rosters are small
)

// A loader reads one project.
type loader struct {
	edited   map[string][]byte // contents that replace those on disk
	root     string
	files    []string        // specs, as shown
	named    map[string]bool // specs that the paths name; empty means all
	lock     *lock.Lock
	sources  map[string][]byte
	problems []schema.Problem
	read     map[string]*schema.Spec // by file; nil if the file has errors
	homes    map[string]string       // spec -> folder of its project
}

// find determines the root and lists the specs.
func (l *loader) find(paths []string, out string) error {
	start := "."
	if len(paths) > 0 {
		start = paths[0]
	}
	source, err := Home(start)
	if err != nil {
		return err
	}
	l.root = source
	if out != "" {
		l.root = Canonical(out)
	}
	for _, p := range paths {
		if err := l.addPath(p, source, out != ""); err != nil {
			return err
		}
	}
	if out == "" || len(paths) == 0 {
		files, err := listSpecs(filepath.Join(source, "specs"))
		if err != nil {
			return err
		}
		for _, f := range files {
			l.add(f)
		}
	}
	if err := l.readLock(); err != nil {
		return err
	}
	l.unread(source)
	return nil
}

// addPath adds the specs of one path of the command line. With out, the paths
// may belong to several projects.
func (l *loader) addPath(path, source string, out bool) error {
	path = shown(filepath.Clean(path)) // the same form as the paths from the lock
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", path, files.Cause(err))
	}
	of, err := Home(path)
	if err != nil {
		return err
	}
	if of != source && !out {
		return fmt.Errorf("%s belongs to the project %s, the paths before it to %s; give paths of one project, or --out", path, of, source)
	}
	files := []string{path}
	if info.IsDir() {
		dir := path
		if Canonical(path) == of {
			dir = filepath.Join(path, "specs")
		}
		if files, err = listSpecs(dir); err != nil {
			return err
		}
		_, err := os.Stat(filepath.Join(dir, "..", lock.File))
		if len(files) == 0 && (Canonical(path) != of || err != nil) { // a project with a lock may have no spec left
			return fmt.Errorf("%s holds no spec (*.yaml)", path)
		}
	}
	for _, f := range files {
		l.add(f)
		l.named[Canonical(f)] = true
	}
	return nil
}

// add adds a spec once, whatever form its path has.
func (l *loader) add(file string) {
	if file = Canonical(file); !slices.Contains(l.files, file) {
		l.files = append(l.files, file)
	}
}

// listSpecs lists the specs of a folder. A hidden file is none: it belongs to
// another program, such as pre-commit or an editor.
func listSpecs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read %s: %w", dir, files.Cause(err))
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || name[0] == '.' || name == schema.SettingsFile || name == lock.File {
			continue
		}
		if isSpecName(name) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, nil
}

// readLock reads the lock and adds the specs that it records.
func (l *loader) readLock() error {
	file := filepath.Join(l.root, lock.File)
	src, err := files.Read(file, maxDocument)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read %s: %w", file, err)
	}
	l.sources[file] = src
	var problems []schema.Problem
	if l.lock, problems = lock.Read(file, src); l.lock == nil {
		l.problems = append(l.problems, problems...)
		return nil
	}
	for _, s := range l.lock.Stacks {
		spec := filepath.Join(l.root, filepath.FromSlash(s.Value.Spec))
		if _, err := os.Stat(spec); err == nil {
			l.add(spec)
		}
	}
	return nil
}

// documents reads every spec and its settings.
func (l *loader) documents() error {
	for file := range l.edited {
		if isSpecName(file) {
			l.add(file)
		}
	}
	slices.Sort(l.files)
	for _, file := range l.files {
		of, err := l.home(file)
		if err != nil {
			return err
		}
		l.homes[file] = of
		settings := filepath.Join(of, schema.SettingsFile)
		if err := l.document(settings, true); err != nil {
			return err
		}
		if err := l.document(file, false); err != nil {
			return err
		}
	}
	return l.document(filepath.Join(l.root, schema.SettingsFile), true)
}

// home is the folder of the project of a spec. One that does not exist yet is written into
// this one.
func (l *loader) home(file string) (string, error) {
	if _, err := os.Stat(file); err != nil && l.edited[file] != nil {
		return l.root, nil
	}
	return Home(file)
}

// document reads one file, once. The settings file may be missing.
func (l *loader) document(file string, settings bool) error {
	if _, done := l.read[file]; done {
		return nil
	}
	src, err := files.Read(file, maxDocument)
	if body, ok := l.edited[file]; ok {
		src, err = body, nil
	}
	if settings && errors.Is(err, fs.ErrNotExist) {
		l.read[file] = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", file, err)
	}
	l.sources[file] = src
	spec, problems := schema.Parse(file, src)
	l.problems = append(l.problems, problems...)
	if line, _ := schema.Matches("line", file); !line || !utf8.ValidString(file) {
		l.problems = append(l.problems, schema.Problem{
			Pos: schema.Pos{File: file, Line: 1, Col: 1}, Severity: schema.SeverityError, Code: schema.CodeFile,
			Message: "the path of the spec has control characters or is not UTF-8, so the lock cannot have it",
			Fix:     "rename the file or its folder",
		})
	}
	if spec != nil && (spec.Kind == schema.KindProject) != settings {
		want := "a file in specs/ is a Stack or a Class; shared settings belong into " + schema.SettingsFile
		if settings {
			want = schema.SettingsFile + " has kind: Project; stacks belong into specs/"
		}
		l.problems = append(l.problems, schema.Problem{Pos: schema.Pos{File: file, Line: 1, Col: 1}, Severity: schema.SeverityError,
			Code: schema.CodeKind, Message: "this document has kind: " + spec.Kind, Fix: want})
		spec = nil
	}
	l.read[file] = spec
	return nil
}

// join makes the project from the documents.
func (l *loader) join() (*Project, error) {
	p := &Project{Root: l.root, Rendered: l.lock, Lock: l.lock, Sources: l.sources, Specs: map[string]string{}}
	var inputs []schema.Input
	files := schema.Files{}
	chosen := map[string]bool{}
	for _, file := range l.files {
		settingsPath := filepath.Join(l.homes[file], schema.SettingsFile)
		spec, settings := l.read[file], l.read[settingsPath]
		if spec == nil || settings == nil && l.sources[settingsPath] != nil {
			continue // the spec or its settings have errors
		}
		inputs = append(inputs, schema.Input{Spec: spec, Label: Relative(l.homes[file], file), Settings: settings})
		p.Specs[spec.Name] = Relative(l.root, file)
		if len(l.named) == 0 || l.named[file] {
			chosen[spec.Name] = true
		}
		l.readReferences(files, spec, settings)
	}
	// A stack without a spec belongs to no path, so it is always selected, unless it
	// gets the name of another one.
	p.Selected = func(stack string) bool {
		if p.Stacks != nil {
			stack = p.Stacks.NewName(stack)
		}
		return chosen[stack] || p.Specs[stack] == ""
	}
	stacks, problems := schema.Join(l.read[filepath.Join(l.root, schema.SettingsFile)], inputs, files, l.lock.Seats())
	p.Joined, p.Problems = stacks, schema.SortProblems(append(l.problems, problems...))
	if schema.HasErrors(p.Problems) {
		return p, nil
	}
	for _, s := range stacks.Stacks { // with out, the spec's folder is not below the root
		if ca := s.Proxmox.CAFile; ca != "" && !filepath.IsAbs(ca) {
			s.Proxmox.CAFile = Relative(l.root, filepath.Join(l.homes[s.File], filepath.FromSlash(ca)))
		}
	}
	p.Stacks = stacks
	return p, nil
}

// readReferences reads the files that specs name.
func (l *loader) readReferences(references schema.Files, specs ...*schema.Spec) {
	for _, spec := range specs {
		if spec == nil {
			continue
		}
		for _, path := range spec.References() {
			f, done := references[path]
			if done {
				continue
			}
			body, err := files.Read(path, maxReference)
			if changed, ok := l.edited[path]; ok {
				body, err = changed, nil
			}
			if f.Body = body; err != nil {
				f.Err = err.Error()
			}
			references[path] = f
		}
	}
}
