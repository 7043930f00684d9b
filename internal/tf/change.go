package tf

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// A Change is one attribute, block or device of a VM that an update would change. A
// value is empty where there is none.
type Change struct {
	Of         string // type of resource; "" is that of VMs
	Path       string // of the attribute or block: disk.size
	Device     string // scsi0, net1, or the number of a block of several; "" if there is one
	Was, Is    string
	Whole      bool // the block is added or removed
	Present    bool // the VM has it already, and only the state does not
	Implied    bool // the provider makes it with any change of a disk
	SideEffect bool // the provider sends it with other changes, and the spec does not say it

	From   string // of a network or USB device that gets another number: the one that it has
	Volume string // of a disk that is added: the volume of another disk, which the provider attaches as it
	Former string // of a disk that is added, and empty: the volume that it had before, which the VM has
	Later  bool   // a second apply makes it
}

// Removes reports whether the value or block is removed.
func (c Change) Removes() bool { return c.Is == "" && c.Was != "" }

// Adds reports whether a block is added.
func (c Change) Adds() bool { return c.Whole && c.Was == "" }

// row is the row of the attribute, or nil.
func (c Change) row() *schema.Attribute {
	return schema.ResourceAttribute(cmp.Or(c.Of, guest.VMResource), c.Path)
}

// Key is the property that sets the attribute, or "".
func (c Change) Key() string {
	if row := c.row(); row != nil {
		return row.Key
	}
	return ""
}

// Effect is the effect of the change, or "" if no table has the attribute.
func (c Change) Effect() schema.Effect {
	row := c.row()
	switch {
	case row == nil:
		return ""
	case c.Adds() && row.Change == schema.Detach: // a new disk of the firmware: nothing is detached
		return schema.Restart
	case c.Path == "hotplug" && (startsWith(c.Was) || startsWith(c.Is)):
		return schema.Pending
	case c.Removes():
		return row.Removal
	}
	return row.Change
}

// startsWith reports whether QEMU must be started with what a value of hotplug has.
func startsWith(hotplug string) bool {
	return strings.Contains(hotplug, "cpu") || strings.Contains(hotplug, "memory")
}

// Attribute is the attribute or block with its device, as in Values: disk.scsi0.size.
func (c Change) Attribute() string {
	list := listOf(c.Path)
	device := c.Device
	if list == "" || device == "" {
		return c.Path
	}
	if list == addresses && device == "net0" { // see addBlock
		device = "0"
	}
	return list + "." + device + c.Path[len(list):]
}

// Name names what is changed: memory, cloud_init.user, scsi1, size of scsi0.
func (c Change) Name() string {
	name := c.Path
	if row := c.row(); row != nil && row.Name != "" {
		name = row.Name
	}
	if c.Device == "" || strings.Trim(c.Device, "0123456789") == "" {
		return name
	}
	switch {
	case c.Whole && c.Path == addresses:
		return "addresses of " + c.Device
	case c.Whole && IsList(c.Path):
		return c.Device
	}
	_, part, _ := strings.Cut(name, ".")
	return part + " of " + c.Device
}

// Values are the attributes and blocks of a VM by path. Blocks of several have their
// device: disk.scsi0.size. A list of blocks that is empty has an entry, so that an
// attribute without any entry is not known.
type Values map[string]string

// secret are the attributes whose values are not kept. None is in a block that a VM may
// have several of.
var secret = []string{"initialization.user_account.password"}

// Flatten flattens the values of a resource in a state or plan.
func Flatten(values any) Values { return All(values).Shown() }

// All are the values of a resource in a state or plan, secrets included. They are for
// comparisons, and are not printed.
func All(values any) Values {
	top, _ := values.(map[string]any)
	out := make(Values, 4*len(top)) // a VM with four disks
	for name, value := range top {
		out.add(name, name, value)
	}
	return out
}

// Shown are values without secrets.
func (v Values) Shown() Values {
	out := v
	for _, key := range secret {
		if v[key] != "" {
			out = maps.Clone(out)
			out[key] = "(secret)"
		}
	}
	return out
}

// addresses are the blocks of the addresses of network devices.
const addresses = "initialization.ip_config"

// IsList reports whether a place is a list of several blocks, which is no block itself.
func IsList(block string) bool { return block != "" && listOf(block) == block }

// listOf is the list of blocks that a path is in, or "".
func listOf(path string) string {
	if path == addresses || strings.HasPrefix(path, addresses+".") {
		return addresses
	}
	top, _, _ := strings.Cut(path, ".")
	if top == interfacesOfContainer {
		return top
	}
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		if f.HCL == top && (f.Type == schema.List && f.Elem.Type == schema.Object || f.Key == guest.Audio) {
			return top
		}
	}
	return ""
}

// NUMANodes is the list of NUMA nodes.
const NUMANodes = "numa"

// namedBy are the attributes that name the blocks of lists in which the provider does not
// close the gap that a removed device leaves.
var namedBy = map[string]string{"disk": "interface", NUMANodes: "device"}

// add adds a value at a place; path is the place without devices.
func (v Values) add(at, path string, value any) {
	switch value := value.(type) {
	case nil:
		v[at] = ""
	case map[string]any:
		for name, sub := range value {
			switch below := at + "." + name; sub.(type) {
			case map[string]any, []any:
				v.add(below, path+"."+name, sub)
			default:
				v.add(below, "", sub) // a value needs no path
			}
		}
	case []any:
		blocks := 0
		if path == "startup" {
			value = slices.DeleteFunc(slices.Clone(value), isEmpty)
		}
		for i, item := range value {
			if block, ok := item.(map[string]any); ok {
				blocks++
				v.addBlock(at, path, i, block)
			}
		}
		if v[at] = strconv.Itoa(len(value)); blocks == 0 {
			v[at] = joined(value)
		}
	case string:
		v[at] = value
	case bool:
		v[at] = strconv.FormatBool(value)
	case float64:
		v[at] = number(value)
	default:
		v[at] = fmt.Sprint(value)
	}
}

// number is a number as a person writes it.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	return fmt.Sprint(f)
}

// isEmpty reports whether a block has no value. The provider reads a startup order that was
// removed like that.
func isEmpty(block any) bool {
	values, ok := block.(map[string]any)
	return ok && !slices.ContainsFunc(slices.Collect(maps.Values(values)), func(value any) bool { return value != nil })
}

// addBlock adds one block of a list. The provider reads a disk that was detached, and a NUMA
// node that was removed, as a block without a name.
func (v Values) addBlock(at, path string, i int, block map[string]any) {
	switch by := namedBy[path]; {
	case by != "":
		name, named := block[by]
		_, stored := block["datastore_id"] // which no disk has of which only unknown values are listed
		switch text, _ := name.(string); {
		case !named && stored: // the root volume of a container, of which there is one
			v.add(at, path, block)
		case text != "":
			v.add(at+"."+text, path, block)
		}
	case path == "network_device", path == interfacesOfContainer:
		v.add(at+".net"+strconv.Itoa(i), path, block)
	case path == addresses && i > 0: // the first one has keys of its own in a spec
		v.add(fmt.Sprintf("%s.net%d", at, i), path, block)
	case IsList(path):
		v.add(at+"."+strconv.Itoa(i), path, block)
	default:
		v.add(at, path, block)
	}
}

func joined(list []any) string {
	words := make([]string, 0, len(list))
	for _, item := range list {
		words = append(words, fmt.Sprint(item))
	}
	return strings.Join(words, " ")
}

// Knows reports whether a state says anything about an attribute or block.
func (v Values) Knows(name string) bool {
	_, ok := v[name]
	return ok
}

// Has reports whether a state has a block, or one of several: disk.scsi0.
func (v Values) Has(block string) bool {
	for key := range v {
		if len(key) > len(block) && key[len(block)] == '.' && strings.HasPrefix(key, block) {
			return true
		}
	}
	return false
}

// Devices are the devices of a list of blocks, in order.
func (v Values) Devices(list string) []string {
	var out []string
	for key := range v {
		if len(key) <= len(list) || key[len(list)] != '.' || !strings.HasPrefix(key, list) {
			continue
		}
		if name, _, below := strings.Cut(key[len(list)+1:], "."); below && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, natural.Compare)
	return out
}

// Volume is the volume of a disk, or "" if the values do not have it: a plan does not know
// that of a disk that is created.
func (v Values) Volume(device string) string {
	path := v["disk."+device+".path_in_datastore"]
	if path == "" {
		return ""
	}
	return strings.TrimPrefix(v["disk."+device+".datastore_id"]+":"+path, ":")
}

// NamelessDisks reports whether there are disks without an interface: what the provider
// reads where a disk was detached.
func (v Values) NamelessDisks() bool { return v.Nameless("disk") }

// Nameless reports whether a list has blocks without a name.
func (v Values) Nameless(list string) bool {
	n, err := strconv.Atoi(cmp.Or(v[list], "0"))
	return err == nil && n > len(v.Devices(list))
}
