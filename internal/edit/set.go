package edit

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// A Setting is one property of a VM: its key, and the whole of it as one line of
// YAML.
type Setting struct {
	Key  string
	Line string
}

// Set writes properties into a VM of a spec, in place of those that are there.
// All of it is done, or nothing.
func Set(src []byte, vm string, settings []Setting) ([]byte, error) {
	e, _, key, value, err := vmOf(src, vm)
	if err != nil {
		return nil, err
	}
	if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
		if err := e.fill(key, value, ""); err != nil {
			return nil, err
		}
		return Set(e.apply(), vm, settings)
	}
	if value.Kind != yaml.MappingNode {
		return nil, errors.New("its value is no map of its own, such as an alias that other VMs share: write its properties by hand")
	}
	var fresh []string
	for _, s := range settings {
		k, has := entry(value, s.Key)
		if has == nil {
			fresh = append(fresh, s.Line)
			continue
		}
		if err := e.instead(k, has, s.Line); err != nil {
			return nil, fmt.Errorf("%s: %w: write it by hand: %s", s.Key, err, s.Line)
		}
	}
	e, vms, key, value, err := vmOf(e.apply(), vm)
	if err != nil {
		return nil, err
	}
	if err := e.append(vms, key, value, fresh); err != nil {
		return nil, err
	}
	return e.apply(), nil
}

// vmOf finds a VM in a spec.
func vmOf(src []byte, vm string) (e *editor, vms, key, value *yaml.Node, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, nil, nil, nil, fmt.Errorf("it does not parse: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, nil, nil, nil, errors.New("it holds no document")
	}
	_, vms = entry(doc.Content[0], "vms")
	if key, value = entry(vms, vm); key == nil {
		return nil, nil, nil, nil, fmt.Errorf("%s is not written under vms; VMs of groups and classes have no entry of their own to write into", vm)
	}
	return &editor{src: src, lines: lineStarts(src)}, vms, key, value, nil
}

// instead puts a property in place of another one's whole text.
func (e *editor) instead(key, value *yaml.Node, line string) error {
	at, err := e.offset(key)
	if err != nil {
		return err
	}
	end, err := e.end(value)
	if err != nil {
		return err
	}
	e.edits = append(e.edits, change{at, end, line})
	return nil
}

// append puts new properties after the last one that is there.
func (e *editor) append(vms, key, value *yaml.Node, lines []string) error {
	switch {
	case len(lines) == 0:
		return nil
	case value.Style&yaml.FlowStyle != 0 && vms.Style&yaml.FlowStyle == 0 && len(lines) > 1:
		if done, err := e.unfold(key, value, lines); done || err != nil {
			return err
		}
		fallthrough
	case value.Style&yaml.FlowStyle != 0:
		return e.inBraces(value, strings.Join(lines, ", "))
	case len(value.Content) == 0:
		return errors.New("it is an empty map in a form that cannot be edited")
	}
	return e.after(key, value, lines)
}

// inBraces puts text last into a map in braces.
func (e *editor) inBraces(value *yaml.Node, text string) error {
	if len(value.Content) == 0 {
		return e.inside(value, text)
	}
	at, err := e.end(value.Content[len(value.Content)-1])
	if err != nil {
		return err
	}
	e.edits = append(e.edits, change{at, at, ", " + text})
	return nil
}

// after puts lines below the last property of a map.
func (e *editor) after(key, value *yaml.Node, lines []string) error {
	first, last := value.Content[0], value.Content[len(value.Content)-1]
	begin, err := e.offset(first)
	if err != nil {
		return err
	}
	indent := string(e.src[e.lines[first.Line-1]:begin])
	if first.Line <= key.Line || strings.Trim(indent, " ") != "" {
		return errors.New("its properties do not stand on lines of their own, indented by spaces")
	}
	at, err := e.end(last)
	if err != nil {
		return err
	}
	for at < len(e.src) && e.src[at] != '\n' { // a comment behind it stays there
		at++
	}
	newline := "\n"
	if at > 0 && e.src[at-1] == '\r' {
		newline, at = "\r\n", at-1
	}
	text := ""
	for _, line := range lines {
		text += newline + indent + line
	}
	e.edits = append(e.edits, change{at, at, text})
	return nil
}

// unfold turns a VM in braces on one line into lines of its own, so that many
// properties can be read. It reports whether it could.
func (e *editor) unfold(key, value *yaml.Node, lines []string) (bool, error) {
	at, err := e.offset(value)
	if err != nil {
		return false, err
	}
	end, err := e.end(value)
	if err != nil {
		return false, err
	}
	if value.Anchor != "" || e.src[at] != '{' || strings.ContainsAny(string(e.src[at:end]), "\n#") {
		return false, nil
	}
	begin := e.lines[key.Line-1]
	margin := string(e.src[begin:at])
	margin = margin[:len(margin)-len(strings.TrimLeft(margin, " "))]
	indent := "\n" + margin + "  "
	if rest := string(e.src[end:]); strings.HasPrefix(rest, "\r\n") {
		indent = "\r" + indent
	}
	text := ""
	for i := 0; i+1 < len(value.Content); i += 2 {
		from, err := e.offset(value.Content[i])
		if err != nil {
			return false, err
		}
		to, err := e.end(value.Content[i+1])
		if err != nil {
			return false, err
		}
		text += indent + string(e.src[from:to])
	}
	for _, line := range lines {
		text += indent + line
	}
	tail := end
	for tail < len(e.src) && e.src[tail] != '\n' && e.src[tail] != '\r' {
		tail++
	}
	e.edits = append(e.edits, change{tail, tail, text}, change{at, end, ""})
	if strings.TrimSpace(string(e.src[end:tail])) == "" { // no blank is left behind the colon
		from := at
		for from > 0 && e.src[from-1] == ' ' {
			from--
		}
		e.edits[len(e.edits)-1] = change{from, tail, ""}
	}
	return true, nil
}

// end is where a value's text ends.
func (e *editor) end(n *yaml.Node) (int, error) {
	at, err := e.offset(n)
	if err != nil {
		return 0, err
	}
	foreign := errors.New("it is written in a form that cannot be edited")
	switch {
	case n.Anchor != "":
		return 0, errors.New("it is an anchor, which other places may share")
	case n.Kind == yaml.AliasNode:
		return at + 1 + len(n.Value), nil
	case n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0:
		return e.block(n)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, foreign
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0:
		if !strings.HasPrefix(string(e.src[at:]), n.Value) {
			return 0, foreign // a tag, or several lines
		}
		return at + len(n.Value), nil
	}
	if end := closing(e.src, at); end > 0 {
		return end, nil
	}
	return 0, foreign
}

// block is the end of a list or map in lines: that of its last part. A comment
// in it would be lost.
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

// closing is where a value in braces, brackets or quotes ends, or 0.
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

// quoted is where quoted text has its closing quote, or 0.
func quoted(src []byte, at int) int {
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
