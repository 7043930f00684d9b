package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"stackgen/internal/files"
	"stackgen/internal/lock"
)

// Record merges what was observed into the lock on disk, and returns what is new in
// it. It waits until no other command writes the project and reads the lock again, so
// that neither loses what the other one wrote.
func (p *Project) Record(ctx context.Context, seen []lock.Observed, waiting func(text string)) (recorded []lock.Recording, err error) {
	err = p.updateLock(ctx, waiting, func(now *lock.Lock) *lock.Lock {
		next, news := now.Observe(seen)
		if recorded = news; len(news) == 0 {
			return now
		}
		return next
	})
	return recorded, err
}

// Destroyed removes what was observed of VMs of a stack from the lock on disk, which are
// certainly gone, by their keys; and of its units if the whole stack was destroyed.
func (p *Project) Destroyed(ctx context.Context, stack string, gone []string, whole bool, waiting func(text string)) error {
	return p.updateLock(ctx, waiting, func(now *lock.Lock) *lock.Lock {
		next, _ := now.Destroyed(stack, gone, whole)
		return next
	})
}

// BeginRebuild marks VMs of a stack in the lock on disk, before they are replaced.
func (p *Project) BeginRebuild(ctx context.Context, stack string, vms []lock.Begin, waiting func(text string)) error {
	return p.updateLock(ctx, waiting, func(now *lock.Lock) *lock.Lock {
		next, _ := now.BeginRebuild(stack, vms)
		return next
	})
}

// Healthy says in the lock on disk which VMs of a stack that were replaced are healthy.
func (p *Project) Healthy(ctx context.Context, stack string, healthy, unhealthy []string, waiting func(text string)) error {
	return p.updateLock(ctx, waiting, func(now *lock.Lock) *lock.Lock { return now.Healthy(stack, healthy, unhealthy) })
}

// EndRebuild removes the marks of VMs of a stack from the lock on disk.
func (p *Project) EndRebuild(ctx context.Context, stack string, keys []string, waiting func(text string)) error {
	return p.updateLock(ctx, waiting, func(now *lock.Lock) *lock.Lock { return now.EndRebuild(stack, keys) })
}

// updateLock replaces the lock on disk by what a function makes of it. Without a lock,
// nothing was decided that could be observed.
func (p *Project) updateLock(ctx context.Context, waiting func(text string), change func(now *lock.Lock) *lock.Lock) (err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	unlock, err := files.Lock(ctx, p.Root, waiting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	file := p.LockFile()
	src, err := files.Read(file, maxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", file, err)
	}
	now, problems := lock.Read(file, src)
	if now == nil {
		return fmt.Errorf("%s: %s", file, problems[0].Message)
	}
	next := change(now)
	if next == now {
		return nil
	}
	body, err := next.Bytes()
	if err != nil || bytes.Equal(body, src) {
		return err
	}
	return files.Apply(p.Root, []files.Change{{Path: lock.File, Kind: files.Changed, Old: src, New: body, Sync: true}})
}

// LockFile is the path of the project's lock, as messages show it.
func (p *Project) LockFile() string { return filepath.Join(p.Root, lock.File) }
