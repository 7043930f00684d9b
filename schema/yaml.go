package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds on a document. They are far above any real spec, and stop a small file
// that expands to more than fits into memory.
const (
	maxBytes = 16 << 20
	maxDepth = 64
	maxNodes = 1_000_000
)

// ParseYAML reads one YAML document into Nodes. The node is nil exactly when
// there are errors.
func ParseYAML(file string, src []byte) (*Node, []Problem) {
	n, problems := parseYAML(file, src)
	if HasErrors(problems) {
		return nil, problems
	}
	return n, problems
}

// parseYAML is ParseYAML, but also returns the node where its errors leave the
// rest of the document intact.
func parseYAML(file string, src []byte) (*Node, []Problem) {
	start := Pos{File: file, Line: 1, Col: 1}
	if len(src) > maxBytes {
		return nil, []Problem{{Pos: start, Severity: SeverityError, Code: CodeTooBig,
			Message: fmt.Sprintf("the file has %d bytes, but a spec has at most %d", len(src), maxBytes)}}
	}
	doc, err := decode(src)
	if errors.Is(err, io.EOF) || err == nil && (doc.Kind == 0 || len(doc.Content) == 0 || doc.Content[0].Tag == "!!null") {
		return nil, []Problem{{Pos: start, Severity: SeverityError, Code: CodeEmpty, Message: "the file contains no document",
			Fix: "`stackgen init` writes a commented example"}}
	}
	if more := (*severalError)(nil); errors.As(err, &more) {
		return nil, []Problem{{Pos: Pos{File: file, Line: more.line, Col: 1}, Severity: SeverityError, Code: CodeDocuments,
			Message: "a second document begins here, but a spec is one document", Fix: "move it to a file of its own"}}
	}
	if err != nil {
		return nil, []Problem{syntaxProblem(file, src, err)}
	}
	b := &builder{file: file, open: map[*yaml.Node]bool{}}
	n := b.node(doc.Content[0], 0)
	if slices.ContainsFunc(b.problems, func(p Problem) bool { return p.Code != CodeType && p.Code != CodeDuplicateKey }) {
		return nil, b.problems
	}
	return n, b.problems
}

type severalError struct{ line int }

func (e *severalError) Error() string { return "several documents" }

// decode reads the one document of src. yaml.v3 panics on some input; a panic is
// reported as a syntax error.
func decode(src []byte) (doc yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	if err := dec.Decode(&doc); err != nil {
		return doc, err
	}
	var next yaml.Node
	if err := dec.Decode(&next); err == nil {
		return doc, &severalError{line: max(next.Line, 1)}
	} else if !errors.Is(err, io.EOF) {
		return doc, err
	}
	return doc, nil
}

// A builder turns yaml.v3's tree into Nodes, within bounds.
type builder struct {
	file     string
	count    int
	open     map[*yaml.Node]bool // anchors being expanded: an alias to one of them is a cycle
	alias    *yaml.Node          // the alias in the document itself that is being expanded
	problems []Problem
}

func (b *builder) problem(y *yaml.Node, code, message, fix string) {
	b.problems = append(b.problems, Problem{Pos: b.pos(y), Severity: SeverityError, Code: code, Message: message, Fix: fix})
}

func (b *builder) pos(y *yaml.Node) Pos {
	return Pos{File: b.file, Line: max(y.Line, 1), Col: max(y.Column, 1)}
}

// node never returns nil, so that checks continue after a problem.
func (b *builder) node(y *yaml.Node, depth int) *Node {
	n := &Node{Pos: b.pos(y), Shape: ShapeNull}
	b.count++
	switch {
	case b.count == maxNodes:
		b.problem(cmp.Or(b.alias, y), CodeTooBig, fmt.Sprintf("the document expands to more than %d values", maxNodes), "use fewer aliases")
		return n
	case b.count > maxNodes:
		return n
	case depth > maxDepth:
		b.problem(y, CodeTooBig, fmt.Sprintf("values are nested more than %d levels deep", maxDepth), "")
		return n
	}
	switch y.Kind {
	case yaml.AliasNode:
		if b.open[y.Alias] {
			b.problem(y, CodeAlias, fmt.Sprintf("the alias *%s is inside its own anchor", y.Value), "")
			return n
		}
		if b.alias == nil {
			b.alias = y
			defer func() { b.alias = nil }()
		}
		b.open[y.Alias] = true
		defer delete(b.open, y.Alias)
		return b.node(y.Alias, depth+1)
	case yaml.SequenceNode:
		n.Shape = ShapeList
		for _, item := range y.Content {
			n.Items = append(n.Items, b.node(item, depth+1))
		}
	case yaml.MappingNode:
		n.Shape = ShapeMap
		b.mapping(n, y, depth)
	case yaml.ScalarNode:
		n.Text = y.Value
		n.Shape = b.scalar(y)
		if n.Shape == ShapeBool {
			n.Text = strings.ToLower(n.Text) // True and TRUE are bools too
		}
	}
	return n
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`)

func (b *builder) scalar(y *yaml.Node) Shape {
	switch y.ShortTag() {
	case "!!null":
		return ShapeNull
	case "!!bool":
		if !slices.Contains([]string{"true", "false"}, strings.ToLower(y.Value)) {
			b.problem(y, CodeType, y.Value+" is not true or false", "write true or false")
		}
		return ShapeBool
	case "!!int":
		if !decimal.MatchString(y.Value) {
			b.problem(y, CodeType, fmt.Sprintf("%s is not a plain decimal number", y.Value), "write it in decimal, or in quotes if it is text")
		}
		return ShapeInt
	case "!!float":
		if _, err := strconv.ParseFloat(y.Value, 64); err != nil || strings.ContainsAny(y.Value, "xXpPnN_") {
			b.problem(y, CodeType, fmt.Sprintf("%s is not a plain decimal number", y.Value), "write it in decimal, or in quotes if it is text")
		}
		return ShapeFloat
	case "!!str", "!!timestamp":
		return ShapeString
	default:
		b.problem(y, CodeType, fmt.Sprintf("the YAML tag %s is not allowed", y.Tag), "remove the tag")
		return ShapeString
	}
}

func (b *builder) mapping(n *Node, y *yaml.Node, depth int) {
	var merges []*yaml.Node
	seen := map[string]*Node{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.ShortTag() == "!!merge" {
			merges = append(merges, v)
			continue
		}
		key := b.node(k, depth+1)
		if b.count >= maxNodes {
			return
		}
		if key.Shape == ShapeList || key.Shape == ShapeMap || key.Shape == ShapeNull {
			b.problem(k, CodeType, "a key must be text, but this is "+string(key.Shape), "")
			continue
		}
		if first := seen[key.Text]; first != nil {
			b.problem(k, CodeDuplicateKey, fmt.Sprintf("the key %q is already on line %d", key.Text, first.Line),
				"keep one of them")
			continue
		}
		seen[key.Text] = key
		n.Keys, n.Items = append(n.Keys, key), append(n.Items, b.node(v, depth+1))
	}
	for _, m := range merges {
		b.merge(n, m, seen, depth)
	}
}

// merge adds the missing entries of a merge key (<<): the map's own entries take
// precedence, then those of earlier merged maps.
func (b *builder) merge(n *Node, y *yaml.Node, seen map[string]*Node, depth int) {
	from := b.node(y, depth+1)
	maps := []*Node{from}
	if from.Shape == ShapeList {
		maps = from.Items
	}
	for _, m := range maps {
		if m.Shape != ShapeMap {
			b.problem(y, CodeAlias, "a merge key (<<) takes a map or a list of maps, but this is "+string(m.Shape), "")
			continue
		}
		for i, key := range m.Keys {
			if seen[key.Text] == nil {
				seen[key.Text] = key
				n.Keys, n.Items = append(n.Keys, key), append(n.Items, m.Items[i])
			}
		}
	}
}
