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
	return fmt.Sprintf("storage migration for '%s' to storage '%s' failed - command 'set -o pipefail && pvesm export %s %s - -with-snapshots 0 | %s"+
		"/usr/bin/ssh -e none -o 'BatchMode=yes' -o 'HostKeyAlias=%s' -o 'UserKnownHostsFile=/etc/pve/nodes/%s/ssh_known_hosts' -o 'GlobalKnownHostsFile=none' root@%s"+
		" -- pvesm import %s %s - -with-snapshots 0 -allow-rename 1' failed: interrupted by signal",
		id, storage, id, format, throttle, m.target.Name, m.target.Name, m.target.Address, id, format)
}
