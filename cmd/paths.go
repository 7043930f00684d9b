package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stackgen/internal/lock"
)

// home is the folder of the project a path belongs to: the nearest ancestor with
// settings or a lock, else the parent of specs/, else the folder itself.
func home(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir := abs
	if info, err := os.Stat(abs); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, cause(err))
	} else if !info.IsDir() {
		dir = filepath.Dir(abs)
	}
	fallback := ""
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range []string{settingsFile, lock.File} {
			if info, err := os.Stat(filepath.Join(at, name)); err == nil && info.Mode().IsRegular() {
				return shown(at), nil
			}
		}
		if filepath.Base(at) == "specs" && fallback == "" {
			fallback = filepath.Dir(at)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if fallback == "" {
		fallback = dir
	}
	return shown(fallback), nil
}

// canonical is the same for all the ways to write a path: relative when it lies
// below the working directory, else absolute.
func canonical(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return shown(path)
}

// shown is a path as people see it: relative when it lies below the working
// directory.
func shown(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, abs); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// relative is file's path from dir, with slashes.
func relative(dir, file string) string {
	absDir, err1 := filepath.Abs(dir)
	absFile, err2 := filepath.Abs(file)
	if err := errors.Join(err1, err2); err == nil {
		if rel, err := filepath.Rel(absDir, absFile); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(file)
}

// cause is an error without the path that the message already has.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return errors.New(strings.ToLower(p.Err.Error()))
	}
	return err
}
