package files

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// File is a file as it should be.
type File struct {
	Path  string // slash-separated, clean, relative to the root and inside it
	Body  []byte // the whole content, byte for byte
	Whole bool   // its content tells whose it is, with and without the mark
	Sync  bool   // wait until the file is on the disk itself; for the few files that cannot be rendered again
}

// Options says which files on disk belong to the caller.
type Options struct {
	// Marker reports whether the first line of an existing file marks it as generated. The line comes without its line
	// end and without a byte order mark, at most 4096 bytes long. Nil means that no file on disk is generated: every
	// existing file with other bytes than the wanted ones is refused.
	Marker func(firstLine []byte) bool
	// Owner says whose a marked file is, by its path and content. Nil means that all are Ours.
	Owner func(path string, body []byte) Owner
	// Managed reports whether a marked file at this path is stale when it is not wanted. Nil means that none is.
	Managed func(path string) bool
	// Roots are the files and folders, relative to the root, that are searched for stale files. A missing one is skipped.
	Roots []string
	// Reserved reports whether only generated files may have a path, found below the Roots: others are refused, even if
	// no file is wanted there. Nil means no path.
	Reserved func(path string) bool
	// SkipDirs are names of folders that are never searched, in addition to .git, .terraform and Terragrunt's two.
	SkipDirs []string
}

// Owner is whose a marked file is.
type Owner int

// The owners of a file: one that is not Ours is neither overwritten nor removed.
const (
	Ours    Owner = iota // as it was generated
	Altered              // changed since it was generated
	Theirs               // a copy, or of another program
)

// owner is Options.Owner of a marked file.
func (o *Options) owner(path string, body []byte) Owner {
	if o.Owner == nil {
		return Ours
	}
	return o.Owner(path, body)
}

// Kind is what Apply does with a file, or why it refuses to.
type Kind string

// The kinds of a change. A file that is as it should be has none.
const (
	Created Kind = "created" // there is no file yet
	Changed Kind = "changed" // a generated file with other bytes
	Removed Kind = "removed" // a generated file that is no longer wanted, or was left by a killed run
	Refused Kind = "refused" // a file that is not generated, a link or a folder has this path, or a generated file was changed
)

// Change is one difference between the wanted files and the folder.
type Change struct {
	Path   string // as in File
	Shown  string // the path in messages, if the root is not where the person is; empty for Path
	Kind   Kind
	Old    []byte // the content on disk: changed and removed files only, nil for what a killed run left
	New    []byte // the wanted content; nil for removed files
	Sync   bool   // as in File
	Edited bool   // refused, because it was changed after it was generated
	Reason string // why it is refused and what to do, or why a file without a mark is removed; continues "PATH: "
}

// shown is the path in messages.
func (c *Change) shown() string { return cmp.Or(c.Shown, c.Path) }

// RefusedError is returned by Apply when nothing was written because a change is Refused.
type RefusedError struct {
	Changes []Change // the refused ones, in the order they were given
}

// Error lists every refused path with its reason, one a line.
func (e *RefusedError) Error() string {
	var b strings.Builder
	b.WriteString("nothing was written:")
	for _, c := range e.Changes {
		fmt.Fprintf(&b, "\n  %s: %s", c.Path, c.Reason)
	}
	return b.String()
}

const (
	tempPrefix    = ".stackgen-tmp-"      // every file that is not yet renamed to its path
	terraformLock = ".terraform.lock.hcl" // the user's, always
	again         = "then run the same command again"
	foreign       = "is not a generated file: its first line does not say so; move it away, " + again
	altered       = "was changed after it was generated; make the change in the spec and move the file away, " + again
)

// isTemp reports whether a name is that of a temporary file of this package.
func isTemp(name string) bool {
	rest, found := strings.CutPrefix(name, tempPrefix)
	return found && rest != "" && strings.Trim(rest, "0123456789-") == ""
}

// checkPath says why p cannot be a file of the project, or nil.
func checkPath(p string) error {
	switch {
	case p == "." || p != path.Clean(p) || strings.Contains(p, `\`) || !filepath.IsLocal(filepath.FromSlash(p)):
		return fmt.Errorf("path %q is not a clean, slash-separated path inside the project", p)
	case path.Base(p) == terraformLock:
		return fmt.Errorf("%s: provider lock files belong to the user and are never written or removed", p)
	}
	return nil
}
