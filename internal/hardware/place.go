package hardware

import (
	"slices"

	"stackgen/schema"
)

// fieldAt is the row of a value in a property.
func fieldAt(f *schema.Field, keys []string) *schema.Field {
	for _, key := range keys {
		if f.Type == schema.List {
			f = f.Elem
			continue
		}
		i := slices.IndexFunc(f.Fields, func(sub schema.Field) bool { return sub.Key == key })
		f = &f.Fields[i] // keys are made from the rows
	}
	return f
}

// valueAt is a value in a property, or nil.
func valueAt(f *schema.Field, n *schema.Node, keys []string) *schema.Node {
	if len(keys) == 0 || n == nil {
		return n
	}
	sub := fieldAt(f, keys[:1])
	if f.Type != schema.List {
		return valueAt(sub, n.Get(keys[0]), keys[1:])
	}
	for _, d := range named(f, n) {
		if d.key == keys[0] {
			return valueAt(sub, d.value, keys[1:])
		}
	}
	return nil
}

// put is a property with another value at a place; nil removes it.
func put(f *schema.Field, n *schema.Node, keys []string, value *schema.Node) *schema.Node {
	if len(keys) == 0 {
		return value
	}
	sub := fieldAt(f, keys[:1])
	if f.Type == schema.List {
		return putItem(f, sub, n, keys, value)
	}
	if n == nil {
		n = &schema.Node{Shape: schema.ShapeMap}
	}
	inner := put(sub, n.Get(keys[0]), keys[1:], value)
	if inner == nil {
		return n.Without(keys[0])
	}
	return n.With(&schema.Node{Shape: schema.ShapeString, Text: keys[0]}, inner)
}

// putItem is put for a list of devices.
func putItem(f, sub *schema.Field, n *schema.Node, keys []string, value *schema.Node) *schema.Node {
	out := &schema.Node{Shape: schema.ShapeList}
	done := false
	for _, d := range named(f, n) {
		item := d.value
		if d.key == keys[0] {
			item, done = put(sub, item, keys[1:], value), true
		}
		if item != nil {
			out.Items = append(out.Items, item)
		}
	}
	if !done && len(keys) == 1 && value != nil {
		out.Items = append(out.Items, value)
	}
	return out
}
