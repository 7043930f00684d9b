package pvesim_test

import (
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestMigrationRefused: what a guest uses of its node, and no other node has, ends its
// migration, and the guest stays where it is.
func TestMigrationRefused(t *testing.T) {
	for name, c := range map[string]struct {
		config  map[string]string
		running bool
		end     string
		log     string
	}{
		"local disks":             {map[string]string{"scsi0": "local-lvm:vm-700-disk-0,size=1G"}, true, "OK", "copying local disk images"},
		"host device":             {map[string]string{"hostpci0": "0000:01:00.0"}, false, "migration aborted", "can't migrate VM which uses local devices: hostpci0"},
		"USB of the node":         {map[string]string{"usb0": "host=0951:1666"}, false, "migration aborted", "local devices: usb0"},
		"USB of the client":       {map[string]string{"usb0": "spice"}, true, "OK", "migration finished successfully"},
		"serial port":             {map[string]string{"serial0": "/dev/ttyS0"}, false, "migration aborted", "local devices: serial0"},
		"serial socket":           {map[string]string{"serial0": "socket"}, true, "OK", "migration finished successfully"},
		"mapped device, running":  {map[string]string{"usb0": "mapping=stick"}, true, "migration aborted", "mapped devices: usb0"},
		"mapped device, stopped":  {map[string]string{"usb0": "mapping=stick"}, false, "OK", "migration finished successfully"},
		"mapped device, of pve1":  {map[string]string{"usb0": "mapping=key"}, false, "migration aborted", "can't migrate to 'pve2': missing mapped devices usb0"},
		"shared directory":        {map[string]string{"virtiofs0": "dirid=media"}, true, "migration aborted", "mapped devices: virtiofs0"},
		"CD-ROM image":            {map[string]string{"ide0": "local:iso/a.iso,media=cdrom"}, false, "migration aborted", "can't migrate local disk 'local:iso/a.iso': local cdrom image"},
		"CD-ROM image on shared":  {map[string]string{"ide0": "shared:iso/a.iso,media=cdrom"}, true, "OK", "migration finished successfully"},
		"physical CD-ROM":         {map[string]string{"ide0": "cdrom,media=cdrom"}, false, "migration aborted", "can't migrate local cdrom drive"},
		"empty CD-ROM":            {map[string]string{"ide0": "none,media=cdrom"}, true, "OK", "migration finished successfully"},
		"snapshot, running":       {map[string]string{"scsi0": "local:700/vm-700-disk-0.qcow2,size=1G", "parent": "s"}, true, "migration aborted", "online storage migration not possible if non-replicated snapshot exists"},
		"snapshot in a file":      {map[string]string{"scsi0": "local:700/vm-700-disk-0.qcow2,size=1G", "parent": "s"}, false, "OK", "migration finished successfully"},
		"snapshot on LVM-thin":    {map[string]string{"scsi0": "local-lvm:vm-700-disk-0,size=1G", "parent": "s"}, false, "migration aborted", "non-migratable snapshot exists"},
		"snapshot on shared":      {map[string]string{"scsi0": "shared:700/vm-700-disk-0.qcow2,size=1G", "parent": "s"}, true, "OK", "migration finished successfully"},
		"linked clone, LVM-thin":  {map[string]string{"scsi0": "local-lvm:vm-700-disk-0,size=1G"}, false, "OK", "migration finished successfully"},
		"linked clone in a file":  {map[string]string{"scsi0": "local:9001/base-9001-disk-0.qcow2/700/vm-700-disk-0.qcow2,size=1G"}, false, "migration aborted", "as it's a clone of 'base-9001-disk-0.qcow2'"},
		"bridge missing, running": {map[string]string{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr9"}, true, "migration problems", "[pve2] bridge 'vmbr9' does not exist"},
		"bridge missing, stopped": {map[string]string{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr9"}, false, "OK", "migration finished successfully"},
		"too many CPUs":           {map[string]string{"cores": "17"}, true, "migration problems", "[pve2] MAX 16 vcpus allowed per VM on this node"},
		"linked clone, on shared": {map[string]string{"scsi0": "shared:9000/base-9000-disk-0.qcow2/700/vm-700-disk-0.qcow2,size=3G"}, true, "OK", "migration finished successfully"},
	} {
		t.Run(name, func(t *testing.T) {
			seed, err := pvesim.DefaultSeed()
			if err != nil {
				t.Fatal(err)
			}
			seed.Mappings = append(seed.Mappings, &pvesim.Mapping{Type: "usb", ID: "key", Nodes: []string{"pve1"}})
			c.config["name"], c.config["memory"] = "a", "1024"
			g := &pvesim.Guest{VMID: 700, Node: "pve1", Running: c.running, Config: c.config}
			if c.config["parent"] != "" {
				g.Snapshots = []*pvesim.Snapshot{{Name: "s", Config: map[string]string{"scsi0": c.config["scsi0"]}}}
			}
			seed.Guests = append(seed.Guests, g)
			b := newTestSim(t, pvesim.Options{Seed: seed})
			upid := b.data("POST", "/nodes/pve1/qemu/700/migrate", "target", "pve2", "online", "1", "with-local-disks", "1").(string)
			end, log := b.wait(upid), ""
			for _, line := range b.data("GET", "/nodes/pve1/tasks/"+upid+"/log", "limit", "500").([]any) {
				log += line.(map[string]any)["t"].(string) + "\n"
			}
			if end != c.end || !strings.Contains(log, c.log) {
				t.Errorf("ended %q, want %q and %q\n%s", end, c.end, c.log, log)
			}
			node := map[bool]string{true: "pve2", false: "pve1"}[end == "OK"]
			if got := b.config(node, 700)["lock"]; got != nil {
				t.Errorf("it is locked: %v", got)
			}
		})
	}
}
