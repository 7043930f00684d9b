package tf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// States are the states of all units that were looked at. A unit that is not in it
// was not read, which is not the same as empty.
type States map[Unit]State

// A State is the state of one unit. No resources and nothing Unreadable is a
// state that is empty, or not there yet.
type State struct {
	Unreadable string // why it could not be read
	CutOff     string // its file, below the project, if that ends early; it is unreadable, too
	Lineage    string // tells it from a state that another project or checkout began; empty if the source does not say
	Serial     uint64 // of a state file: counts its changes
	Project    string // the id of the project that applied it last, if it says so
	Resources  []Resource

	// Outputs are the values of the unit's outputs, by name. Verdicts do not need them,
	// and they may hold anything, so what the units of a run share does not have them.
	Outputs map[string]json.RawMessage `json:"-"`
}

// EndsEarly reports whether a file of JSON is only the beginning of one: OpenTofu writes a local state in place, and a
// full disk or a killed run leaves the part that was written.
func EndsEarly(body []byte) bool {
	var all json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(body)).Decode(&all), io.ErrUnexpectedEOF)
}

// outputs are those of a state, in every form that it has.
type outputs map[string]struct {
	Value json.RawMessage `json:"value"`
}

func (o outputs) values() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, output := range o {
		out[name] = output.Value
	}
	return out
}

// project is the id that root.hcl puts into each state.
func (o outputs) project() string {
	var id string
	_ = json.Unmarshal(o["project"].Value, &id) // an output of another type has no id
	return id
}

// stateValues are a state in the form that `tofu show -json` gives it.
type stateValues struct {
	Root    module  `json:"root_module"`
	Outputs outputs `json:"outputs"`
}

// state is the state that has the values. Before are the values of the resources that the
// refresh of a plan changed, by address.
func (v *stateValues) state(before map[string]map[string]any) State {
	return State{Resources: collect(nil, v.Root, before), Outputs: v.Outputs.values(), Project: v.Outputs.project()}
}

type module struct {
	Resources []instance `json:"resources"`
	Children  []module   `json:"child_modules"`
}

// ParseState reads the state of one unit: the output of `tofu show -json`, a
// state file, or a plan, which holds the state that it was made from. An empty
// file is an empty state. An error means that nothing is known.
func ParseState(body []byte) (State, error) {
	if len(strings.TrimSpace(string(body))) == 0 {
		return State{}, nil
	}
	var doc struct {
		Version   int             `json:"version"`
		Lineage   string          `json:"lineage"`
		Serial    uint64          `json:"serial"`
		Format    string          `json:"format_version"`
		Encrypted json.RawMessage `json:"encrypted_data"`
		Resources json.RawMessage `json:"resources"`
		Outputs   json.RawMessage `json:"outputs"` // of a state file
		Values    *stateValues    `json:"values"`
		Planned   *struct{}       `json:"planned_values"`
	}
	if !utf8.Valid(body) {
		return State{}, errors.New("it is no JSON")
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return State{}, fmt.Errorf("it is no state: %w", plain(err))
	}
	switch {
	case len(doc.Encrypted) > 0:
		return State{}, errors.New("it is encrypted; give the output of `terragrunt show -json`, which decrypts it")
	case doc.Planned != nil:
		plan, err := ParsePlan(body)
		if err != nil {
			return State{}, err
		}
		return plan.Before, nil
	case doc.Values != nil:
		return doc.Values.state(nil), nil
	case doc.Version == 4:
		state, err := stateFile(doc.Lineage, doc.Resources, doc.Outputs)
		state.Serial = doc.Serial
		return state, err
	case doc.Format != "":
		return State{}, nil // an empty state has no values
	case doc.Version != 0:
		return State{}, fmt.Errorf("it is a state of version %d; this stackgen reads version 4", doc.Version)
	}
	return State{}, errors.New("it is neither a state nor the output of `tofu show -json`")
}

// plain is an error about JSON without the names of types that are ours.
func plain(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Field == "" {
		return fmt.Errorf("there is %s where something else belongs, at byte %d", wrong.Value, wrong.Offset)
	}
	return fmt.Errorf("%s is %s, which does not belong there", wrong.Field, wrong.Value)
}

// collect adds the resources of a module. Before are the values of those that the refresh
// of a plan changed, by address.
func collect(out []Resource, m module, before map[string]map[string]any) []Resource {
	for _, r := range m.Resources {
		if r.Mode == "managed" && r.Deposed == "" {
			r.Before = before[r.Address]
			out = append(out, r.resource())
		}
	}
	for _, c := range m.Children {
		out = collect(out, c, before)
	}
	return out
}

// stateBefore is the state before a plan. A plan's own state is what its refresh found:
// it lacks what is gone, has the MAC addresses of whatever VM has the VMID now, and has
// what it is to import. What the refresh changed is among the drift.
func stateBefore(p *Plan, prior stateValues) State {
	imported, before := map[string]bool{}, map[string]map[string]any{}
	for _, d := range p.Drift {
		if d.Managed && d.Action == Update {
			before[d.Address] = d.Before
		}
	}
	for _, c := range p.Changes {
		imported[c.Address] = c.Imports
	}
	out := prior.state(before)
	out.Resources = slices.DeleteFunc(out.Resources, func(r Resource) bool { return imported[r.Address] })
	known := map[string]bool{}
	for _, r := range out.Resources {
		known[r.Address] = true
	}
	for _, d := range p.Drift {
		if d.Managed && d.Action == Delete && !known[d.Address] {
			out.Resources = append(out.Resources, d.Resource())
		}
	}
	return out
}

// stateFile reads the resources and outputs of a state file.
func stateFile(lineage string, body, values json.RawMessage) (State, error) {
	var list []struct {
		Module    string `json:"module"`
		Mode      string `json:"mode"`
		Type      string `json:"type"`
		Name      string `json:"name"`
		Instances []struct {
			Index   json.RawMessage `json:"index_key"`
			Status  string          `json:"status"`
			Deposed string          `json:"deposed"`
			Values  any             `json:"attributes"`
		} `json:"instances"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &list); err != nil {
			return State{}, fmt.Errorf("its resources cannot be read: %w", plain(err))
		}
	}
	var of outputs
	if len(values) > 0 {
		if err := json.Unmarshal(values, &of); err != nil {
			return State{}, fmt.Errorf("its outputs cannot be read: %w", plain(err))
		}
	}
	out := State{Lineage: lineage, Outputs: of.values(), Project: of.project()}
	for _, r := range list {
		for _, i := range r.Instances {
			if r.Mode != "managed" || i.Deposed != "" {
				continue
			}
			address := r.Type + "." + r.Name
			if r.Module != "" {
				address = r.Module + "." + address
			}
			if len(i.Index) > 0 {
				address += "[" + string(i.Index) + "]"
			}
			var index any
			_ = json.Unmarshal(i.Index, &index) // it was decoded above, if there is one
			in := instance{Address: address, Type: r.Type, Index: index, Tainted: i.Status == "tainted", Values: i.Values}
			out.Resources = append(out.Resources, in.resource())
		}
	}
	return out, nil
}
