package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// withUnit is a size as other tools write it: 4G, 512 MiB.
var withUnit = regexp.MustCompile(`^([0-9]+) *([KMGTkmgt])i?[Bb]?$`)

// sizes are the units of a size in KiB.
var sizes = map[string]int{"K": 1, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30}

// correction says how to write a value of the wrong type, or "".
func correction(n *Node, f *Field, path string) string {
	switch key := last(path); {
	case n.Shape == ShapeNull:
		return empty(f, key)
	case n.Shape == ShapeString && (f.Type == Object || f.Type == Map) && noSpace.MatchString(n.Text):
		m := noSpace.FindStringSubmatch(n.Text)
		return fmt.Sprintf("write a space after the colon: %s: %s", m[2], m[3])
	case f.Type == Bool && slices.Contains([]string{"yes", "on", "y"}, strings.ToLower(n.Text)):
		return "write true"
	case f.Type == Bool && slices.Contains([]string{"no", "off", "n"}, strings.ToLower(n.Text)):
		return "write false"
	case f.Type == String && len(f.Enum) == 1:
		return "write " + f.Enum[0]
	case f.Type == String && n.scalar() && matches(f.Format, n.Text) && (f.Enum == nil || slices.Contains(f.Enum, n.Text)):
		return fmt.Sprintf("put it in quotes: %q", n.Text)
	case f.Type == Bool && n.Shape == ShapeString && slices.Contains([]string{"true", "false"}, n.Text):
		return "remove the quotes"
	case f.Type == Int && n.Shape == ShapeString && decimal.MatchString(n.Text):
		return "remove the quotes"
	case f.Type == Int && n.Shape == ShapeString:
		return withoutUnit(n.Text, f, key)
	case (f.Type == Map || f.Type == Object) && n.Shape == ShapeList:
		return asMap(n, f)
	case f.Type == List && n.Shape == ShapeMap:
		return "write a hyphen before its first key, or put it in [ ]"
	case f.Type == List && n.scalar() && f.Elem.takes(n) && !strings.Contains(n.Text, "\n"):
		return "put it in [ ]: [" + n.Text + "]"
	}
	return ""
}

// scalar reports whether the value is one text, number, or true or false.
func (n *Node) scalar() bool {
	return n.Shape == ShapeString || n.Shape == ShapeInt || n.Shape == ShapeFloat || n.Shape == ShapeBool
}

// takes reports whether a scalar has the type of the field, or is a shorthand for it.
func (f *Field) takes(n *Node) bool {
	switch f.Type {
	case Object:
		return f.Short != "" && n.Shape == ShapeString || f.ShortInt != "" && n.Shape == ShapeInt
	case String:
		return n.Shape == ShapeString || f.Number && n.Shape == ShapeInt
	}
	return f.Type == Int && n.Shape == ShapeInt
}

// empty says what to write for a key without a value.
func empty(f *Field, key string) string {
	switch {
	case f.Type == Map, f.Type == Object && required(f.Fields) == "" && len(f.OneOf) == 0:
		return fmt.Sprintf("write %s: {}, or remove the key", key)
	case f.Type == Object && len(f.OneOf) == 0:
		return fmt.Sprintf("write %s: %s, or remove the key", key, required(f.Fields))
	case f.Type == List && !f.Wrap:
		return fmt.Sprintf("write %s: [], or remove the key", key)
	}
	return "add a value, or remove the key"
}

// required is a map of the keys that a value must have: {count: ...}. It is "" if there are none.
func required(fields []Field) string {
	var keys []string
	for _, f := range fields {
		if f.Required {
			keys = append(keys, f.Key+": ...")
		}
	}
	if keys == nil {
		return ""
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// asMap says how to write a list as the map that is wanted: the names that are in it become
// the keys, as the first one shows.
func asMap(n *Node, f *Field) string {
	if f.Type == Object {
		if len(n.Items) == 1 && n.Items[0].Shape == ShapeMap {
			return "remove the hyphen or the [ ]: it is one map"
		}
		return ""
	}
	if len(n.Items) == 0 || f.Elem.Type != Object {
		return ""
	}
	first := n.Items[0]
	name, body := first.Text, cmp.Or(required(f.Elem.Fields), "{}")
	if first.Shape == ShapeMap {
		name, body = "", "{...}"
		for _, key := range []string{"key", "name", "id"} {
			if v := first.Get(key); v != nil && v.scalar() && name == "" {
				name = v.Text
			}
		}
	}
	if name == "" || !matches(f.KeyIs, name) {
		return ""
	}
	return fmt.Sprintf("write each one under its key, without a hyphen or [ ]: %s: %s", name, body)
}

// withoutUnit converts a size to the unit of the field: 4G of memory is 4096.
func withoutUnit(text string, f *Field, key string) string {
	m := withUnit.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	number, err := strconv.Atoi(m[1])
	per := map[string]int{"MiB": sizes["M"], "GiB": sizes["G"]}[f.Unit]
	if err != nil || per == 0 || number > 1<<20 {
		return "write the number without a unit"
	}
	total := number * sizes[strings.ToUpper(m[2])]
	if v := total / per; total%per == 0 && v >= f.Min && v <= f.Max {
		return fmt.Sprintf("write %d: %s is in %s", v, key, f.Unit)
	}
	return fmt.Sprintf("write the number without a unit: %s is in %s", key, f.Unit)
}

// largerUnit says what a number means that is too small because it is in GiB.
func largerUnit(n *Node, f *Field, key string) string {
	if v := n.Int() * 1024; f.Unit == "MiB" && v >= f.Min && v <= f.Max {
		return fmt.Sprintf("%s is in MiB: write %d for %d GiB", key, v, n.Int())
	}
	return ""
}

// notIndented counts the keys after key i, which has no value, that must be keys below it: the
// map does not have them, and what is below key i may.
func notIndented(n *Node, i int, f *Field, has func(key string) bool) int {
	listed := f.Type == List && f.Elem.Type == Object
	if n.Items[i].Shape != ShapeNull || f.Type != Map && f.Type != Object && !listed {
		return 0
	}
	if listed {
		f = f.Elem
	}
	count := 0
	for k := i + 1; k < len(n.Keys) && n.Keys[k].Col == n.Keys[i].Col && n.Keys[k].Line > n.Keys[i].Line && !has(n.Keys[k].Text); k++ {
		if f.Type == Object && find(f.Fields, n.Keys[k].Text) == nil || f.Type == Map && !matches(f.KeyIs, n.Keys[k].Text) {
			break
		}
		count++
	}
	return count
}

// indent reports keys that notIndented found.
func (c *checker) indent(n *Node, f *Field, i, count int, path string) {
	which := fmt.Sprintf("%q is", n.Keys[i+1].Text)
	if count > 1 {
		which = fmt.Sprintf("the %d keys from %q on are", count, n.Keys[i+1].Text)
	}
	fix := "begin each line with two more spaces than " + n.Keys[i].Text + " has"
	if f.Type == List {
		fix = fmt.Sprintf("write a hyphen and a space before %s, and begin each further line of it with two more spaces", n.Keys[i+1].Text)
	}
	c.errorAt(n.Keys[i+1], join(path, n.Keys[i].Text), CodeType, fix,
		"%s has no value, because %s not indented", n.Keys[i].Text, which)
}
