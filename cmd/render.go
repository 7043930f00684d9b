package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"stackgen/generator"
	"stackgen/internal/disk"
	"stackgen/internal/lock"
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
		return home(c.Args().First())
	}
	return home(".")
}

// A rendering is one run of render.
type rendering struct {
	*env
	format     string
	look, diff bool
	project    *project
	result     lock.Result
	changes    []disk.Change
	total      int
}

func (r *rendering) run(c *cli.Context) error {
	var err error
	if r.project, err = load(c.Args().Slice(), c.String("out")); err != nil {
		return err
	}
	p := r.project
	if p.stacks == nil {
		return r.problems(exitError)
	}
	if len(p.specs) == 0 && len(p.lock.Stacks) == 0 {
		return fmt.Errorf("there is no spec in %s; `stackgen init` writes one", filepath.Join(p.root, "specs"))
	}
	r.result = p.decide(c.StringSlice("state-moved"))
	p.problems = schema.SortProblems(append(p.problems, r.result.Problems...))
	if schema.HasErrors(p.problems) {
		return r.problems(exitError)
	}
	if len(r.result.Refusals) > 0 {
		return r.problems(exitStop)
	}
	if err := r.compare(); err != nil {
		return err
	}
	if r.look {
		return r.report(exitDiffers)
	}
	// Decisions first: what is rendered from them can be rendered again.
	lockFirst := slices.Clone(r.changes)
	slices.SortStableFunc(lockFirst, func(a, b disk.Change) int {
		return cmp.Compare(rank(a), rank(b))
	})
	if err := disk.Apply(p.root, lockFirst); err != nil {
		return err
	}
	return r.report(exitDone)
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
	p.stacks.Stacks = r.result.Stacks
	files, err := generator.Render(p.stacks, r.result.Lock, p.selected)
	if err != nil {
		return fmt.Errorf("a defect of stackgen, please report it: %w", err)
	}
	body, err := r.result.Lock.Bytes()
	if err != nil {
		return err
	}
	want := []disk.File{{Path: lock.File, Body: body, Sync: true}}
	for _, f := range files {
		want = append(want, disk.File{Path: f.Path, Body: f.Body})
	}
	r.total = len(want)
	r.changes, err = disk.Compare(p.root, want, disk.Options{
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
		return !slices.ContainsFunc(r.project.stacks.Stacks, func(s *schema.Stack) bool { return !r.project.selected(s.Name) })
	}
	if parts[0] != "stacks" || len(parts) < 3 {
		return true
	}
	return parts[2] != "imports" && r.project.selected(parts[1])
}

// problems prints problems and refusals and ends the command.
func (r *rendering) problems(code exitCode) error {
	w := r.errOut
	if r.format != "text" {
		w = r.out
	}
	if err := printProblems(w, r.format, r.project.problems, r.project.sources, color(w)); err != nil {
		return err
	}
	if len(r.result.Refusals) > 0 {
		printRefusals(r.errOut, r.result.Refusals)
	}
	return code
}

// report says what was done, or would be.
func (r *rendering) report(differs exitCode) error {
	code := exitCode(exitDone)
	if len(r.changes) > 0 {
		code = differs
	}
	for _, c := range r.changes {
		if c.Kind == disk.Refused {
			code = exitStop
		}
	}
	if r.format == "json" {
		if err := r.reportJSON(); err != nil {
			return err
		}
	} else {
		w := r.errOut
		if r.format != "text" {
			w = r.out
		}
		if err := printProblems(w, r.format, r.project.problems, r.project.sources, color(w)); err != nil {
			return err
		}
		r.reportText()
	}
	if code == exitDone {
		return nil
	}
	return code
}

// words are what --check calls a change.
var words = map[disk.Kind]string{disk.Created: "missing", disk.Changed: "changed", disk.Removed: "stale", disk.Refused: "refused"}

func (r *rendering) reportText() {
	w := r.out
	if r.format != "text" {
		w = r.errOut
	}
	for _, c := range r.changes {
		word := string(c.Kind)
		if r.look {
			word = words[c.Kind]
		}
		line := word + " " + filepath.Join(r.project.root, filepath.FromSlash(c.Path))
		if c.Reason != "" {
			line += ": " + c.Reason
		}
		fmt.Fprintln(w, line)
		if r.diff {
			fmt.Fprint(w, disk.Diff(c))
		}
	}
	for _, n := range r.result.Notes {
		fmt.Fprintln(r.errOut, "note: "+n)
	}
	switch {
	case r.look && len(r.changes) == 0:
		fmt.Fprintf(r.errOut, "%d files are as the specs say.\n", r.total)
	case r.look:
		fmt.Fprintf(r.errOut, "%d of %d files differ; run `stackgen render`.\n", len(r.changes), r.total)
	default:
		r.next()
	}
}

// next says what was made and what to run now.
func (r *rendering) next() {
	vms := 0
	var names []string
	for _, s := range r.project.stacks.Stacks {
		if r.project.selected(s.Name) {
			vms += len(s.VMs)
			names = append(names, s.Name)
		}
	}
	fmt.Fprintf(r.errOut, "Rendered %s, %s (%s): %s written, %d unchanged.\n", counting(len(names), "stack"), counting(vms, "VM"),
		strings.Join(names, ", "), counting(len(r.changes), "file"), r.total-writes(r.changes))
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(r.errOut, "Next:\n")
	for _, name := range names {
		fmt.Fprintf(r.errOut, "  (cd %s && terragrunt stack run plan)\n", filepath.Join(r.project.root, "stacks", name))
	}
}

func writes(changes []disk.Change) int {
	n := 0
	for _, c := range changes {
		if c.Kind == disk.Created || c.Kind == disk.Changed {
			n++
		}
	}
	return n
}

func counting(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *rendering) reportJSON() error {
	type change struct {
		Path   string `json:"path"`
		Kind   string `json:"kind"`
		Reason string `json:"reason,omitempty"`
		Diff   string `json:"diff,omitempty"`
	}
	out := struct {
		Files    int              `json:"files"`
		Changes  []change         `json:"changes"`
		Notes    []string         `json:"notes,omitempty"`
		Problems []schema.Problem `json:"problems"`
	}{Files: r.total, Changes: []change{}, Notes: r.result.Notes, Problems: append([]schema.Problem{}, r.project.problems...)}
	for _, c := range r.changes {
		j := change{Path: c.Path, Kind: string(c.Kind), Reason: c.Reason}
		if r.diff {
			j.Diff = disk.Diff(c)
		}
		out.Changes = append(out.Changes, j)
	}
	enc := json.NewEncoder(r.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
