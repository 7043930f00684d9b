package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Apply makes the changes that Compare returned, under the same root, which is created if it is missing. Created and
// changed files are written first, in the given order, so that a caller can put one before the others (a lock file
// before the files that depend on it). Then removed files are deleted, and folders that this leaves empty, but never the
// root.
//
// If any change is Refused, nothing is written and the error is a *RefusedError. Otherwise Apply stops at the first file
// that it cannot write or remove: written files are whole, the rest is unchanged, and the error names the path, the cause
// and what to do. A file that changed since Compare is such an error too, unless it already is as wanted.
//
// Apply does not lock. New files get mode 0666 less the umask, changed ones keep theirs.
func Apply(root string, changes []Change) error {
	return apply(root, changes, nil)
}

// Check reports what keeps Apply from making the changes, as far as that can be seen before: a file that changed since
// Compare or is none, and a folder that cannot be used. It changes nothing.
func Check(root string, changes []Change) error {
	if err := checkChanges(changes); err != nil || len(changes) == 0 {
		return err
	}
	at, err := openCursor(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // Apply creates it
	}
	if err != nil {
		return err
	}
	defer at.close()
	w := &writer{cursor: at}
	var errs []error
	for _, c := range changes {
		dir, name := split(c.Path)
		folder, err := w.enter(dir, false)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			err = w.failed(c, "the folder cannot be used", err)
		default:
			_, _, err = w.check(c, folder, name)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// apply is Apply with a function that is called before every change to the file system.
func apply(root string, changes []Change, before func()) error {
	if err := checkChanges(changes); err != nil || len(changes) == 0 {
		return err
	}
	if err := os.MkdirAll(root, 0o777); err != nil {
		return explain(root, "cannot be created", err)
	}
	at, err := openCursor(root)
	if err != nil {
		return err
	}
	defer at.close()
	at.before = before
	w := &writer{cursor: at, filled: map[string]bool{}}
	return w.all(changes)
}

// checkChanges refuses the whole run for one refused change, and changes that Compare never returns.
func checkChanges(changes []Change) error {
	var refused []Change
	var errs []error
	for _, c := range changes {
		_, name := split(c.Path)
		switch err := checkPath(c.Path); {
		case err != nil:
			errs = append(errs, err)
		case c.Kind == Refused:
			refused = append(refused, c)
		case c.Kind != Created && c.Kind != Changed && c.Kind != Removed:
			errs = append(errs, fmt.Errorf("%s: unknown kind of change %q", c.Path, c.Kind))
		case c.Kind != Removed && isTemp(name):
			errs = append(errs, fmt.Errorf("%s: the name is reserved for files that are being written", c.Path))
		}
	}
	if len(refused) > 0 {
		errs = append(errs, &RefusedError{refused})
	}
	return errors.Join(errs...)
}

// all makes the changes. A note in the root lists the folders that an interrupted run may leave empty.
func (w *writer) all(changes []Change) (err error) {
	var news, gone []Change
	for _, c := range changes {
		if c.Kind == Removed {
			gone = append(gone, c)
		} else {
			news = append(news, c)
		}
	}
	folders := w.folders(changes)
	note, err := w.leaveNote(folders)
	if err != nil {
		return err
	}
	defer func() {
		cleanup := w.prune(folders)
		if cleanup == nil && note != "" {
			cleanup = w.drop(note)
		}
		if err == nil { // otherwise the first error is reported, and the next run cleans up
			err = cleanup
		}
	}()
	for _, c := range news {
		if err := w.put(c); err != nil {
			return err
		}
	}
	for _, c := range gone {
		if err := w.remove(c); err != nil {
			return err
		}
	}
	return nil
}

// noteHeader is the first line of a note; each of the others is the path of a folder.
const noteHeader = "stackgen: remove these folders if they are empty\n"

// folders lists, parents first, the folders in which files are created or removed, also those of killed runs.
func (w *writer) folders(changes []Change) []string {
	seen := map[string]bool{".": true}
	var all []string
	add := func(dir string) {
		for ; !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			all = append(all, dir)
		}
	}
	for _, c := range changes {
		dir, name := split(c.Path)
		switch {
		case dir == "." && isTemp(name):
			for _, noted := range w.readNote(name) {
				add(noted)
			}
		case c.Kind != Changed:
			add(dir)
		}
	}
	slices.Sort(all)
	return all
}

// leaveNote writes the note and returns its name, or "" when there is nothing to note.
func (w *writer) leaveNote(folders []string) (string, error) {
	if len(folders) == 0 {
		return "", nil
	}
	root, err := w.enter(".", false)
	if err != nil {
		return "", err
	}
	name, err := w.temp(root, []byte(noteHeader+strings.Join(folders, "\n")+"\n"), 0, false)
	if err != nil {
		return "", explain(root.Name(), "cannot be written to", err)
	}
	return name, nil
}

// readNote returns the folders in the note of a killed run. Other files, and incomplete lines, have none.
func (w *writer) readNote(name string) []string {
	root, err := w.enter(".", false)
	if err != nil {
		return nil
	}
	body, err := root.ReadFile(name)
	rest, found := strings.CutPrefix(string(body), noteHeader)
	if err != nil || !found {
		return nil
	}
	lines := strings.Split(rest, "\n")
	return slices.DeleteFunc(lines[:len(lines)-1], func(p string) bool { return checkPath(p) != nil })
}

// prune removes empty folders; the list has parents first.
func (w *writer) prune(folders []string) error {
	for _, dir := range slices.Backward(folders) {
		if w.filled[dir] {
			continue
		}
		here, err := w.enter(dir, false)
		if err != nil {
			continue // removed already, or a link or a file
		}
		if entries, err := list(here); err != nil || len(entries) > 0 {
			continue
		}
		parent, name := split(dir)
		above, err := w.enter(parent, false)
		if err != nil {
			return err
		}
		w.touch()
		if err := above.Remove(name); err != nil {
			return explain(dir, "the empty folder cannot be removed", err)
		}
	}
	return nil
}

// drop removes the note.
func (w *writer) drop(note string) error {
	root, err := w.enter(".", false)
	if err != nil {
		return err
	}
	w.touch()
	if err := root.Remove(note); err != nil {
		return explain(note, "cannot be removed", err)
	}
	return nil
}
