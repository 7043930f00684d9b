package guard

import (
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// A VM is `migrate` if its spec has another node since it was last seen, and its profile manages
// node_name: the next apply migrates it. That blocks if Proxmox VE would refuse the migration.

// migrates reports whether the spec asks for a migration: the VM is where the last apply left it,
// and the spec has another node since.
func (s *subject) migrates() bool { return s.toOtherNode() && !s.notInState() && s.nodeChanged() }

// A migrationRule is a reason why a migration would be refused or fail, as a rule is of a guest.
type migrationRule struct {
	applies func(*subject) bool
	judge   func(*subject)
}

// migrationRules are in the order in which they are asked. The first that applies refuses.
var migrationRules = []migrationRule{
	{(*subject).stillImported, (*subject).refuseImported},
	{(*subject).targetMissing, (*subject).refuseTarget},
	{(*subject).lacksStorage, (*subject).refuseStorage},
	{(*subject).usesNode, (*subject).refuseDevices},
	{(*subject).cloneOfLocal, (*subject).refuseLinked},
	{(*subject).lendsLocal, (*subject).refuseLentLocal},
	{(*subject).onlyOffline, (*subject).refuseLive},
	{(*subject).doesNotFit, (*subject).refuseObstacles},
	{(*subject).oldModule, (*subject).refuseModule},
}

// refusal is the rule that refuses the migration, or -1.
func (s *subject) refusal() int {
	return slices.IndexFunc(migrationRules, func(r migrationRule) bool { return r.applies(s) })
}

func (s *subject) migrationRefused() bool { return s.migrates() && s.refusal() >= 0 }

func (s *subject) refuseMigration() {
	s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	migrationRules[s.refusal()].judge(s)
}

// migrate is a VM that the next apply migrates.
func (s *subject) migrate() {
	how := "while it is off"
	if s.guest.Status == "running" {
		how = "live"
	}
	s.Is(finding.Migrate, finding.Why("migrates", s.entry.Node, how))
	s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	var copied []string
	for _, d := range drivesOf(s.guest) {
		if s.local(d) {
			copied = append(copied, d.Key+" on "+d.Storage)
		}
	}
	if len(copied) > 0 {
		s.Because("its local disks are copied: %s", strings.Join(copied, ", "))
	}
}

// stillImported reports whether an import file still imports the VM, so that the module leaves
// out what makes the provider migrate it. import-blocks, which does not judge these files,
// removes it.
func (s *subject) stillImported() bool {
	return s.Imports[tf.Unit{Stack: s.Stack, Unit: s.Unit}][s.Resource] != ""
}

func (s *subject) refuseImported() {
	s.cannotMigrate(finding.Why("migration-with-import-file"))
	s.Because("%s imports %s", importPath(tf.Unit{Stack: s.Stack, Unit: s.Unit}), s.Resource)
	s.Add(writeImports())
}

// cannotMigrate is a migration that Proxmox VE would refuse, or that would fail.
func (s *subject) cannotMigrate(reason finding.Reason) {
	s.Is(finding.Migrate, reason)
	s.Severity = finding.Blocked
}

// targetMissing reports whether the node of the spec cannot take a VM.
func (s *subject) targetMissing() bool {
	n := s.Inventory.Node(s.entry.Node)
	return n == nil && len(s.Inventory.Nodes) > 0 || n != nil && !n.Online
}

func (s *subject) refuseTarget() {
	n := s.Inventory.Node(s.entry.Node)
	if n == nil {
		var names []string
		for _, n := range s.Inventory.Nodes {
			names = append(names, n.Name)
		}
		s.cannotMigrate(finding.Why("node-missing"))
		s.Next("correct the node in "+s.at.Spec, s.line("node: NAME")+", one of "+strings.Join(names, ", "))
		return
	}
	s.cannotMigrate(finding.Why("target-down", n.Down()))
	what, line := n.Wake()
	s.Next(what+", then run preflight again", line)
	s.Next("or leave the VM where it is: write into "+s.at.Spec, s.line("node: "+finding.Key(s.guest.Node)))
}

// missingStorages are the storages of drives that the target does not have, each with what it
// lacks. Migrations of the provider keep the storage.
func (s *subject) missingStorages() (names, lacks []string) {
	for _, d := range drivesOf(s.guest) {
		if s.storage(d.Storage, s.guest.Node) == nil || slices.Contains(names, d.Storage) {
			continue // not visible anywhere
		}
		text := ""
		switch st := s.storage(d.Storage, s.entry.Node); {
		case st == nil:
			text = "which " + s.entry.Node + " does not have"
		case !st.Active:
			text = "which is not active on " + s.entry.Node
		case !d.CDROM() && !st.Images():
			text = "which takes no disk images"
		default:
			continue
		}
		names, lacks = append(names, d.Storage), append(lacks, d.Key+" is on storage "+d.Storage+", "+text)
	}
	return names, lacks
}

func (s *subject) lacksStorage() bool {
	names, _ := s.missingStorages()
	return len(names) > 0
}

func (s *subject) refuseStorage() {
	missing, lacks := s.missingStorages()
	for _, text := range lacks {
		s.Because("%s", text)
	}
	s.cannotMigrate(finding.Why("storage-missing"))
	s.leaveThere()
	for _, name := range missing {
		s.Next("or, if "+s.entry.Node+" has storage "+name+", permit it there, and activate it: as root",
			pve.Pvesh("set", "/storage/"+name, "--nodes "+shell.Word(strings.Join(s.nodesWith(name), ","))))
	}
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

// nodeDevices are the entries of a VM that use what only its node has.
func (s *subject) nodeDevices() []string {
	var used []string
	for _, d := range devicesOf(s.guest) {
		if !d.mapped {
			used = append(used, d.key)
		}
	}
	for _, d := range drivesOf(s.guest) {
		if d.CDROM() && !d.CloudInit() && (d.Storage == "" || s.local(d)) {
			used = append(used, d.Key)
		}
	}
	return used
}

func (s *subject) usesNode() bool { return len(s.nodeDevices()) > 0 }

func (s *subject) refuseDevices() {
	used := s.nodeDevices()
	s.cannotMigrate(finding.Why("uses-node-devices"))
	s.usesDevices(used)
	s.leaveThere()
	s.Next("or remove them from the VM and from "+s.at.Spec+", restart it, and run preflight again",
		set(s.guest, "--delete "+strings.Join(used, ",")))
}

func (s *subject) usesDevices(keys []string) {
	for _, key := range keys {
		s.Because("%s: %s", key, s.guest.Config.Raw[key])
	}
}

// localLinks are the linked clones on local storages, which are not copied.
func (s *subject) localLinks() []string {
	var linked []string
	for _, d := range drivesOf(s.guest) {
		if d.IsLinked() && s.local(d) {
			linked = append(linked, d.Key)
		}
	}
	return linked
}

func (s *subject) cloneOfLocal() bool { return len(s.localLinks()) > 0 }

func (s *subject) refuseLinked() {
	linked := s.localLinks()
	s.cannotMigrate(finding.Why("linked-clone"))
	s.usesDevices(linked)
	s.leaveThere()
	var lines []string
	for _, key := range linked {
		lines = append(lines, moveTo(s.guest, key, "STORAGE"))
	}
	s.Next("or copy the disk to another storage that both nodes have, and write that into "+s.at.Spec+" as its datastore", lines...)
}

// lentLocal are the local disks, which a migration copies and then deletes, that other guests have, too.
func (s *subject) lentLocal() []cluster.Borrowed {
	return slices.DeleteFunc(lent(s.guest, s.borrowed[s.VMID]), func(b cluster.Borrowed) bool {
		return !slices.ContainsFunc(drivesOf(s.guest), func(d pve.Drive) bool { return d.File == b.Volume && s.local(d) })
	})
}

func (s *subject) lendsLocal() bool { return len(s.lentLocal()) > 0 }

func (s *subject) refuseLentLocal() {
	s.cannotMigrate(finding.Why("migrates-lent-volume"))
	s.leaveThere()
	for _, b := range s.lentLocal() {
		takeLent(s.Finding, b)
	}
}

// offlineOnly are the entries for which a running VM can be migrated only while it is off, and
// what they are. The provider stops no VM for a migration.
func (s *subject) offlineOnly() (keys []string, code finding.Code) {
	if s.guest.Status != "running" {
		return nil, ""
	}
	for _, d := range devicesOf(s.guest) {
		// Whether a mapped PCI device can be migrated live is not in the configuration.
		if name, _ := pve.SplitKey(d.key); name != "hostpci" && d.mapped {
			keys = append(keys, d.key)
		}
	}
	code = "offline-mapped-device"
	if c := s.guest.Config; len(keys) == 0 && c != nil && c.Snapshot() != "" {
		code = "offline-snapshots"
		for _, d := range drivesOf(s.guest) {
			if s.local(d) && !d.CDROM() {
				keys = append(keys, d.Key)
			}
		}
	}
	return keys, code
}

func (s *subject) onlyOffline() bool {
	keys, _ := s.offlineOnly()
	return len(keys) > 0
}

func (s *subject) refuseLive() {
	keys, code := s.offlineOnly()
	s.cannotMigrate(finding.Why(code))
	s.usesDevices(keys)
	lines := []string{shutdown(s.guest), lock.ApplyStack(s.Stack)}
	if s.profile.Ignores("started") {
		lines = append(lines, pve.Pvesh("create", guest.VM.Path(s.entry.Node, s.guest.VMID, "status", "start")))
	}
	s.Next("shut it down, and apply: it is then migrated while it is off", lines...)
	s.leaveThere()
}

// doesNotFit reports whether the target cannot run the VM, or the token may not migrate it.
func (s *subject) doesNotFit() bool {
	return len(feasible.Migration(s.Inventory, s.match.VM, s.entry, s.guest)) > 0
}

func (s *subject) refuseObstacles() {
	s.leaveThere()
	s.obstacles(feasible.Migration(s.Inventory, s.match.VM, s.entry, s.guest))
	s.cannotMigrate(finding.Why("migration-refused").Of(s.Reason))
}

// oldModule reports whether the module comes from a catalog, and no plan is judged. A module that
// an older stackgen rendered replaces the VM, which only the plan shows.
func (s *subject) oldModule() bool { return s.at.Catalog != nil && s.at.Guard == "fast" }

func (s *subject) refuseModule() {
	s.cannotMigrate(finding.Why("old-module"))
	s.Next("let the guard judge the plan: write into "+s.at.Spec+", render, and run preflight again", "guard: full")
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

// drivesOf are the drives of a VM that have a volume, or the CD-ROM drive of the node.
func drivesOf(g *cluster.Guest) []pve.Drive {
	if g.Config == nil {
		return nil
	}
	return slices.DeleteFunc(pve.Drives(g.Config.Raw), func(d pve.Drive) bool { return d.Name == "" && d.File != "cdrom" })
}

// A device is a device of its node that a VM uses.
type device struct {
	key    string
	mapped bool
}

// devicesOf are the devices of its node that a VM uses.
func devicesOf(g *cluster.Guest) []device {
	var out []device
	if g.Config == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(g.Config.Raw)) {
		e := pve.Parse(g.Config.Raw[key])
		switch name, _ := pve.SplitKey(key); name {
		case "usb":
			if strings.EqualFold(e.Default("host"), "spice") {
				continue
			}
		case "serial":
			if e.Default("") == "socket" {
				continue
			}
		case "hostpci", "parallel", "virtiofs":
		default:
			continue
		}
		kind, _ := cluster.MappingOf(key, g.Config.Raw[key])
		out = append(out, device{key, kind != ""})
	}
	return out
}
