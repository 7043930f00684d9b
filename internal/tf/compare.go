package tf

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// OfPlan are the changes between the values of a VM before and after a plan. What is
// not known before the apply is no change.
func OfPlan(before, after Values) []Change {
	var out []Change
	done := map[string]bool{} // blocks that are added or removed as a whole
	for _, key := range differing(before, after) {
		if block := onlyIn(before, after, key); block != "" {
			if !done[block] {
				done[block] = true
				out = append(out, wholeBlock(before, after, block))
			}
			continue
		}
		was, is := before[key], after[key]
		if was != is && known(before, after, key) && !isBlock(before, after, key) {
			path, device := Split(key)
			out = append(out, Change{Path: path, Device: device, Was: was, Is: is})
		}
	}
	return out
}

// differing are the keys whose values differ, and those that only one side has: those of
// before first, each in natural order.
func differing(before, after Values) []string {
	var out, added []string
	for key, was := range before {
		if is, both := after[key]; !both || was != is {
			out = append(out, key)
		}
	}
	for key := range after {
		if _, both := before[key]; !both {
			added = append(added, key)
		}
	}
	slices.SortFunc(out, natural.Compare)
	slices.SortFunc(added, natural.Compare)
	return append(out, added...)
}

// Differing are the attributes that differ between all values of a resource, and those
// whose value after the apply is not known.
func Differing(was, is Values, unknown any) []string {
	later := Flatten(unknown)
	var out []string
	for _, key := range differing(was, is) {
		if was[key] != is[key] && !isBlock(was, is, key) {
			out = append(out, key)
		}
	}
	for key, text := range later {
		if text == "true" && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, natural.Compare)
	return out
}

// onlyIn is the outermost block around a key that only one side has, or "".
func onlyIn(before, after Values, key string) string {
	for i, c := range key {
		if c != '.' || IsList(key[:i]) {
			continue
		}
		if path, _ := Split(key[:i]); before.Has(key[:i]) != after.Has(key[:i]) && hasRow(path) {
			return key[:i]
		}
	}
	return ""
}

// hasRow reports whether a table has a row for a block as a whole.
func hasRow(path string) bool {
	row := schema.ResourceAttribute(guest.VMResource, path)
	return row != nil && row.HCL == path && !row.Group
}

// known reports whether both sides have the attribute, or are known not to have it: a
// plan leaves out what is not known before the apply. Of a block that only one side has,
// attributes without a value are no change.
func known(before, after Values, key string) bool {
	block := key[:max(0, strings.LastIndexByte(key, '.'))]
	if block == "" || before.Has(block) == after.Has(block) {
		_, ok := after[key]
		return ok
	}
	return !slices.Contains([]string{"", "0", "false"}, before[key]+after[key])
}

// isBlock reports whether a key counts the blocks of a list.
func isBlock(before, after Values, key string) bool {
	return before.Has(key) || after.Has(key) || IsList(key)
}

// wholeBlock is a block that is added or removed.
func wholeBlock(before, after Values, block string) Change {
	path, device := Split(block)
	c := Change{Path: path, Device: device, Whole: true}
	if before.Has(block) {
		c.Was = before.Describe(block)
	} else {
		c.Is = after.Describe(block)
		if path == "disk" {
			c.Volume = after.Volume(device)
		}
	}
	return c
}

// described are the attributes that describe a block in a few words.
var described = []string{
	"datastore_id", "size", "bridge", "mac_address", "username", "type", "source", "model", "host", "mapping", "device",
	"address", "order", "read", "write", "iops_read", "iops_write",
}

// Describe is a block in a few words.
func (v Values) Describe(block string) string {
	var words []string
	for _, name := range described {
		if text := v[block+"."+name]; text != "" {
			words = append(words, name+"="+text)
		}
	}
	if len(words) == 0 {
		return "one"
	}
	return strings.Join(words, " ")
}

// Split separates the path of a key from its device.
func Split(key string) (path, device string) {
	list := listOf(key)
	rest, ok := strings.CutPrefix(key, list+".")
	if list == "" || !ok {
		return key, ""
	}
	device, below, _ := strings.Cut(rest, ".")
	return strings.TrimSuffix(list+"."+below, "."), device
}
