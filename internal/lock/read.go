package lock

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// Read reads a lock. An empty src is an empty lock. The Lock is nil exactly
// when there are problems.
func Read(file string, src []byte) (*Lock, []schema.Problem) {
	l := &Lock{Version: Version}
	if len(bytes.TrimSpace(src)) == 0 {
		return l, nil
	}
	r := &reader{}
	root, problems := schema.ParseYAML(file, src)
	if len(problems) > 0 {
		r.fail(problems[0].Pos, "%s", problems[0].Message)
		if problems[0].Code == schema.CodeDuplicateKey {
			r.problems[0].Fix = "after a merge conflict, keep the line of the guest that an apply has created, and remove the other one: " +
				"a render decides what is missing, and gives a student whose line is removed another key"
		}
		return nil, r.problems
	}
	version := root.Get("version")
	if version != nil && version.Shape == schema.ShapeInt && version.Int() != Version {
		r.fail(version.Pos, "it has version %s, but this stackgen reads version %d", version.Text, Version)
		r.problems[0].Fix = "install the stackgen that wrote it"
		return nil, r.problems
	}
	if r.known(root, "version", "project", "stacks"); root.Shape != schema.ShapeMap {
		return nil, r.problems
	}
	if v := r.number(root, "version", 0, math.MaxInt); v != Version && len(r.problems) == 0 {
		r.fail(root.Get("version").Pos, "expected version: %d", Version)
	}
	l.Project = r.text(root, "project", "project")
	r.each(root.Get("stacks"), true, func(key string, n *schema.Node) {
		l.Stacks = append(l.Stacks, Entry[Stack]{key, r.stack(key, n)})
	})
	if len(r.problems) > 0 {
		return nil, schema.SortProblems(r.problems)
	}
	return l, nil
}

// A reader reads the parts of a lock and collects their problems. It checks every value
// as a spec's, because values become paths, names in files, and commands.
type reader struct {
	problems []schema.Problem
}

func (r *reader) fail(at schema.Pos, format string, args ...any) {
	r.problems = append(r.problems, schema.Problem{Pos: at, Severity: schema.SeverityError, Code: schema.CodeLock,
		Message: "the lock cannot be read: " + fmt.Sprintf(format, args...),
		Fix:     "restore it from version control; after a merge conflict keep the entries of both sides"})
}

// known refuses keys that this version does not write: ignoring them would lose
// a decision.
func (r *reader) known(n *schema.Node, keys ...string) {
	if n == nil {
		return
	}
	if n.Shape != schema.ShapeMap {
		r.fail(n.Pos, "expected a map, found %s", n.Shape)
		return
	}
	for _, k := range n.Keys {
		if !slices.Contains(keys, k.Text) {
			r.fail(k.Pos, "unknown key %q", k.Text)
		}
	}
}

func (r *reader) each(n *schema.Node, stacks bool, do func(string, *schema.Node)) {
	if n == nil {
		return
	}
	if n.Shape != schema.ShapeMap {
		r.fail(n.Pos, "expected a map, found %s", n.Shape)
		return
	}
	for i, k := range n.Keys {
		switch {
		case !isName(k.Text) && !(stacks && isStackName(k.Text)): // it becomes part of paths
			r.fail(k.Pos, "%q is not the name of a stack, unit or guest", k.Text)
		case n.Items[i].Shape != schema.ShapeMap:
			r.fail(n.Items[i].Pos, "expected a map, found %s", n.Items[i].Shape)
		default:
			do(k.Text, n.Items[i])
		}
	}
}

func (r *reader) stack(key string, n *schema.Node) Stack {
	r.known(n, "spec", "status", "environment", "state_key", "backend", "proxmox", "dns", "cluster", "units", "vms")
	s := Stack{
		Spec:        r.text(n, "spec", "spec"),
		Status:      r.status(n),
		Environment: r.text(n, "environment", "label"),
		StateKey:    r.text(n, "state_key", "state key"),
	}
	if n.Get("spec").Str() == "" || n.Get("state_key").Str() == "" {
		r.fail(n.Pos, "stack %q has no spec or no state_key", key)
	}
	if b := n.Get("backend"); b != nil {
		r.known(b, "type", "bucket", "region", "endpoint", "path_style", "lock")
		s.Backend = Backend{Type: r.text(b, "type", "backend"), Bucket: r.text(b, "bucket", "bucket"), Region: r.text(b, "region", "id"),
			Endpoint: r.text(b, "endpoint", "endpoint"), PathStyle: r.flag(b, "path_style"), Lock: r.flag(b, "lock")}
	}
	if p := n.Get("proxmox"); p != nil {
		r.known(p, "endpoint", "insecure", "ca_file")
		s.Proxmox = &Proxmox{Endpoint: r.text(p, "endpoint", "endpoint"), Insecure: r.flag(p, "insecure"), CAFile: r.text(p, "ca_file", "line")}
	}
	if d := n.Get("dns"); d != nil {
		r.known(d, "zone", "server", "port", "key_name", "algorithm")
		s.DNS = &DNS{Zone: r.text(d, "zone", "zone"), Server: r.text(d, "server", "server"), Port: r.number(d, "port", 1, 65535),
			KeyName: r.text(d, "key_name", "keyname"), Algorithm: r.text(d, "algorithm", "id")}
	}
	if c := n.Get("cluster"); c != nil {
		s.Cluster = r.cluster(c)
	}
	r.each(n.Get("units"), false, func(name string, u *schema.Node) {
		r.known(u, "status", "pool", "lineage", "serial", "applied", "gone")
		unit := Unit{
			Status:  Moving,
			Pool:    r.text(u, "pool", "pool"),
			Lineage: r.text(u, "lineage", "line"),
			Applied: r.flag(u, "applied"),
			Gone:    r.flag(u, "gone"),
		}
		if u.Get("serial") != nil {
			unit.Serial = r.number(u, "serial", 1, math.MaxInt)
		}
		if u.Get("status").Str() != Moving {
			unit.Status = r.status(u)
		}
		s.Units = append(s.Units, Entry[Unit]{name, unit})
	})
	r.each(n.Get("vms"), false, func(vm string, v *schema.Node) {
		s.VMs = append(s.VMs, Entry[VM]{vm, r.vm(v)})
	})
	return s
}

func (r *reader) cluster(n *schema.Node) *Cluster {
	r.known(n, "ca", "name", "nodes")
	c := &Cluster{CA: r.text(n, "ca", "line"), Name: r.text(n, "name", "line")}
	for _, node := range r.list(n, "nodes") {
		r.known(node, "name", "address")
		c.Nodes = append(c.Nodes, ClusterNode{Name: r.text(node, "name", "node"), Address: r.text(node, "address", "line")})
	}
	return c
}

func (r *reader) vm(n *schema.Node) VM {
	r.known(n, "kind", "vmid", "node", "clone", "clone_reason", "profile", "template", "next_template", "made_with", "macs", "networks",
		"disks", "unit", "member", "email", "seat", "former", "former_nodes", "fingerprint", "addresses", "detached", "rebuild", "exchanged",
		"gone", "status", "release", "image", "image_seen")
	v := VM{
		VMID:        r.number(n, "vmid", minVMID, maxVMID),
		Node:        r.text(n, "node", "node"),
		Clone:       r.text(n, "clone", "clone"),
		CloneReason: r.text(n, "clone_reason", "line"),
		Profile:     r.text(n, "profile", "profile"),
		Networks:    r.texts(n, "networks", "line"),
		Disks:       r.texts(n, "disks", "disk"),
		Unit:        r.text(n, "unit", "name"),
		Member:      r.text(n, "member", "text"),
		Email:       r.text(n, "email", "text"),
		FormerNodes: r.texts(n, "former_nodes", "node"),
		Addresses:   r.texts(n, "addresses", "line"),
		Detached:    r.texts(n, "detached", "detached"),
		Gone:        r.flag(n, "gone"),
		Status:      r.status(n),
		Release:     r.text(n, "release", "release"),
		Image:       r.image(n.Get("image")),
		ImageSeen:   r.flag(n, "image_seen"),
		at:          n.Pos,
	}
	if n.Get("kind") != nil && r.text(n, "kind", "kind") != "" {
		v.Kind = guest.Container
	}
	if n.Get("seat") != nil {
		v.Seat = r.number(n, "seat", 1, math.MaxInt32)
	}
	if n.Get("macs") != nil {
		v.MACs = append([]string{}, r.texts(n, "macs", "chosen mac")...)
		if own := defaultNetworks(); n.Get("networks") == nil && len(v.MACs) == len(own) {
			v.Networks = own
		}
	}
	for _, s := range r.texts(n, "former", "former") {
		v.Former = append(v.Former, parseAddress(s))
	}
	v.Template = r.template(n.Get("template"))
	if next := r.template(n.Get("next_template")); next != nil {
		v.Template, v.MadeFrom = next, v.Template
	}
	v.MadeWith = r.madeWith(n.Get("made_with"))
	if f := n.Get("fingerprint"); f != nil {
		r.known(f, "uuid", "macs")
		v.Fingerprint = &Fingerprint{UUID: r.text(f, "uuid", "line"), MACs: r.texts(f, "macs", "seen mac")}
	}
	v.Rebuild, v.Exchanged = r.rebuild(n.Get("rebuild")), r.text(n, "exchanged", "line")
	return v
}

// rebuild reads the mark of a VM that gets new disks.
func (r *reader) rebuild(n *schema.Node) *Rebuild {
	if n == nil {
		return nil
	}
	r.known(n, "uuid", "template", "waits", "apart", "unhealthy", "holder", "volumes", "from")
	b := &Rebuild{UUID: r.text(n, "uuid", "line"), Waits: r.flag(n, "waits"), Apart: r.flag(n, "apart"), Unhealthy: r.flag(n, "unhealthy"),
		Volumes: r.texts(n, "volumes", "line"), From: r.template(n.Get("from"))}
	if b.UUID == "" {
		r.fail(n.Pos, "uuid is missing")
	}
	if n.Get("template") != nil {
		b.Template = r.number(n, "template", minVMID, maxVMID)
	}
	if n.Get("holder") != nil {
		b.Holder = r.number(n, "holder", minVMID, maxVMID)
	}
	return b
}

// madeWith reads the values of properties that act at creation.
func (r *reader) madeWith(n *schema.Node) Values {
	if n == nil {
		return nil
	}
	var keys []string
	out := Values{}
	for _, f := range schema.CreationRows() {
		keys = append(keys, f.Key)
		switch v := n.Get(f.Key); {
		case v == nil:
		case f.Type == schema.Bool:
			out[f.Key] = strconv.FormatBool(r.flag(n, f.Key))
		case len(f.Enum) > 0 && !slices.Contains(f.Enum, v.Str()):
			r.fail(v.Pos, "%s is %q, but it must be one of %s", f.Key, v.Str(), strings.Join(f.Enum, ", "))
		default:
			out[f.Key] = r.text(n, f.Key, "line")
		}
	}
	r.known(n, keys...)
	return out
}

func (r *reader) template(n *schema.Node) *Template {
	if n == nil {
		return nil
	}
	r.known(n, "vmid", "node", "name", "release")
	return &Template{VMID: r.number(n, "vmid", minVMID, maxVMID), Node: r.text(n, "node", "node"), Name: r.text(n, "name", "id"),
		Release: r.text(n, "release", "release")}
}

// image reads what a template is made from.
func (r *reader) image(n *schema.Node) *Image {
	if n == nil {
		return nil
	}
	r.known(n, "url", "checksum", "file", "datastore")
	return &Image{URL: r.text(n, "url", "image url"), Checksum: r.text(n, "checksum", "checksum"), File: r.text(n, "file", "imagefile"),
		Datastore: r.text(n, "datastore", "storage")}
}
