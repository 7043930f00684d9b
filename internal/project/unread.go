package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/files"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// maxFolders bounds the folders below specs/ that are searched.
const maxFolders = 1000

// moveIn is what to do with a spec that is in another folder.
const moveIn = "move it into specs/"

// specHead is what the text of a spec has.
var specHead = regexp.MustCompile(`(?m)^["']?apiVersion["']?\s*:\s*["']?stackgen/`)

// unread adds a warning for each file of the project that looks like a spec, settings or a
// lock and is read by no command: it has another name or folder.
func (l *loader) unread(project string) {
	l.unreadBesideSettings(project)
	l.unreadSpecs(filepath.Join(project, "specs"))
}

// unreadBesideSettings adds the warnings for the folder of the project.
func (l *loader) unreadBesideSettings(project string) {
	isNew := l.lock != nil && len(l.files)+len(l.lock.Stacks) == 0 // l.lock is nil if it cannot be read
	settings := []string{schema.SettingsFile, lock.File}
	for _, name := range names(project) {
		file := filepath.Join(project, name)
		right := slices.IndexFunc(settings, func(s string) bool { return stem(name) == stem(s) })
		switch {
		case right >= 0:
			if name != settings[right] && !sameFile(file, filepath.Join(project, settings[right])) {
				l.warnUnread(file, renaming(project, settings[right]))
			}
		case isNew && isSpecName(name) && l.isSpec(file): // else it may be a copy
			l.warnUnread(file, moveIn)
		}
	}
}

// unreadSpecs adds the warnings for the folder of the specs and those below it.
func (l *loader) unreadSpecs(specs string) {
	folders := 0
	_ = filepath.WalkDir(specs, func(path string, d fs.DirEntry, err error) error { // the function returns no other error
		switch {
		case err != nil || path != specs && d.Name()[0] == '.':
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			if folders++; folders > maxFolders || path != specs && isProject(path) {
				return fs.SkipDir
			}
		case !d.Type().IsRegular():
		case filepath.Dir(path) == specs:
			if s := stem(d.Name()); s != "" && !isSpecName(d.Name()) {
				l.warnUnread(path, renaming(specs, d.Name()[:len(s)]+".yaml"))
			}
		case isSpecName(d.Name()) && l.isSpec(path):
			l.warnUnread(path, moveIn)
		}
		return nil
	})
}

// renaming says how a file gets a name with which it is read.
func renaming(dir, name string) string {
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
		return "move it away: " + name + " is read"
	}
	return "rename it to " + name
}

func (l *loader) warnUnread(file, fix string) {
	l.problems = append(l.problems, schema.Problem{
		Pos: schema.Pos{File: Canonical(file), Line: 1, Col: 1}, Severity: schema.SeverityWarning, Code: schema.CodeUnread,
		Message: "no command reads this file: specs are specs/*.yaml, and settings are in " + schema.SettingsFile,
		Fix:     fix,
	})
}

// isSpec reports whether a file that is not read has the text of a spec.
func (l *loader) isSpec(file string) bool {
	if slices.Contains(l.files, Canonical(file)) {
		return false
	}
	body, err := files.Read(file, maxReference)
	return err == nil && specHead.Match(body)
}

// stem is a name without the end of a YAML file, in any case, and without .txt, which an
// editor may have added; empty for other files.
func stem(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".txt")
	for _, ext := range []string{".yaml", ".yml"} {
		if s, ok := strings.CutSuffix(name, ext); ok {
			return s
		}
	}
	return ""
}

// isSpecName reports whether the file of a spec may have a name.
func isSpecName(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// isProject reports whether a folder is another project.
func isProject(dir string) bool {
	for _, name := range []string{schema.SettingsFile, lock.File} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// names are the regular files in a folder that are not hidden.
func names(dir string) []string {
	entries, _ := os.ReadDir(dir) // a folder that cannot be read has none
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name()[0] != '.' {
			out = append(out, e.Name())
		}
	}
	return out
}

// sameFile reports whether two names are one file, as on a file system that ignores case.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
