package register

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"stackgen/internal/disk"
	"stackgen/internal/outputs"
	"stackgen/internal/project"
	"stackgen/schema"
)

// Remove removes the files of a stack that was destroyed. kept are the paths of those that
// stackgen did not write, or that were changed since. It waits until no other command writes
// the project.
func Remove(
	ctx context.Context, p *project.Project, stack *schema.Stack, waiting func(text string),
) (removed []disk.Change, kept []string, err error) {
	unlock, err := project.LockFolder(ctx, nil, p.Root, waiting)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	owner := (&Outputs{project: p}).owner(map[string]bool{})
	for _, path := range outputs.Paths(stack) {
		body, err := disk.Read(filepath.Join(p.Root, filepath.FromSlash(path)), maxRegistration)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil || owner(path, body) != disk.Ours:
			kept = append(kept, path)
		default:
			removed = append(removed, disk.Change{Path: path, Kind: disk.Removed, Old: body})
		}
	}
	return removed, kept, disk.Apply(p.Root, removed)
}
