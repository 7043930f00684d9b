//go:build unix

package real

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const vmState = ".state/live/proxmox-vm/tofu.tfstate"

// editState replaces the resource block `this` in the state of the VMs.
func (w *faultCase) editState(edit func(map[string]any) []map[string]any) {
	w.Helper()
	body, err := os.ReadFile(filepath.Join(w.dir, vmState))
	check(w.T, err)
	w.write("backup.tfstate", string(body))
	var state map[string]any
	check(w.T, json.Unmarshal(body, &state))
	var out []any
	for _, r := range state["resources"].([]any) {
		if block := r.(map[string]any); block["name"] == "this" && block["type"] == "proxmox_virtual_environment_vm" {
			for _, e := range edit(block) {
				out = append(out, e)
			}
			continue
		}
		out = append(out, r)
	}
	state["resources"] = out
	state["serial"] = state["serial"].(float64) + 1
	body, err = json.Marshal(state)
	check(w.T, err)
	w.write(vmState, string(body))
}

// restoreState restores the state from before editState.
func (w *faultCase) restoreState() {
	body, err := os.ReadFile(filepath.Join(w.dir, "backup.tfstate"))
	check(w.T, err)
	w.write(vmState, string(body))
}

// instances is a copy of a resource block with the instances that edit returns.
func instances(r map[string]any, edit func(map[string]any) map[string]any) map[string]any {
	body, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		panic(err)
	}
	var kept []any
	for _, i := range out["instances"].([]any) {
		if e := edit(i.(map[string]any)); e != nil {
			kept = append(kept, e)
		}
	}
	out["instances"] = kept
	return out
}

// onlyKey is the block with another label and one instance, which gets another key.
func onlyKey(r map[string]any, label, key, to string) map[string]any {
	out := instances(r, func(i map[string]any) map[string]any {
		if i["index_key"] != key {
			return nil
		}
		i["index_key"] = to
		return i
	})
	out["name"] = label
	return out
}

func withoutKey(r map[string]any, key string) map[string]any {
	return instances(r, func(i map[string]any) map[string]any {
		if i["index_key"] == key {
			return nil
		}
		return i
	})
}

// withVMID is the block with another VMID of an instance, and the MAC address of the
// guest that has it.
func withVMID(r map[string]any, key string, vmid int) map[string]any {
	return instances(r, func(i map[string]any) map[string]any {
		if i["index_key"] == key {
			a := i["attributes"].(map[string]any)
			a["id"], a["vm_id"] = fmt.Sprint(vmid), vmid
			mac := fmt.Sprintf("BC:24:11:77:%02X:%02X", vmid/256, vmid%256)
			a["mac_addresses"] = []any{mac}
			a["network_device"].([]any)[0].(map[string]any)["mac_address"] = mac
		}
		return i
	})
}
