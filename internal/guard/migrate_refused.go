package guard

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
)

// cannotMigrate is a migration that Proxmox VE would refuse, or that would fail.
func (s *subject) cannotMigrate(reason string) {
	s.Is(finding.Migrate, reason)
	s.Severity = finding.Blocked
}

// targetMissing is a node that cannot take a VM.
func (s *subject) targetMissing() bool {
	var names []string
	for _, n := range s.Inventory.Nodes {
		names = append(names, n.Name)
	}
	switch n := s.Inventory.Node(s.entry.Node); {
	case n == nil && len(s.Inventory.Nodes) > 0:
		s.cannotMigrate("an apply would migrate it to a node that the cluster does not have")
		s.Next("correct the node in "+s.at.Spec, s.line("node: NAME")+", one of "+strings.Join(names, ", "))
	case n != nil && !n.Online:
		s.cannotMigrate("an apply would migrate it to a node that is " + n.Down())
		what, line := n.Wake()
		s.Next(what+", then run preflight again", line)
		s.Next("or leave the VM where it is: write into "+s.at.Spec, s.line("node: "+s.guest.Node))
	default:
		return false
	}
	return true
}

// storageMissing is a drive on a storage that the target does not have. Migrations of
// the provider keep the storage.
func (s *subject) storageMissing(drives []pve.Drive) bool {
	var missing []string
	for _, d := range drives {
		if s.storage(d.Storage, s.guest.Node) == nil || slices.Contains(missing, d.Storage) {
			continue // not visible anywhere
		}
		switch st := s.storage(d.Storage, s.entry.Node); {
		case st == nil:
			s.Because("%s is on storage %s, which %s does not have", d.Key, d.Storage, s.entry.Node)
		case !st.Active:
			s.Because("%s is on storage %s, which is not active on %s", d.Key, d.Storage, s.entry.Node)
		case !d.CDROM() && !st.Images():
			s.Because("%s is on storage %s, which takes no disk images", d.Key, d.Storage)
		default:
			continue
		}
		missing = append(missing, d.Storage)
	}
	if len(missing) == 0 {
		return false
	}
	s.cannotMigrate("an apply would migrate it, and the target lacks a storage of its drives")
	s.leaveThere()
	for _, name := range missing {
		s.Next("or, if "+s.entry.Node+" has storage "+name+", permit it there, and activate it: as root",
			pve.Pvesh("set", "/storage/"+name, "--nodes "+shell.Word(strings.Join(s.nodesWith(name), ","))))
	}
	return true
}

// nodesWith are the nodes that have a storage, and the target.
func (s *subject) nodesWith(storage string) []string {
	out := []string{s.entry.Node}
	for _, st := range s.Inventory.Storages {
		if st.ID == storage {
			out = append(out, st.Node)
		}
	}
	return unique(out)
}

// usesNode is a VM that uses what only its node has.
func (s *subject) usesNode(drives []pve.Drive) bool {
	var used []string
	for _, d := range devicesOf(s.guest) {
		if !d.mapped {
			used = append(used, d.key)
		}
	}
	for _, d := range drives {
		if d.CDROM() && !d.CloudInit() && (d.Storage == "" || s.local(d)) {
			used = append(used, d.Key)
		}
	}
	if len(used) == 0 {
		return false
	}
	s.cannotMigrate("an apply would migrate it, and it uses devices of its node: Proxmox VE refuses that")
	s.usesDevices(used)
	s.leaveThere()
	s.Next("or remove them from the VM and from "+s.at.Spec+", restart it, and run preflight again",
		set(s.guest, "--delete "+strings.Join(used, ",")))
	return true
}

func (s *subject) usesDevices(keys []string) {
	for _, key := range keys {
		s.Because("%s: %s", key, s.guest.Config.Raw[key])
	}
}

// cloneOfLocal is a VM with a linked clone on a local storage, which is not copied.
func (s *subject) cloneOfLocal(drives []pve.Drive) bool {
	var linked []string
	for _, d := range drives {
		if d.IsLinked() && s.local(d) {
			linked = append(linked, d.Key)
		}
	}
	if len(linked) == 0 {
		return false
	}
	s.cannotMigrate("an apply would migrate it, and a disk is a linked clone on a local storage: Proxmox VE refuses that")
	s.usesDevices(linked)
	s.leaveThere()
	var lines []string
	for _, key := range linked {
		lines = append(lines, pve.Pvesh("create", s.guest.Path("move_disk"), "--disk "+key, "--storage STORAGE", "--delete 1"))
	}
	s.Next("or copy the disk to another storage that both nodes have, and write that into "+s.at.Spec+" as its datastore", lines...)
	return true
}

// onlyOffline is a running VM that can be migrated only while it is off. The provider
// stops no VM for a migration.
func (s *subject) onlyOffline(drives []pve.Drive) bool {
	if s.guest.Status != "running" {
		return false
	}
	var why []string
	for _, d := range devicesOf(s.guest) {
		if d.key[:3] == "usb" { // whether a mapped PCI device can be migrated live is not in the configuration
			why = append(why, d.key)
		}
	}
	reason := "it runs with a mapped device: Proxmox VE migrates it only while it is off"
	if c := s.guest.Config; len(why) == 0 && c != nil && c.Raw["parent"] != "" {
		reason = "it runs, and has snapshots and local disks: Proxmox VE migrates it only while it is off"
		for _, d := range drives {
			if s.local(d) && !d.CDROM() {
				why = append(why, d.Key)
			}
		}
	}
	if len(why) == 0 {
		return false
	}
	s.cannotMigrate("an apply would migrate it, and " + reason)
	s.usesDevices(why)
	lines := []string{shutdown(s.guest), lock.ApplyStack(s.Stack)}
	if s.profile.Ignores("started") {
		lines = append(lines, pve.Pvesh("create", guest.VM.Path(s.entry.Node, s.guest.VMID, "status", "start")))
	}
	s.Next("shut it down, and apply: it is then migrated while it is off", lines...)
	s.leaveThere()
	return true
}

// doesNotFit is a VM that the target cannot run, or that the token may not migrate.
func (s *subject) doesNotFit() bool {
	list := s.Inventory.Migration(s.match.VM, s.entry, s.guest)
	if len(list) == 0 {
		return false
	}
	s.leaveThere()
	s.obstacles(list)
	s.cannotMigrate("an apply would migrate it: " + s.Reason)
	return true
}

// oldModule is a stack whose module comes from a catalog. One that an older stackgen
// rendered replaces the VM, which only the plan shows.
func (s *subject) oldModule() bool {
	if s.at.Catalog == nil || s.at.Guard != "fast" {
		return false
	}
	s.cannotMigrate("an apply would migrate it, or replace it if the module of the catalog has no migrate = true; guard: fast judges no plan")
	s.Next("let the guard judge the plan: write into "+s.at.Spec+", render, and run preflight again", "guard: full")
	return true
}

// local reports whether a drive is on a storage of its node only.
func (s *subject) local(d pve.Drive) bool {
	st := s.storage(d.Storage, s.guest.Node)
	return st != nil && !st.Shared
}

// storage is a storage on a node, or nil if it is not visible there.
func (s *subject) storage(id, node string) *cluster.Storage {
	for i := range s.Inventory.Storages {
		if st := &s.Inventory.Storages[i]; st.ID == id && st.Node == node {
			return st
		}
	}
	return nil
}
