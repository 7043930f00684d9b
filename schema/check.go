package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stackgen/guest"
	"stackgen/internal/secret"
)

// A checker compares a document with the tables and collects problems.
type checker struct {
	Collector
	// ordinals: text may hold {n} arithmetic here. Its format is checked when
	// the group is expanded.
	ordinals   bool
	containers bool         // the keys are those of a group of containers
	reported   map[Pos]bool // places with a problem that explains all others there
	vm         *subject     // the VM at hand, if any
}

func newChecker() *checker { return &checker{reported: map[Pos]bool{}} }

func (c *checker) problem(p Problem, format string, args ...any) {
	switch {
	case c.reported[p.Pos]:
	case c.vm != nil:
		c.addSubject(*c.vm, p, format, args...)
	default:
		p.Message = fmt.Sprintf(format, args...)
		c.Add(p)
	}
}

func (c *checker) errorAt(n *Node, path, code, fix, format string, args ...any) {
	c.errorPos(n.Pos, path, code, fix, format, args...)
}

func (c *checker) errorPos(pos Pos, path, code, fix, format string, args ...any) {
	c.problem(Problem{Pos: pos, Path: path, Severity: SeverityError, Code: code, Fix: fix}, format, args...)
}

func (c *checker) warn(pos Pos, path, code, fix, format string, args ...any) {
	c.problem(Problem{Pos: pos, Path: path, Severity: SeverityWarning, Code: code, Fix: fix}, format, args...)
}

// check checks a value against its row and returns it in its long form:
// shorthands expanded, single elements wrapped. The result has only nodes of the
// right type.
func (c *checker) check(n *Node, f *Field, path string) *Node {
	if f.Ordinals && !c.ordinals {
		c.ordinals = true
		defer func() { c.ordinals = false }()
	}
	n = longForm(n, f)
	switch f.Type {
	case Object:
		if n.Shape == ShapeBool && n.Text == "false" && f.Off {
			return n
		}
		if n.Shape != ShapeMap {
			c.wrongType(n, f, path)
			return nil
		}
		c.oneOf(n, f.OneOf, path)
		if f.Containers == nil {
			return c.object(n, f.Fields, path)
		}
		defer func() { c.containers = false }()
		c.containers = isContainers(n)
		return c.object(n, f.fieldsOf(n), path)
	case Map:
		if n.Shape != ShapeMap {
			c.wrongType(n, f, path)
			return nil
		}
		return c.mapping(n, f, path)
	case List:
		if n.Shape != ShapeList {
			c.wrongType(n, f, path)
			return nil
		}
		return c.list(n, f, path)
	case Any:
		return n
	default:
		return c.scalar(n, f, path)
	}
}

// isContainers reports whether a group says that its members are containers.
func isContainers(group *Node) bool { return group.Get(kindKey).Str() == containerKind }

// fieldsOf are the keys that an object may have, by its kind.
func (f *Field) fieldsOf(n *Node) []Field {
	if f.Containers != nil && isContainers(n) {
		return f.Containers
	}
	return f.Fields
}

// longForm expands a shorthand.
func longForm(n *Node, f *Field) *Node {
	short := func(key string) *Node {
		return &Node{Pos: n.Pos, Shape: ShapeMap, Keys: []*Node{Scalar(n.Pos, ShapeString, key)}, Items: []*Node{n}}
	}
	switch {
	case f.Type == List && f.Wrap && n.Shape != ShapeList:
		return &Node{Pos: n.Pos, Shape: ShapeList, Items: []*Node{n}}
	case f.Type != Object:
		return n
	case f.On != "" && n.Shape == ShapeBool:
		return short(f.On)
	case f.ShortInt != "" && n.Shape == ShapeInt:
		return short(f.ShortInt)
	case f.Short != "" && n.Shape == ShapeString:
		return short(f.Short)
	}
	return n
}

func (c *checker) wrongType(n *Node, f *Field, path string) {
	c.errorAt(n, path, CodeType, correction(n, f, path), "%s takes %s, but this is %s", last(path), f.want(), n.Shape)
}

// last is the name of the field at a path.
func last(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		path = path[i+1:]
	}
	if path == "" {
		return "the document"
	}
	return path
}

func (c *checker) object(n *Node, fields []Field, path string) *Node {
	out := &Node{Pos: n.Pos, Shape: ShapeMap}
	for i := 0; i < len(n.Keys); i++ {
		key := n.Keys[i]
		f := find(fields, key.Text)
		if f == nil {
			fix := suggest(key.Text, fields, path, c.containers)
			c.errorAt(key, join(path, key.Text), CodeUnknownKey, fix, "unknown key %q in %s", key.Text, last(path))
			continue
		}
		if count := notIndented(n, i, f, func(key string) bool { return find(fields, key) != nil }); count > 0 {
			c.indent(n, f, i, count, path)
			i += count
			continue
		}
		if v := c.check(n.Items[i], f, join(path, f.Key)); v != nil {
			out.Keys, out.Items = append(out.Keys, key), append(out.Items, v)
		}
	}
	for _, f := range fields {
		if f.Required && n.index(f.Key) < 0 {
			c.errorAt(n, join(path, f.Key), CodeMissingKey, fmt.Sprintf("add %s: %s", f.Key, f.want()), "%s lacks the key %q", last(path), f.Key)
		}
	}
	return out
}

// oneOf checks that a map has exactly one of some keys.
func (c *checker) oneOf(n *Node, keys []string, path string) {
	given := 0
	for _, key := range keys {
		if n.index(key) >= 0 {
			given++
		}
	}
	switch {
	case len(keys) == 0 || given == 1:
	case given == 0:
		c.errorAt(n, path, CodeMissingKey, "add "+strings.Join(keys, " or "), "%s has none of the keys %s", last(path), strings.Join(keys, ", "))
	default:
		c.errorAt(n, path, CodeValue, "keep one of them", "%s has more than one of the keys %s", last(path), strings.Join(keys, ", "))
	}
}

func (c *checker) mapping(n *Node, f *Field, path string) *Node {
	out := &Node{Pos: n.Pos, Shape: ShapeMap}
	has := func(key string) bool { // or may have
		return f.Elem.Type != Object || find(f.Elem.Fields, key) == nil
	}
	for i := 0; i < len(n.Keys); i++ {
		key := n.Keys[i]
		if count := notIndented(n, i, f.Elem, has); count > 0 && n.Items[i+1].Shape != ShapeMap {
			c.indent(n, f.Elem, i, count, path)
			i += count
			continue
		}
		if f.KeyIs != "" && !matches(f.KeyIs, key.Text) {
			c.errorAt(key, join(path, key.Text), CodeValue, "", "%q is not %s", key.Text, formats[f.KeyIs].want)
			continue
		}
		if v := c.check(n.Items[i], f.Elem, join(path, key.Text)); v != nil {
			out.Keys, out.Items = append(out.Keys, key), append(out.Items, v)
		}
	}
	return out
}

func (c *checker) list(n *Node, f *Field, path string) *Node {
	if f.Most > 0 && len(n.Items) > f.Most {
		c.errorAt(n.Items[f.Most], path, CodeRange, "", "%s takes at most %d items, but this is number %d", last(path), f.Most, f.Most+1)
	}
	out := &Node{Pos: n.Pos, Shape: ShapeList}
	for i, item := range n.Items {
		if v := c.check(item, f.Elem, fmt.Sprintf("%s[%d]", path, i)); v != nil {
			out.Items = append(out.Items, v)
		}
	}
	return out
}

func (c *checker) scalar(n *Node, f *Field, path string) *Node {
	ok := map[Type]bool{
		Bool:   n.Shape == ShapeBool,
		Int:    n.Shape == ShapeInt,
		Float:  n.Shape == ShapeInt || n.Shape == ShapeFloat,
		String: n.Shape == ShapeString || f.Number && n.Shape == ShapeInt,
	}[f.Type]
	if !ok {
		c.wrongType(n, f, path)
		return nil
	}
	switch {
	case f.Type == String && c.ordinals && !f.Fixed && ordinal.MatchString(n.Text):
	case f.Type == String && len(f.Enum) > 0 && !slices.Contains(f.Enum, n.Text):
		fix := ""
		if near := Nearest(n.Text, f.Enum); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
		c.errorAt(n, path, CodeValue, fix, "%s takes %s, but this is %q", last(path), f.want(), n.Text)
		return nil
	case f.Type == String && !matches(f.Format, n.Text):
		fix := map[bool]string{true: "write it on one line"}[f.Format == "line"]
		c.errorAt(n, path, CodeValue, fix, "%s takes %s, but this is %q", last(path), f.want(), n.Text)
		return nil
	case f.Type == String && f.Most > 0 && utf8.RuneCountInString(n.Text) > f.Most:
		c.errorAt(n, path, CodeRange, "", "%s takes at most %d characters, but this has %d", last(path), f.Most, utf8.RuneCountInString(n.Text))
		return nil
	case (f.Type == Int || f.Type == Float) && f.Max != 0:
		v, err := strconv.ParseFloat(n.Text, 64)
		if err != nil || v < float64(f.Min) || v > float64(f.Max) {
			c.errorAt(n, path, CodeRange, largerUnit(n, f, last(path)), "%s takes %s, but this is %s", last(path), f.want(), n.Text)
			return nil
		}
	}
	return n
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// texts reports all text, keys included, that no spec may contain: secrets and
// control characters.
func (c *checker) texts(n *Node, path string) {
	if n.Shape == ShapeString {
		c.text(n, path)
	}
	for i, item := range n.Items {
		at := path
		if n.Shape == ShapeMap {
			at = join(path, n.Keys[i].Text)
			c.texts(n.Keys[i], at)
		}
		c.texts(item, at)
	}
}

func (c *checker) text(n *Node, path string) {
	if secret.In(n.Text) {
		c.errorAt(n, path, CodeSecret, "remove it, revoke it, and pass it in the environment: PROXMOX_VE_API_TOKEN, DNS_UPDATE_KEYSECRET, AWS_*",
			"this looks like a token or a private key; a spec is committed, so it must not contain secrets")
		c.reported[n.Pos] = true
	}
	if r, ok := controlIn(n.Text); ok {
		c.errorAt(n, path, CodeValue, fmt.Sprintf("remove the character %U", r), "text contains %s", controlName(r))
		c.reported[n.Pos] = true
	}
}

// CheckProperty checks one property of a guest of a kind as it would be checked in a spec.
func CheckProperty(kind guest.Kind, key string, n *Node) []Problem {
	f := FieldOf(kind, key)
	if f == nil {
		return []Problem{{Path: key, Severity: SeverityError, Code: CodeUnknownKey, Message: fmt.Sprintf("unknown key %q", key)}}
	}
	c := newChecker()
	c.texts(n, key)
	c.check(n, f, key)
	return c.problems
}
