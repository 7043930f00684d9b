package tf

import (
	"reflect"
	"strconv"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/guest"
	"stackgen/internal/finding"
)

// A ResourceChange is what a plan does with one resource.
type ResourceChange struct {
	Unit    Unit
	Address string
	Type    finding.Type
	Key     string // of for_each: of a VM its key, of a record its name, of a pool its id
	VMID    int    // of a VM
	Node    string // of a VM
	Name    string // of a VM
	Does    string // create, change, destroy, replace or forget; empty if it imports or moves only
	Imports bool
	Clones  bool // a VM that is cloned from a template

	Template int    // its VMID
	From     string // the node that it is on
	Agent    bool   // a VM whose agent the provider waits for
}

// Changes are what a plan does, in its order. What it only reads or leaves as it is has
// no change.
func Changes(u Unit, plan *Plan) []ResourceChange {
	var out []ResourceChange
	for _, r := range plan.ResourceChanges {
		if r.Mode != tfjson.ManagedResourceMode || r.Change == nil {
			continue
		}
		if c := ChangeOf(u, r); c.Does != "" || c.Imports || r.PreviousAddress != "" {
			out = append(out, c)
		}
	}
	return out
}

// ChangeOf is what a plan does with one resource.
func ChangeOf(u Unit, r *tfjson.ResourceChange) ResourceChange {
	c := ResourceChange{
		Unit: u, Address: r.Address, Type: TypeOf(r.Type), Key: KeyOf(r),
		Does: does(r.Change.Actions), Imports: r.Change.Importing != nil,
	}
	values, _ := r.Change.After.(map[string]any)
	if values == nil {
		values, _ = r.Change.Before.(map[string]any)
	}
	if c.Type == finding.VM {
		c.VMID = VMIDOf(values)
		c.Node, _ = values["node_name"].(string)
		c.Name, _ = values["name"].(string)
		if c.Clones = c.Does == "create" && some(values["clone"]); c.Clones {
			from := firstOf(values["clone"])
			c.Template, _ = strconv.Atoi(scalar(from["vm_id"]))
			c.From, _ = from["node_name"].(string)
		}
		c.Agent = firstOf(values["agent"])["enabled"] == true
	}
	return c
}

// Destroys is what a destroy of everything in a state does with one resource of it.
func Destroys(u Unit, r *Resource) ResourceChange {
	return ResourceChange{
		Unit: u, Address: r.Address, Type: TypeOf(r.Type), Key: r.Key, VMID: r.VMID, Node: r.Node, Name: r.Name, Does: "destroy",
	}
}

// TypeOf is what a type of resources makes; empty for one that stackgen does not render.
func TypeOf(resource string) finding.Type {
	return map[string]finding.Type{
		guest.VMResource: finding.VM, guest.PoolResource: finding.Pool, guest.RecordResource: finding.Record,
	}[resource]
}

// does is what actions do, in a word.
func does(a tfjson.Actions) string {
	switch {
	case a.NoOp(), a.Read():
		return ""
	case a.Create():
		return "create"
	case a.Update():
		return "change"
	case a.Delete():
		return "destroy"
	case a.Forget():
		return "forget"
	}
	return "replace"
}

func some(list any) bool {
	l, _ := list.([]any)
	return len(l) > 0
}

// ChangesOutputs reports whether a plan changes an output of its unit.
func ChangesOutputs(plan *Plan) bool {
	for _, c := range plan.OutputChanges {
		if c != nil && !c.Actions.NoOp() {
			return true
		}
	}
	return false
}

// NewAddress returns whether a plan changes the address of a VM in the outputs of its
// unit, or does not know it yet: a plan of its records is made with another one. Mocks are
// the addresses with which plans are made of records whose VM does not exist yet.
func NewAddress(plan *Plan, mocks map[string]string) func(key string) bool {
	c := plan.OutputChanges["vms"]
	if c == nil || c.Actions.NoOp() {
		return func(string) bool { return false }
	}
	before, _ := c.Before.(map[string]any)
	after, _ := c.After.(map[string]any)
	all, _ := c.AfterUnknown.(bool)
	unknown, _ := c.AfterUnknown.(map[string]any)
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
