package adopt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/edit"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// Values that stand for those that an entry lacks, only to read the specs: no guest has
// this VMID, because stackgen reads the cluster for the right one.
const (
	noVMID = 999999999
	noNode = "unknown"
)

// lacking are the problems of an entry that is not complete yet.
var lacking = []string{schema.CodeNoNode, schema.CodeNoTemplate, schema.CodeType}

// open is project.Open for specs in which VMs lack a node, a template or everything.
func (p *planner) open() (*project.Project, error) {
	if len(p.incomplete) == 0 {
		return project.Open(p.Paths)
	}
	specs, err := project.LoadEdited(p.Paths, "", p.complete(nil))
	if err != nil {
		return nil, err
	}
	if specs.Stacks == nil {
		return project.Open(p.Paths) // the problems of the specs as they are
	}
	return specs, specs.Decide(lock.Options{})
}

// findIncomplete finds the VMs under vms that lack a node or a template, and what each
// lacks.
func (p *planner) findIncomplete() error {
	p.stacks = p.project.Stacks
	for range 3 { // an entry without a value hides what it lacks
		if p.stacks != nil {
			return nil
		}
		specs, err := project.LoadEdited(p.Paths, "", p.complete(nil))
		if err != nil {
			return err
		}
		p.stacks = specs.Stacks
		for _, problem := range specs.Problems {
			at := strings.Split(problem.Path, ".")
			if problem.Severity != schema.SeverityError || !slices.Contains(lacking, problem.Code) || len(at) < 2 || at[0] != "vms" {
				continue
			}
			stack, keys := edit.VMs(p.project.Sources[problem.File])
			vm := VM{stack, at[1]}
			if !slices.Contains(keys, vm.Key) || problem.Code == schema.CodeType && len(at) > 2 {
				continue
			}
			p.files[vm] = problem.File
			p.incomplete[vm] = append(p.incomplete[vm], problem.Code)
		}
	}
	return nil
}

// complete returns specs in which no VM lacks a node or a template. An entry that cannot be
// completed stays as it is.
func (p *planner) complete(edited map[string][]byte) map[string][]byte {
	out := maps.Clone(edited)
	if out == nil {
		out = map[string][]byte{}
	}
	for i, vm := range slices.SortedFunc(maps.Keys(p.incomplete), compareVMs) {
		var lines []edit.Setting
		if slices.Contains(p.incomplete[vm], schema.CodeNoNode) {
			lines = append(lines, edit.Setting{Key: guest.Node, Line: "node: " + noNode})
		}
		if p.vmids[vm] == 0 {
			lines = append(lines, edit.Setting{Key: guest.Adopt, Line: fmt.Sprintf("adopt: {vmid: %d}", noVMID-i)})
		}
		src, ok := out[p.files[vm]]
		if !ok {
			src = p.project.Sources[p.files[vm]]
		}
		if body, err := edit.Set(src, []string{"vms", vm.Key}, lines); err == nil {
			out[p.files[vm]] = body
		}
	}
	return out
}

// setNodes writes the nodes of the VMs that are adopted and have none.
func (p *planner) setNodes() error {
	var errs []error
	for _, vm := range slices.SortedFunc(maps.Keys(p.vmids), compareVMs) {
		if !slices.Contains(p.incomplete[vm], schema.CodeNoNode) {
			continue
		}
		node := &schema.Node{Shape: schema.ShapeString, Text: p.inventory.Guest(p.vmids[vm]).Node}
		line := edit.Setting{Key: guest.Node, Line: hardware.Assignment(guest.Node, node)}
		body, err := edit.Set(p.edited[p.files[vm]], []string{"vms", vm.Key}, []edit.Setting{line})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", p.files[vm], vm, err))
			continue
		}
		p.edited[p.files[vm]] = body
	}
	return errors.Join(errs...)
}
