package real

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
)

// imageStack downloads an image and makes a VM whose disk is filled from it.
const imageStack = `
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}
variable "url" {}
variable "memory" { default = 512 }
resource "proxmox_virtual_environment_download_file" "image" {
  content_type = "import"
  datastore_id = "local"
  node_name    = "pve1"
  url          = var.url
}
resource "proxmox_virtual_environment_vm" "imported" {
  node_name = "pve1"
  vm_id     = 700
  name      = "imported"
  started   = false
  memory { dedicated = var.memory }
  disk {
    datastore_id = "local-lvm"
    interface    = "scsi0"
    import_from  = proxmox_virtual_environment_download_file.image.id
    size         = 4
  }
}
`

// TestProviderImages creates, changes and destroys a VM that is imported from a downloaded
// image, with the real provider.
func TestProviderImages(t *testing.T) {
	t.Parallel()
	var size atomic.Int64
	size.Store(4096)
	image := []byte("QFI\xfb\x00\x00\x00\x03" + string(make([]byte, 20)) + "\x80\x00\x00\x00") // a qcow2 image of 2 GiB
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body := append(slices.Clone(image), make([]byte, int(size.Load())-len(image))...)
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body)
	}))
	t.Cleanup(web.Close)
	w := newSimulation(t)
	w.write("main.tf", imageStack)
	url := "url=" + web.URL + "/a.qcow2"
	w.tofu("apply", "-auto-approve", "-input=false", "-var", url)
	w.want("after the apply", w.planned("-var", url))
	if got := w.api("GET", "/nodes/pve1/qemu/700/config", nil).(map[string]any)["scsi0"]; got != "local-lvm:vm-700-disk-0,aio=io_uring,backup=1,cache=none,discard=ignore,iothread=0,replicate=1,size=4G,ssd=0" {
		t.Errorf("the disk is %v", got)
	}
	w.tofu("apply", "-auto-approve", "-input=false", "-var", url, "-var", "memory=768")
	w.want("after the update", w.planned("-var", url, "-var", "memory=768"))
	size.Store(8192)
	w.want("with another image at the URL", w.planned("-var", url, "-var", "memory=768"),
		"download_file.image", "delete+create", "vm.imported", "update")
	w.tofu("destroy", "-auto-approve", "-input=false", "-var", url)
	// The provider asks for the removal of a file and does not wait for its task.
	for _, task := range w.api("GET", "/nodes/pve1/tasks?source=active&typefilter=imgdel", nil).([]any) {
		w.wait(task.(map[string]any)["upid"].(string))
	}
	if got := w.api("GET", "/nodes/pve1/storage/local/content?content=import", nil).([]any); len(got) != 0 {
		t.Errorf("volumes after destroy: %v", got)
	}
}
