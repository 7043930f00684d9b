package schema

import (
	"slices"
	"strings"

	"stackgen/guest"
)

// A Part is a part of a VM that the provider reads and that no property sets: a
// plan after an import would remove it.
type Part struct {
	PVE  string // its entry in the configuration, without a number
	HCL  string // its attribute or block of the VM resource
	Name string
	Why  string // no property sets it, in a sentence

	Unique bool // it is another one in each VM, so that a clone differs in it from its template

	Change  Effect
	Removal Effect // if it is another one
	Right   Right
}

// Unsupported are the parts of a VM that have no property. A new property takes
// its part out of this table.
var Unsupported = []Part{
	{PVE: "acpi", HCL: "acpi", Name: "a VM without ACPI", Why: "Without ACPI, no guest shuts down when it is asked to. A VM keeps what it has.", Change: Restart, Right: Right{Privilege: ConfigHardware}},
	{PVE: "arch", HCL: "cpu.architecture", Name: "another CPU architecture than the node's", Why: "A VM of another architecture is emulated, and only root@pam may set it.", Change: Restart, Right: Right{Root: true}},
	{PVE: "args", HCL: "kvm_arguments", Name: "QEMU arguments", Why: "Only root@pam may set them, and Proxmox VE does not check what QEMU does with them. A VM keeps what it has.", Change: Restart, Right: Right{Root: true}},
	{PVE: "", HCL: "cdrom", Name: "CD-ROM drives", Why: "The provider reads a drive only as `ide3`, and attaches the drive of the node there where the block is removed. A VM keeps its drives.", Change: Live, Removal: Pending, Right: Right{Privilege: ConfigCDROM}},
	{PVE: "hugepages", HCL: "memory.hugepages", Name: "huge pages", Why: "Only root@pam may set them, and the node must have reserved them, which no API shows.", Change: Restart, Right: Right{Root: true}},
	{PVE: "keephugepages", HCL: "memory.keep_hugepages", Name: "huge pages", Why: "Only root@pam may set them, and the node must have reserved them, which no API shows.", Change: Restart, Right: Right{Root: true}},
	{PVE: "rng", HCL: "rng", Name: "random number generators", Why: "The provider sets none on a clone, and removes none. A VM keeps the one that it has.", Change: Restart, Removal: Never, Right: Right{Privilege: ConfigHardware}},
	{PVE: "smbios", HCL: "smbios", Unique: true, Name: "SMBIOS values", Why: "The provider gives a clone another UUID with every change, by which stackgen knows the VM, does not send the SKU, and removes the UUID with the block. A VM keeps its values.", Change: Pending, Right: Right{Privilege: ConfigHardware}},
}

// Ignored reports whether the modules ignore every change of it, so that a VM keeps what it
// has: it is an attribute or a block of its own, and not one of a block that properties
// set.
func (p Part) Ignored() bool { return !strings.Contains(p.HCL, ".") }

// IsAlwaysIgnored reports whether every profile ignores an attribute: clone, and the parts
// that no property sets.
func IsAlwaysIgnored(attribute string) bool { return slices.Contains(alwaysIgnored(), attribute) }

func alwaysIgnored() []string {
	out := []string{"clone"}
	for _, p := range Unsupported {
		if p.Ignored() {
			out = append(out, p.HCL)
		}
	}
	return out
}

// Untouched are the other entries of a VM's configuration, without a number. The
// provider does not read them, or keeps them: they survive an import and every
// later change.
var Untouched = []string{
	"autostart", "bootdisk", "digest", "freeze", "kvm", "localtime", "lock", "meta",
	"migrate_downtime", "migrate_speed", "parallel", "parent", "reboot", "running-nets-host-mtu", "runningcpu", "runningmachine", "shares", "snaptime",
	"spice_enhancements", "startdate", "tdf", "template", "unused", "vmgenid", "vmstate", "vmstatestorage",
}

// An Entry is an entry of a guest's configuration that no property sets.
type Entry struct {
	Name string // what it is, in words
	HCL  string // the attribute that the provider reads it into; "" if it reads none
	Kept bool   // an import leaves it as it is, and so does every later change
}

// EntryOf is an entry of a guest of a kind that no property sets, by its key without a number and by its
// text. known is false if no table has it.
func EntryOf(kind guest.Kind, key, text string) (e Entry, known bool) {
	if kind != guest.Container {
		if slices.Contains(Untouched, key) {
			return Entry{Kept: true}, true
		}
		i := slices.IndexFunc(Unsupported, func(p Part) bool { return p.PVE == key })
		if i < 0 {
			return Entry{}, false
		}
		return Entry{Name: Unsupported[i].Name, HCL: Unsupported[i].HCL, Kept: Unsupported[i].Ignored()}, true
	}
	if slices.Contains(containerUntouched, key) {
		return Entry{Kept: true}, true
	}
	i := slices.IndexFunc(containerAttributes, func(a Attribute) bool { return slices.Contains(strings.Fields(a.PVE), key) })
	if i < 0 {
		return Entry{}, false
	}
	a := &containerAttributes[i]
	return Entry{Name: "`" + key + "`", HCL: a.HCL, Kept: ignoresContainer(a.HCL) || a.Unset != "" && text == a.Unset}, true
}
