//go:build unix

package real

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/internal/pvesim"
)

// diskWayStates are states of disks in which a line of the spec could move something else:
// the cloud-init drive, which follows the first disk, or the other disks of a list.
func diskWayStates() []*wayState {
	const (
		second  = "disks: [{interface: scsi0, size: 8, datastore: shared}, {interface: scsi1, size: 5, datastore: local-lvm}]"
		alone   = "disks: [{interface: scsi1, size: 5, datastore: local-lvm}]"
		instead = "disks: [{interface: scsi2, size: 6, datastore: shared}, {interface: scsi1, size: 5, datastore: local-lvm}]"
	)
	reboot := func(w *faultCase) {
		rebootVM(w.T, w.sim, "pve1", 300)
		w.waitUntil("the agent answers", func() bool {
			r := w.sim.Do(w.Context(), pvesim.Request{Method: "GET", Path: "/api2/json/nodes/pve1/qemu/300/agent/network-get-interfaces",
				Header: http.Header{"Authorization": {"PVEAPIToken=" + w.sim.Token()}}})
			return r.Status == 200
		})
	}
	edit := func(from, to string) func(*faultCase) { return func(w *faultCase) { w.editSpec(from, to) } }
	applied := func(w *faultCase) { w.must(w.stackgen("apply", "--yes")) } // which records the volumes of removed disks
	return []*wayState{
		{name: "cloud-init drive follows a disk that was moved by hand", event: both(driveFollows, applySpec, byHand("POST /nodes/pve1/qemu/300/move_disk disk=scsi0 storage=local-lvm delete=1"))},
		{name: "cloud-init drive follows a disk that the VM boots from and the spec removes", event: both(driveFollows, applyEdit(second), edit(second, alone))},
		{name: "cloud-init drive follows a disk that the spec replaces", event: both(driveFollows, applyEdit("boot_order: [scsi1], "+second), reboot, edit(second, instead))},
		{name: "disks of two applies ago in the spec again", event: both(applyEdit(disksOf(8, 5, 6)), edit(disksOf(8, 5, 6), "memory: 2048"), applied, editVM(disksOf(8, 5, 6)))},
		{name: "all disks replaced in the spec", event: both(applyEdit("boot_order: [net0], "+disksOf(8)), reboot, edit("[net0], "+disksOf(8), "[net0], disks: [{interface: scsi5, size: 9, datastore: shared}]"))},
		{name: "disk that two VMs boot from removed from the spec", event: both(edit(disksOf(8), disksOf(8, 5)), applySpec, edit(disksOf(8, 5), strings.Replace(disksOf(5), "scsi0", "scsi1", 1)))},
		{name: "lock has another MAC than the state", event: otherMAC},
	}
}

// driveFollows leaves the datastore of the cloud-init drives to the first disk.
func driveFollows(w *faultCase) {
	w.editSpec("cloud_init: {datastore: shared}", "cloud_init: {ipv4: dhcp}")
}

// otherMAC gives VM b another MAC in the lock, as a lock that was created again has.
func otherMAC(w *faultCase) {
	file := filepath.Join(w.dir, lock.File)
	body, err := os.ReadFile(file)
	check(w.T, err)
	is := macAddress.FindString(w.guests()[301].config["net0"])
	check(w.T, os.WriteFile(file, bytes.ReplaceAll(body, []byte(is), []byte("BC:24:11:0B:0B:0B")), 0o600))
	w.must(w.stackgen("render"))
}

var driveVolume = regexp.MustCompile(`^([\w-]+):(?:\d+/)?vm-\d+-cloudinit`)

// movedDrives are the cloud-init drives that are on another storage than before.
func movedDrives(before, after map[int]guestState) (out []string) {
	for id, g := range before {
		for key, text := range g.config {
			was, is := driveVolume.FindStringSubmatch(text), driveVolume.FindStringSubmatch(after[id].config[key])
			if was != nil && is != nil && was[1] != is[1] {
				out = append(out, key+" was "+text+" and is on "+is[1])
			}
		}
	}
	return out
}

// TestMovedDrives: the invariant of the ways out finds a drive that moved.
func TestMovedDrives(t *testing.T) {
	state := func(drive string) map[int]guestState {
		return map[int]guestState{300: {config: map[string]string{"ide2": drive, "scsi0": "shared:300/vm-300-disk-0.raw"}}}
	}
	moved := movedDrives(state("shared:300/vm-300-cloudinit.qcow2,media=cdrom"), state("local-lvm:vm-300-cloudinit,media=cdrom"))
	if len(moved) != 1 || !strings.Contains(moved[0], "local-lvm") {
		t.Errorf("%q", moved)
	}
}
