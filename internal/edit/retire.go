package edit

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Retire adds a key to the list `retired` of a spec, which it makes if it is missing. The key is
// written as it is given.
func Retire(src []byte, key string) ([]byte, error) {
	const list = "retired"
	e, in, name, value, err := findEntry(src, []string{list})
	switch missing := (*missingError)(nil); {
	case errors.As(err, &missing):
		var doc yaml.Node
		if err := yaml.Unmarshal(src, &doc); err != nil || doc.Content[0].Style&yaml.FlowStyle != 0 || doc.Content[0].Kind != yaml.MappingNode {
			return nil, errForm
		}
		e = &editor{src: src, lines: lineStarts(src)}
		e.insertText(len(src), list+": ["+key+"]\n")
		return keepsRestAndHas(src, e.apply(), []string{list})
	case err != nil:
		return nil, err
	case in.Style&yaml.FlowStyle != 0 || value.Anchor != "" || value.Style&yaml.TaggedStyle != 0:
		return nil, errForm
	case value.Kind == yaml.SequenceNode && len(value.Content) > 0:
		err = e.addItem(value, key)
	case value.Kind == yaml.SequenceNode, value.Tag == "!!null" && value.Value != "":
		err = e.replaceValue(value, "["+key+"]")
	case value.Tag == "!!null":
		err = e.give(name, "["+key+"]")
	default:
		err = errForm
	}
	if err != nil {
		return nil, err
	}
	return keepsRestAndHas(src, e.apply(), []string{list})
}

// give writes a value behind a key that has none.
func (e *editor) give(key *yaml.Node, value string) error {
	at, err := e.offset(key)
	if err != nil {
		return err
	}
	at += len(key.Value)
	if key.Style != 0 || at >= len(e.src) || e.src[at] != ':' {
		return errForm
	}
	e.changes = append(e.changes, change{at + 1, at + 1, " " + value})
	return nil
}

// Unlist removes the student from the roster of a class that is written at a line and a column,
// both from 1. The last student of a roster cannot be removed, and none with a comment, which would be
// lost, or be about another student.
func Unlist(src []byte, line, column int) ([]byte, error) {
	e, _, _, roster, err := findEntry(src, []string{"students", "roster"})
	switch {
	case err != nil:
		return nil, err
	case roster.Kind != yaml.SequenceNode || roster.Anchor != "":
		return nil, errForm
	}
	for i, n := range roster.Content {
		if n.Line == line && n.Column == column {
			if hasComment(n) || i == 0 && roster.HeadComment != "" {
				return nil, errors.New("the student has a comment, which would be lost, or belong to another student")
			}
			if err := e.removeItem(roster, i); err != nil {
				return nil, err
			}
			return keepsRest(src, e.apply(), []string{"students", "roster"})
		}
	}
	return nil, errForm
}

// hasComment reports whether a value, or a part of it, has a comment.
func hasComment(n *yaml.Node) bool {
	return n.HeadComment+n.LineComment+n.FootComment != "" || slices.ContainsFunc(n.Content, hasComment)
}

// UnlistRow removes a line, counted from 1, of a roster file. A line that may be only a part of
// its student is not removed.
func UnlistRow(src []byte, line int) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	if line < 1 || line > len(lines) || strings.Count(lines[line-1], `"`)%2 != 0 {
		return nil, errors.New("the student is not on a line of its own")
	}
	return []byte(strings.Join(append(lines[:line-1:line-1], lines[line:]...), "")), nil
}
