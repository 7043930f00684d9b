package lock

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"stackgen/schema"
)

// Entries are built as nodes by hand: Node.Encode writes a value out and reads
// it back, once for each level, which took half the time of a large lock.

// A noder is an entry that builds its own node.
type noder interface{ node() (*yaml.Node, error) }

func flow() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle} }

func str(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if s == "<<" { // which the encoder does not quote, although a reader merges with it
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func number(i int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(i)}
}

func list(values []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range values {
		n.Content = append(n.Content, str(s))
	}
	return n
}

// put adds an entry to a map, unless it is empty.
func put(n *yaml.Node, key string, value any) {
	var v *yaml.Node
	switch value := value.(type) {
	case int:
		v = number(value)
	case string:
		if value == "" {
			return
		}
		v = str(value)
	case []string:
		if len(value) == 0 {
			return
		}
		v = list(value)
	case bool:
		if !value {
			return
		}
		v = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"}
	case *yaml.Node:
		v = value
	}
	n.Content = append(n.Content, str(key), v)
}

func (u Unit) node() (*yaml.Node, error) { //nolint:unparam // implements noder
	n := flow()
	put(n, "status", u.Status)
	put(n, "pool", u.Pool)
	put(n, "lineage", u.Lineage)
	if u.Serial > 0 {
		put(n, "serial", u.Serial)
	}
	put(n, "applied", u.Applied)
	put(n, "gone", u.Gone)
	return n, nil
}

func (v VM) node() (*yaml.Node, error) { //nolint:unparam // implements noder
	n := flow()
	if v.IsContainer() {
		put(n, "kind", v.Kind.Name())
	}
	put(n, "vmid", v.VMID)
	put(n, "node", v.Node)
	put(n, "clone", v.Clone)
	put(n, "clone_reason", v.CloneReason)
	put(n, "profile", v.Profile)
	template, next := v.Template, (*Template)(nil)
	if v.MadeFrom != nil {
		template, next = v.MadeFrom, v.Template
	}
	putTemplate(n, "template", template)
	putTemplate(n, "next_template", next)
	if len(v.MadeWith) > 0 {
		made := flow()
		for _, f := range schema.CreationRows() {
			if text, differs := v.MadeWith[f.Key]; differs && f.Type == schema.Bool {
				put(made, f.Key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: text})
			} else {
				put(made, f.Key, text)
			}
		}
		put(n, "made_with", made)
	}
	put(n, "release", v.Release)
	if i := v.Image; i != nil {
		image := flow()
		put(image, "url", i.URL)
		put(image, "checksum", i.Checksum)
		put(image, "file", i.File)
		put(image, "datastore", i.Datastore)
		put(n, "image", image)
	}
	put(n, "image_seen", v.ImageSeen)
	if v.MACs != nil { // a VM without NICs has an empty list
		put(n, "macs", list(v.MACs))
	}
	if !slices.Equal(v.Networks, defaultNetworks()) {
		put(n, "networks", v.Networks)
	}
	put(n, "disks", v.Disks)
	put(n, "unit", v.Unit)
	put(n, "member", v.Member)
	put(n, "email", v.Email)
	if v.Seat > 0 {
		put(n, "seat", v.Seat)
	}
	var former []string
	for _, a := range v.Former {
		former = append(former, a.String())
	}
	put(n, "former", former)
	put(n, "former_nodes", v.FormerNodes)
	if f := v.Fingerprint; f != nil {
		seen := flow()
		put(seen, "uuid", f.UUID)
		put(seen, "macs", f.MACs)
		put(n, "fingerprint", seen)
	}
	put(n, "addresses", v.Addresses)
	put(n, "detached", v.Detached)
	v.Rebuild.put(n)
	put(n, "exchanged", v.Exchanged)
	put(n, "gone", v.Gone)
	put(n, "status", v.Status)
	return n, nil
}

// putTemplate adds a template, if there is one.
func putTemplate(n *yaml.Node, key string, t *Template) {
	if t == nil {
		return
	}
	from := flow()
	put(from, "vmid", t.VMID)
	put(from, "node", t.Node)
	put(from, "name", t.Name)
	put(from, "release", t.Release)
	put(n, key, from)
}

func (s Stack) node() (*yaml.Node, error) {
	n := &yaml.Node{}
	rest := s
	rest.Units, rest.VMs = nil, nil
	if err := n.Encode(rest); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		key   string
		empty bool
		nodes func() (any, error)
	}{{"units", len(s.Units) == 0, s.Units.MarshalYAML}, {"vms", len(s.VMs) == 0, s.VMs.MarshalYAML}} {
		if part.empty {
			continue
		}
		m, err := part.nodes()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.key, err)
		}
		put(n, part.key, m)
	}
	return n, nil
}

// put writes the mark of a rebuild into the mapping of its VM.
func (r *Rebuild) put(n *yaml.Node) {
	if r == nil {
		return
	}
	begun := flow()
	put(begun, "uuid", r.UUID)
	if r.Template != 0 {
		put(begun, "template", r.Template)
	}
	put(begun, "waits", r.Waits)
	put(begun, "apart", r.Apart)
	put(begun, "unhealthy", r.Unhealthy)
	if r.Holder != 0 {
		put(begun, "holder", r.Holder)
	}
	put(begun, "volumes", r.Volumes)
	putTemplate(begun, "from", r.From)
	put(n, "rebuild", begun)
}
