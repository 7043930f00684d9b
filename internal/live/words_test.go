package live

import (
	"testing"

	"stackgen/internal/progress"
)

// TestPlans: VMs that exist and get new disks are rebuilt, and not created.
func TestPlans(t *testing.T) {
	vm := func(key string, rebuilt bool) progress.Item {
		return progress.Item{Target: progress.Target{Kind: progress.VM, Stack: "lab", Key: key}, Action: progress.Create, Clone: true, Rebuilt: rebuilt}
	}
	b := progress.NewBoard(progress.Plan{Command: "rebuild", Items: []progress.Item{vm("a", true), vm("b", true), vm("c", false)}})
	if got := plans(b); got != "rebuild 2 VMs, create 1 VM" {
		t.Error(got)
	}
}
