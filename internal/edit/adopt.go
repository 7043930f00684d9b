package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// An Adoption is the decision that a VM of the spec is the one with a VMID.
type Adoption struct {
	Key  string
	VMID int
}

// VMs is the name of a spec and the keys of the VMs that are written in it, even
// where the spec is not valid otherwise.
func VMs(src []byte) (name string, keys []string) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil || len(doc.Content) == 0 {
		return "", nil
	}
	if _, n := entry(doc.Content[0], "name"); n != nil {
		name = n.Value
	}
	if _, vms := entry(doc.Content[0], "vms"); vms != nil && vms.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(vms.Content); i += 2 {
			keys = append(keys, vms.Content[i].Value)
		}
	}
	return name, keys
}

// Adopt writes `adopt: {vmid: N}` into the VMs of a spec. All of it is done, or
// nothing.
func Adopt(src []byte, adoptions []Adoption) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, fmt.Errorf("it does not parse: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("it holds no document")
	}
	_, vms := entry(doc.Content[0], "vms")
	e := &editor{src: src, lines: lineStarts(src)}
	var errs []error
	for _, a := range adoptions {
		key, value := entry(vms, a.Key)
		if key == nil {
			errs = append(errs, fmt.Errorf("%s is not written under vms; VMs of groups and classes have no entry of their own to write into", a.Key))
			continue
		}
		if err := e.adopt(key, value, a.VMID); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.Key, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return e.apply(), nil
}

// entry is a key of a map and its value, or nothing.
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

// An editor collects edits of one file.
type editor struct {
	src   []byte
	lines []int
	edits []change
}

// A change puts text in place of the bytes from at to end.
type change struct {
	at, end int
	text    string
}

func lineStarts(src []byte) []int {
	out := []int{0}
	for i, b := range src {
		if b == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// offset is where a node begins. yaml.v3 counts characters.
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

func (e *editor) adopt(key, value *yaml.Node, vmid int) error {
	text := fmt.Sprintf("adopt: {vmid: %d}", vmid)
	if value.Kind == yaml.AliasNode {
		return fmt.Errorf("its value is an alias, which other VMs share: write %s by hand", text)
	}
	if _, has := entry(value, "adopt"); has != nil {
		return e.replace(has, vmid)
	}
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag == "!!null":
		return e.fill(key, value, text)
	case value.Kind != yaml.MappingNode:
		return errors.New("it is no map")
	case value.Style&yaml.FlowStyle != 0:
		return e.inside(value, text)
	case len(value.Content) == 0:
		return errors.New("it is an empty map in a form that cannot be edited")
	}
	return e.below(key, value.Content[0], text)
}

// replace changes the VMID of an adopt that is there.
func (e *editor) replace(adopt *yaml.Node, vmid int) error {
	_, number := entry(adopt, "vmid")
	if number == nil || number.Kind != yaml.ScalarNode {
		return errors.New("it has an adopt without a vmid: correct that by hand")
	}
	at, err := e.offset(number)
	if err != nil {
		return err
	}
	end := at + len(number.Value)
	if end > len(e.src) || string(e.src[at:end]) != number.Value {
		return errors.New("its vmid is written in a form that cannot be edited: correct it by hand")
	}
	if want := fmt.Sprint(vmid); want != number.Value {
		e.edits = append(e.edits, change{at, end, want})
	}
	return nil
}

// fill gives a key that has no value one.
func (e *editor) fill(key, value *yaml.Node, text string) error {
	if value.Value != "" {
		at, err := e.offset(value)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(e.src[at:]), value.Value) {
			return errors.New("its value is written in a form that cannot be edited")
		}
		e.edits = append(e.edits, change{at, at + len(value.Value), "{" + text + "}"})
		return nil
	}
	at, err := e.offset(key)
	if err != nil {
		return err
	}
	quotes := 0
	if key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		quotes = 2
	}
	at += len(key.Value) + quotes
	rest := string(e.src[at:])
	colon := len(rest) - len(strings.TrimLeft(rest, " \t"))
	if strings.HasPrefix(rest[colon:], ":") {
		at += colon + 1
		e.edits = append(e.edits, change{at, at, " {" + text + "}"})
		return nil
	}
	e.edits = append(e.edits, change{at, at, ": {" + text + "}"}) // {web01, web02}
	return nil
}

// inside puts text first into a map in braces.
func (e *editor) inside(value *yaml.Node, text string) error {
	at, err := e.offset(value)
	if err != nil {
		return err
	}
	if value.Anchor != "" { // the node begins at its anchor
		at += max(0, strings.IndexByte(string(e.src[at:]), '{'))
	}
	if at >= len(e.src) || e.src[at] != '{' {
		return errors.New("its braces cannot be found")
	}
	if len(value.Content) > 0 {
		text += ", "
	}
	e.edits = append(e.edits, change{at + 1, at + 1, text})
	return nil
}

// below puts a line of its own below a key, as far in as the first line there is.
func (e *editor) below(key, first *yaml.Node, text string) error {
	if key.Line >= len(e.lines) || first.Line <= key.Line {
		return errors.New("its properties do not stand on lines of their own")
	}
	begin, err := e.offset(first)
	if err != nil {
		return err
	}
	indent := string(e.src[e.lines[first.Line-1]:begin])
	if strings.Trim(indent, " ") != "" {
		return errors.New("its indentation is not one of spaces only")
	}
	end := "\n"
	at := e.lines[key.Line]
	if strings.HasSuffix(string(e.src[:at]), "\r\n") {
		end = "\r\n"
	}
	e.edits = append(e.edits, change{at, at, indent + text + end})
	return nil
}

// apply makes all edits, the last one in the file first.
func (e *editor) apply() []byte {
	slices.SortStableFunc(e.edits, func(a, b change) int { return b.at - a.at })
	out := slices.Clone(e.src)
	for _, c := range e.edits {
		out = slices.Replace(out, c.at, c.end, []byte(c.text)...)
	}
	return out
}
