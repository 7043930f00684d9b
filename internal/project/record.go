package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"stackgen/internal/disk"
	"stackgen/internal/lock"
)

// Record merges what was observed into the lock on disk, and returns what is new in
// it. It waits until no other command writes the project and reads the lock again, so
// that neither loses what the other one wrote.
func (p *Project) Record(ctx context.Context, seen []lock.Observed, waiting func(text string)) (recorded []lock.Recording, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	unlock, err := disk.Lock(ctx, p.Root, waiting)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	file := filepath.Join(p.Root, lock.File)
	src, err := disk.Read(file, maxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was decided that could be observed
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, err)
	}
	now, problems := lock.Read(file, src)
	if now == nil {
		return nil, fmt.Errorf("%s: %s", file, problems[0].Message)
	}
	next, recorded := now.Observe(seen)
	if len(recorded) == 0 {
		return nil, nil
	}
	body, err := next.Bytes()
	if err != nil || bytes.Equal(body, src) {
		return nil, err
	}
	return recorded, disk.Apply(p.Root, []disk.Change{{Path: lock.File, Kind: disk.Changed, Old: src, New: body, Sync: true}})
}
