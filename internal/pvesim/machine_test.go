package pvesim_test

import (
	"fmt"
	"testing"

	"stackgen/internal/pvesim"
)

// TestMachineTypes: a VM whose machine type has a version starts if the QEMU of its node lists it.
func TestMachineTypes(t *testing.T) {
	const old = "Installed QEMU version '9.2.0' is too old to run machine type 'pc-q35-10.1', please upgrade node 'pve1'"
	b := newTestSim(t, pvesim.Options{})
	b.must("POST", "/nodes/pve1/qemu", "vmid", "300", "ostype", "l26")
	listed := map[string]bool{}
	for _, e := range b.data("GET", "/nodes/pve1/capabilities/qemu/machines").([]any) {
		listed[fmt.Sprint(e.(map[string]any)["id"])] = true
	}
	for machine, want := range map[string]string{
		"q35":                           "OK",
		"pc-q35-9.0":                    "OK",
		"pc-i440fx-9.2+pve1":            "OK",
		"type=pc-q35-9.2,viommu=virtio": "OK",
		"pc-q35-10.1":                   old,
		"pc-i440fx-2.3":                 "start failed: QEMU exited with code 1",
	} {
		b.data("PUT", "/nodes/pve1/qemu/300/config", "machine", machine)
		if end, _ := b.task("POST", "/nodes/pve1/qemu/300/status/start"); end != want {
			t.Errorf("%s: the start ended %q, want %q", machine, end, want)
		}
		if want != "OK" && listed[machine] {
			t.Errorf("%s is listed", machine)
		}
		if want == "OK" {
			b.must("POST", "/nodes/pve1/qemu/300/status/stop")
		}
	}
	if !listed["pc-q35-9.0"] || !listed["pc-i440fx-9.2"] {
		t.Errorf("listed: %v", listed)
	}
}
