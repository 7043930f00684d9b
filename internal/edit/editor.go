package edit

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// An editor collects changes of one file.
type editor struct {
	src     []byte
	lines   []int
	changes []change
}

// A change replaces the bytes from at to end.
type change struct {
	at, end int
	text    string
}

// lineStarts are where the lines of a file begin. YAML has more ends of lines than a text editor shows.
func lineStarts(src []byte) []int {
	out := []int{0}
	for i := 0; i < len(src); {
		c, size := utf8.DecodeRune(src[i:])
		i += size
		switch {
		case c == '\r' && i < len(src) && src[i] == '\n': // they are one end
		case strings.ContainsRune("\n\r\u0085\u2028\u2029", c):
			out = append(out, i)
		}
	}
	return out
}

// Lines are the lines of a file as YAML counts them, each with its end.
func Lines(src []byte) []string {
	var out []string
	starts := append(lineStarts(src), len(src))
	for i := range len(starts) - 1 {
		out = append(out, string(src[starts[i]:starts[i+1]]))
	}
	return out
}

// Replace replaces a text that is at a line and a column, both from 1; it may be in quotes, which stay.
func Replace(src []byte, line, column int, old, text string) ([]byte, error) {
	e := &editor{src: src, lines: lineStarts(src)}
	at, err := e.offset(&yaml.Node{Line: line, Column: column})
	if err != nil {
		return nil, err
	}
	if at < len(src) && strings.ContainsRune("\"'", rune(src[at])) {
		at++
	}
	if old == "" || !strings.HasPrefix(string(src[at:]), old) {
		return nil, errForm
	}
	e.changes = []change{{at, at + len(old), text}}
	return e.apply(), nil
}

// offset is where a node begins. The columns of yaml.v3 count characters.
func (e *editor) offset(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(e.lines) {
		return 0, errors.New("it cannot be found in the file")
	}
	at := e.lines[n.Line-1]
	if n.Line == 1 && strings.HasPrefix(string(e.src), "\ufeff") {
		at += len("\ufeff")
	}
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(e.src[at:])
		at += size
	}
	return at, nil
}

// apply makes all changes, the last one in the file first.
func (e *editor) apply() []byte {
	slices.SortStableFunc(e.changes, func(a, b change) int { return b.at - a.at })
	out := slices.Clone(e.src)
	for _, c := range e.changes {
		out = slices.Replace(out, c.at, c.end, []byte(c.text)...)
	}
	return out
}

// entry returns a key of a map and its value, or nil.
func entry(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// end is where the text of a value ends.
func (e *editor) end(n *yaml.Node) (int, error) {
	at, err := e.offset(n)
	if err != nil {
		return 0, err
	}
	unsupported := errors.New("it is written in a form that cannot be edited")
	switch {
	case n.Anchor != "":
		return 0, errors.New("it is an anchor, which other places may share")
	case n.Kind == yaml.AliasNode:
		return at + 1 + len(n.Value), nil
	case n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0:
		return e.block(n)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, unsupported
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0:
		if !strings.HasPrefix(string(e.src[at:]), n.Value) {
			return 0, unsupported // a tag, or several lines
		}
		return at + len(n.Value), nil
	}
	if end := closing(e.src, at); end > 0 {
		return end, nil
	}
	return 0, unsupported
}

// block is the end of a list or map on several lines, which is the end of its last
// part. A comment in it would be lost.
func (e *editor) block(n *yaml.Node) (int, error) {
	if len(n.Content) == 0 {
		return 0, errors.New("it is written in a form that cannot be edited")
	}
	for _, part := range n.Content {
		if part.HeadComment+part.LineComment+part.FootComment != "" {
			return 0, errors.New("there are comments in it, which would be lost")
		}
		if part.Kind != yaml.ScalarNode && part.Style&yaml.FlowStyle == 0 {
			if _, err := e.block(part); err != nil {
				return 0, err
			}
		}
	}
	return e.end(n.Content[len(n.Content)-1])
}

// closing is the end of a value in braces, brackets or quotes, or 0.
func closing(src []byte, at int) int {
	depth := 0
	for i := at; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"' || c == '\'':
			if depth > 0 && i > 0 && !strings.ContainsRune(" \t\n[{,:", rune(src[i-1])) {
				continue // in the middle of plain text, such as don't
			}
			if i = quoted(src, i); i == 0 {
				return 0
			}
			if depth == 0 {
				return i + 1
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '#' && i > 0 && strings.ContainsRune(" \t\n", rune(src[i-1])):
			return 0 // a comment, which would be lost
		case depth == 0:
			return 0
		}
	}
	return 0
}

// quoted is the position of a closing quote, or 0.
func quoted[T string | []byte](src T, at int) int {
	for i := at + 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && src[at] == '"':
			i++
		case src[i] == src[at] && src[at] == '\'' && i+1 < len(src) && src[i+1] == '\'':
			i++
		case src[i] == src[at]:
			return i
		}
	}
	return 0
}
