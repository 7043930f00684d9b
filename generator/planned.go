package generator

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"stackgen/internal/natural"
)

// OtherVariables names the values in which the variables of a plan differ from the stack
// file: VMs, pools and records by their keys. variables are those of the plan, as JSON. What
// they have in addition are defaults of the module. keys are all keys of the unit's VMs,
// pools and records in the stack file.
func OtherVariables(stackFile []byte, unit string, variables map[string]json.RawMessage) (differ, keys []string, err error) {
	rendered, err := renderedValues(stackFile, unit)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range rendered.AsValueMap() {
		if !slices.Contains(unitVariables, name) {
			continue
		}
		body, err := ctyjson.Marshal(value, value.Type())
		if err != nil {
			return nil, nil, fmt.Errorf("the value of %s: %w", name, err)
		}
		var want, got map[string]any
		if err := json.Unmarshal(body, &want); err != nil {
			return nil, nil, err
		}
		if given := variables[name]; given != nil {
			if err := json.Unmarshal(given, &got); err != nil {
				return nil, nil, fmt.Errorf("the variable %s of the plan: %w", name, err)
			}
		}
		keys = slices.AppendSeq(keys, maps.Keys(want))
		differ = append(differ, differing(want, got)...)
	}
	slices.SortFunc(differ, natural.Compare)
	slices.SortFunc(keys, natural.Compare)
	return differ, keys, nil
}

// differing are the keys of the values of want that are not within those of got, and the keys
// that only got has, in no order.
func differing(want, got map[string]any) (keys []string) {
	for key := range want {
		if !within(want[key], got[key]) {
			keys = append(keys, key)
		}
	}
	for key := range got {
		if _, rendered := want[key]; !rendered {
			keys = append(keys, key)
		}
	}
	return keys
}

// unitVariables are the variables of modules that get the values of a unit, by keys.
var unitVariables = []string{"containers", "pools", "records", "vms"}

// within reports whether a value of JSON has all of another one. What is null is not there.
func within(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for key, value := range w {
			ok = ok && within(value, g[key])
		}
		return ok
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, within)
	}
	return reflect.DeepEqual(want, got)
}
