package cmd

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/report"
)

// verify plans every unit that imports something, and proves that its plan
// imports that and does nothing else. What it does besides is listed. It reports
// whether all is proved.
func (j *judging) verify(ctx context.Context, verdicts []finding.Finding) (proved bool, err error) {
	adoptions := guard.Adoptions(verdicts)
	tools, err := j.engine()
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "stackgen-plan-")
	if err != nil {
		return false, err
	}
	defer func() { err = firstError(err, os.RemoveAll(dir)) }()
	proved = true
	generated := map[string]bool{}
	for i, u := range j.units() {
		if len(adoptions[u]) == 0 {
			continue
		}
		if !generated[u.Stack] {
			if err := tools.Generate(ctx, j.project.StackDir(u.Stack)); err != nil {
				return false, err
			}
			generated[u.Stack] = true
		}
		var args []string
		if len(adoptions[guard.UnitID{Stack: u.Stack, Unit: lock.UnitVM}]) > 0 {
			args = addresses(u, verdicts)
		}
		body, failed := tools.Plan(ctx, j.project.StackDir(u.Stack), u.Unit, filepath.Join(dir, fmt.Sprint(i)), args...)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if failed != nil {
			proved = false
			_ = report.Printf(j.out, "%s: the plan failed: %s\n", u, failed)
			continue
		}
		plan, err := guard.ParsePlan(body)
		if err != nil {
			return false, fmt.Errorf("the plan of %s: %w", u, err)
		}
		if !j.zero(u, plan, len(adoptions[u])) {
			proved = false
		}
	}
	return proved, nil
}

// addresses are the arguments of a plan of records whose VMs are in no state yet, so
// that nobody but the look can tell their addresses. Without them, the plan is made
// with mocks, and the record that is there seems to change.
func addresses(u guard.UnitID, verdicts []finding.Finding) []string {
	known := map[string]string{}
	for _, v := range verdicts {
		if v.Stack != u.Stack || v.Unit != u.Unit || v.Owner == "" {
			continue
		}
		if v.IPv4 == "" {
			return nil
		}
		known[v.Owner] = v.IPv4
	}
	if len(known) == 0 {
		return nil
	}
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(known)) {
		pairs = append(pairs, fmt.Sprintf("%q=%q", key, known[key]))
	}
	return []string{"-var", "addresses={" + strings.Join(pairs, ",") + "}"}
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// zero says what a plan does, and reports whether that is so many imports and
// nothing else.
func (j *judging) zero(u guard.UnitID, plan *guard.Plan, want int) bool {
	imports, counts := 0, map[tfjson.Action]int{}
	var lines []string
	for _, c := range plan.ResourceChanges {
		if c.Mode != tfjson.ManagedResourceMode || c.Change == nil {
			continue
		}
		if c.Change.Importing != nil {
			imports++
		}
		if c.Change.Actions.NoOp() {
			continue
		}
		var names []string
		for _, a := range c.Change.Actions {
			counts[a]++
			names = append(names, string(a))
		}
		lines = append(lines, fmt.Sprintf("  %s %s: %s", strings.Join(names, " and "), c.Address, strings.Join(changedAttributes(c.Change), ", ")))
	}
	fmt.Fprintf(j.out, "%s: %d to import, %d to add, %d to change, %d to destroy", u, imports, counts[tfjson.ActionCreate], counts[tfjson.ActionUpdate], counts[tfjson.ActionDelete])
	if n := counts[tfjson.ActionForget]; n > 0 {
		fmt.Fprintf(j.out, ", %d to forget", n)
	}
	fmt.Fprintln(j.out)
	for _, line := range lines {
		_ = report.Printf(j.out, "%s\n", line)
	}
	if imports != want {
		fmt.Fprintf(j.out, "  %d were to be imported: run `stackgen render`, then look again\n", want)
	}
	return imports == want && len(lines) == 0 && !plan.Errored
}

// changedAttributes are the names of what a change changes. Values may be
// secrets.
func changedAttributes(c *tfjson.Change) []string {
	before, _ := c.Before.(map[string]any)
	after, _ := c.After.(map[string]any)
	if before == nil || after == nil {
		return []string{"all of it"}
	}
	var out []string
	for name := range after {
		if !reflect.DeepEqual(before[name], after[name]) {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, still := after[name]; !still {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
