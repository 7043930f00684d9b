package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A NewVM is the entry of a VM or container that a spec does not have yet: its key, and its properties
// as lines of YAML.
type NewVM struct {
	Key   string
	Lines []string
}

// width is how long a line may become before a value goes on in the next one.
const width = 120

// Entry is the entry in braces, with an indentation. It fills lines up to a width that
// people can read.
func (v NewVM) Entry(indent string) string {
	return Fill(indent, v.Key+": {"+strings.Join(v.Lines, ", ")+"}")
}

// Fill is a property on one line, broken into several where it is too long: between the
// items of its braces or brackets, and between theirs where one alone is too long.
func Fill(indent, property string) string {
	lines := fill(indent, indent+"    ", property)
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// fill are the lines of a value, the first one with an indentation of its own.
func fill(first, indent, text string) []string {
	if len([]rune(strings.TrimRight(first+text, " "))) <= width {
		return []string{first + text}
	}
	items := itemsOf(text)
	if len(items) < 2 {
		return []string{first + text}
	}
	lines := []string{first}
	for _, item := range items {
		last := lines[len(lines)-1]
		switch {
		case len([]rune(last+item)) <= width+1:
			lines[len(lines)-1] = last + item
			continue
		case strings.TrimSpace(last) == "":
			lines = append(lines[:len(lines)-1], fill(last, indent+"  ", item)...)
		default:
			lines = append(lines, fill(indent, indent+"  ", item)...)
		}
	}
	return lines
}

// itemsOf splits a value after each comma in its outermost braces or brackets.
func itemsOf(text string) []string {
	var out []string
	depth, begin := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			if i = quoted(text, i); i == 0 {
				return nil
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ' ':
			if depth == 1 && text[i-1] == ',' {
				out, begin = append(out, text[begin:i+1]), i+1
			}
		}
	}
	if begin < len(text) {
		out = append(out, text[begin:])
	}
	return out
}

// AddVMs adds entries below the last one of a list of a spec, vms or containers. It makes all changes
// or none.
func AddVMs(src []byte, list string, vms []NewVM) ([]byte, error) {
	if len(vms) == 0 {
		return src, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, fmt.Errorf("it does not parse: %w", err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it holds no document")
	}
	e := &editor{src: src, lines: lineStarts(src)}
	key, value := entry(doc.Content[0], list)
	var err error
	switch {
	case doc.Content[0].Style&yaml.FlowStyle != 0:
		err = errForm
	case key == nil:
		e.insertText(e.endBelow(len(e.lines)), list+":\n"+entries(vms, "  "))
	case key.Column > 1:
		err = errForm
	case value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 && value.Anchor == "":
		err = e.addBelow(key, value, vms)
	case value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Anchor == "":
		var texts []string
		for _, v := range vms {
			texts = append(texts, strings.TrimSpace(NewVM{v.Key, []string{strings.Join(v.Lines, ", ")}}.Entry("")))
		}
		err = e.insertLast(value, strings.Join(texts, ", "))
	default:
		err = e.fillVMs(key, value, vms)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	var added [][]string
	for _, v := range vms {
		added = append(added, []string{list, v.key()})
	}
	return keepsRestAndHas(src, e.apply(), added...)
}

// key is the key as it is, without quotes.
func (v NewVM) key() string {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(v.Key), &doc); err != nil || len(doc.Content) == 0 {
		return v.Key
	}
	return doc.Content[0].Value
}

// entries are the entries of VMs, each with the end of its last line.
func entries(vms []NewVM, indent string) string {
	var out strings.Builder
	for _, v := range vms {
		out.WriteString(v.Entry(indent) + "\n")
	}
	return out.String()
}

// addBelow adds entries to a map whose entries are on lines of their own.
func (e *editor) addBelow(key, value *yaml.Node, vms []NewVM) error {
	first := value.Content[0]
	begin, err := e.offset(first)
	if err != nil {
		return err
	}
	indent := string(e.src[e.lines[first.Line-1]:begin])
	if first.Line <= key.Line || indent == "" || strings.Trim(indent, " ") != "" {
		return errors.New("its entries are not on lines of their own, indented by spaces")
	}
	e.insertText(e.endBelow(key.Line), entries(vms, indent))
	return nil
}

// fillVMs gives entries to a list without any: `vms:`, `vms: {}` or `vms: null`.
func (e *editor) fillVMs(key, value *yaml.Node, vms []NewVM) error {
	from, err := e.offset(key)
	if err != nil {
		return err
	}
	if from > 0 && e.src[from-1] != '\n' || key.Style != 0 || value.Anchor != "" {
		return errForm
	}
	from += len(key.Value)
	end := e.src[from:]
	if i := slices.Index(end, '\n'); i >= 0 {
		end = end[:i]
	}
	end = []byte(strings.TrimSuffix(string(end), "\r"))
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(end)), ":"))
	empty := strings.TrimSpace(strings.TrimRight(strings.SplitN(rest, "#", 2)[0], " "))
	if !slices.Contains([]string{"", "{}", "null", "~"}, empty) {
		return errForm
	}
	comment := strings.TrimSpace(strings.TrimPrefix(rest, empty))
	if comment != "" {
		comment = "  " + comment
	}
	e.changes = append(e.changes, change{from, from + len(end), e.newline(":" + comment)})
	e.insertText(e.endBelow(key.Line), entries(vms, "  "))
	return nil
}

// endBelow is where the lines end that belong to a key at the left margin, whose number is
// given: before the next key there, and the comments and empty lines above that.
func (e *editor) endBelow(line int) int {
	end := line
	for n := line; n < len(e.lines); n++ {
		text := e.line(n)
		switch {
		case strings.TrimSpace(text) == "", strings.HasPrefix(text, "#"):
		case text[0] == ' ', text[0] == '\t', text[0] == '}', text[0] == ']':
			end = n + 1
		default:
			n = len(e.lines)
		}
	}
	if end >= len(e.lines) {
		return len(e.src)
	}
	return e.lines[end]
}

// line is a line of the file, counted from 0, without its end.
func (e *editor) line(n int) string {
	end := len(e.src)
	if n+1 < len(e.lines) {
		end = e.lines[n+1] - 1
	}
	return strings.TrimSuffix(string(e.src[e.lines[n]:end]), "\r")
}

// insertText inserts whole lines at the beginning of a line, or at the end of the file.
func (e *editor) insertText(at int, text string) {
	if at > 0 && e.src[at-1] != '\n' {
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	e.changes = append(e.changes, change{at, at, e.newline(text)})
}

// newline is text with the ends of lines that the file has.
func (e *editor) newline(text string) string {
	if strings.Contains(string(e.src), "\r\n") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}
