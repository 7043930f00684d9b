package hardware

import (
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// parseAs splits an entry of a property into its options. more are those that rows of the
// table read, and that the entry says in another way.
func parseAs(f *schema.Field, key, text string) (e, more pve.Entry) {
	switch {
	case f.Key == guest.Networks:
		return networkOptions(pve.ParseNIC(text)), nil
	case slices.Contains(f.Unread, "file"):
		return pve.Parse(text), volumeOptions(pve.ParseDrive(key, text))
	}
	return pve.Parse(text), nil
}

// networkOptions are the options of a network device with those that its first part has.
func networkOptions(n pve.NIC) pve.Entry {
	if n.Model == "" {
		return n.Options // of a container
	}
	e := pve.Entry{{Name: "model", Value: n.Model}}
	if n.MAC != "" && n.MAC == strings.ToUpper(n.MAC) { // a spec has upper case only, and the provider keeps a MAC that the spec does not set
		e = append(e, pve.Option{Name: "macaddr", Value: n.MAC})
	}
	return append(e, n.Options...)
}

// volumeOptions are what the volume of a disk says.
func volumeOptions(d pve.Drive) pve.Entry {
	gib := strconv.Itoa(int(d.Size() >> 30)) // rounded down, as the provider does
	e := pve.Entry{{Value: d.File}, {Name: "datastore", Value: d.Storage}, {Name: "size", Value: gib}}
	if format := d.Format(); format != "" {
		e = append(e, pve.Option{Name: "format", Value: format})
	}
	return e
}

// numbered are the keys of the entries NAME0, NAME1, ... in order.
func (r *Reading) numbered(name string) []string {
	var out []string
	for key := range r.raw {
		if of, n := pve.SplitKey(key); of == name && n >= 0 {
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
