package disk

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// Apply makes the changes, as Compare returned them, under the same root, which is made when it is missing. Created and
// changed files are written first and in the order given, so that a caller can put one ahead of the others (a lock file
// ahead of what follows from it); then the removed ones go, and the folders that leaves empty, but never the root.
//
// If any change is Refused, nothing at all is written and the error is a *RefusedError. Otherwise Apply stops at the first
// file it cannot write or remove: what was written is whole, the rest is as it was, and the error names the path, the cause
// and what to do. A file that is no longer as it was compared is such an error too; one that already is as wanted is not.
//
// Apply does not lock. New files get mode 0666 less the umask, changed ones keep theirs.
func Apply(root string, changes []Change) error {
	return apply(root, changes, nil)
}

// apply is Apply with a function that is called ahead of every change to the file system.
func apply(root string, changes []Change, before func()) error {
	if err := checkChanges(changes); err != nil || len(changes) == 0 {
		return err
	}
	if err := os.MkdirAll(root, 0o777); err != nil {
		return explain(root, "cannot be made", err)
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

// all makes the changes, with a note in the root of the folders that may be left empty if it does not come to its end.
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
		tidy := w.prune(folders)
		if tidy == nil && note != "" {
			tidy = w.drop(note)
		}
		if err == nil { // else the first error is the one to act on, and the next run tidies up
			err = tidy
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

// noteHeader is the first line of a note; a folder's path is on each of the others.
const noteHeader = "stackgen: folders to be removed if they are empty\n"

// folders lists, parents first, the folders in which files appear or vanish, those of killed runs included.
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

// readNote returns the folders noted by a killed run. Whatever is not such a note, or not a whole line of one, is nothing.
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

// prune removes those of the folders, parents first in the list, which are empty.
func (w *writer) prune(folders []string) error {
	for _, dir := range slices.Backward(folders) {
		if w.filled[dir] {
			continue
		}
		here, err := w.enter(dir, false)
		if err != nil {
			continue // gone already, or none of ours
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
