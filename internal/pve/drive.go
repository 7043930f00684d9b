package pve

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Drive is an entry of a configuration that has a volume: a disk, a CD-ROM drive, an EFI
// disk, a TPM state or an unused volume.
type Drive struct {
	Key     string
	File    string // the volume, or a path of the node; none or cdrom of a CD-ROM drive
	Volume         // empty where File is none
	Options Entry
}

// A Volume is the identifier of a volume, such as local:iso/a.iso.
type Volume struct{ Storage, Name string }

// ParseVolume reads the identifier of a volume. It is empty for other text, such as the
// path of a file.
func ParseVolume(text string) Volume {
	if storage, name, ok := strings.Cut(text, ":"); ok && !strings.HasPrefix(storage, "/") {
		return Volume{storage, name}
	}
	return Volume{}
}

func (v Volume) String() string { return v.Storage + ":" + v.Name }

// ParseDrive reads the text of the entry with a key.
func ParseDrive(key, text string) Drive {
	e := Parse(text)
	d := Drive{Key: key, Options: e.Without("", "file", "volume")}
	for _, name := range []string{"", "file", "volume"} {
		if value, ok := e.Get(name); ok {
			d.File = value
			break
		}
	}
	d.Volume = ParseVolume(d.File)
	return d
}

// Drives are the entries of a VM's configuration with a volume or a path, in the order of
// their keys as text. A CD-ROM drive without a disc is not among them.
func Drives(raw map[string]string) []Drive {
	var out []Drive
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		bus, number := SplitKey(key)
		if !IsDrive(key) && (number < 0 || !slices.Contains([]string{"efidisk", "tpmstate", "unused"}, bus)) {
			continue
		}
		if d := ParseDrive(key, raw[key]); d.File != "" && d.File != "none" {
			out = append(out, d)
		}
	}
	return out
}

// Mounts are the entries of a container's configuration with a volume or a path that it has: its root file
// system and its mount points, in the order of their keys as text.
func Mounts(raw map[string]string) []Drive {
	var out []Drive
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if name, number := SplitKey(key); key == "rootfs" || name == "mp" && number >= 0 {
			out = append(out, ParseDrive(key, raw[key]))
		}
	}
	return out
}

// Buses are the names of the entries of disks and CD-ROM drives.
var Buses = []string{"ide", "sata", "scsi", "virtio"}

// IsDrive reports whether an entry with a key is a disk or a CD-ROM drive.
func IsDrive(key string) bool {
	bus, number := SplitKey(key)
	return number >= 0 && slices.Contains(Buses, bus)
}

// SplitKey splits the key of an entry into its name and its number: net0 into net and 0.
// The number is -1 if the key has none.
func SplitKey(key string) (name string, number int) {
	name = strings.TrimRight(key, "0123456789")
	number, err := strconv.Atoi(key[len(name):])
	if err != nil || name == "" {
		return key, -1
	}
	return name, number
}

// IsUnused reports whether it is a volume that was detached from the VM.
func (d Drive) IsUnused() bool { return strings.HasPrefix(d.Key, "unused") }

// givenKeys are the numbers of the entries under which a VM has disks that it was given and does not use yet: 256
// entries may be unused volumes, and Proxmox VE takes the lowest free one for a disk that is detached.
var givenKeys = map[string]int{"ide": 140, "sata": 150, "scsi": 160, "virtio": 200, "efidisk": 220, "tpmstate": 221}

// GivenKey is the entry under which a VM has a disk that it was given for a key, as an unused volume.
func GivenKey(key string) string {
	bus, n := SplitKey(key)
	return fmt.Sprintf("unused%d", givenKeys[bus]+n)
}

// Given reports whether an entry is one of GivenKey.
func Given(key string) bool {
	bus, n := SplitKey(key)
	return bus == "unused" && n >= givenKeys["ide"]
}

// IsLinked reports whether the volume is a linked clone: its name has that of its base.
func (d Drive) IsLinked() bool {
	return strings.Contains("/"+d.Name, "/base-") && strings.Contains(d.Name, "/vm-")
}

var baseShape = regexp.MustCompile(`(?:^|/)base-([0-9]+)-disk-[0-9]+[^/]*/`)

// Base is the VMID of the template that the volume is a linked clone of, or 0. The volume of a
// linked clone on LVM-thin does not name it.
func (d Drive) Base() int {
	name := baseShape.FindStringSubmatch(d.Name)
	if name == nil || !d.IsLinked() {
		return 0
	}
	vmid, _ := strconv.Atoi(name[1]) // the shape has digits only
	return vmid
}

// CDROM reports whether it is a CD-ROM drive, which that of cloud-init is, too.
func (d Drive) CDROM() bool { return d.Options.Option("media") == "cdrom" }

// ISO is the name of the image file in a CD-ROM drive, or "".
func (d Drive) ISO() string {
	name, is := strings.CutPrefix(d.Name, "iso/")
	if !is || d.Storage == "" {
		return ""
	}
	return name
}

var cloudInitShape = regexp.MustCompile(`^(?:.*/)?(?:vm-\d+-)?cloudinit(?:\.[a-z0-9]+)?$`)

// CloudInit reports whether it is a drive with the data of cloud-init.
func (d Drive) CloudInit() bool { return cloudInitShape.MatchString(d.Name) }

// CloudInitOf reports whether the provider takes the drive for that with the data of
// cloud-init of the VM with a VMID.
func (d Drive) CloudInitOf(vmid int) bool {
	return strings.Contains(d.File, fmt.Sprintf("vm-%d-cloudinit", vmid))
}

// Format is the format of the volume, as its option or its name says; "" if none does.
func (d Drive) Format() string {
	if format := d.Options.Option("format"); format != "" {
		return format
	}
	name := cmp.Or(d.Name, d.File)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		return name[dot+1:]
	}
	return ""
}

// Size is the size of the volume in bytes, as the configuration has it; 0 if it does not.
func (d Drive) Size() int64 {
	size, _ := ParseSize(d.Options.Option("size"))
	return size
}

var sizeShape = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([KMGT]?)$`)

// ParseSize is a size such as 32G, 2252M or 512 in bytes.
func ParseSize(text string) (int64, bool) {
	parts := sizeShape.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(parts[1], 64)
	n *= float64(int64(1) << (10 * strings.Index(" KMGT", cmp.Or(parts[2], " "))))
	if err != nil || n >= 1<<63 {
		return 0, false
	}
	return int64(n), true
}
