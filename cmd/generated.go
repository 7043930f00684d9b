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
	"stackgen/internal/lock"
)

// varsFile is what Terragrunt writes a unit's VMs to, in its root module.
const varsFile = "vms.auto.tfvars.json"

// strays says why a run would do something else than what is judged, and what to
// do about it.
func (g *guarded) strays() (why, way string, err error) {
	why, way, err = astray(g.args, os.Getenv)
	was := g.project.Rendered.Stacks.Get(g.unit.Stack)
	if err != nil || why != "" || g.args[0] != "apply" || g.unit.Unit != lock.UnitVM || was == nil {
		return why, way, err
	}
	why, err = outdated(varsFile, was.VMs)
	return why, "(cd stacks/" + g.unit.Stack + " && terragrunt stack generate)", err
}

// outdated says what a generated unit does not know of the last render: a VM that
// it lacks would be destroyed. A unit that keeps its VMs elsewhere, as one of a
// catalog may, has nothing to compare.
func outdated(file string, vms lock.Ordered[lock.VM]) (string, error) {
	body, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var has struct {
		VMs map[string]struct {
			Profile string `json:"profile"`
			VMID    int    `json:"vm_id"`
		} `json:"vms"`
	}
	if err = firstError(err, json.Unmarshal(body, &has)); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", file, disk.Cause(err))
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
	if len(differ) == 0 {
		return "", nil
	}
	slices.Sort(differ)
	return "this unit was generated from another render than the last one, and differs in " + strings.Join(differ, ", "), nil
}
