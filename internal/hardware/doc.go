// Package hardware turns the configuration of a VM, as Proxmox VE has it, into
// the properties of a spec, and says where a spec and a configuration differ, so
// that the first plan after an import would change something.
//
// One set of tables (table.go) says for every entry of a configuration what a
// spec calls it, what the provider reads where the configuration lacks it, and
// what the provider takes where the spec lacks it. It is pure, and it knows no
// way to change a VM: what no spec can say is named with its reason, and with
// the command that would mend it.
package hardware
