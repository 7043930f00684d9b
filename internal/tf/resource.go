package tf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// A Resource is one instance in a state.
type Resource struct {
	Address string
	Type    string
	Key     string // of for_each
	ID      string
	VMID    int // of a VM
	Node    string
	Name    string
	MACs    []string

	Addresses []string `json:",omitempty"` // of a record

	Wait    string // how long the provider waits for the agent: "" if it does not
	Tainted bool
	Planned bool              // of a VM: no read followed its creation, so its values are those of the plan
	Cloned  bool              // it was made by a clone, of which the provider reads only what the spec says
	Made    bool              // the provider has made the guest: no import brought it into the state
	Values  Values            `json:",omitempty"` // of a VM
	Disks   []string          `json:",omitempty"` // of a VM: the interfaces of its disks in the order of the list
	Blocks  []string          // those of schema.DefaultBlocksOf its kind that it has
	Absent  []string          // of a VM: those that it does not have
	Settled map[string]string // of a VM: the values of schema.SettledRows and of migrate, by attribute
	Image   schema.Image      // of an image: where it was downloaded from; an import does not read it
}

// instance is one resource of a state in the form that `tofu show -json` gives
// it.
type instance struct {
	Address string         `json:"address"`
	Mode    string         `json:"mode"`
	Type    string         `json:"type"`
	Index   any            `json:"index"`
	Tainted bool           `json:"tainted"`
	Deposed string         `json:"deposed_key"`
	Values  any            `json:"values"`
	Before  map[string]any `json:"-"` // the values before a refresh that changed them, or nil
}

func (i instance) resource() Resource {
	r := Resource{Address: i.Address, Type: i.Type, Tainted: i.Tainted}
	r.Key, _ = i.Index.(string) // a number is an index of count, which the modules do not use
	values, _ := i.Values.(map[string]any)
	switch i.Type { // other types may mean something else by these names
	case guest.VMResource, guest.PoolResource, guest.RecordResource, guest.FileResource:
	case guest.ContainerResource:
		r.container(values, i.Before)
		return r
	default:
		return r
	}
	before := i.Before
	if before == nil {
		before = values
	}
	r.ID = scalar(values["id"])
	r.Node, _ = before["node_name"].(string)
	r.Name, _ = before["name"].(string)
	if i.Type == guest.FileResource {
		r.Image.File, _ = values["file_name"].(string)
		r.Image.URL, _ = values["url"].(string)
		if sum, _ := values["checksum"].(string); sum != "" {
			r.Image.Checksum = scalar(values["checksum_algorithm"]) + ":" + sum
		}
	}
	if i.Type == guest.RecordResource {
		addresses, _ := values["addresses"].([]any)
		for _, a := range addresses {
			r.Addresses = append(r.Addresses, scalar(a))
		}
		slices.Sort(r.Addresses)
	}
	if i.Type != guest.VMResource {
		return r
	}
	r.Wait, r.Cloned = wait(firstOf(values["agent"])), some(values["clone"])
	r.Made = r.Cloned || values["template"] == true
	r.VMID, _ = strconv.Atoi(scalar(values["vm_id"]))
	if r.VMID == 0 { // an import that was never read back
		r.VMID = vmidIn(r.ID)
	}
	read, known := before["mac_addresses"] // null until the provider has read the VM
	r.Planned = known && read == nil
	r.unreadable(values)
	r.Values = Flatten(before)
	r.Disks = interfaces(before["disk"])
	devices, _ := before["network_device"].([]any)
	for _, d := range devices {
		device, _ := d.(map[string]any)
		if mac, _ := device["mac_address"].(string); mac != "" {
			r.MACs = append(r.MACs, strings.ToUpper(mac))
		}
	}
	return r
}

// container reads the values of a container. before are those of before a refresh that changed
// them, or nil.
func (r *Resource) container(values, before map[string]any) {
	if before == nil {
		before = values
	}
	r.ID, r.VMID = scalar(values["id"]), VMIDOf(values)
	if r.VMID == 0 { // the provider does not set it with an import
		r.VMID = vmidIn(r.ID)
	}
	r.Node, _ = before["node_name"].(string)
	r.Name = nameIn(r.Type, before)
	archive, _ := firstOf(values["operating_system"])["template_file_id"].(string) // no import reads it
	r.Made = archive != "" || some(values["clone"])
	devices, _ := before["network_interface"].([]any)
	for _, d := range devices {
		device, _ := d.(map[string]any)
		if mac, _ := device["mac_address"].(string); mac != "" {
			r.MACs = append(r.MACs, strings.ToUpper(mac))
		}
	}
	r.Values = Flatten(before)
	for _, b := range schema.DefaultBlocksOf(guest.Container) {
		if some(before[b.Name]) { // a refresh also reads one that somebody has changed by hand
			r.Blocks = append(r.Blocks, b.Name)
		}
	}
}

// nameIn is the name in the values of a guest of a type of resource.
func nameIn(resource string, values map[string]any) string {
	if resource == guest.ContainerResource {
		name, _ := firstOf(values["initialization"])["hostname"].(string)
		return name
	}
	name, _ := values["name"].(string)
	return name
}

// vmidIn is the VMID in the id of a VM: a number, or node/number where it
// will be imported. It is 0 if there is none.
func vmidIn(id string) int {
	vmid, _ := strconv.Atoi(id[strings.LastIndexByte(id, '/')+1:])
	return vmid
}

// OtherID reports whether the id of a VM is another VMID than its vm_id. The provider acts
// on the id.
func (r *Resource) OtherID() bool {
	return IsGuest(r.Type) && r.ID != "" && r.ActsOn() != r.VMID
}

// ActsOn is the VMID in its id: the provider changes or destroys that guest. It is 0 if there is none.
func (r *Resource) ActsOn() int { return vmidIn(r.ID) }

// interfaces are those of a list of disks, in its order. One that somebody detached has none.
func interfaces(disks any) []string {
	list, _ := disks.([]any)
	out := make([]string, len(list))
	for i, d := range list {
		disk, _ := d.(map[string]any)
		out[i], _ = disk["interface"].(string)
	}
	return out
}

// unreadable reads what a VM's attributes have that an import cannot read: the blocks
// of schema.DefaultBlocks, and the values of schema.SettledRows.
func (r *Resource) unreadable(values map[string]any) {
	for _, b := range schema.DefaultBlocks() {
		switch list, known := values[b.Name]; {
		case some(list):
			r.Blocks = append(r.Blocks, b.Name)
		case known:
			r.Absent = append(r.Absent, b.Name)
		}
	}
	r.Settled = map[string]string{}
	if value, known := values[MigrateAttribute]; known {
		r.Settled[MigrateAttribute] = fmt.Sprint(value == true)
	}
	for _, row := range schema.SettledRows() {
		block, name, nested := strings.Cut(row.Attribute(), ".")
		of := values
		if nested {
			of = firstOf(values[block])
		} else {
			name = block
		}
		if value, known := of[name]; known {
			r.Settled[row.Attribute()] = row.Unset
			if value != nil {
				r.Settled[row.Attribute()] = fmt.Sprint(value)
			}
		}
	}
}

// firstOf is the first block of a list, or nil.
func firstOf(list any) map[string]any {
	if !some(list) {
		return nil
	}
	block, _ := list.([]any)[0].(map[string]any)
	return block
}

// wait is how long the provider waits for the agent of a running VM.
func wait(agent map[string]any) string {
	if agent["enabled"] != true {
		return ""
	}
	timeout, _ := agent["timeout"].(string)
	return cmp.Or(timeout, DefaultWait)
}

// DefaultWait is the provider's own agent.timeout.
const DefaultWait = "15m"

// scalar is an id, which may be a number or text.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// MigrateAttribute makes the provider migrate a VM whose node changes. The module sets it
// in the block of a profile that manages node_name.
const MigrateAttribute = "migrate"
