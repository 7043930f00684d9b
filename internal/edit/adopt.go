package edit

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"stackgen/guest"
)

// An Adoption is the decision that a VM or container of the spec is the one with a VMID.
type Adoption struct {
	List string // in which the spec has it: vms
	Key  string
	VMID int
}

// Keys returns the name of a spec and the keys in a list such as vms, even if the spec is
// not valid.
func Keys(src []byte, list string) (name string, keys []string) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil || len(doc.Content) == 0 {
		return "", nil
	}
	if _, n := entry(doc.Content[0], guest.Name); n != nil {
		name = n.Value
	}
	if _, vms := entry(doc.Content[0], list); vms != nil && vms.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(vms.Content); i += 2 {
			keys = append(keys, vms.Content[i].Value)
		}
	}
	return name, keys
}

// Adopt writes `adopt: {vmid: N}` into VMs of a spec. It makes all changes or none.
func Adopt(src []byte, adoptions []Adoption) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, fmt.Errorf("it does not parse: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("it holds no document")
	}
	e := &editor{src: src, lines: lineStarts(src)}
	var errs []error
	var entries [][]string
	for _, a := range adoptions {
		entries = append(entries, []string{a.List, a.Key, guest.Adopt})
		_, list := entry(doc.Content[0], a.List)
		key, value := entry(list, a.Key)
		if key == nil {
			errs = append(errs, fmt.Errorf("%s is not written under %s; groups and classes have no entry of their own to write into", a.Key, a.List))
			continue
		}
		if err := e.adopt(key, value, a.VMID); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.Key, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return src, nil
	}
	return keepsRest(src, e.apply(), entries...)
}

// adopt writes the VMID into one VM.
func (e *editor) adopt(key, value *yaml.Node, vmid int) error {
	text := fmt.Sprintf("adopt: {vmid: %d}", vmid)
	if value.Kind == yaml.AliasNode {
		return fmt.Errorf("its value is an alias, which other VMs share: write %s by hand", text)
	}
	if _, has := entry(value, guest.Adopt); has != nil {
		return e.replace(has, vmid)
	}
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag == "!!null":
		return e.fill(key, value, text)
	case value.Kind != yaml.MappingNode:
		return errors.New("it is no map")
	case value.Style&yaml.FlowStyle != 0:
		return e.insertFirst(value, text)
	case len(value.Content) == 0:
		return errors.New("it is an empty map in a form that cannot be edited")
	}
	return e.insertBelow(key, value.Content[0], text)
}

// replace changes the VMID of an existing adopt.
func (e *editor) replace(adopt *yaml.Node, vmid int) error {
	_, number := entry(adopt, guest.VMID)
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
		e.changes = append(e.changes, change{at, end, want})
	}
	return nil
}

// fill gives a value to a key without one.
func (e *editor) fill(key, value *yaml.Node, text string) error {
	if value.Value != "" {
		at, err := e.offset(value)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(e.src[at:]), value.Value) {
			return errors.New("its value is written in a form that cannot be edited")
		}
		e.changes = append(e.changes, change{at, at + len(value.Value), "{" + text + "}"})
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
		e.changes = append(e.changes, change{at, at, " {" + text + "}"})
		return nil
	}
	e.changes = append(e.changes, change{at, at, ": {" + text + "}"}) // {web01, web02}
	return nil
}

// insertFirst inserts text as the first property of a map in braces.
func (e *editor) insertFirst(value *yaml.Node, text string) error {
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
	e.changes = append(e.changes, change{at + 1, at + 1, text})
	return nil
}

// insertBelow inserts a line below a key, with the indentation of the map's first
// property.
func (e *editor) insertBelow(key, first *yaml.Node, text string) error {
	if key.Line >= len(e.lines) || first.Line <= key.Line {
		return errors.New("its properties are not on lines of their own")
	}
	begin, err := e.offset(first)
	if err != nil {
		return err
	}
	indent := string(e.src[e.lines[first.Line-1]:begin])
	if strings.Trim(indent, " ") != "" {
		return errors.New("its indentation is not one of spaces only")
	}
	at := e.lines[key.Line]
	e.changes = append(e.changes, change{at, at, e.newline(indent + text + "\n")})
	return nil
}
