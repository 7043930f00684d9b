package tf

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

// An Action is what a plan does with a resource or an output.
type Action string

// The actions of a plan. The zero value is one that this version of stackgen does not know.
const (
	NoOp        Action = "no-op"
	Read        Action = "read"
	Create      Action = "create"
	Update      Action = "update"
	Delete      Action = "delete"
	Forget      Action = "forget"  // it leaves the state, and nothing happens to it
	Replace     Action = "replace" // in either order
	ReplaceKept Action = "replace, and forget the old one"
)

// actionOf has what the actions that a plan has for one resource are together.
var actionOf = map[string]Action{
	"no-op": NoOp, "read": Read, "create": Create, "update": Update, "delete": Delete, "forget": Forget,
	"delete+create": Replace, "create+delete": Replace, "forget+create": ReplaceKept, "create+forget": ReplaceKept,
}

// Word is what an action does, for people: create, change, destroy, replace or forget; empty
// if it does nothing.
func (a Action) Word() string {
	return map[Action]string{
		Create: "create", Update: "change", Delete: "destroy", Forget: "forget", Replace: "replace", ReplaceKept: "replace", "": "replace",
	}[a]
}

// Removes reports whether what an action is about leaves the state. An action that this
// version of stackgen does not know may do that.
func (a Action) Removes() bool { return !slices.Contains([]Action{NoOp, Read, Create, Update}, a) }

// A ResourceChange is an entry of a plan: one resource or data source, and what the plan does
// with it, or what its refresh found.
type ResourceChange struct {
	Address  string
	Previous string // the address before the plan moves it; "" if it does not
	Managed  bool   // it is a resource, and no data source
	Type     string
	Key      string // of for_each; "" if it has none
	Deposed  string // the key of an object that an interrupted replacement left
	Action   Action
	Words    string // the actions as the plan has them: delete+create
	Imports  bool
	ImportID string
	Before   map[string]any // nil where it does not exist, or is not in the state
	After    map[string]any // nil where it does not exist afterwards
	Unknown  any            // has true where a value of After is known only after an apply
	Forces   []string       // the attributes because of which it is replaced, sorted
	Tainted  bool           // it is replaced because its creation failed halfway
	Asked    bool           // it is replaced because of -replace
}

// resourceChange is an entry of a plan, or nil if it says nothing.
func resourceChange(r *tfjson.ResourceChange) *ResourceChange {
	if r == nil || r.Change == nil {
		return nil
	}
	c := &ResourceChange{
		Address: r.Address, Previous: r.PreviousAddress, Managed: r.Mode == tfjson.ManagedResourceMode, Type: r.Type,
		Deposed: r.DeposedKey, Words: inWords(r.Change.Actions), Unknown: r.Change.AfterUnknown,
		Tainted: r.ActionReason == tfjson.ActionReasonReplaceBecauseTainted, Asked: r.ActionReason == tfjson.ActionReasonReplaceByRequest,
	}
	c.Action = actionOf[c.Words]
	c.Key, _ = r.Index.(string)
	c.Before, _ = r.Change.Before.(map[string]any)
	c.After, _ = r.Change.After.(map[string]any)
	if r.Change.Importing != nil {
		c.Imports, c.ImportID = true, r.Change.Importing.ID
	}
	for _, path := range r.Change.ReplacePaths {
		steps, _ := path.([]any)
		var words []string
		for _, s := range steps {
			words = append(words, fmt.Sprint(s))
		}
		c.Forces = append(c.Forces, strings.Join(words, "."))
	}
	slices.Sort(c.Forces)
	return c
}

// inWords are actions as text: delete+create.
func inWords(actions tfjson.Actions) string {
	words := make([]string, len(actions))
	for i, a := range actions {
		words[i] = string(a)
	}
	return strings.Join(words, "+")
}

// Keys are the key of a change, and the one that it had before a move.
func (c *ResourceChange) Keys() []string {
	out := []string{c.Key}
	if _, index, ok := strings.Cut(c.Previous, "["); ok {
		var key string
		if json.Unmarshal([]byte(strings.TrimSuffix(index, "]")), &key) == nil {
			out = append(out, key)
		}
	}
	return out
}

// Resource is the resource as it was before the change.
func (c *ResourceChange) Resource() Resource {
	return instance{Address: c.Address, Type: c.Type, Index: c.Key, Values: c.Before}.resource()
}

// VMIDOf is the VMID in the values of a VM or container, or 0. That of a container which was
// imported is in its id only, until an apply sets it.
func VMIDOf(values map[string]any) int {
	vmid, known := values["vm_id"].(float64)
	if !known {
		return vmidIn(scalar(values["id"]))
	}
	return int(vmid)
}
