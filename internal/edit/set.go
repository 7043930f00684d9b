package edit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Setting is one property of a VM: its key, and all of it as one line of YAML. Without a
// line, the property is removed.
type Setting struct {
	Key   string
	Line  string
	Add   string // the line if the VM does not have the property; Line if empty
	Parts []Part // if the VM has the property and all of them can be edited, only they change
}

// Set writes properties into a VM of a spec, and replaces those that it has. at are the
// keys that lead to the VM, such as vms and web01. An entry in overrides is made if it is
// missing. Set makes all changes or none.
func Set(src []byte, at []string, settings []Setting) ([]byte, error) {
	var entries [][]string
	for _, s := range settings {
		entries = append(entries, append(slices.Clone(at), s.Key))
	}
	out, err := set(src, at, settings)
	if err != nil || len(entries) == 0 {
		return out, err
	}
	return keepsRest(src, out, entries...)
}

// set is Set without a proof.
func set(src []byte, at []string, settings []Setting) ([]byte, error) {
	src, settings, err := setParts(src, at, settings)
	if err != nil {
		return nil, err
	}
	e, _, key, value, err := findEntry(src, at)
	if err != nil {
		return nil, err
	}
	if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
		if err := e.fill(key, value, ""); err != nil {
			return nil, err
		}
		return set(e.apply(), at, settings)
	}
	if value.Kind != yaml.MappingNode {
		return nil, errors.New("its value is not a map of its own: it may be an alias that other VMs share; write its properties by hand")
	}
	var fresh []string
	for _, s := range settings {
		if _, has := entry(value, s.Key); has == nil && s.Line != "" {
			fresh = append(fresh, cmp.Or(s.Add, s.Line))
		} else if err := e.setOwn(value, s); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Key, err)
		}
	}
	e, vms, key, value, err := findEntry(e.apply(), at)
	switch {
	case err != nil:
		return nil, err
	case value.Kind == yaml.ScalarNode: // its last property was removed
		err = e.fill(key, value, strings.Join(fresh, ", "))
	default:
		err = e.append(vms, key, value, fresh)
	}
	if err != nil {
		return nil, err
	}
	return e.apply(), nil
}

// setOwn replaces or removes a property that the entry of a VM has.
func (e *editor) setOwn(vm *yaml.Node, s Setting) error {
	key, value := entry(vm, s.Key)
	switch {
	case value == nil:
		return errors.New("the VM inherits it, and its own entry cannot remove it")
	case s.Line == "":
		if err := e.removeKey(vm, key, value); err != nil {
			return fmt.Errorf("%w: remove it by hand", err)
		}
	default:
		if err := e.replaceProperty(key, value, s.Line); err != nil {
			return fmt.Errorf("%w: write it by hand: %s", err, s.Line)
		}
	}
	return nil
}

// replaceProperty replaces a property with a line.
func (e *editor) replaceProperty(key, value *yaml.Node, line string) error {
	at, err := e.offset(key)
	if err != nil {
		return err
	}
	end, err := e.end(value)
	if err != nil {
		return err
	}
	from, err := e.offset(value)
	if err != nil {
		return err
	}
	switch before := string(e.src[at:max(at, from)]); {
	case strings.Contains(before[min(len(before), len(key.Value)):], "#"):
		return errors.New("there is a comment before its value, which would be lost")
	case at > 0 && strings.HasPrefix(strings.TrimLeft(string(e.src[e.lines[key.Line-1]:at]), " "), "?"):
		return errForm
	}
	e.changes = append(e.changes, change{at, end, line})
	return nil
}

// append inserts properties after the last one.
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
		return e.insertLast(value, strings.Join(lines, ", "))
	case len(value.Content) == 0:
		return errors.New("it is an empty map in a form that cannot be edited")
	}
	return e.insertAfter(key, value, lines)
}

// insertLast inserts text as the last property of a map in braces.
func (e *editor) insertLast(value *yaml.Node, text string) error {
	if len(value.Content) == 0 {
		return e.insertFirst(value, text)
	}
	at, err := e.end(value.Content[len(value.Content)-1])
	if err != nil {
		return err
	}
	e.changes = append(e.changes, change{at, at, ", " + text})
	return nil
}

// insertAfter inserts lines below the last property of a map.
func (e *editor) insertAfter(key, value *yaml.Node, lines []string) error {
	first, last := value.Content[0], value.Content[len(value.Content)-1]
	begin, err := e.offset(first)
	if err != nil {
		return err
	}
	indent := string(e.src[e.lines[first.Line-1]:begin])
	if first.Line <= key.Line || strings.Trim(indent, " ") != "" {
		return errors.New("its properties are not on lines of their own, indented by spaces")
	}
	at, err := e.end(last)
	if err != nil {
		return err
	}
	for at < len(e.src) && e.src[at] != '\n' { // a comment stays behind its property
		at++
	}
	if at > 0 && e.src[at-1] == '\r' {
		at--
	}
	text := ""
	for _, line := range lines {
		text += "\n" + indent + line
	}
	e.changes = append(e.changes, change{at, at, e.newline(text)})
	return nil
}

// unfold splits a VM in braces into one line for each property, so that a person
// can read many. It reports whether it could.
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
	indent := e.newline("\n" + margin + "  ")
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
	e.changes = append(e.changes, change{tail, tail, text}, change{at, end, ""})
	if strings.TrimSpace(string(e.src[end:tail])) == "" { // leave no space after the colon
		from := at
		for from > 0 && e.src[from-1] == ' ' {
			from--
		}
		e.changes[len(e.changes)-1] = change{from, tail, ""}
	}
	return true, nil
}
