package tf

import (
	"reflect"
	"strconv"

	"stackgen/guest"
	"stackgen/internal/finding"
)

// A Summary is what a plan does with one resource. Two are equal if they do the same.
type Summary struct {
	Unit    Unit
	Address string
	Type    finding.Type
	Key     string // of for_each: of a VM its key, of a record its name, of a pool its id
	VMID    int    // of a VM
	Node    string // of a VM
	Name    string // of a VM
	Action  Action // NoOp if it imports or moves only
	Imports bool
	Clones  bool // a VM that is cloned from a template

	Template int    // its VMID
	From     string // the node that it is on
	Agent    bool   // a VM whose agent the provider waits for
}

// Summaries are what a plan does, in its order. What it only reads or leaves as it is has
// none.
func Summaries(u Unit, plan *Plan) []Summary {
	var out []Summary
	for _, c := range plan.Changes {
		if c.Managed && (c.Action.Word() != "" || c.Imports || c.Previous != "") {
			out = append(out, c.Summary(u))
		}
	}
	return out
}

// Summary is what a plan of a unit does with one resource.
func (c *ResourceChange) Summary(u Unit) Summary {
	s := Summary{Unit: u, Address: c.Address, Type: u.TypeOf(c.Type), Key: c.Key, Action: c.Action, Imports: c.Imports}
	values := c.After
	if values == nil {
		values = c.Before
	}
	if s.Type == finding.VM {
		s.VMID = VMIDOf(values)
		s.Node, _ = values["node_name"].(string)
		s.Name = nameIn(c.Type, values)
		if s.Clones = (c.Action == Create || c.Action == Replace) && some(values["clone"]); s.Clones {
			s.Template = TemplateOf(values)
			s.From, _ = firstOf(values["clone"])["node_name"].(string)
		}
		s.Agent = firstOf(values["agent"])["enabled"] == true
	}
	return s
}

// TemplateOf is the VMID of the template that the values of a VM are cloned from; 0 if it is
// not cloned.
func TemplateOf(values map[string]any) int {
	vmid, _ := strconv.Atoi(scalar(firstOf(values["clone"])["vm_id"])) // 0 with an error
	return vmid
}

// Destroys is what a destroy of everything in a state does with one resource of it.
func Destroys(u Unit, r *Resource) Summary {
	return Summary{
		Unit: u, Address: r.Address, Type: u.TypeOf(r.Type), Key: r.Key, VMID: r.VMID, Node: r.Node, Name: r.Name, Action: Delete,
	}
}

// TypeOf is what a type of resources makes in the unit; empty for one that stackgen does not render there.
func (u Unit) TypeOf(resource string) finding.Type {
	if IsGuest(resource) && !u.Manages(resource) {
		return ""
	}
	return map[string]finding.Type{
		guest.VMResource: finding.VM, guest.ContainerResource: finding.VM,
		guest.PoolResource: finding.Pool, guest.RecordResource: finding.Record, guest.FileResource: finding.Image,
	}[resource]
}

func some(list any) bool {
	l, _ := list.([]any)
	return len(l) > 0
}

// NewAddress returns whether a plan changes the address of a VM in the outputs of its
// unit, or does not know it yet: a plan of its records is made with another one. Mocks are
// the addresses with which plans are made of records whose VM does not exist yet.
func NewAddress(plan *Plan, mocks map[string]string) func(key string) bool {
	for _, kind := range guest.Kinds() {
		if c, changes := plan.Outputs[kind.List()]; changes && c.Action != NoOp {
			return newAddress(c, mocks)
		}
	}
	return func(string) bool { return false }
}

// newAddress is NewAddress for a change of the output with the guests.
func newAddress(c OutputChange, mocks map[string]string) func(key string) bool {
	before, _ := c.Before.(map[string]any)
	after, _ := c.After.(map[string]any)
	all, _ := c.Unknown.(bool)
	unknown, _ := c.Unknown.(map[string]any)
	return func(key string) bool {
		was := addressIn(before[key])
		if before[key] == nil && mocks[key] != "" {
			was = mocks[key]
		}
		return all || addressIn(unknown[key]) == true || after[key] != nil && !reflect.DeepEqual(was, addressIn(after[key]))
	}
}

// addressIn is the address in an output of a VM, or nil.
func addressIn(vm any) any {
	values, _ := vm.(map[string]any)
	return values["ipv4"]
}
