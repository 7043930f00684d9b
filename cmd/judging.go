package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/generator"
	"stackgen/internal/disk"
	"stackgen/internal/engine"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
)

// judgeFlags are the flags of every command that judges.
func (e *env) judgeFlags() []cli.Flag {
	return []cli.Flag{
		inventoryFlag(),
		&cli.StringSliceFlag{Name: "state", Usage: "read a unit's state from `STACK/UNIT=FILE`, or all from a folder"},
		e.verboseFlag(),
	}
}

func (e *env) verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Usage: "print every finding on its own, with all evidence", Destination: &e.verbose}
}

func planFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "plan", Usage: "judge a unit's plan too, from `STACK/UNIT=FILE`, or all from a folder"}
}

// A judging is one run of a command that judges: everything it has read.
type judging struct {
	*env
	project *project.Project
	input   guard.Input
	plans   map[guard.UnitID]*guard.Plan
	notes   []string
	tools   *engine.Tools // of the run that this is part of, if there is one

	unrendered bool // the specs ask for decisions that no rendered file has
}

// prepare reads specs and lock and decides.
func (e *env) prepare(paths []string) (*judging, error) {
	p, err := project.Open(paths)
	if err != nil {
		return nil, err
	}
	if err := report.Problems(e.errOut, report.Options{Color: color(e.errOut)}, p.Problems, p.Sources); err != nil {
		return nil, err
	}
	return newJudging(e, p)
}

func newJudging(e *env, p *project.Project) (*judging, error) {
	j := &judging{env: e, project: p, plans: map[guard.UnitID]*guard.Plan{}}
	j.input = guard.Input{Project: p.Stacks, Lock: p.Lock, Selected: p.Selected, State: guard.State{}}
	return j, j.rendered()
}

// rendered notes decisions of the selected stacks that nobody has rendered yet:
// an apply would not know them.
func (j *judging) rendered() error {
	was, err := j.decisions(j.project.Rendered)
	if err != nil {
		return err
	}
	is, err := j.decisions(j.project.Lock)
	if err != nil {
		return err
	}
	j.notes = nil
	j.unrendered = string(was) != string(is)
	for _, s := range j.project.Stacks.Stacks {
		if s.Guard == "off" && j.project.Selected(s.Name) {
			j.notes = append(j.notes, "guard: off in "+s.Spec+": applies of "+s.Name+" are not stopped by what is said here")
		}
	}
	return nil
}

// behind are the stacks that may have to be rendered first.
func (j *judging) behind(severity finding.Severity) []finding.Finding {
	var out []finding.Finding
	for _, s := range j.project.Stacks.Stacks {
		if j.project.Selected(s.Name) {
			f := finding.Finding{Address: finding.Address{Stack: s.Name, Type: finding.Stack}, Kind: finding.Unrendered, Severity: severity,
				Reason: "the spec was changed after the last render, and an apply would not do what it says now"}
			out = append(out, *f.Next("render first", "stackgen render"))
		}
	}
	return out
}

// decisions are what a lock says of the selected stacks.
func (j *judging) decisions(l *lock.Lock) ([]byte, error) {
	own := lock.Lock{Version: l.Version}
	for _, s := range l.Stacks {
		if j.project.Selected(s.Key) {
			own.Stacks = append(own.Stacks, s)
		}
	}
	return own.Bytes()
}

// look reads the cluster and the state.
func (j *judging) look(c *cli.Context) error {
	inv, err := j.inventory(c, j.project, false)
	if err != nil {
		return err
	}
	j.input.Inventory = inv
	return j.readState(c)
}

// units are the units of the selected stacks whose state matters.
func (j *judging) units() []guard.UnitID {
	var out []guard.UnitID
	for _, s := range j.project.Stacks.Stacks {
		l := j.project.Lock.Stacks.Get(s.Name)
		if l == nil || !j.project.Selected(s.Name) {
			continue
		}
		for _, u := range l.Units {
			if u.Value.Status != lock.Forgotten {
				out = append(out, guard.UnitID{Stack: s.Name, Unit: u.Key})
			}
		}
	}
	return out
}

// engine are the tools that states are read and plans are made with.
func (j *judging) engine() (*engine.Tools, error) {
	if j.tools != nil {
		return j.tools, nil
	}
	return engine.Find(j.project.Root, os.Environ())
}

// imports reads the import files that are there.
func (j *judging) imports() error {
	j.input.Imports = map[guard.UnitID]guard.Imports{}
	var errs []error
	for _, u := range j.units() {
		file := filepath.Join(j.project.StackDir(u.Stack), "imports", u.Unit+".tf")
		body, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot read %s: %w", file, disk.Cause(err)))
			continue
		}
		if !strings.Contains(firstLine(body), generator.Marker) {
			errs = append(errs, fmt.Errorf("%s is not written by stackgen: move it away, then look again", file))
			continue
		}
		imports, err := guard.ParseImports(file, body)
		j.input.Imports[u] = imports
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func firstLine(body []byte) string {
	line, _, _ := strings.Cut(string(body), "\n")
	return line
}
