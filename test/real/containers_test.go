package real

import "testing"

// containerStack makes a container from the archive of the default cluster.
const containerStack = `
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}
variable "memory" { default = 256 }
resource "proxmox_virtual_environment_container" "ct" {
  node_name    = "pve1"
  vm_id        = 700
  unprivileged = true
  initialization {
    hostname = "ct"
    ip_config {
      ipv4 { address = "dhcp" }
    }
  }
  network_interface {
    name   = "eth0"
    bridge = "vmbr0"
  }
  memory { dedicated = var.memory }
  disk {
    datastore_id = "local-lvm"
    size         = 4
  }
  operating_system {
    template_file_id = "local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz"
    type             = "alpine"
  }
  lifecycle { ignore_changes = [operating_system[0].template_file_id] }
}
`

// TestContainersOnSimulator creates, changes, imports and destroys a container with the real
// provider.
func TestContainersOnSimulator(t *testing.T) {
	t.Parallel()
	w := newSimulation(t)
	w.write("main.tf", containerStack)
	w.tofu("apply", "-auto-approve", "-input=false")
	w.want("after the apply", w.planned())
	w.tofu("apply", "-auto-approve", "-input=false", "-var", "memory=384")
	conf := w.api("GET", "/nodes/pve1/lxc/700/config", nil).(map[string]any)
	if conf["memory"] != 384.0 || conf["ostype"] != "alpine" || conf["rootfs"] != "local-lvm:vm-700-disk-0,size=4G" {
		t.Errorf("after the update: %v", conf)
	}
	w.want("after the update", w.planned("-var", "memory=384"))
	w.tofu("state", "rm", "proxmox_virtual_environment_container.ct")
	w.tofu("import", "-var", "memory=384", "proxmox_virtual_environment_container.ct", "pve1/700")
	w.want("after the import", w.planned("-var", "memory=384"), "container.ct", "update")
	w.tofu("apply", "-auto-approve", "-input=false", "-var", "memory=384") // until then, a destroy has no time (timeout_delete)
	w.tofu("destroy", "-auto-approve", "-input=false")
	if got := w.api("GET", "/nodes/pve1/lxc", nil).([]any); len(got) > 0 {
		t.Errorf("after the destroy: %v", got)
	}
}
