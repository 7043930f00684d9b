package guard

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"stackgen/internal/effect"
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
	Wait    string // how long the provider waits for the agent: "" if it does not
	Tainted bool
	Planned bool              // of a VM: no read followed its creation, so its values are those of the plan
	Cloned  bool              // it was made by a clone, of which the provider reads only what the spec says
	Values  effect.Values     `json:",omitempty"` // of a VM
	Blocks  []string          // of a VM: those of schema.DefaultBlocks that it has
	Absent  []string          // of a VM: those that it does not have
	Settled map[string]string // of a VM: the values of schema.SettledRows and of migrate, by attribute
}

// instance is one resource of a state in the form that `tofu show -json` gives
// it.
type instance struct {
	Address string          `json:"address"`
	Mode    string          `json:"mode"`
	Type    string          `json:"type"`
	Index   json.RawMessage `json:"index"`
	Tainted bool            `json:"tainted"`
	Deposed string          `json:"deposed_key"`
	Values  json.RawMessage `json:"values"`
}

// values are the attributes that verdicts need.
type values struct {
	ID      any               `json:"id"`
	VMID    any               `json:"vm_id"`
	Node    string            `json:"node_name"`
	Name    string            `json:"name"`
	Clone   []json.RawMessage `json:"clone"`
	Read    json.RawMessage   `json:"mac_addresses"` // null until the provider has read the VM
	Devices []struct {
		MAC string `json:"mac_address"`
	} `json:"network_device"`
	Agent []struct {
		Enabled *bool   `json:"enabled"`
		Timeout *string `json:"timeout"`
	} `json:"agent"`
}

func (i instance) resource() Resource {
	r := Resource{Address: i.Address, Type: i.Type, Tainted: i.Tainted}
	_ = json.Unmarshal(i.Index, &r.Key) // a number is an index of count, which the modules do not use
	var v values
	switch i.Type { // other types may mean something else by these names
	case TypeVM, TypePool, TypeRecord:
		if err := json.Unmarshal(i.Values, &v); err != nil {
			return r
		}
	}
	r.ID, r.Node, r.Name, r.Wait, r.Cloned = scalar(v.ID), v.Node, v.Name, v.wait(), len(v.Clone) > 0
	if i.Type == TypeVM {
		r.VMID, _ = strconv.Atoi(scalar(v.VMID))
		r.unreadable(i.Values)
		var all map[string]any
		_ = json.Unmarshal(i.Values, &all) // decoded above
		r.Values = effect.Flatten(all)
		r.Planned = string(v.Read) == "null"
		if r.VMID == 0 { // an import that was never read back
			r.VMID, _ = strconv.Atoi(r.ID[strings.LastIndexByte(r.ID, '/')+1:])
		}
	}
	for _, d := range v.Devices {
		if d.MAC != "" {
			r.MACs = append(r.MACs, strings.ToUpper(d.MAC))
		}
	}
	return r
}

// unreadable reads what a VM's attributes have that an import cannot read: the blocks
// of schema.DefaultBlocks, and the values of schema.SettledRows.
func (r *Resource) unreadable(attributes json.RawMessage) {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(attributes, &all) // the caller has decoded them
	for _, b := range schema.DefaultBlocks() {
		var list []json.RawMessage
		switch value, known := all[b.Name]; {
		case json.Unmarshal(value, &list) == nil && len(list) > 0:
			r.Blocks = append(r.Blocks, b.Name)
		case known:
			r.Absent = append(r.Absent, b.Name)
		}
	}
	r.Settled = map[string]string{}
	if value, known := all[migrateAttribute]; known {
		r.Settled[migrateAttribute] = strings.ReplaceAll(string(value), "null", "false")
	}
	for _, row := range schema.SettledRows() {
		block, name, nested := strings.Cut(row.Attribute(), ".")
		of := all
		if nested {
			list := []map[string]json.RawMessage{}
			if of = nil; json.Unmarshal(all[block], &list) == nil && len(list) > 0 {
				of = list[0]
			}
		} else {
			name = block
		}
		var v any
		if value, known := of[name]; known && json.Unmarshal(value, &v) == nil {
			r.Settled[row.Attribute()] = row.Unset
			if v != nil {
				r.Settled[row.Attribute()] = fmt.Sprint(v)
			}
		}
	}
}

// wait is how long the provider waits for the agent of a running VM.
func (v *values) wait() string {
	if len(v.Agent) == 0 || v.Agent[0].Enabled == nil || !*v.Agent[0].Enabled {
		return ""
	}
	if t := v.Agent[0].Timeout; t != nil && *t != "" {
		return *t
	}
	return defaultWait
}

// defaultWait is the provider's own agent.timeout.
const defaultWait = "15m"

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
