package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// findEntry finds the entry of a VM in a spec, and the map that it is in.
func findEntry(src []byte, at []string) (e *editor, in, key, value *yaml.Node, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, nil, nil, nil, fmt.Errorf("it does not parse: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, nil, nil, nil, errors.New("it holds no document")
	}
	value = doc.Content[0]
	for _, name := range at {
		in = value
		if key, value = entry(in, name); key == nil {
			return nil, nil, nil, nil, &missingError{name, at}
		}
	}
	return &editor{src: src, lines: lineStarts(src)}, in, key, value, nil
}

// A missingError says that a spec has no entry for a VM.
type missingError struct {
	key string
	at  []string
}

func (e *missingError) Error() string {
	if i := slices.Index(e.at, e.key); i > 0 {
		return fmt.Sprintf("%s is not written under %s, in a form that can be edited", e.key, strings.Join(e.at[:i], "."))
	}
	return e.key + " is not written in the spec"
}

// open makes the entry of a VM in the overrides of its group, if it is missing.
func open(src []byte, at []string) ([]byte, error) {
	n := len(at)
	if n < 3 || at[n-2] != "overrides" {
		return src, nil
	}
	_, _, _, _, err := findEntry(src, at) //nolint:dogsled // only whether it is there
	if missing := (*missingError)(nil); err == nil || !errors.As(err, &missing) {
		return src, err
	}
	e, in, key, value, err := findEntry(src, at[:n-1])
	lines := []string{at[n-1] + ": {}"}
	if err != nil {
		if e, in, key, value, err = findEntry(src, at[:n-2]); err != nil {
			return nil, err
		}
		lines = []string{"overrides:", "  " + lines[0]}
	}
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag == "!!null":
		err = e.fill(key, value, lines[len(lines)-1])
	case value.Kind != yaml.MappingNode || value.Anchor != "":
		return nil, errors.New("its value is not a map of its own: it may be an alias that others share; write it by hand")
	case value.Style&yaml.FlowStyle != 0 && len(lines) == 2:
		err = e.append(in, key, value, []string{"overrides: {" + strings.TrimSpace(lines[1]) + "}"})
	default:
		err = e.append(in, key, value, lines)
	}
	if err != nil {
		return nil, err
	}
	return e.apply(), nil
}
