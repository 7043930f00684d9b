package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// statMissing logs the disks that cannot be read; copying them fails later.
func (m *migration) statMissing(disks []object) {
	for i := len(disks) - 1; i >= 0; i-- {
		id := disks[i]["volid"].(string)
		if m.w.volumeOn(m.g.Node, id) == nil {
			m.wk.logf("failed to stat '%s'", m.w.storage(storageOf(id)).devicePath(id))
			m.wk.log("Use of uninitialized value in pattern match (m//) at /usr/share/perl5/PVE/QemuMigrate.pm line 430.")
		}
	}
}

// scanFailure ends a migration before the first copy.
func (m *migration) scanFailure(format string, args ...any) error {
	why := "Problem found while scanning volumes - " + fmt.Sprintf(format, args...)
	m.say("ERROR: %s", why)
	m.say("aborting phase 1 - cleanup resources")
	m.say("ERROR: migration aborted (duration %s): %s", m.duration(), why)
	return failf("migration aborted")
}

// startFailure ends a migration whose guest the target cannot start. It goes on running
// where it is.
func (m *migration) startFailure(err error) error {
	m.say("[%s] %s", m.target.Name, err.Error())
	m.say("ERROR: online migrate failure - remote command failed with exit code 255")
	m.say("aborting phase 2 - cleanup resources")
	m.say("migrate_cancel")
	m.say("ERROR: migration finished with problems (duration %s)", m.duration())
	return failf("migration problems")
}

// updateSizes corrects the sizes of local disks in the configuration.
func (m *migration) updateSizes() {
	for _, k := range slices.Sorted(maps.Keys(m.g.Config)) {
		d := parseDrive(m.g.Config[k])
		v := m.w.volumeOn(m.g.Node, d.file)
		if !isDriveKey(k) || v == nil || v.Node == "" || d.size() == int64(v.Size) || k == "efidisk0" || k == "tpmstate0" {
			continue
		}
		old := "0T"
		if d.size() > 0 {
			old = formatSize(d.size())
		}
		d.opts["size"] = formatSize(int64(v.Size))
		m.g.Config[k] = d.String()
		m.say("drive '%s': size of disk '%s' updated from %s to %s", k, d.file, old, d.opts["size"])
	}
}

// renamed returns the volume ID on the target: the same name, or the next
// unused one.
func (m *migration) renamed(src *Volume, s *Storage) string {
	name := path.Base(plain(src.ID))
	name = strings.TrimSuffix(name, path.Ext(name))
	id := s.volumeID(src.VMID, name, cmp.Or(src.Format, "raw"))
	if m.w.volumeOn(m.target.Name, id) != nil {
		id = s.volumeID(src.VMID, m.w.freeDiskName(s, m.target.Name, src.VMID), cmp.Or(src.Format, "raw"))
	}
	return id
}

func (m *migration) commandFailure(id, storage string) string {
	format := volumeFormat(id) + "+size"
	throttle := ""
	if m.limit > 0 {
		throttle = fmt.Sprintf("/usr/bin/cstream -t %d | ", int64(m.limit))
	}
	return fmt.Sprintf("storage migration for '%s' to storage '%s' failed - "+
		"command 'set -o pipefail && pvesm export %s %s - -with-snapshots 0 | %s%s"+
		" -- pvesm import %s %s - -with-snapshots 0 -allow-rename 1' failed: interrupted by signal",
		id, storage, id, format, throttle, m.target.ssh(), id, format)
}

// localDevices refuses a guest that uses devices of its node.
func (m *migration) localDevices() error {
	local, mapped := m.g.hostDevices()
	missing := m.w.unmapped(m.g, m.target.Name)
	why := ""
	switch {
	case len(local) > 0:
		why = "can't migrate VM which uses local devices: " + strings.Join(local, ", ")
	case len(missing) > 0:
		why = fmt.Sprintf("can't migrate to '%s': missing mapped devices %s", m.target.Name, strings.Join(missing, ", "))
	case m.online && len(mapped) > 0:
		why = "can't migrate running VM which uses following mapped devices: " + strings.Join(mapped, ", ")
	default:
		return nil
	}
	m.say("ERROR: migration aborted (duration %s): %s", m.duration(), why)
	return failf("migration aborted")
}

// hostDevices are the devices that a guest uses of its node, and those that it uses by
// a mapping.
func (g *Guest) hostDevices() (local, mapped []string) {
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		v := g.Config[k]
		switch bus := strings.TrimRight(k, "0123456789"); {
		case bus == "usb" && !strings.HasPrefix(strings.TrimPrefix(v, "host="), "spice"), bus == "hostpci":
			if strings.Contains(v, "mapping=") {
				mapped = append(mapped, k)
			} else {
				local = append(local, k)
			}
		case bus == "virtiofs":
			mapped = append(mapped, k)
		case bus == "serial" && v != "socket", bus == "parallel":
			local = append(local, k)
		}
	}
	return local, mapped
}

// stays logs the drives that no migration copies.
func (m *migration) stays(disks []object) bool {
	found := false
	for _, d := range disks {
		if why := m.obstacle(d); why != "" {
			found = true
			m.say("can't migrate local disk '%s': %s", d["volid"], why)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(m.g.Config)) {
		if isDriveKey(k) && parseDrive(m.g.Config[k]).file == "cdrom" {
			found = true
			m.say("can't migrate local cdrom drive")
		}
	}
	return found
}

// obstacle returns why a migration cannot copy a drive.
func (m *migration) obstacle(d object) string {
	id := d["volid"].(string)
	s, v := m.w.storage(storageOf(id)), m.w.volumeOn(m.g.Node, id)
	generated := d["cdrom"] == 1 && strings.Contains(id, "cloudinit")
	switch owner := volumeOwner(id, m.g.VMID); {
	case generated:
		return ""
	case m.online && !m.withDisks:
		return "can't live migrate attached local disks without with-local-disks option"
	case d["cdrom"] == 1:
		return "local cdrom image"
	case owner != m.g.VMID:
		return fmt.Sprintf("owned by other VM (owner = VM %d)", owner)
	case m.inSnapshot(id) && m.online:
		return "online storage migration not possible if non-replicated snapshot exists"
	case m.inSnapshot(id) && s.Type != "zfspool" && volumeFormat(id) != "qcow2":
		return "non-migratable snapshot exists"
	case v != nil && m.w.baseInUse(v):
		return "referenced by linked clone(s)"
	}
	return ""
}

// inSnapshot reports whether a snapshot of the guest has a volume.
func (m *migration) inSnapshot(id string) bool {
	for _, s := range m.g.Snapshots {
		for k, v := range s.Config {
			if isDriveKey(k) && parseDrive(v).file == id {
				return true
			}
		}
	}
	return false
}
