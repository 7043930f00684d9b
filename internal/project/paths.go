package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stackgen/internal/files"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// Home is the folder of the project that a path belongs to: the nearest ancestor
// with settings or a lock, else the parent of specs/, else the folder itself.
func Home(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir := abs
	if info, err := os.Stat(abs); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, files.Cause(err))
	} else if !info.IsDir() {
		dir = filepath.Dir(abs)
	}
	fallback := ""
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range []string{schema.SettingsFile, lock.File} {
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

// Elsewhere is the project's folder, absolute, if the working directory is another one. Otherwise it is empty.
func (p *Project) Elsewhere() string {
	root, err := filepath.Abs(p.Root)
	if here, failed := os.Getwd(); err != nil || failed != nil || here == root {
		return ""
	}
	return root
}

// Command is a command of stackgen for the spec of a stack, as it is right in the working directory.
func (p *Project) Command(name, stack string) string {
	line := "stackgen " + name
	if spec := p.Specs[stack]; spec != "" {
		line += " " + shell.Path(spec)
	}
	return shell.In(p.Elsewhere(), line)
}

// Canonical is one form for all spellings of a path: relative if it is below the
// working directory, else absolute.
func Canonical(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return shown(path)
}

// shown is a path as messages show it: relative if it is below the working
// directory, else as it was given.
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

// Relative is the path from dir to file, with slashes.
func Relative(dir, file string) string {
	absDir, err1 := filepath.Abs(dir)
	absFile, err2 := filepath.Abs(file)
	if err := errors.Join(err1, err2); err == nil {
		if rel, err := filepath.Rel(absDir, absFile); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(file)
}

// lockTimeout is how long a command waits for another one that writes the project.
const lockTimeout = time.Minute

// LockFolder keeps other writers out of the project that paths and out name, until
// unlock is called. waiting is called once if there is another writer.
func LockFolder(ctx context.Context, paths []string, out string, waiting func(text string)) (unlock func() error, err error) {
	root := filepath.Clean(out)
	if out == "" {
		start := "."
		if len(paths) > 0 {
			start = paths[0]
		}
		if root, err = Home(start); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	return files.Lock(ctx, root, waiting)
}
