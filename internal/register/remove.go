package register

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"stackgen/internal/files"
	"stackgen/internal/outputs"
	"stackgen/internal/project"
	"stackgen/schema"
)

// Remove removes the files of a stack that was destroyed. kept are the paths of those that
// stackgen did not write, or that were changed since. It waits until no other command writes
// the project.
func Remove(
	ctx context.Context, p *project.Project, stack *schema.Stack, waiting func(text string),
) (removed []files.Change, kept []string, err error) {
	unlock, err := project.LockFolder(ctx, nil, p.Root, waiting)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	owner := (&Outputs{project: p}).owner(map[string]bool{})
	for _, path := range outputs.Paths(stack) {
		body, err := files.Read(filepath.Join(p.Root, filepath.FromSlash(path)), maxRegistration)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil || owner(path, body) != files.Ours:
			kept = append(kept, path)
		default:
			removed = append(removed, files.Change{Path: path, Kind: files.Removed, Old: body})
		}
	}
	return removed, kept, files.Apply(p.Root, removed)
}
