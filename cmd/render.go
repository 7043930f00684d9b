package cmd

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"stackgen/generator"
	"stackgen/internal/disk"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// lockWait is how long a render waits for another one in the same project.
const lockWait = time.Minute

func (e *env) renderCommand() *cli.Command {
	return &cli.Command{
		Name:      "render",
		Usage:     "write modules, units and stacks",
		ArgsUsage: "[PATH...]",
		Description: "Renders specs into OpenTofu modules and Terragrunt units and stacks, and\n" +
			"records every decision in " + lock.File + ". PATH is a spec or a folder;\n" +
			"without one, the project here. Hand-written files are never touched. Exit\n" +
			"codes: 0 done, 1 not possible, 2 --check or --diff found differences,\n" +
			"3 something in the lock is no longer in the specs.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "make `DIR` a project of its own, with the specs that are named"},
			&cli.BoolFlag{Name: "check", Usage: "write nothing; name every file that is missing, stale, changed or refused"},
			&cli.BoolFlag{Name: "diff", Usage: "the same as --check, with a unified diff"},
			&cli.StringSliceFlag{Name: "state-moved", Usage: "you have moved the state of `STACK` to where its spec says"},
			&cli.StringSliceFlag{Name: "records-moved", Usage: "the records of `STACK` are in the units of its new dns.mode: let the old ones go"},
			e.verboseFlag(),
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text, json, sarif or github"},
		},
		OnUsageError: usageError,
		Action:       e.render,
	}
}

func (e *env) render(c *cli.Context) (err error) {
	format := c.String("format")
	if err := oneOf("format", format, "text", "json", "sarif", "github"); err != nil {
		return err
	}
	if c.IsSet("out") && c.String("out") == "" {
		return fmt.Errorf("--out needs a folder")
	}
	look := c.Bool("check") || c.Bool("diff")
	root, err := renderRoot(c)
	if err != nil {
		return err
	}
	if !look {
		ctx, cancel := context.WithTimeout(c.Context, lockWait)
		defer cancel()
		unlock, lockErr := disk.Lock(ctx, root, func(message string) { fmt.Fprintln(e.errOut, message) })
		if lockErr != nil {
			return lockErr
		}
		defer func() { err = cmp.Or(err, unlock()) }()
	}
	r := &rendering{env: e, format: format, look: look, diff: c.Bool("diff")}
	return r.run(c)
}

// renderRoot is the folder that is about to be written.
func renderRoot(c *cli.Context) (string, error) {
	if c.String("out") != "" {
		return filepath.Clean(c.String("out")), nil
	}
	if c.Args().Present() {
		return project.Home(c.Args().First())
	}
	return project.Home(".")
}

// A rendering is one run of render.
type rendering struct {
	*env
	format     string
	look, diff bool
	project    *project.Project
	changes    []disk.Change
	total      int
}

func (r *rendering) run(c *cli.Context) error {
	var err error
	if r.project, err = project.Load(c.Args().Slice(), c.String("out")); err != nil {
		return err
	}
	p := r.project
	if p.Stacks == nil {
		return r.problems(exitError)
	}
	if p.Empty() {
		return p.NoSpecs()
	}
	words := lock.Options{StateMoved: c.StringSlice("state-moved"), RecordsMoved: c.StringSlice("records-moved")}
	if err := known(p, words); err != nil {
		return err
	}
	switch blocked := p.Decide(words); {
	case schema.HasErrors(p.Problems):
		return r.problems(exitError)
	case blocked != nil:
		return r.problems(exitStop)
	}
	if err := r.compare(); err != nil {
		return err
	}
	if err := r.identities(); err != nil {
		return err
	}
	if len(p.Refusals) > 0 {
		return r.problems(exitStop)
	}
	if r.look {
		return r.report(exitDiffers)
	}
	if r.refused() {
		r.changes = slices.DeleteFunc(r.changes, func(c disk.Change) bool { return c.Kind != disk.Refused })
		return r.report(exitStop)
	}
	// Decisions first: what is rendered from them can be rendered again.
	lockFirst := slices.Clone(r.changes)
	slices.SortStableFunc(lockFirst, func(a, b disk.Change) int {
		return cmp.Compare(rank(a), rank(b))
	})
	if err := disk.Apply(p.Root, lockFirst); err != nil {
		return err
	}
	return r.report(exitDone)
}

// known refuses words about stacks that they are not about.
func known(p *project.Project, words lock.Options) error {
	for _, name := range words.StateMoved {
		if p.Specs[name] == "" {
			return fmt.Errorf("--state-moved: there is no stack %q", name)
		}
	}
	for _, name := range words.RecordsMoved {
		s := p.Rendered.Stacks.Get(name)
		switch {
		case p.Specs[name] == "":
			return fmt.Errorf("--records-moved: there is no stack %q", name)
		case !p.Selected(name):
			return fmt.Errorf("--records-moved: %s is not among the specs that are rendered", name)
		case s == nil || !slices.ContainsFunc(s.Units, func(e lock.Entry[lock.Unit]) bool { return e.Value.Status == lock.Moving }):
			return fmt.Errorf("--records-moved: no records of %s are on their way to another unit", name)
		}
	}
	return nil
}

// rank puts the lock ahead of all other files.
func rank(c disk.Change) int {
	if c.Path == lock.File {
		return 0
	}
	return 1
}

// compare renders everything and compares it with what is there.
func (r *rendering) compare() error {
	p := r.project
	var body []byte
	var unwritable error
	var encoding sync.WaitGroup
	encoding.Go(func() { body, unwritable = p.Lock.Bytes() }) // a seventh of the time of a large render
	files, err := generator.Render(p.Stacks, p.Lock, p.Selected)
	encoding.Wait()
	if err != nil {
		return fmt.Errorf("a defect of stackgen, please report it: %w", err)
	}
	if unwritable != nil {
		return unwritable
	}
	want := []disk.File{{Path: lock.File, Body: body, Sync: true}}
	for _, f := range files {
		want = append(want, disk.File{Path: f.Path, Body: f.Body})
	}
	r.total = len(want)
	r.changes, err = disk.Compare(p.Root, want, disk.Options{
		Marker:  func(line []byte) bool { return bytes.Contains(line, []byte(generator.Marker)) },
		Managed: r.managed,
		Roots:   []string{"modules", "units", "stacks", "registration", "root.hcl"},
	})
	return err
}

// managed reports whether a rendered file that is no longer wanted is to go:
// everything shared, the stacks that were asked for, and stacks there are no
// more. Import files are not render's.
func (r *rendering) managed(path string) bool {
	parts := strings.Split(path, "/")
	if parts[0] == "registration" { // any stack's
		return !slices.ContainsFunc(r.project.Stacks.Stacks, func(s *schema.Stack) bool { return !r.project.Selected(s.Name) })
	}
	if parts[0] != "stacks" || len(parts) < 3 {
		return true
	}
	return parts[2] != "imports" && r.project.Selected(parts[1])
}
