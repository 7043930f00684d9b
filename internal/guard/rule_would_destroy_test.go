package guard

import (
	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

func destroyCases() []ruleCase {
	return []ruleCase{
		{"cannot-create: the token may not destroy it", both, func(s *scene) { s.mayNotDestroy(); s.Destroy = true }, "pveum acl modify"},
		{"cannot-create: the token may not destroy it", both, func(s *scene) { s.mayNotDestroy(); s.retire() }, "pveum acl modify"},
		{"would-destroy: forgotten, and in state", both, func(s *scene) { s.entry.Status = lock.Forgotten }, "state rm"},
		{"none: forgotten, and in no state", onlyGuest, func(s *scene) { s.entry.Status = lock.Forgotten }, ""},
		{"would-destroy: several times in state", both, func(s *scene) {
			second := inState("web1", 100)
			second.Address = schema.VMAddress("protected", "web1")
			s.State[tf.VMUnit("lab")] = tf.State{Resources: []tf.Resource{*s.state(), second}}
		}, "protected"},
		{"would-destroy: no moved block", both, func(s *scene) { s.state().Address = schema.VMAddress("protected", "web1") }, "state mv"},
		{"would-destroy: another VMID in state", both, func(s *scene) { s.state().VMID = 300 }, "state rm"},
		{"would-destroy: another VMID in state", both, func(s *scene) { s.state().VMID = 300; s.retire() }, "state rm"},
		{"would-destroy: tainted", both, func(s *scene) { s.state().Tainted = true }, "untaint"},
		{"would-harm: its disks are being exchanged", both, func(s *scene) {
			s.entry.Rebuild = &lock.Rebuild{UUID: s.guest().Config.UUID, Holder: 199, Volumes: []string{"local-lvm:vm-100-disk-8"}}
			s.guest().Config.Raw = map[string]string{"unused0": "local-lvm:vm-100-disk-8"}
		}, "stackgen rebuild lab/web1"},
		{"would-destroy: another guest has a volume of it", both, func(s *scene) { s.retire(); lend(s, true) }, "--disk scsi1 --storage STORAGE"},
		{"would-destroy: another guest has a volume of it", both, func(s *scene) { s.Destroy = true; lend(s, false) }, "/lxc/400/move_volume --volume mp0 --storage STORAGE"},
		{"retiring", both, func(s *scene) {
			s.retire()
			lend(s, true)
			s.guest().VMID, s.entry.VMID, s.state().VMID = 101, 101, 101
		}, ""},
		{"unknown: another guest may have a volume", both, func(s *scene) { s.retire(); unclaimed100(s) }, "grep -l vm-100-disk-7 /etc/pve/nodes/*/*/*.conf"},
		{"unknown: another guest may have a volume", both, func(s *scene) { s.Destroy = true; unclaimed100(s) }, "delete_unreferenced_disks: false"},
		{"unknown: another guest may have a volume", both, func(s *scene) {
			s.Destroy = true
			s.Inventory.Unclaimed = []cluster.Unclaimed{{VMID: 100, Gaps: []cluster.Gap{{Path: "/storage/nfs", Reason: "its volumes could not be listed"}}}}
		}, "delete_unreferenced_disks: false"},
		{"retiring", both, func(s *scene) {
			s.retire()
			unclaimed100(s)
			s.state().Values = tf.Values{deletesUnreferenced: "false"}
		}, ""},
		{"managed", both, func(s *scene) { unclaimed100(s) }, ""},
		{"would-destroy: its profile prevents that", both, func(s *scene) { s.Destroy, s.Project.Profiles[0].PreventDestroy = true, true }, "retired: [web1]"},
		{"would-destroy: its profile prevents that", both, func(s *scene) {
			s.Destroy, s.Project.Profiles[0].PreventDestroy = true, true
			s.Project.Stacks[0].VMs[0].Path = "groups.web"
		}, "retired: [web1]"},
	}
}

// lend gives another guest a volume of VM 100: as a disk of a VM whose configuration was read, or
// in what was read to identify a container.
func lend(s *scene, read bool) {
	other := newGuest(400, "other")
	if read {
		other.Config.Raw = map[string]string{"scsi1": "local-lvm:vm-100-disk-1,size=4G"}
	} else {
		other.Kind, other.Config = guest.Container, nil
		other.Identity = &cluster.Identity{Volumes: map[string]string{"mp0": "local-lvm:vm-100-disk-1"}}
	}
	s.Inventory.Guests = append(s.Inventory.Guests, other)
}

// unclaimed100 is a volume of VM 100 that it does not have, where other guests cannot be read.
func unclaimed100(s *scene) {
	s.Inventory.Unclaimed = []cluster.Unclaimed{{VMID: 100, Volumes: []string{"local-lvm:vm-100-disk-7"}}}
	s.Inventory.Guests = append(s.Inventory.Guests, cluster.Guest{VMID: 400, Node: "pve2", Kind: guest.VM, Name: "other", Status: "unknown"})
}
