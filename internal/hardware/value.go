package hardware

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// whole and decimal are numbers as a spec writes them.
var (
	whole   = regexp.MustCompile(`^-?[0-9]{1,18}$`)
	decimal = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,15})?$`)
)

// scalar is a value of the shape that a field has, or text, which the field then
// refuses.
func scalar(f *schema.Field, text string) *schema.Node {
	shape := schema.ShapeString
	switch {
	case f.Type == schema.Bool && (text == "true" || text == "false"):
		shape = schema.ShapeBool
	case (f.Type == schema.Int || f.Type == schema.Float) && whole.MatchString(text):
		shape = schema.ShapeInt
	case f.Type == schema.Float && decimal.MatchString(text):
		shape = schema.ShapeFloat
	}
	return &schema.Node{Shape: shape, Text: text}
}

// texts is a list of texts.
func texts(items []string) *schema.Node {
	out := &schema.Node{Shape: schema.ShapeList}
	for _, t := range items {
		out.Items = append(out.Items, &schema.Node{Shape: schema.ShapeString, Text: t})
	}
	return out
}

// truth is a switch of a configuration as a spec has it.
func truth(text string) string {
	switch {
	case pve.True(text):
		return "true"
	case slices.Contains([]string{"0", "off", "no", "false", "ignore"}, strings.ToLower(text)):
		return "false"
	}
	return text
}

// bare is text that needs no quotes in YAML, also in braces.
var bare = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9/._+@-]*$`)

// words are texts that a version of YAML reads as a boolean or null.
var words = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

// flow is a value as YAML on one line; nothing is "".
func flow(n *schema.Node) string {
	if n == nil {
		return ""
	}
	switch n.Shape {
	case schema.ShapeMap:
		var parts []string
		for i, k := range n.Keys {
			parts = append(parts, k.Text+": "+flow(n.Items[i]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case schema.ShapeList:
		var parts []string
		for _, item := range n.Items {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case schema.ShapeString:
		if bare.MatchString(n.Text) && !slices.Contains(words, strings.ToLower(n.Text)) {
			return n.Text
		}
		return strconv.Quote(strings.ToValidUTF8(n.Text, "\ufffd")) // what YAML cannot have as it is, or ends a line in it, is escaped
	}
	return n.Text
}

// Text is a text as a value or key in YAML, in quotes where it needs them.
func Text(text string) string {
	return flow(&schema.Node{Shape: schema.ShapeString, Text: text})
}

// Flow is a value as YAML on one line; nothing is "".
func Flow(n *schema.Node) string { return flow(n) }

// Assignment is the line of a spec that gives a property of a kind of guest a value, without the parts
// that are its defaults.
func Assignment(kind guest.Kind, field string, value *schema.Node) string {
	f := schema.FieldOf(kind, field)
	return assignment(f, (&comparison{}).pruned(f, value, nil))
}

// short is a value with the shorthands that a spec offers.
func short(f *schema.Field, n *schema.Node) *schema.Node {
	switch {
	case n == nil:
		return nil
	case n.Shape == schema.ShapeList && f.Type == schema.List && f.Elem.Type == schema.Object:
		out := &schema.Node{Shape: schema.ShapeList}
		for _, item := range n.Items {
			out.Items = append(out.Items, short(f.Elem, item))
		}
		if f.Wrap && len(out.Items) == 1 {
			return out.Items[0]
		}
		return out
	case n.Shape == schema.ShapeMap && len(n.Keys) == 0 && f.On != "":
		return &schema.Node{Shape: schema.ShapeBool, Text: "true"}
	case n.Shape == schema.ShapeMap && len(n.Keys) == 1 && (n.Keys[0].Text == f.On || n.Keys[0].Text == f.Short):
		return n.Items[0]
	}
	return n
}
