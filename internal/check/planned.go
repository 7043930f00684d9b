package check

import (
	"fmt"
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

// HiddenNodes are the VMs to which the plan of a unit does not add the NUMA nodes that
// somebody removed.
func (s *Session) HiddenNodes(u tf.Unit, plan *tf.Plan) []tf.Summary {
	return guard.HiddenNodes(s.judged, u, plan)
}
