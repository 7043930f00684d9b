package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// keepsRest returns a changed file, unless something else in it has changed than some entries, each
// given by the keys that lead to it. The editor places its changes by lines and columns; this is the
// proof that they are where they should be: a line below a text on several lines may
// become a part of that text, and a removed line may end it.
func keepsRest(before, after []byte, entries ...[]string) ([]byte, error) {
	was, err := restOf(before, entries)
	if err != nil {
		return nil, fmt.Errorf("it does not parse: %w", err)
	}
	if is, err := restOf(after, entries); err != nil || is != was {
		return nil, errors.New("it is written in a form that cannot be edited without a change of something else in the file")
	}
	return after, nil
}

// keepsRestAndHas is keepsRest for entries that a file must have then: text behind the end of its document adds nothing.
func keepsRestAndHas(before, after []byte, entries ...[]string) ([]byte, error) {
	for _, at := range entries {
		if _, _, _, _, err := findEntry(after, at); err != nil { //nolint:dogsled // only whether it is there
			return nil, errForm
		}
	}
	return keepsRest(before, after, entries...)
}

// restOf is all that a file says beside some entries, in a form in which equal values are equal.
func restOf(src []byte, entries [][]string) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return "", err
	}
	var out strings.Builder
	if len(doc.Content) > 0 {
		writeRest(&out, doc.Content[0], entries)
	}
	return out.String(), nil
}

// writeRest writes a value without some entries. A map with nothing but those is nothing: an edit
// may make it, or leave it empty.
func writeRest(out *strings.Builder, n *yaml.Node, entries [][]string) {
	if n.Kind == yaml.MappingNode && len(entries) > 0 {
		var text strings.Builder
		for i := 0; i+1 < len(n.Content); i += 2 {
			writeRestOfKey(&text, n.Content[i], n.Content[i+1], entries)
		}
		if text.Len() > 0 {
			fmt.Fprintf(out, "%q{%s}", n.Anchor, text.String())
		}
		return
	}
	if len(entries) > 0 && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	fmt.Fprintf(out, "%d %q %s %q(", n.Kind, n.Anchor, n.ShortTag(), n.Value)
	for _, part := range n.Content {
		writeRest(out, part, nil)
	}
	out.WriteString(")")
}

// writeRestOfKey writes a key and its value, if it is not one of the entries, or leads only to them.
func writeRestOfKey(out *strings.Builder, key, value *yaml.Node, entries [][]string) {
	var below [][]string
	for _, e := range entries {
		if e[0] == key.Value {
			below = append(below, e[1:])
		}
	}
	if slices.ContainsFunc(below, func(e []string) bool { return len(e) == 0 }) {
		return
	}
	var text strings.Builder
	if writeRest(&text, value, below); text.Len() > 0 {
		fmt.Fprintf(out, "%q: %s, ", key.Value, text.String())
	}
}
