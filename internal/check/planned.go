package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"stackgen/generator"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
)

// CheckPlanned fails if the plan of a unit is not one of what is rendered for it: if it was
// made with other values, or if a VM or pool would not exist after it. apply is false for the
// plan of a destroy.
func (s *Session) CheckPlanned(u tf.Unit, apply bool) error {
	rendered, err := s.readRendered("stacks/" + u.Stack + "/" + generator.StackFile)
	if err != nil {
		return fmt.Errorf("cannot compare the plan of %s with what is rendered: %w", u, err)
	}
	plan := s.plans[u]
	differ, keys, err := generator.OtherVariables(rendered, u.Unit, plan.Given)
	if err != nil {
		return fmt.Errorf("cannot compare the plan of %s with what is rendered: %w", u, err)
	}
	if apply && !u.HasRecords() { // a record whose VM reports no address is left out
		differ = append(differ, plan.Without(slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(differ, key) }))...)
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%s was not planned as it is rendered (%s differ or are missing), so what would be done there is unknown: "+
		"a variable or a file changes what Terragrunt or OpenTofu reads; `stackgen preflight` names such files", u, strings.Join(differ, ", "))
}

// older are the VMs and pools of which the plans have other values than the specs now, by their
// keys. A plan without variables was not made by a unit.
func (s *Session) older() (map[tf.Unit][]string, error) {
	out := map[tf.Unit][]string{}
	for _, stack := range s.Project.SelectedStacks() {
		l := s.Project.Lock.Stacks.Get(stack.Name)
		if l == nil {
			continue
		}
		files, err := generator.Stack(stack, l)
		if err != nil {
			return nil, fmt.Errorf("a defect of stackgen, please report it: %w", err)
		}
		at := slices.IndexFunc(files, func(f generator.File) bool { return path.Base(f.Path) == generator.StackFile })
		for u, plan := range s.plans {
			if u.Stack != stack.Name || u.HasRecords() || len(plan.Given) == 0 || at < 0 {
				continue
			}
			differ, _, err := generator.OtherVariables(files[at].Body, u.Unit, plan.Given)
			if err != nil {
				return nil, fmt.Errorf("cannot compare the plan of %s with its spec: %w", u, err)
			}
			out[u] = differ
		}
	}
	return out, nil
}

// HiddenNodes are the VMs to which the plan of a unit does not add the NUMA nodes that
// somebody removed.
func (s *Session) HiddenNodes(u tf.Unit, plan *tf.Plan) []tf.Summary {
	return guard.HiddenNodes(s.judged, u, plan)
}
