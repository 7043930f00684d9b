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

// findIncomplete finds the entries of VMs and containers that lack a node or a template, and what
// each lacks.
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
			kind, listed := kindOf(at[0])
			if problem.Severity != schema.SeverityError || !slices.Contains(lacking, problem.Code) || len(at) < 2 || !listed {
				continue
			}
			stack, keys := edit.Keys(p.project.Sources[problem.File], at[0])
			vm := VM{stack, at[1]}
			if !slices.Contains(keys, vm.Key) || problem.Code == schema.CodeType && len(at) > 2 {
				continue
			}
			p.files[vm], p.kinds[vm] = problem.File, kind
			p.incomplete[vm] = append(p.incomplete[vm], problem.Code)
		}
	}
	return nil
}

// kindOf is the kind of the guests in a list of a spec.
func kindOf(list string) (guest.Kind, bool) {
	for _, kind := range guest.Kinds() {
		if kind.List() == list {
			return kind, true
		}
	}
	return "", false
}

// complete returns specs in which no VM lacks a node or a template, and no container to adopt its MAC
// addresses. An entry that cannot be completed stays as it is.
func (p *planner) complete(edited map[string][]byte) map[string][]byte {
	out := maps.Clone(edited)
	if out == nil {
		out = map[string][]byte{}
	}
	of := map[VM]bool{}
	for vm := range p.incomplete {
		of[vm] = true
	}
	for vm := range p.vmids {
		of[vm] = of[vm] || p.kinds[vm] == guest.Container
	}
	for i, vm := range slices.SortedFunc(maps.Keys(of), compareVMs) {
		src := source(p.project, out, p.files[vm])
		if body, err := edit.Set(src, p.entry(vm), p.lacks(vm, i, src)); err == nil {
			out[p.files[vm]] = body
		}
	}
	return out
}

// lacks are lines that stand for what an entry lacks. number is another one for each entry.
func (p *planner) lacks(vm VM, number int, src []byte) []edit.Setting {
	var lines []edit.Setting
	if slices.Contains(p.incomplete[vm], schema.CodeNoNode) {
		lines = append(lines, edit.Setting{Key: guest.Node, Line: "node: " + noNode})
	}
	if p.incomplete[vm] != nil && p.vmids[vm] == 0 {
		lines = append(lines, edit.Setting{Key: guest.Adopt, Line: fmt.Sprintf("adopt: {vmid: %d}", noVMID-number)})
	}
	if networks := ownNetworks(src, p.entry(vm)); p.kinds[vm] == guest.Container &&
		(networks == nil || slices.ContainsFunc(networks.Items, func(n *schema.Node) bool { return !n.Has(guest.MAC) })) {
		mac := fmt.Sprintf("BC:24:11:FF:%02X:%02X", number>>8&0xff, number&0xff)
		lines = append(lines, edit.Setting{Key: guest.Networks, Line: hardware.NetworksOf([]string{mac})})
	}
	return lines
}

// setNodes writes the nodes of the VMs that are adopted and have none.
func (p *planner) setNodes() error {
	var errs []error
	for _, vm := range slices.SortedFunc(maps.Keys(p.vmids), compareVMs) {
		if !slices.Contains(p.incomplete[vm], schema.CodeNoNode) {
			continue
		}
		node := &schema.Node{Shape: schema.ShapeString, Text: p.inventory.Guest(p.vmids[vm]).Node}
		line := edit.Setting{Key: guest.Node, Line: hardware.Assignment(guest.VM, guest.Node, node)}
		body, err := edit.Set(p.edited[p.files[vm]], p.entry(vm), []edit.Setting{line})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", p.files[vm], vm, err))
			continue
		}
		p.edited[p.files[vm]] = body
	}
	return errors.Join(errs...)
}
