package schema

import (
	"cmp"
	"slices"
	"strings"
)

// An Effect is what an update of an attribute does to a VM that runs. A VM that is
// off has the new value at once, except that Replace, Never and Detach are the same.
type Effect string

// Effects of an update. The provider restarts or stops a running VM only if its
// reboot_after_update is true; without it, Restart waits for a restart, and what
// needs the VM off fails.
const (
	Live            Effect = "live"             // has the new value at once
	Grow            Effect = "grow"             // a larger value at once; a smaller one fails
	Replug          Effect = "replug"           // the device is unplugged and plugged in again
	Pending         Effect = "pending"          // has the new value after the next restart, which the provider never causes
	Restart         Effect = "restart"          // has the new value after the next restart, which the provider causes
	NeedlessRestart Effect = "needless-restart" // has the new value at once, and the provider restarts it nevertheless
	PowerOff        Effect = "power-off"        // the provider stops it for the update, and starts it again
	Move            Effect = "move"             // a disk moves to another datastore while the VM is off
	Power           Effect = "power"            // starts or stops the VM
	Migrate         Effect = "migrate"          // moves the VM to another node if migrate is true, and replaces it otherwise
	Detach          Effect = "detach"           // the disk is detached, and remains as unused; an added one is empty
	Unplug          Effect = "unplug"           // the VM loses the network device
	Replace         Effect = "replace"          // the VM is destroyed and created again
	Never           Effect = "never"            // the provider does not apply it: every later plan has it again
	ProviderOnly    Effect = "provider-only"    // changes only what the provider does; one request that sets the name
	Creation        Effect = "creation"         // acts at the creation only
	Noise           Effect = "noise"            // is read, and never sent
)

// An Attribute is an attribute of the VM resource, or a block of it.
type Attribute struct {
	HCL     string // disk.size
	Change  Effect
	Removal Effect // of its removal
	Key     string // of the property that sets it; "" if none does
	Name    string // of the property with the key in it: disks.size

	block bool // whose attributes have rows of their own
}

// otherAttributes are the attributes that no property sets and that are no part of a
// VM's hardware. A new property takes its attribute out of this table.
var otherAttributes = []Attribute{
	{HCL: "agent.wait_for_ip", Change: NeedlessRestart},
	{HCL: "clone", Change: Creation},
	{HCL: "delete_unreferenced_disks_on_destroy", Change: ProviderOnly},
	{HCL: "disk.file_id", Change: Replace},
	{HCL: "disk.import_from", Change: Creation},
	{HCL: "disk.path_in_datastore", Change: Noise},
	{HCL: "disk.queues", Change: Restart},
	{HCL: "hotplug", Change: Live},
	{HCL: "id", Change: Noise},
	{HCL: "initialization.file_format", Change: PowerOff},
	{HCL: "initialization.ip_config.ipv6.gateway", Change: Restart},
	{HCL: "initialization.meta_data_file_id", Change: Replace},
	{HCL: "initialization.network_data_file_id", Change: Replace},
	{HCL: "initialization.type", Change: Replace},
	{HCL: "initialization.upgrade", Change: Restart},
	{HCL: "initialization.user_account.password", Change: Restart, Removal: Never},
	{HCL: "initialization.user_data_file_id", Change: Replace},
	{HCL: "initialization.vendor_data_file_id", Change: Replace},
	{HCL: "ipv4_addresses", Change: Noise},
	{HCL: "ipv6_addresses", Change: Noise},
	{HCL: "mac_addresses", Change: Noise},
	{HCL: "memory.shared", Change: Restart},
	{HCL: "migrate", Change: ProviderOnly},
	{HCL: "network_device.enabled", Change: Unplug},
	{HCL: "network_interface_names", Change: Noise},
	{HCL: "purge_on_destroy", Change: ProviderOnly},
	{HCL: "reboot", Change: ProviderOnly},
	{HCL: "stop_on_destroy", Change: ProviderOnly},
	{HCL: "template", Change: PowerOff, Removal: Never},
	{HCL: "timeout_clone", Change: ProviderOnly},
	{HCL: "timeout_create", Change: ProviderOnly},
	{HCL: "timeout_migrate", Change: ProviderOnly},
	{HCL: "timeout_move_disk", Change: ProviderOnly},
	{HCL: "timeout_reboot", Change: ProviderOnly},
	{HCL: "timeout_shutdown_vm", Change: ProviderOnly},
	{HCL: "timeout_start_vm", Change: ProviderOnly},
	{HCL: "timeout_stop_vm", Change: ProviderOnly},
}

// Attributes are all attributes and blocks of the VM resource whose effect is known,
// in the order of the tables.
func Attributes() []Attribute {
	out := attributesOf(VMFields, "", "", "", "")
	for _, p := range Unsupported {
		if p.HCL != "" {
			out = append(out, Attribute{HCL: p.HCL, Change: p.Change, Removal: p.Removal})
		}
	}
	out = append(out, otherAttributes...)
	for i := range out {
		out[i].Removal = cmp.Or(out[i].Removal, out[i].Change)
	}
	return out
}

// attributesOf are the attributes of rows. A row without an effect has that of the
// block that it is in.
func attributesOf(fields []Field, prefix, key, name string, inherited Effect) []Attribute {
	var out []Attribute
	for i := range fields {
		f := &fields[i]
		if f.HCL == "" {
			continue
		}
		of := cmp.Or(key, f.Key)
		at, change := strings.TrimPrefix(prefix+"."+f.HCL, "."), cmp.Or(f.Change, inherited)
		below := f.Fields
		if f.Type == List && f.Elem.Type == Object {
			below = f.Elem.Fields
		}
		named := strings.TrimPrefix(name+"."+f.Key, ".")
		out = append(out, Attribute{HCL: at, Change: change, Removal: f.Removal, Key: of, Name: named, block: len(below) > 0})
		out = append(out, attributesOf(below, at, of, named, change)...)
	}
	return out
}

// AttributesAt are the rows about an attribute or block, such as disk.size: one, if
// the tables are complete. A row of a block whose attributes have no rows is about
// all of them.
func AttributesAt(path string) []Attribute {
	return slices.DeleteFunc(Attributes(), func(a Attribute) bool {
		return a.HCL != path && (a.block || !strings.HasPrefix(path, a.HCL+"."))
	})
}
