package tf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"stackgen/guest"
	"stackgen/schema"
)

// interfacesOfContainer is the list of network devices of a container.
const interfacesOfContainer = "network_interface"

// containerLists are the lists of blocks of a container, each block with the number of its network
// device.
var containerLists = []string{interfacesOfContainer, addresses}

// OfContainer are the changes that a plan makes of a container, in the order of their attributes.
// What is not known before the apply is no change, and neither is a value that the provider reads
// as none.
func (c *ResourceChange) OfContainer() []Change {
	unknown, _ := c.Unknown.(map[string]any)
	var out []Change
	compareMaps(&out, "", "", c.Before, c.After, unknown)
	return out
}

// compareMaps adds the changes between two blocks.
func compareMaps(out *[]Change, path, device string, before, after, unknown map[string]any) {
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, both := before[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at := name
		if path != "" {
			at = path + "." + name
		}
		if unknown[name] == true {
			continue
		}
		compareValues(out, at, device, before[name], after[name], unknown[name])
	}
}

// compareValues adds the changes between two values of an attribute or block.
func compareValues(out *[]Change, path, device string, before, after, unknown any) {
	if row := schema.ResourceAttribute(guest.ContainerResource, path); row != nil && row.Change == schema.Noise {
		return
	}
	was, wasList := before.([]any)
	is, isList := after.([]any)
	later, _ := unknown.([]any)
	if !blocks(was) && !blocks(is) {
		if text, now := shown(before), shown(after); text != now {
			*out = append(*out, Change{Of: guest.ContainerResource, Path: path, Device: device, Was: text, Is: now})
		}
		return
	}
	if !wasList && before != nil || !isList && after != nil {
		return // not of the provider
	}
	for i := range max(len(was), len(is)) {
		of := device
		if slices.Contains(containerLists, path) {
			of = "net" + strconv.Itoa(i)
		}
		b, a := block(was, i), block(is, i)
		switch {
		case of == device: // one block, whose attributes are compared with none
			compareMaps(out, path, of, b, a, block(later, i))
		case b == nil:
			*out = append(*out, Change{Of: guest.ContainerResource, Path: path, Device: of, Is: describe(a), Whole: true})
		case a == nil:
			*out = append(*out, Change{Of: guest.ContainerResource, Path: path, Device: of, Was: describe(b), Whole: true})
		default:
			compareMaps(out, path, of, b, a, block(later, i))
		}
	}
}

// blocks reports whether a list is one of blocks.
func blocks(list []any) bool {
	return slices.ContainsFunc(list, func(item any) bool { _, is := item.(map[string]any); return is })
}

// block is a block of a list, or nil.
func block(list []any, i int) map[string]any {
	if i >= len(list) {
		return nil
	}
	out, _ := list[i].(map[string]any)
	return out
}

// shown is a value as text. What the provider takes for no value is empty.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []any:
		return joined(v)
	case bool:
		if !v {
			return ""
		}
	case float64:
		if v == 0 {
			return ""
		}
		return number(v)
	case map[string]any:
		if len(v) == 0 {
			return ""
		}
	}
	return fmt.Sprint(value)
}

// describe is a block in a few words.
func describe(of map[string]any) string {
	v := Values{}
	v.add("block", "", []any{of})
	return v.Describe("block")
}
