package pve

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ownerShape finds the VMID in the name of a volume: vm-300-disk-0, 300/vm-300-disk-0.qcow2. A
// linked clone has that of its base before its own.
var ownerShape = regexp.MustCompile(`(?:^|[:/])(?:vm|base|subvol|basevol)-([0-9]+)-`)

// VolumeOwner is the VMID of the guest to which a volume belongs, by its name; 0 if that does not
// say it. Proxmox VE deletes the volume with that guest, whichever guest has it as a disk.
func VolumeOwner(volume string) int {
	all := ownerShape.FindAllStringSubmatch(volume, -1)
	if len(all) == 0 {
		return 0
	}
	vmid, _ := strconv.Atoi(all[len(all)-1][1]) // the shape has digits only
	return vmid
}

// volumeEntries are the names of the entries of a VM or container that have a volume.
var volumeEntries = append(slices.Clone(Buses), "efidisk", "tpmstate", "unused", "mp")

// VolumesOfOthers are the volumes in the configuration of a guest that belong to other ones, by
// entry.
func VolumesOfOthers(vmid int, raw map[string]string) map[string]string {
	out := map[string]string{}
	for key, text := range raw {
		name, number := SplitKey(key)
		if key != "rootfs" && (number < 0 || !slices.Contains(volumeEntries, name)) {
			continue
		}
		volume, _, _ := strings.Cut(text, ",")
		volume = volume[strings.IndexByte(volume, '=')+1:]
		if owner := VolumeOwner(volume); owner != 0 && owner != vmid {
			out[key] = volume
		}
	}
	return out
}
