package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stackgen/guest"
)

// Encode writes an inventory as the JSON that Decode reads.
func (inv Inventory) Encode() ([]byte, error) {
	inv.Version = Version
	inv.Nodes, inv.Guests, inv.Pools = nonNil(inv.Nodes), nonNil(inv.Guests), nonNil(inv.Pools)
	inv.Storages, inv.Tasks, inv.Free = nonNil(inv.Storages), nonNil(inv.Tasks), nonNil(inv.Free)
	inv.Gaps, inv.Records = nonNil(inv.Gaps), nonNil(inv.Records)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(inv); err != nil {
		return nil, fmt.Errorf("writing the inventory: %w", err)
	}
	return out.Bytes(), nil
}

// nonNil returns an empty list for nil: Decode rejects null, which would mean that
// the list was not read.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Decode decodes an inventory strictly: another version, an unknown key, a missing
// list or a contradiction is an error with its line number.
func Decode(file string, src []byte) (*Inventory, error) {
	d := &decoder{file: file, src: src}
	var peek struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(src, &peek); err != nil {
		return nil, d.explain(err, 0)
	}
	if peek.Version == nil {
		return nil, d.fail(0, "not an inventory: it has no version. `stackgen snapshot` writes an inventory")
	}
	if *peek.Version != Version {
		return nil, d.fail(d.find(`"version"`),
			"unsupported version %d, this stackgen reads version %d: write a new file with `stackgen snapshot`", *peek.Version, Version)
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	inv := &Inventory{}
	if err := dec.Decode(inv); err != nil {
		return nil, d.explain(err, dec.InputOffset())
	}
	if err := d.check(inv); err != nil {
		return nil, err
	}
	return inv, nil
}

// A decoder adds file and line to errors.
type decoder struct {
	file string
	src  []byte
}

func (d *decoder) fail(offset int, format string, args ...any) error {
	line := 1 + bytes.Count(d.src[:max(0, min(offset, len(d.src)))], []byte("\n"))
	return fmt.Errorf("%s:%d: %s", d.file, line, fmt.Sprintf(format, args...))
}

func (d *decoder) find(text string) int { return bytes.Index(d.src, []byte(text)) }

// explain turns an error of encoding/json into a message with its line.
func (d *decoder) explain(err error, offset int64) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return d.fail(int(syntax.Offset)-1, "not an inventory: %v", syntax)
	case errors.As(err, &kind):
		return d.fail(int(kind.Offset), "%s must be %s, not %s",
			cmp.Or(kind.Field, "an inventory"), article(kind.Type.String()), article(kind.Value))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return d.fail(d.find(name), "unknown key %s", name)
	}
	return d.fail(int(offset), "not an inventory: %v", err)
}

func article(kind string) string {
	switch {
	case strings.HasPrefix(kind, "[]"):
		return "a list"
	case strings.HasPrefix(kind, "map"), strings.HasPrefix(kind, "struct"), strings.Contains(kind, "cluster."), kind == "object":
		return "an object"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "float"), strings.HasPrefix(kind, "number"):
		return "a number"
	case strings.HasPrefix(kind, "bool"):
		return "true or false"
	case kind == "array":
		return "a list"
	}
	return "text"
}

// check rejects an inventory that contradicts itself.
func (d *decoder) check(inv *Inventory) error {
	for _, list := range []struct {
		name    string
		missing bool
	}{
		{"nodes", inv.Nodes == nil},
		{"guests", inv.Guests == nil},
		{"pools", inv.Pools == nil},
		{"gaps", inv.Gaps == nil},
		{"free", inv.Free == nil},
	} {
		if list.missing {
			return d.fail(0, "the list %q is missing; write [] if it is empty", list.name)
		}
	}
	seen := map[int]bool{}
	for _, g := range inv.Guests {
		at := func() int { return d.find(fmt.Sprintf(`"vmid": %d`, g.VMID)) } // a search, so only for an error
		switch {
		case g.VMID <= 0:
			return d.fail(d.find(`"guests"`), "a guest has no vmid")
		case seen[g.VMID]:
			return d.fail(at(), "duplicate VMID %d", g.VMID)
		case !g.Kind.Known():
			return d.fail(at(), "guest %d has kind %q; it must be %s or %s", g.VMID, g.Kind, guest.VM, guest.Container)
		case inv.Node(g.Node) == nil:
			return d.fail(at(), "guest %d is on node %q, which is not in nodes", g.VMID, g.Node)
		}
		seen[g.VMID] = true
	}
	for _, id := range inv.Free {
		if seen[id] {
			return d.fail(d.find(`"free"`), "VMID %d is listed as free, but a guest has it", id)
		}
	}
	return nil
}
