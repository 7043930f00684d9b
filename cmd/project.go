package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stackgen/internal/lock"
	"stackgen/schema"
)

const settingsFile = "stackgen.yaml"

// A project is what a command works on: the folder, the documents in it, and
// which stacks were asked for.
type project struct {
	root     string // as paths are shown: relative to the working directory where it can be
	stacks   *schema.Project
	lock     *lock.Lock
	specs    map[string]string // stack -> path of its spec, relative to root
	selected func(stack string) bool
	sources  map[string][]byte // what was read, for excerpts
	problems []schema.Problem
}

// load finds the project of the paths and reads everything in it. Problems are
// collected, not returned as an error; stacks is nil when they are errors.
func load(paths []string, out string) (*project, error) {
	return loadEdited(paths, out, nil)
}

// loadEdited is load, as if some files had other contents than they have.
func loadEdited(paths []string, out string, edited map[string][]byte) (*project, error) {
	l := &loader{edited: edited, sources: map[string][]byte{}, named: map[string]bool{}, read: map[string]*schema.Spec{}, homes: map[string]string{}}
	if err := l.find(paths, out); err != nil {
		return nil, err
	}
	if err := l.documents(); err != nil {
		return nil, err
	}
	return l.join()
}

// empty reports whether there is nothing to work on, and nothing wrong either.
func (p *project) empty() bool {
	return p.stacks != nil && len(p.specs) == 0 && len(p.lock.Stacks) == 0
}

func (p *project) noSpecs() error {
	return fmt.Errorf("there is no spec in %s; `stackgen init` writes one", filepath.Join(p.root, "specs"))
}

// A loader reads one project.
type loader struct {
	edited   map[string][]byte // contents in place of a file's own
	root     string
	files    []string        // specs, as shown
	named    map[string]bool // those that were asked for; empty means all
	lock     *lock.Lock
	sources  map[string][]byte
	problems []schema.Problem
	read     map[string]*schema.Spec // by file; nil where it had errors
	homes    map[string]string       // spec -> folder of the project it was written for
	settings []string                // stackgen.yaml files in use
}

// find settles the root and lists the specs.
func (l *loader) find(paths []string, out string) error {
	start := "."
	if len(paths) > 0 {
		start = paths[0]
	}
	source, err := home(start)
	if err != nil {
		return err
	}
	l.root = source
	if out != "" {
		l.root = canonical(out)
	}
	for _, p := range paths {
		if err := l.name(p, source, out != ""); err != nil {
			return err
		}
	}
	if out == "" || len(paths) == 0 {
		files, err := folder(filepath.Join(source, "specs"))
		if err != nil {
			return err
		}
		for _, f := range files {
			l.add(f)
		}
	}
	return l.readLock()
}

// name adds one path that was given.
func (l *loader) name(path, source string, apart bool) error {
	path = shown(filepath.Clean(path)) // as the lock's specs are, or it would be another file
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", path, cause(err))
	}
	of, err := home(path)
	if err != nil {
		return err
	}
	if of != source && !apart {
		return fmt.Errorf("%s belongs to the project %s, the paths before it to %s; give paths of one project, or --out", path, of, source)
	}
	files := []string{path}
	if info.IsDir() {
		dir := path
		if canonical(path) == of {
			dir = filepath.Join(path, "specs")
		}
		if files, err = folder(dir); err != nil {
			return err
		}
		_, err := os.Stat(filepath.Join(dir, "..", lock.File))
		if len(files) == 0 && (canonical(path) != of || err != nil) { // a project may have none left, only a lock
			return fmt.Errorf("%s holds no spec (*.yaml)", path)
		}
	}
	for _, f := range files {
		l.add(f)
		l.named[canonical(f)] = true
	}
	return nil
}

// add adds a spec under the one name that it has in this run, however it was given.
func (l *loader) add(file string) {
	if file = canonical(file); !slices.Contains(l.files, file) {
		l.files = append(l.files, file)
	}
}

// folder lists the specs of a folder.
func folder(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read %s: %w", dir, cause(err))
	}
	var files []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") && e.Name() != settingsFile && e.Name() != lock.File {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// readLock reads the lock and adds the specs it knows, wherever they lie.
func (l *loader) readLock() error {
	file := filepath.Join(l.root, lock.File)
	src, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read %s: %w", file, cause(err))
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

// documents reads every spec and the settings it inherits.
func (l *loader) documents() error {
	slices.Sort(l.files)
	for _, file := range l.files {
		of, err := home(file)
		if err != nil {
			return err
		}
		l.homes[file] = of
		settings := filepath.Join(of, settingsFile)
		if _, seen := l.read[settings]; !seen {
			if _, err := l.document(settings, true); err != nil {
				return err
			}
		}
		if _, err := l.document(file, false); err != nil {
			return err
		}
	}
	_, err := l.document(filepath.Join(l.root, settingsFile), true)
	return err
}

// document reads one file; a missing one is nil where it may be missing.
func (l *loader) document(file string, settings bool) (*schema.Spec, error) {
	if spec, seen := l.read[file]; seen {
		return spec, nil
	}
	src, err := os.ReadFile(file)
	if body, ok := l.edited[file]; ok {
		src, err = body, nil
	}
	if settings && errors.Is(err, fs.ErrNotExist) {
		l.read[file] = nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, cause(err))
	}
	l.sources[file] = src
	spec, problems := schema.Parse(file, src)
	l.problems = append(l.problems, problems...)
	if spec != nil && (spec.Kind == schema.KindProject) != settings {
		want := "a file in specs/ is a Stack or a Class; shared settings belong into " + settingsFile
		if settings {
			want = settingsFile + " has kind: Project; stacks belong into specs/"
		}
		l.problems = append(l.problems, schema.Problem{Pos: schema.Pos{File: file, Line: 1, Col: 1}, Severity: schema.SeverityError,
			Code: schema.CodeKind, Message: "this document has kind: " + spec.Kind, Fix: want})
		spec = nil
	}
	l.read[file] = spec
	return spec, nil
}

// join makes the project of what was read.
func (l *loader) join() (*project, error) {
	p := &project{root: l.root, lock: l.lock, sources: l.sources, specs: map[string]string{}}
	var inputs []schema.Input
	files := schema.Files{}
	chosen := map[string]bool{}
	for _, file := range l.files {
		settingsPath := filepath.Join(l.homes[file], settingsFile)
		spec, settings := l.read[file], l.read[settingsPath]
		if spec == nil || settings == nil && l.sources[settingsPath] != nil {
			continue // it has errors, or what it inherits from has
		}
		inputs = append(inputs, schema.Input{Spec: spec, Label: relative(l.homes[file], file), Settings: settings})
		p.specs[spec.Name] = relative(l.root, file)
		if len(l.named) == 0 || l.named[file] {
			chosen[spec.Name] = true
		}
		readReferences(files, spec, settings)
	}
	// A stack whose spec is gone belongs to no path: it is looked at with all of
	// them, or when nothing was named.
	p.selected = func(stack string) bool { return chosen[stack] || p.specs[stack] == "" }
	stacks, problems := schema.Join(l.read[filepath.Join(l.root, settingsFile)], inputs, files)
	p.problems = schema.SortProblems(append(l.problems, problems...))
	if schema.HasErrors(p.problems) {
		return p, nil
	}
	for _, s := range stacks.Stacks { // with --out, the spec's project is not the one that is written
		if ca := s.Proxmox.CAFile; ca != "" && !filepath.IsAbs(ca) {
			s.Proxmox.CAFile = relative(l.root, filepath.Join(l.homes[s.File], filepath.FromSlash(ca)))
		}
	}
	p.stacks = stacks
	return p, nil
}

// maxReference bounds the files a spec may name: keys and rosters are small.
const maxReference = 4 << 20

func readReferences(files schema.Files, specs ...*schema.Spec) {
	for _, spec := range specs {
		if spec == nil {
			continue
		}
		for _, path := range spec.References() {
			f := files[path]
			info, err := os.Stat(path)
			switch {
			case err != nil:
				f.Err = cause(err).Error()
			case !info.Mode().IsRegular() || info.Size() > maxReference:
				f.Err = "it is no file of reasonable size"
			default:
				if f.Body, err = os.ReadFile(path); err != nil {
					f.Err = cause(err).Error()
				}
			}
			files[path] = f
		}
	}
}
