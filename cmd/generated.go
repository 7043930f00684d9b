package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"stackgen/internal/disk"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
)

// varsFile is what Terragrunt writes a unit's VMs to, in its root module.
const varsFile = "vms.auto.tfvars.json"

// misled says why the run would do something else than what is checked, or nil.
func (g *guarded) misled() (*finding.Finding, error) {
	at := finding.Address{Stack: g.unit.Stack, Unit: g.unit.Unit, Type: finding.Unit}
	f, err := misleading(g.args, os.Getenv)
	was := g.project.Rendered.Stacks.Get(g.unit.Stack)
	if f != nil {
		f.Address = at
	}
	if err != nil || f != nil || g.args[0] != "apply" || g.unit.Unit != lock.UnitVM || was == nil {
		return f, err
	}
	differ, err := differing(varsFile, was.VMs)
	if err != nil || len(differ) == 0 {
		return nil, err
	}
	f = &finding.Finding{Address: at, Kind: finding.Unrendered, Severity: finding.Blocked,
		Reason:   "this unit was generated from another render than the last one",
		Evidence: []string{"it differs in " + strings.Join(differ, ", ")}}
	return f.Next("generate it again", "(cd stacks/"+g.unit.Stack+" && terragrunt stack generate)"), nil
}

// differing are the VMs in which a generated unit differs from the last render: a
// VM that it lacks would be destroyed. A unit that keeps its VMs elsewhere, as one
// of a catalog may, has nothing to compare.
func differing(file string, vms lock.Ordered[lock.VM]) ([]string, error) {
	body, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var has struct {
		VMs map[string]struct {
			Profile string `json:"profile"`
			VMID    int    `json:"vm_id"`
		} `json:"vms"`
	}
	if err = firstError(err, json.Unmarshal(body, &has)); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, disk.Cause(err))
	}
	var differ []string
	for _, e := range vms {
		if e.Value.Status != lock.Live {
			continue
		}
		unit, there := has.VMs[e.Key]
		if !there || unit.VMID != e.Value.VMID || unit.Profile != cmp.Or(e.Value.Profile, "default") {
			differ = append(differ, e.Key)
		}
		delete(has.VMs, e.Key)
	}
	for key := range has.VMs {
		differ = append(differ, key)
	}
	slices.Sort(differ)
	return differ, nil
}
