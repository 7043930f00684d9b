package script

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// A plannedVM is a VM in a plan: its attributes that the last apply left, that the refresh
// reads, and that the plan sets.
type plannedVM struct {
	profile, key    string
	last, read, set map[string]any
	id              string // that is imported; then no state has it
}

// makePlan writes the plan of the VMs of a state file: the refresh reads them with some other
// values than the state has, and the plan sets some. The words are about the VM that `of` names,
// and first about the first one. With an id, the plan imports it. PATH and VALUE are those of
// setJSON, from the attributes of the VM.
func makePlan(ts *testscript.TestScript, neg bool, args []string) {
	const how = "plan FILE STATE [of KEY] [import ID] [reads PATH VALUE]... [sets PATH VALUE]..."
	usage(ts, !neg && len(args) >= 2, how)
	vms := vmsOf(ts, args[1])
	vm := vms[0]
	for rest := args[2:]; len(rest) > 0; {
		switch word := rest[0]; {
		case word == "of" && len(rest) > 1:
			vm, rest = named(ts, vms, rest[1]), rest[2:]
		case word == "import" && len(rest) > 1:
			vm.id, rest = rest[1], rest[2:]
		case word == "reads" && len(rest) > 2:
			vm.read = withValue(ts, vm.read, rest[1], rest[2])
			vm.set, rest = withValue(ts, vm.set, rest[1], rest[2]), rest[3:]
		case word == "sets" && len(rest) > 2:
			vm.set, rest = withValue(ts, vm.set, rest[1], rest[2]), rest[3:]
		default:
			ts.Fatalf("usage: %s", how)
		}
	}
	var prior, changes, drift []any
	for _, vm := range vms {
		change := map[string]any{"actions": []string{"update"}, "before": vm.read, "after": vm.set}
		if reflect.DeepEqual(vm.read, vm.set) {
			change["actions"] = []string{"no-op"}
		}
		switch {
		case vm.id != "":
			change["importing"] = map[string]any{"id": vm.id}
		case !reflect.DeepEqual(vm.last, vm.read):
			drift = append(drift, vm.with("change", map[string]any{"actions": []string{"update"}, "before": vm.last, "after": vm.read}))
		}
		prior, changes = append(prior, vm.with("values", vm.read)), append(changes, vm.with("change", change))
	}
	body, err := json.Marshal(map[string]any{
		"format_version": "1.2", "terraform_version": "1.12.6", "errored": false,
		"planned_values":   map[string]any{"root_module": map[string]any{}},
		"prior_state":      map[string]any{"format_version": "1.0", "values": map[string]any{"root_module": map[string]any{"resources": prior}}},
		"resource_changes": changes, "resource_drift": drift,
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(body, '\n'), 0o666))
}

// with is the resource of the VM in a plan, with another member.
func (vm *plannedVM) with(name string, value any) map[string]any {
	return map[string]any{
		"address": fmt.Sprintf("proxmox_virtual_environment_vm.%s[%q]", vm.profile, vm.key), "mode": "managed",
		"type": "proxmox_virtual_environment_vm", "name": vm.profile, "index": vm.key, name: value,
	}
}

// vmsOf are the VMs of a state file.
func vmsOf(ts *testscript.TestScript, file string) (out []*plannedVM) {
	var state struct {
		Resources []struct {
			Name      string
			Instances []struct {
				Key        string         `json:"index_key"`
				Attributes map[string]any `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &state))
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			out = append(out, &plannedVM{profile: r.Name, key: i.Key, last: i.Attributes, read: i.Attributes, set: i.Attributes})
		}
	}
	if len(out) == 0 {
		ts.Fatalf("%s has no VM", file)
	}
	return out
}

func named(ts *testscript.TestScript, vms []*plannedVM, key string) *plannedVM {
	for _, vm := range vms {
		if vm.key == key {
			return vm
		}
	}
	ts.Fatalf("no VM %s", key)
	return nil
}

// withValue is a copy of attributes with another value.
func withValue(ts *testscript.TestScript, attributes map[string]any, path, text string) map[string]any {
	body, err := json.Marshal(attributes)
	ts.Check(err)
	var out, value any
	ts.Check(json.Unmarshal(body, &out))
	if json.Unmarshal([]byte(text), &value) != nil {
		value = text
	}
	out, err = edited(out, strings.Split(path, "."), value, true)
	ts.Check(err)
	return out.(map[string]any)
}
