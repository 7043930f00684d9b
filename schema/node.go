package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Shape is what a Node holds.
type Shape string

// The shapes of a Node, as YAML has them.
const (
	ShapeNull   Shape = "nothing"
	ShapeBool   Shape = "true or false"
	ShapeInt    Shape = "a whole number"
	ShapeFloat  Shape = "a number"
	ShapeString Shape = "text"
	ShapeList   Shape = "a list"
	ShapeMap    Shape = "a map"
)

// A Node is a YAML value with its position. Aliases and merge keys are expanded.
// Nodes do not change after parsing: a merge makes new ones, so a node can be in
// many trees.
type Node struct {
	Pos
	Shape Shape
	Text  string  // a scalar as written, without quotes
	Keys  []*Node // of a map, parallel to Items
	Items []*Node // of a list or map
}

// Get follows a path of map keys. It returns nil if a key does not exist.
func (n *Node) Get(path ...string) *Node {
	for _, key := range path {
		i := n.index(key)
		if i < 0 {
			return nil
		}
		n = n.Items[i]
	}
	return n
}

// Same reports whether two nodes have the same values, wherever they are written.
func (n *Node) Same(other *Node) bool {
	if n == nil || other == nil {
		return n == other
	}
	key := func(a, b *Node) bool { return a.Text == b.Text }
	return n.Shape == other.Shape && n.Text == other.Text && slices.EqualFunc(n.Keys, other.Keys, key) &&
		slices.EqualFunc(n.Items, other.Items, (*Node).Same)
}

// Has reports whether a path of map keys leads to a value.
func (n *Node) Has(path ...string) bool { return n.Get(path...) != nil }

// key returns the key node of an entry, for problems that point at it.
func (n *Node) key(key string) *Node {
	if i := n.index(key); i >= 0 {
		return n.Keys[i]
	}
	return n
}

func (n *Node) index(key string) int {
	if n == nil || n.Shape != ShapeMap {
		return -1
	}
	return slices.IndexFunc(n.Keys, func(k *Node) bool { return k.Text == key })
}

// Str returns a scalar's text, or "" for nil.
func (n *Node) Str() string {
	if n == nil {
		return ""
	}
	return n.Text
}

// Int returns a whole number, or 0 for nil.
func (n *Node) Int() int {
	i, _ := strconv.Atoi(n.Str()) // the parser checked the text; 0 means absent
	return i
}

// Bool reports whether the value is true.
func (n *Node) Bool() bool { return n != nil && n.Shape == ShapeBool && n.Text == "true" }

// Off reports whether the value is false, for fields that take a map or false.
func (n *Node) Off() bool { return n != nil && n.Shape == ShapeBool && n.Text == "false" }

// List returns a list's items, or nil.
func (n *Node) List() []*Node {
	if n == nil || n.Shape != ShapeList {
		return nil
	}
	return n.Items
}

// Strings returns the texts of a list's items.
func (n *Node) Strings() []string {
	out := make([]string, 0, len(n.List()))
	for _, item := range n.List() {
		out = append(out, item.Text)
	}
	return out
}

// With returns a copy of a map with one entry set. An existing entry keeps its
// place.
func (n *Node) With(key, value *Node) *Node {
	out := &Node{Pos: n.Pos, Shape: ShapeMap, Keys: slices.Clone(n.Keys), Items: slices.Clone(n.Items)}
	if i := out.index(key.Text); i >= 0 {
		out.Keys[i], out.Items[i] = key, value
	} else {
		out.Keys, out.Items = append(out.Keys, key), append(out.Items, value)
	}
	return out
}

// Without returns a copy of a map without the given keys.
func (n *Node) Without(keys ...string) *Node {
	out := &Node{Pos: n.Pos, Shape: ShapeMap}
	for i, key := range n.Keys {
		if !slices.Contains(keys, key.Text) {
			out.Keys, out.Items = append(out.Keys, key), append(out.Items, n.Items[i])
		}
	}
	return out
}

// Scalar makes a scalar node with a position.
func Scalar(at Pos, shape Shape, text string) *Node {
	return &Node{Pos: at, Shape: shape, Text: text}
}

// bareWord is text that needs no quotes if YAML reads it as text.
var bareWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// Flow is a node as YAML on one line.
func (n *Node) Flow() string {
	var parts []string
	switch n.Shape {
	case ShapeNull:
		return "null"
	case ShapeString:
		read, problems := ParseYAML("", []byte("text: "+n.Text))
		if bareWord.MatchString(n.Text) && len(problems) == 0 && read.Get("text").Shape == ShapeString {
			return n.Text
		}
		return strconv.Quote(n.Text)
	case ShapeList:
		for _, item := range n.Items {
			parts = append(parts, item.Flow())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case ShapeMap:
		for i, key := range n.Keys {
			parts = append(parts, key.Flow()+": "+n.Items[i].Flow())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return n.Text
}
