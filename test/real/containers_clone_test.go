//go:build unix

package real

import (
	"net/http"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// clonedContainer clones a template container, with a MAC address that was decided before.
const clonedContainer = `
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}
resource "proxmox_virtual_environment_container" "ct" {
  node_name    = "pve1"
  vm_id        = 700
  unprivileged = true
  clone { vm_id = 9100 }
  initialization {
    hostname = "ours"
    ip_config {
      ipv4 { address = "dhcp" }
    }
  }
  network_interface {
    name        = "eth0"
    bridge      = "vmbr0"
    mac_address = "BC:24:11:0E:0E:01"
  }
  memory { dedicated = 256 }
  disk {
    datastore_id = "local-lvm"
    size         = 4
  }
  lifecycle { ignore_changes = [clone] }
}
`

// TestProviderClonesContainers is why a spec has no template container as a source. The provider gives a
// clone its MAC address by a request of its own after the clone, and takes "already exists" for a clone that is
// done: a stranger with the VMID gets the name and the MAC address of the new one, so that nothing
// tells the two apart any more, and a destroy deletes it. If this fails, read the provider again.
func TestProviderClonesContainers(t *testing.T) {
	t.Parallel()
	w := newSimulation(t)
	template := containerByHand(9100, "pve1", "base", "BC:24:11:91:00:01")
	template.Config["template"], template.Config["rootfs"] = "1", "local-lvm:base-9100-disk-0,size=4G"
	check(t, w.sim.Add(template))
	w.sim.Change(func(s *pvesim.Seed) {
		s.Volumes = append(s.Volumes, &pvesim.Volume{ID: "local-lvm:base-9100-disk-0", Node: "pve1", VMID: 9100, Size: 4 << 30, Format: "raw", Content: "rootdir"})
	})
	w.write("main.tf", clonedContainer)
	conf := func() map[string]any { return w.api("GET", "/nodes/pve1/lxc/700/config", nil).(map[string]any) }

	// Killed between the two requests, the clone has an address of Proxmox VE.
	check(t, w.sim.AddFault(&pvesim.Fault{Method: http.MethodPut, Path: "/nodes/pve1/lxc/700/config", Do: pvesim.DoError, Status: 500}))
	if out, err := w.runs("apply", "-auto-approve", "-input=false"); err == nil {
		t.Fatalf("the apply succeeded without its second request:\n%s", out)
	}
	w.sim.ClearFaults()
	if net := conf()["net0"].(string); strings.Contains(net, "BC:24:11:0E:0E:01") {
		t.Errorf("before its configuration, the clone has %s", net)
	}
	w.tofu("destroy", "-auto-approve", "-input=false")
	w.tofu("apply", "-auto-approve", "-input=false")
	w.want("after the apply", w.planned())
	w.tofu("destroy", "-auto-approve", "-input=false")

	check(t, w.sim.Add(containerByHand(700, "pve1", "erp", "BC:24:11:AA:AA:01")))
	w.tofu("apply", "-auto-approve", "-input=false")
	if c := conf(); c["hostname"] != "ours" || !strings.Contains(c["net0"].(string), "BC:24:11:0E:0E:01") {
		t.Errorf("the stranger was left alone: %v", c)
	}
	w.tofu("destroy", "-auto-approve", "-input=false")
	if got := w.api("GET", "/nodes/pve1/lxc", nil).([]any); len(got) > 1 {
		t.Errorf("the stranger is still there: %v", got)
	}
}
