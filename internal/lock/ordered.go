package lock

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// An Entry is one key of an Ordered map.
type Entry[T noder] struct {
	Key   string
	Value T
}

// Ordered is a map that keeps its order, so that nothing depends on chance on
// its way to the file. Entries of the inner maps take one line each.
type Ordered[T noder] []Entry[T]

// Get returns the entry of a key, or nil.
func (o Ordered[T]) Get(key string) *T {
	if i := o.index(key); i >= 0 {
		return &o[i].Value
	}
	return nil
}

// ByKey returns the entries by key, for loops that would search o once for
// each VM. The pointers are valid until o grows.
func (o Ordered[T]) ByKey() map[string]*T {
	out := make(map[string]*T, len(o))
	for i := range o {
		out[o[i].Key] = &o[i].Value
	}
	return out
}

func (o Ordered[T]) keys() []string {
	var out []string
	for _, e := range o {
		out = append(out, e.Key)
	}
	return out
}

func (o Ordered[T]) index(key string) int {
	return slices.IndexFunc(o, func(e Entry[T]) bool { return e.Key == key })
}

// MarshalYAML writes the entries in order.
func (o Ordered[T]) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, e := range o {
		value, err := e.Value.node()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Key, err)
		}
		n.Content = append(n.Content, str(e.Key), value)
	}
	return n, nil
}
