package edit

import (
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"stackgen/guest"
)

// A Part is one value in a property of a VM.
type Part struct {
	Path []string // keys; an item of a list by its interface, by its text, or by its number
	Text string   // the value as one line of YAML; empty removes it
}

// setParts makes the settings that only change parts of a property, and returns the
// others. A property whose parts cannot be edited is replaced as a whole.
func setParts(src []byte, at []string, settings []Setting) ([]byte, []Setting, error) {
	src, err := open(src, at)
	if err != nil {
		return nil, nil, err
	}
	var rest []Setting
	for _, s := range settings {
		edited, err := editParts(src, append(at[:len(at):len(at)], s.Key), s.Parts)
		if err != nil || len(s.Parts) == 0 {
			rest = append(rest, Setting{Key: s.Key, Line: s.Line, Add: s.Add})
			continue
		}
		src = edited
	}
	return src, rest, nil
}

// editParts makes the parts of one property, one after the other.
func editParts(src []byte, at []string, parts []Part) ([]byte, error) {
	for _, p := range parts {
		e, _, _, value, err := findEntry(src, at)
		if err != nil {
			return nil, err
		}
		if err := e.part(value, p.Path, p.Text); err != nil {
			return nil, err
		}
		src = e.apply()
	}
	return src, nil
}

var errForm = errors.New("it is written in a form that cannot be edited")

// part changes what a path leads to, below a value.
func (e *editor) part(n *yaml.Node, path []string, text string) error {
	if n.Anchor != "" || len(path) == 0 {
		return errForm
	}
	switch n.Kind {
	case yaml.MappingNode:
		key, value := entry(n, path[0])
		switch {
		case value != nil && len(path) > 1:
			return e.part(value, path[1:], text)
		case value != nil && text == "" && len(n.Content) == 2:
			return errForm // without it, nothing is left
		case value != nil && text == "":
			return e.removeKey(n, key, value)
		case value != nil:
			return e.replaceValue(value, text)
		case len(path) > 1 || text == "":
			return errForm
		}
		return e.addKey(n, path[0]+": "+text)
	case yaml.SequenceNode:
		i := item(n, path[0])
		switch {
		case i >= 0 && len(path) > 1:
			return e.part(n.Content[i], path[1:], text)
		case i >= 0 && text == "":
			return e.removeItem(n, i)
		case i >= 0:
			return e.replaceValue(n.Content[i], text)
		case len(path) > 1 || text == "":
			return errForm
		}
		return e.addItem(n, text)
	}
	return errForm
}

// item is the position of an item in a list, or -1.
func item(list *yaml.Node, name string) int {
	for i, n := range list.Content {
		_, at := entry(n, guest.Interface)
		_, slot := entry(n, guest.Device)
		switch {
		case slot != nil && slot.Value == name:
			return i
		case n.Kind == yaml.ScalarNode && n.Value == name, at != nil && at.Value == name,
			n.Kind == yaml.MappingNode && at == nil && name == strconv.Itoa(i):
			return i
		}
	}
	return -1
}

// replaceValue replaces a value, and keeps its key and the comment behind it.
func (e *editor) replaceValue(value *yaml.Node, text string) error {
	at, err := e.offset(value)
	if err != nil {
		return err
	}
	end, err := e.end(value)
	if err != nil {
		return err
	}
	if value.Kind != yaml.AliasNode && value.Kind != yaml.ScalarNode && value.Style&yaml.FlowStyle == 0 || end == at {
		return errForm
	}
	e.changes = append(e.changes, change{at, end, text})
	return nil
}

// addKey inserts a key as the last one of a map.
func (e *editor) addKey(n *yaml.Node, text string) error {
	if n.Style&yaml.FlowStyle != 0 {
		return e.insertLast(n, text)
	}
	if len(n.Content) == 0 {
		return errForm
	}
	first, last := n.Content[0], n.Content[len(n.Content)-1]
	if strings.Trim(string(e.src[e.lines[first.Line-1]:][:first.Column-1]), " -") != "" {
		return errForm
	}
	return e.insertLine(last, strings.Repeat(" ", first.Column-1)+text)
}

// addItem inserts an item as the last one of a list.
func (e *editor) addItem(n *yaml.Node, text string) error {
	if len(n.Content) == 0 {
		return errForm
	}
	if n.Style&yaml.FlowStyle != 0 {
		return e.insertLast(n, text)
	}
	last := n.Content[len(n.Content)-1]
	margin, ok := e.margin(last)
	if !ok {
		return errForm
	}
	if last.Kind == yaml.MappingNode && last.Style&yaml.FlowStyle == 0 {
		text = unfolded(text, strings.Repeat(" ", last.Column-1))
	}
	return e.insertLine(last, margin+text)
}

// margin is the text before an item that begins a line, up to and including its dash.
func (e *editor) margin(n *yaml.Node) (string, bool) {
	at, err := e.offset(n)
	if err != nil {
		return "", false
	}
	margin := string(e.src[e.lines[n.Line-1]:at])
	return margin, strings.Count(margin, "-") == 1 && strings.Trim(margin, " -") == ""
}

// unfolded is a map in braces as one line for each key, if it can be.
func unfolded(text, indent string) string {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return text
	}
	n := doc.Content[0]
	e := &editor{src: []byte(text), lines: lineStarts([]byte(text))}
	var lines []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		from, err := e.offset(n.Content[i])
		to, err2 := e.end(n.Content[i+1])
		if err != nil || err2 != nil {
			return text
		}
		lines = append(lines, text[from:to])
	}
	return strings.Join(lines, "\n"+indent)
}

// leaf is the last value in a value on several lines.
func leaf(n *yaml.Node) *yaml.Node {
	for n.Kind != yaml.ScalarNode && n.Kind != yaml.AliasNode && n.Style&yaml.FlowStyle == 0 && n.Anchor == "" && len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n
}

// insertLine inserts a line below the last line of a value.
func (e *editor) insertLine(last *yaml.Node, line string) error {
	at, err := e.end(leaf(last))
	if err != nil {
		return err
	}
	for at < len(e.src) && e.src[at] != '\n' { // a comment stays behind its value
		at++
	}
	if at > 0 && e.src[at-1] == '\r' {
		at--
	}
	e.changes = append(e.changes, change{at, at, e.newline("\n" + line)})
	return nil
}

// removeKey removes a key and its value from a map.
func (e *editor) removeKey(n, key, value *yaml.Node) error {
	if n.Style&yaml.FlowStyle != 0 {
		return e.removeBetween(n, key, value)
	}
	at, err := e.offset(key)
	if err != nil {
		return err
	}
	if strings.Trim(string(e.src[e.lines[key.Line-1]:at]), " ") != "" {
		return errForm // the first key of an item
	}
	return e.removeLines(key, value)
}

// removeItem removes an item from a list that has others.
func (e *editor) removeItem(n *yaml.Node, i int) error {
	if len(n.Content) < 2 {
		return errForm
	}
	if n.Style&yaml.FlowStyle != 0 {
		return e.removeBetween(n, n.Content[i], n.Content[i])
	}
	if _, ok := e.margin(n.Content[i]); !ok {
		return errForm
	}
	return e.removeLines(n.Content[i], n.Content[i])
}

// removeBetween removes what is from the beginning of one node to the end of another, in
// braces or brackets, with the comma before or behind it.
func (e *editor) removeBetween(n, first, last *yaml.Node) error {
	at, err := e.offset(first)
	if err != nil {
		return err
	}
	end, err := e.end(last)
	if err != nil {
		return err
	}
	for i, part := range n.Content {
		switch {
		case part == first && i > 0:
			if at, err = e.end(n.Content[i-1]); err != nil {
				return err
			}
		case part == last && first == n.Content[0] && i+1 < len(n.Content):
			if end, err = e.offset(n.Content[i+1]); err != nil {
				return err
			}
		}
	}
	if strings.ContainsAny(string(e.src[at:end]), "#\n") {
		return errForm // a comment may be lost
	}
	e.changes = append(e.changes, change{at, end, ""})
	return nil
}

// removeLines removes the lines of a node and those up to the end of another one.
func (e *editor) removeLines(first, last *yaml.Node) error {
	end, err := e.end(leaf(last))
	if err != nil {
		return err
	}
	for end < len(e.src) && e.src[end] != '\n' {
		end++
	}
	at := e.lines[first.Line-1]
	if end < len(e.src) {
		end++
	} else if at > 0 {
		at-- // the last line has no end
	}
	e.changes = append(e.changes, change{at, end, ""})
	return nil
}
