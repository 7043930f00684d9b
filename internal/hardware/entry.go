package hardware

import (
	"slices"
	"strings"

	"stackgen/internal/natural"
	"stackgen/schema"
)

// An entry is one entry of a configuration, split into its options. The option
// without a name is "".
type entry struct {
	values map[string]string
	order  []string
}

func (e *entry) set(name, value string) {
	if _, ok := e.values[name]; !ok {
		e.order = append(e.order, name)
	}
	e.values[name] = value
}

func (e *entry) get(name string) (string, bool) {
	value, ok := e.values[name]
	return value, ok
}

// parse splits an entry into its options.
func parse(text string) *entry {
	e := &entry{values: map[string]string{}}
	for i, part := range strings.Split(text, ",") {
		name, value, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named && i == 0 {
			name, value = "", name
		}
		e.set(name, value)
	}
	return e
}

// parseNetwork splits an entry of a network device, which begins with MODEL=MAC.
func parseNetwork(text string) *entry {
	first, rest, _ := strings.Cut(text, ",")
	if model, mac, named := strings.Cut(strings.TrimSpace(first), "="); model != "model" {
		text = "model=" + model
		if named {
			text += ",macaddr=" + mac
		}
		if rest != "" {
			text += "," + rest
		}
	}
	e := parse(text)
	if mac := e.values["macaddr"]; mac != strings.ToUpper(mac) {
		delete(e.values, "macaddr") // a spec has upper case only, and the provider keeps a MAC that the spec does not set
	}
	return e
}

// parseVolume splits an entry of a disk and adds the datastore of its volume, and
// its format if the name of the volume has it.
func parseVolume(text string) *entry {
	e := parse(text)
	if file, ok := e.values["file"]; ok {
		e.values[""] = file
	}
	store, path, ok := strings.Cut(e.values[""], ":")
	if !ok {
		store, path = "", store
	}
	e.values["datastore"] = store
	if dot := strings.LastIndexByte(path, '.'); e.values["format"] == "" && dot >= 0 && !strings.Contains(path[dot:], "/") {
		e.values["format"] = path[dot+1:]
	}
	return e
}

// numbered are the keys of the entries NAME0, NAME1, ... in order.
func (r *Reading) numbered(name string) []string {
	var out []string
	for key := range r.raw {
		if rest, ok := strings.CutPrefix(key, name); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, natural.Compare)
	return out
}

// entries are the keys of all entries that a row of the table reads; a numbered
// one ends in "*".
func entries(fields []schema.Field) []string {
	var out []string
	for i := range fields {
		for name := range strings.FieldsSeq(fields[i].PVE) {
			name, _, _ = strings.Cut(name, "/")
			out = append(out, name)
		}
		if fields[i].PVE == "" {
			out = append(out, entries(fields[i].Fields)...)
		}
	}
	return out
}

// parseAs splits an entry of a property into its options.
func parseAs(f *schema.Field, text string) *entry {
	switch {
	case f.Key == "networks":
		return parseNetwork(text)
	case slices.Contains(f.Unread, "file"):
		return parseVolume(text)
	}
	return parse(text)
}
