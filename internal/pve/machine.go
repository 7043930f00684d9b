package pve

import (
	"cmp"
	"strings"
)

// MachineType is the machine type of a configuration, such as pc-q35-9.2+pve1, or "".
func MachineType(raw map[string]string) string {
	e := Parse(raw["machine"])
	return cmp.Or(e.Option("type"), e.Option(""))
}

// MachineVersion is the machine type of QEMU with its version, such as pc-q35-9.2 of pc-q35-9.2+pve1, or "" for the newest one of a
// kind.
func MachineVersion(machine string) string {
	base, _, _ := strings.Cut(machine, "+")
	if MachineKind(base) == base {
		return ""
	}
	return base
}

// MachineKind is a machine type without its version: pc-q35, pc-i440fx or virt.
func MachineKind(machine string) string {
	i := strings.LastIndex(machine, "-")
	if i < 0 || i+1 == len(machine) || machine[i+1] < '0' || machine[i+1] > '9' {
		return machine
	}
	return machine[:i]
}
