package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"stackgen/generator"
	"stackgen/internal/disk"
	"stackgen/internal/engine"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
)

// stateReaders is how many units are asked for their state at once.
const stateReaders = 4

// readState reads the state of all units: from the files that were named, from
// the plans that were named, else from their backends.
func (j *judging) readState(c *cli.Context) error {
	units := append(j.units(), j.others()...)
	files, err := j.unitFiles(c, "state", units, "tfplan.json", "tofu.tfstate")
	if err != nil {
		return err
	}
	for u, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", file, disk.Cause(err))
		}
		state, err := guard.ParseState(body)
		if err != nil {
			state.Unreadable = file + ": " + err.Error()
		}
		j.input.State[u] = state
	}
	var rest []guard.UnitID
	for _, u := range units {
		if _, known := j.input.State[u]; !known {
			rest = append(rest, u)
		}
	}
	if len(rest) > 0 {
		return j.askBackends(c.Context, rest)
	}
	return nil
}

// others are the VM units of the stacks that were not selected: a VMID that one
// of them has is not free.
func (j *judging) others() []guard.UnitID {
	var out []guard.UnitID
	for _, s := range j.project.Stacks.Stacks {
		l := j.project.Lock.Stacks.Get(s.Name)
		if l != nil && !j.project.Selected(s.Name) && l.Units.Get(lock.UnitVM) != nil {
			out = append(out, guard.UnitID{Stack: s.Name, Unit: lock.UnitVM})
		}
	}
	return out
}

// unitFiles reads a flag whose values are STACK/UNIT=FILE or a folder. In a
// folder, files of the given names are looked for.
func (j *judging) unitFiles(c *cli.Context, flag string, units []guard.UnitID, names ...string) (map[guard.UnitID]string, error) {
	out := map[guard.UnitID]string{}
	for _, value := range c.StringSlice(flag) {
		id, file, isFile := strings.Cut(value, "=")
		stack, unit, isUnit := strings.Cut(id, "/")
		if !isFile {
			if err := j.unitFolder(out, value, units, names); err != nil {
				return nil, fmt.Errorf("--%s: %w", flag, err)
			}
			continue
		}
		u := guard.UnitID{Stack: stack, Unit: unit}
		if !isUnit || !slices.Contains(units, u) {
			return nil, fmt.Errorf("--%s %s: %w", flag, value, j.noUnit(id))
		}
		out[u] = file
	}
	return out, nil
}

func (j *judging) noUnit(id string) error {
	var names []string
	for _, u := range j.units() {
		names = append(names, u.String())
	}
	return fmt.Errorf("there is no unit %q here; units: %s", id, strings.Join(names, ", "))
}

// unitFolder finds the units' files in a folder that --json-out-dir made, or in
// one that local state lies in.
func (j *judging) unitFolder(out map[guard.UnitID]string, dir string, units []guard.UnitID, names []string) error {
	found := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(names, d.Name()) {
			return err
		}
		rel := filepath.ToSlash(project.Relative(dir, filepath.Dir(path)))
		var fits []guard.UnitID
		for _, u := range units {
			parts := strings.Split(rel, "/")
			if parts[len(parts)-1] != u.Unit {
				continue
			}
			if i := slices.Index(parts, "stacks"); i >= 0 && parts[i+1] != u.Stack {
				continue
			}
			if key := j.project.Lock.Stacks.Get(u.Stack).StateKey; d.Name() == "tofu.tfstate" && rel != key+"/"+u.Unit {
				continue
			}
			fits = append(fits, u)
		}
		if len(fits) > 1 {
			return fmt.Errorf("%s may be of %s or of %s: name the stack's spec, or give STACK/UNIT=FILE", path, fits[0], fits[1])
		}
		for _, u := range fits {
			out[u], found = path, found+1
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", dir, disk.Cause(err))
	case found == 0:
		return fmt.Errorf("%s holds no %s of a unit of this project", dir, strings.Join(names, " or "))
	}
	return nil
}

// askBackends reads the state of units as the engine does. What cannot be read
// is unreadable, never empty.
func (j *judging) askBackends(ctx context.Context, units []guard.UnitID) error {
	tools, err := j.engine()
	if err != nil {
		return err
	}
	root, err := filepath.Abs(j.project.Root)
	if err != nil {
		return err
	}
	states := make([]guard.UnitState, len(units))
	read := func(i int) {
		var err error
		if states[i], err = j.backendState(ctx, tools, root, units[i]); err != nil {
			states[i].Unreadable = err.Error()
		}
	}
	var workers sync.WaitGroup
	queue := make(chan int)
	for range min(stateReaders, len(units)) {
		workers.Go(func() {
			for i := range queue {
				read(i)
			}
		})
	}
	for i := range units {
		queue <- i
	}
	close(queue)
	workers.Wait()
	for i, u := range units {
		j.input.State[u] = states[i]
	}
	return ctx.Err()
}

// backendState reads one unit's state. A local one that is not encrypted is the
// file itself; everything else is the engine's business.
func (j *judging) backendState(ctx context.Context, tools *engine.Tools, root string, u guard.UnitID) (guard.UnitState, error) {
	l := j.project.Lock.Stacks.Get(u.Stack)
	if l.Backend.Type == "local" {
		body, err := os.ReadFile(filepath.Join(root, lock.StateDir, filepath.FromSlash(l.StateKey), u.Unit, "tofu.tfstate"))
		if errors.Is(err, fs.ErrNotExist) {
			return guard.ParseState(nil)
		}
		if state, parsed := guard.ParseState(body); err == nil && parsed == nil {
			return state, nil
		}
	}
	body, err := tools.State(ctx, generator.Backend(l, u.Unit, filepath.ToSlash(root)))
	if err != nil {
		return guard.UnitState{}, err
	}
	return guard.ParseState(body)
}

// readPlans reads the plans that were named. The state that a plan was made from
// is in it.
func (j *judging) readPlans(c *cli.Context) error {
	files, err := j.unitFiles(c, "plan", j.units(), "tfplan.json")
	if err != nil {
		return err
	}
	var errs []error
	for _, u := range j.units() {
		file, ok := files[u]
		if !ok {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", file, disk.Cause(err))
		}
		errs = append(errs, j.plan(u, file, body))
	}
	return errors.Join(errs...)
}

func (j *judging) plan(u guard.UnitID, file string, body []byte) error {
	if bytes.HasPrefix(body, []byte("PK")) {
		return fmt.Errorf("%s is a plan file: give the output of `tofu show -json %s`", file, filepath.Base(file))
	}
	plan, err := guard.ParsePlan(body)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	state, err := guard.ParseState(body)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	j.plans[u], j.input.State[u] = plan, state
	return nil
}
