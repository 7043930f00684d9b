//go:build unix

package real

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/lock"
)

// effectFaults are updates of running VMs: those that no spec asks for are refused, and
// those that a spec asks for are made.
func effectFaults() []fault {
	const one = "0 added, 1 changed, 0 destroyed"
	const hand = "PUT /nodes/pve1/qemu/300/config "
	return []fault{
		fault{name: "data disk added by hand", event: byHand(hand + "scsi1=shared:5")}.succeedsInBoth(nothingToDo),
		fault{name: "data disk added by hand, and the spec grows another one", event: both(byHand(hand+"scsi1=shared:5"), editVM(disksOf(9))), harm: "detaches scsi1 of 300"}.refusedByPlan("would detach a disk that the spec does not have"),
		fault{name: "state lost, and a data disk added by hand before the import", event: both(loseAndImport, byHand(hand+"scsi1=shared:5")), harm: "detaches scsi1 of 300"}.refusedByPlan("would detach a disk that the spec does not have"),
		fault{name: "disk detached by hand", event: both(applyEdit(disksOf(8, 5)), byHand(hand+"delete=scsi1")), harm: "attaches an empty scsi1 to 300"}.refusedByPlan("would attach an empty disk where one was detached by hand or by a reset, or never added"),
		fault{name: "disk detached by hand, and removed from the spec", event: both(applyEdit(disksOf(8, 5)), byHand(hand+"delete=scsi1"), func(w *faultCase) { w.editSpec(disksOf(8, 5), disksOf(8)) })}.refusedByPlan("the state has a disk that was detached by hand"),
		fault{name: "data disk added by hand and in the spec, which grows another one", event: both(byHand(hand+"scsi1=shared:5"), editVM(disksOf(9, 5)))}.refusedByPlan("does not grow a disk of a running VM"),
		fault{name: "data disk added by hand and in the spec", event: both(byHand(hand+"scsi1=shared:5"), editVM(disksOf(8, 5)))}.succeedsInBoth(one),
		fault{name: "disk grown by hand", event: byHand("PUT /nodes/pve1/qemu/300/resize disk=scsi0 size=20G")}.refusedByPlan("would fail: a disk is larger than the spec says"),
		fault{name: "disk moved by hand", event: byHand("POST /nodes/pve1/qemu/300/move_disk disk=scsi0 storage=local-lvm delete=1")}.refusedByPlan("would move a disk back"),
		fault{name: "network device added by hand", event: byHand(hand + "net1=virtio,bridge=vmbr0"), harm: "removes net1 of 300"}.refusedByPlan("would remove a network device that the spec does not have"),
		fault{name: "two network devices added by hand, with a gap", event: both(byHand(hand+"net1=virtio,bridge=vmbr0"), byHand(hand+"net3=virtio,bridge=vmbr0")), harm: "removes net1 of 300; removes net3 of 300"}.refusedByPlan("would remove a network device that the spec does not have"),
		fault{name: "state lost, and a user of cloud-init set by hand before the import", event: both(loseAndImport, byHand(hand+"ciuser=debian")), harm: "restarts 300"}.refusedByPlan("apply would change it again"),
		fault{name: "disk of a running VM in another datastore in the spec", event: editVM(strings.Replace(disksOf(8), "shared", "local-lvm", 1))}.refusedByPlan("needs it off"),
		fault{name: "disk of a VM with a snapshot in another datastore in the spec, with `restart: true`", event: both(byHand("POST /nodes/pve1/qemu/300/snapshot snapname=before"), editVM("restart: true, "+strings.Replace(disksOf(8), "shared", "local-lvm", 1))), harm: "stops 300"}.refusedByPlan("does not move the disk of a VM with snapshots"),
		fault{name: "disk added, one grown and a network device added in the spec", event: both(editVM(disksOf(9, 5)), secondNIC)}.succeedsInBoth(one),
		fault{name: "disk of a running VM grown together with memory in the spec", event: editVM("memory: 2064, " + disksOf(9))}.refusedByPlan("does not grow a disk of a running VM"),
		fault{name: "disk added before another one in the spec", event: both(applyEdit(withGap), func(w *faultCase) { w.editSpec(withGap, disksOf(8, 5, 5)) })}.succeedsInBoth(one),
		fault{name: "state lost after a disk was added before another one in the spec", event: both(applyEdit(withGap), func(w *faultCase) { w.editSpec(withGap, disksOf(8, 5, 5)) }, applySpec, loseState)}.fixedByImport(adoptAll, noState, "3 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "disk added before another one in the spec, and the lock lacks their order", event: both(applyEdit(withGap), forgetOrder, func(w *faultCase) { w.editSpec(withGap, disksOf(8, 5, 5)) }), harm: "attaches one volume as scsi1 and scsi2 of 300"}.refusedInBoth("would-harm a", "would attach the volume of another disk"),
		fault{name: "state lost, and a disk added before another one in the spec", event: both(applyEdit(withGap), loseState, func(w *faultCase) { w.editSpec(withGap, disksOf(8, 5, 5)) }), harm: ""}.refusedInBoth("would-harm a", "would attach the volume of another disk"),
		fault{name: "disk with another interface in the spec", event: both(applyEdit(disksOf(8, 5)), func(w *faultCase) { w.editSpec(disksOf(8, 5), withGap) }), harm: "attaches the volume of scsi1 as scsi2 of 300"}.refusedInBoth("would-harm a", "would add an empty disk instead of attaching the volume that the disk had"),
		fault{name: "disk replaced by a larger one in the spec", event: both(applyEdit(disksOf(8, 5)), func(w *faultCase) { w.editSpec(disksOf(8, 5), strings.Replace(withGap, "size: 5", "size: 6", 1)) }), harm: "attaches the volume of scsi1 as scsi2 of 300"}.refusedInBoth("would-harm a", "would attach the volume of another disk"),
		fault{name: "disk added after an apply failed that would have attached the volume of another one, and an old unused volume", event: both(applyEdit(withGap), oldVolume, failedDisk), harm: "attaches an empty scsi1 to 300"}.refusedByPlan("did not add to the VM"),
		fault{name: "disk removed from the spec", event: both(applyEdit(disksOf(8, 5)), func(w *faultCase) { w.editSpec(disksOf(8, 5), disksOf(8)) }), lost: []string{"scsi1 of 300"}}.succeedsInBoth(one),
		fault{name: "network device removed from the spec", event: both(secondNIC, applySpec, func(w *faultCase) { w.editSpec(moreNICs, "}]") }), lost: []string{"net1 of 300"}}.succeedsInBoth(one),
		fault{name: "first of three network devices removed from the spec", event: both(threeDevices, applySpec, firstRemoved), lost: []string{"net2 of 300"}, harm: "moves net1 to net0 of 300; moves net2 to net1 of 300"}.refusedByPlan("would move devices of the running VM to other numbers"),
		fault{name: "first of three network devices removed from a spec with `restart: true`", event: both(editVM("restart: true"), threeDevices, applySpec, firstRemoved), lost: []string{"net2 of 300", "net1 to net0 of 300", "net2 to net1 of 300"}}.succeedsInBoth(one),
		fault{name: "network device added before another one in the spec", event: func(w *faultCase) { w.editSpec("networks: [", "networks: [{vlan: 20}, ") }, harm: "moves net0 to net1 of 300"}.refusedByPlan("would move devices of the running VM to other numbers"),
		fault{name: "disk that the VM boots from removed from the spec", event: both(applyEdit(disksOf(8, 5)), func(w *faultCase) { w.editSpec(disksOf(8, 5), strings.Replace(disksOf(5), "scsi0", "scsi1", 1)) })}.refusedByPlan("boots from a disk"),
	}
}

// threeDevices adds two network devices to VM a in the spec.
var threeDevices = both(secondNIC, func(w *faultCase) { w.editSpec(moreNICs, strings.Replace(moreNICs, "}]", "}, {vlan: 20}]", 1)) })

// firstRemoved removes the first network device of VM a from the spec.
func firstRemoved(w *faultCase) {
	w.editSpec(`{bridge: vmbr0, mac: "BC:24:11:00:03:00"}, `, "")
}

// disksOf are disks of a VM in the spec, scsi0 first.
func disksOf(sizes ...int) string {
	var out []string
	for i, size := range sizes {
		out = append(out, fmt.Sprintf("{interface: scsi%d, size: %d, datastore: shared}", i, size))
	}
	return "disks: [" + strings.Join(out, ", ") + "]"
}

// withGap are disks of a VM in the spec, between which there may be another one.
var withGap = strings.Replace(disksOf(8, 5), "scsi1", "scsi2", 1)

// forgetOrder makes the lock one from before it had the order of disks.
func forgetOrder(w *faultCase) {
	file := filepath.Join(w.dir, lock.File)
	body, err := os.ReadFile(file)
	check(w.T, err)
	check(w.T, os.WriteFile(file, regexp.MustCompile(`, disks: \[[^]]*\]`).ReplaceAll(body, nil), 0o600))
}

// oldVolume detaches a disk by hand that the stack never had.
var oldVolume = both(byHand("PUT /nodes/pve1/qemu/300/config scsi9=shared:1"), byHand("PUT /nodes/pve1/qemu/300/config delete=scsi9"))

// failedDisk applies without the guard what attaches the volume of another disk, on a
// storage that does not have it: the apply fails, and the state has the disk.
func failedDisk(w *faultCase) {
	level := w.guard
	w.level("off")
	forgetOrder(w)
	w.editSpec(withGap, strings.Replace(disksOf(8, 5, 5), "size: 5, datastore: shared", "size: 5, datastore: local-lvm", 1))
	if r := w.apply(); r.code == 0 {
		w.Fatalf("the apply succeeds\n%s", r.output)
	}
	w.level(level)
}

const moreNICs = `}, {bridge: vmbr0, mac: "BC:24:11:00:03:77"}]`

// secondNIC adds a network device to VM a in the spec.
func secondNIC(w *faultCase) {
	w.editSpec(`mac: "BC:24:11:00:03:00"}]`, `mac: "BC:24:11:00:03:00"`+moreNICs)
}

// applySpec applies the spec as it is.
func applySpec(w *faultCase) { w.must(w.apply()) }

// applyEdit adds to the entry of VM a in the spec, and applies that.
func applyEdit(text string) func(*faultCase) { return both(editVM(text), applySpec) }

// byHand sends one request as a person does: its method, path and parameters.
func byHand(request string) func(*faultCase) {
	return func(w *faultCase) {
		words := strings.Fields(request)
		var form []string
		for _, p := range words[2:] {
			name, value, _ := strings.Cut(p, "=")
			form = append(form, name, value)
		}
		w.post(words[0], words[1], form...)
		w.waitUntil("the tasks have ended", w.noRunningTask)
	}
}

// loseAndImport loses the state, and writes the import files.
func loseAndImport(w *faultCase) {
	loseState(w)
	w.must(w.stackgen("import-blocks"))
}

// devices are the disks and network devices of a guest.
func (g guestState) devices() map[string]string {
	out := map[string]string{}
	for key, text := range g.config {
		name := strings.TrimRight(key, "0123456789")
		if key != name && slices.Contains([]string{"scsi", "virtio", "sata", "ide", "net"}, name) && !strings.Contains(text, "cloudinit") && !strings.Contains(text, "media=cdrom") {
			volume, _, _ := strings.Cut(text, ",")
			out[key] = volume
		}
	}
	return out
}

// lostDevices are disks and network devices that a guest lost, and empty disks that it got
// while one of its disks was detached.
func lostDevices(id int, was, is guestState, asked []string, found func(what, proof string, args ...any)) {
	had, has := was.devices(), is.devices()
	otherVolumes(id, had, has, found)
	movedMACs(id, had, has, asked, found)
	for _, key := range slices.Sorted(maps.Keys(had)) {
		verb := "detaches"
		if strings.HasPrefix(key, "net") {
			verb = "removes"
		}
		moved := !strings.HasPrefix(key, "net") && slices.Contains(slices.Collect(maps.Values(has)), had[key])
		if name := fmt.Sprintf("%s of %d", key, id); has[key] == "" && !moved && !slices.Contains(asked, name) {
			found(verb+" "+name, "it was %s", had[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(has)) {
		if had[key] == "" && !strings.HasPrefix(key, "net") && was.config["unused0"] != "" && was.config["unused0"] != has[key] {
			found(fmt.Sprintf("attaches an empty %s to %d", key, id), "it is %s, and the detached disk %s", has[key], was.config["unused0"])
		}
	}
}

// movedMACs are the network devices of a guest that another one was before.
func movedMACs(id int, had, has map[string]string, asked []string, found func(what, proof string, args ...any)) {
	for _, key := range slices.Sorted(maps.Keys(had)) {
		for _, other := range slices.Sorted(maps.Keys(has)) {
			name := fmt.Sprintf("%s to %s of %d", key, other, id)
			if strings.HasPrefix(key, "net") && key != other && had[key] == has[other] && !slices.Contains(asked, name) {
				found("moves "+name, "it is %s", had[key])
			}
		}
	}
}

// otherVolumes are disks of a guest that got the volume of another one.
func otherVolumes(id int, had, has map[string]string, found func(what, proof string, args ...any)) {
	for _, key := range slices.Sorted(maps.Keys(has)) {
		for _, other := range slices.Sorted(maps.Keys(had)) {
			switch {
			case strings.HasPrefix(key, "net") || strings.HasPrefix(other, "net") || key == other || has[key] != had[other] || had[key] == has[key]:
			case has[other] == has[key]:
				found(fmt.Sprintf("attaches one volume as %s and %s of %d", key, other, id), "it is %s", has[key])
			default:
				found(fmt.Sprintf("attaches the volume of %s as %s of %d", other, key, id), "it is %s", has[key])
			}
		}
	}
}
