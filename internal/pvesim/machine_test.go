package pvesim_test

import (
	"fmt"
	"strings"
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

// TestMachineOfWindows: a creation pins the machine type of a Windows to the version of the node, and so does a change of the
// operating system.
func TestMachineOfWindows(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	machine := func(vmid string) any {
		return b.data("GET", "/nodes/pve1/qemu/"+vmid+"/config").(map[string]any)["machine"]
	}
	b.must("POST", "/nodes/pve1/qemu", "vmid", "300", "ostype", "win11", "machine", "type=q35,viommu=intel")
	b.must("POST", "/nodes/pve1/qemu", "vmid", "301", "ostype", "l26")
	if is := machine("300"); is != "pc-q35-9.2+pve1,viommu=intel" {
		t.Errorf("created: %v", is)
	}
	for _, c := range []struct {
		set  []string
		want any
	}{
		{[]string{"ostype", "l24"}, nil},
		{[]string{"ostype", "win10", "machine", "q35"}, "q35"},
		{[]string{"ostype", "win11"}, "pc-q35-9.2+pve1"},
		{[]string{"ostype", "w2k8", "delete", "machine"}, nil},
		{[]string{"ostype", "w2k8"}, "pc-i440fx-9.2+pve1"},
		{[]string{"ostype", "l26", "delete", "machine"}, nil},
		{[]string{"ostype", "win10", "machine", ""}, nil},
		{[]string{"ostype", "win11", "delete", "machine"}, "pc-i440fx-9.2+pve1"}, // there is none to delete
		{[]string{"machine", "virt"}, "virt"},
		{[]string{"ostype", "win10"}, "virt-9.2+pve1"},
		{[]string{"machine", "pc"}, "pc"},
		{[]string{"ostype", "l26"}, "pc"},
		{[]string{"ostype", "other"}, "pc"},
	} {
		b.data("PUT", "/nodes/pve1/qemu/301/config", c.set...)
		if is := machine("301"); is != c.want {
			t.Errorf("%v: %v, want %v", c.set, is, c.want)
		}
	}
	b.must("POST", "/nodes/pve1/qemu/301/status/start")
	b.data("PUT", "/nodes/pve1/qemu/301/config", "ostype", "win11")
	if is := fmt.Sprint(b.data("GET", "/nodes/pve1/qemu/301/pending")); !strings.Contains(is, "pending:pc-i440fx-9.2+pve1") {
		t.Errorf("what waits: %s", is)
	}
}
