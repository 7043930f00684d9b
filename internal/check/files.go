package check

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/files"
	"stackgen/internal/project"
	"stackgen/internal/tf"
)

// unitFiles finds the files of units. A value is STACK/UNIT=FILE or a folder with
// files of the given names. flag is the flag that has the values.
func (s *Session) unitFiles(flag string, values []string, units []tf.Unit, names ...string) (map[tf.Unit]string, error) {
	out := map[tf.Unit]string{}
	for _, value := range values {
		id, file, isFile := strings.Cut(value, "=")
		if !isFile {
			if err := s.searchFolder(out, value, units, names); err != nil {
				return nil, fmt.Errorf("--%s: %w", flag, err)
			}
			continue
		}
		stack, unit, isUnit := strings.Cut(id, "/")
		u := tf.Unit{Stack: stack, Unit: unit}
		if !isUnit || !slices.Contains(units, u) {
			return nil, fmt.Errorf("--%s %s: %w", flag, value, s.noUnit(id))
		}
		out[u] = file
	}
	return out, nil
}

// searchFolder finds the files of units in a folder that --json-out-dir wrote, or
// in one with local states.
func (s *Session) searchFolder(out map[tf.Unit]string, dir string, units []tf.Unit, names []string) error {
	found := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(names, d.Name()) {
			return err
		}
		owners := s.owners(filepath.ToSlash(project.Relative(dir, filepath.Dir(path))), d.Name(), units)
		if len(owners) > 1 {
			return fmt.Errorf("%s may be of %s or of %s: name the stack's spec, or give STACK/UNIT=FILE", path, owners[0], owners[1])
		}
		for _, u := range owners {
			out[u], found = path, found+1
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", dir, files.Cause(err))
	case found == 0:
		return fmt.Errorf("%s holds no %s of a unit of this project", dir, strings.Join(names, " or "))
	}
	return nil
}

// owners are the units that a file in a folder may belong to.
func (s *Session) owners(folder, name string, units []tf.Unit) []tf.Unit {
	parts := strings.Split(folder, "/")
	stacks := slices.Index(parts, "stacks")
	var out []tf.Unit
	for _, u := range units {
		key := s.Project.Lock.Stacks.Get(u.Stack).StateKey
		switch {
		case parts[len(parts)-1] != u.Unit:
		case stacks >= 0 && parts[stacks+1] != u.Stack:
		case name == localState && folder != key+"/"+u.Unit:
		default:
			out = append(out, u)
		}
	}
	return out
}
