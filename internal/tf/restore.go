package tf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Restored is how the values of a guest in its state become true again after an update that failed.
type Restored struct {
	Before map[string]any // the values before the update, as its plan has them; nil if no update is taken back
	Lists  []DeviceList
}

// A DeviceList is a list of devices that no refresh corrects. The devices of one without a key are not told apart: a
// refresh corrects them, but only if the state has any.
type DeviceList struct {
	Name string
	Key  string   // the attribute that tells a device from the others
	Has  []string // the keys of the devices that stay in the state, in capital letters
	Any  bool     // of a list without a key: the guest has any
}

// Restore is a state file whose guests, by address, have the devices that they have. The provider writes an update that
// fails into the state as if it had succeeded. A refresh corrects the values of what the state has. It does not remove a
// disk that was not added, and does not add a device that was not removed. The serial of the result is the next one; the
// result is nil if nothing differs.
func Restore(body []byte, guests map[string]Restored) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var state map[string]any
	if err := decoder.Decode(&state); err != nil {
		return nil, fmt.Errorf("it is no state: %w", plain(err))
	}
	serial, _ := state["serial"].(json.Number)
	n, err := serial.Int64()
	if err != nil {
		return nil, errors.New("the state has no serial")
	}
	changed := false
	resources, _ := state["resources"].([]any)
	for _, resource := range resources {
		r, _ := resource.(map[string]any)
		instances, _ := r["instances"].([]any)
		for _, instance := range instances {
			i, _ := instance.(map[string]any)
			key, _ := json.Marshal(i["index_key"])
			of, known := guests[fmt.Sprintf("%v.%v[%s]", r["type"], r["name"], key)]
			values, _ := i["attributes"].(map[string]any)
			if known && values != nil && r["module"] == nil && i["deposed"] == nil {
				changed = of.restore(values) || changed
			}
		}
	}
	if !changed {
		return nil, nil
	}
	state["serial"] = n + 1
	return json.MarshalIndent(state, "", "  ")
}

// restore gives the values of a guest the devices that it has. It reports whether they were others.
func (r *Restored) restore(values map[string]any) (changed bool) {
	for _, list := range r.Lists {
		changed = list.restore(values, r.Before) || changed
	}
	return changed
}

// restore gives the values of a guest the devices of a list that it has, and those that were there before and that the
// update was to leave: somebody else has removed these. It reports whether they were others.
func (l *DeviceList) restore(values, before map[string]any) bool {
	was, _ := before[l.Name].([]any)
	planned, _ := values[l.Name].([]any)
	present := func(device any) bool {
		in := func(list []any) bool {
			return slices.ContainsFunc(list, func(d any) bool { return l.key(d) == l.key(device) })
		}
		return slices.Contains(l.Has, l.key(device)) || l.Key == "" && l.Any || in(was) && in(planned)
	}
	out := []any{}
	for i, device := range slices.Concat(was, planned) {
		known := i >= len(was) && slices.ContainsFunc(out, func(d any) bool { return l.key(d) == l.key(device) })
		if present(device) && !known {
			out = append(out, device)
		}
	}
	if slices.EqualFunc(out, planned, func(a, b any) bool { return l.key(a) == l.key(b) }) {
		return false
	}
	values[l.Name] = out
	return true
}

// key tells a device from the others of the list.
func (l *DeviceList) key(device any) string {
	values, _ := device.(map[string]any)
	text, _ := values[l.Key].(string)
	return strings.ToUpper(text)
}
