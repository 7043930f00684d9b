package lock

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
		return nil, r.problems
	}
	version := root.Get("version")
	if version != nil && version.Shape == schema.ShapeInt && !readable(version.Int()) {
		r.fail(version.Pos, "it has version %s, but this stackgen reads versions 1 to %d", version.Text, Version)
		r.problems[0].Fix = "install the stackgen that wrote it, or a newer one"
		return nil, r.problems
	}
	if r.known(root, "version", "project", "profiles", "stacks"); root.Shape != schema.ShapeMap {
		return nil, r.problems
	}
	if v := r.number(root, "version"); !readable(v) && len(r.problems) == 0 {
		r.fail(root.Get("version").Pos, "expected version: %d", Version)
	}
	l.Project = r.text(root.Get("project"))
	profiles := r.strings(root.Get("profiles"))
	r.each(root.Get("stacks"), func(key string, n *schema.Node) {
		l.Stacks = append(l.Stacks, Entry[Stack]{key, r.stack(key, n)})
	})
	if len(r.problems) > 0 {
		return nil, schema.SortProblems(r.problems)
	}
	if version.Text == "1" {
		l.upgrade(profiles)
	}
	if version.Text == "1" || version.Text == "2" {
		l.dropMACs()
	}
	return l, nil
}

// readable reports whether this package reads a version of the lock's format.
func readable(version int) bool { return version >= 1 && version <= Version }

// A reader reads the parts of a lock and collects their problems.
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

func (r *reader) each(n *schema.Node, do func(string, *schema.Node)) {
	if n == nil {
		return
	}
	if n.Shape != schema.ShapeMap {
		r.fail(n.Pos, "expected a map, found %s", n.Shape)
		return
	}
	for i, k := range n.Keys {
		switch {
		case strings.Trim(k.Text, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || k.Text == "": // it becomes part of paths
			r.fail(k.Pos, "%q is not the name of a stack, unit or VM", k.Text)
		case n.Items[i].Shape != schema.ShapeMap:
			r.fail(n.Items[i].Pos, "expected a map, found %s", n.Items[i].Shape)
		default:
			do(k.Text, n.Items[i])
		}
	}
}

func (r *reader) text(n *schema.Node) string {
	if n != nil && (n.Shape == schema.ShapeList || n.Shape == schema.ShapeMap) {
		r.fail(n.Pos, "expected text, found %s", n.Shape)
	}
	return n.Str()
}

func (r *reader) number(parent *schema.Node, key string) int {
	n := parent.Get(key)
	if n == nil {
		r.fail(parent.Pos, "%s is missing", key)
		return 0
	}
	v, err := strconv.Atoi(n.Str())
	if err != nil {
		r.fail(n.Pos, "%s is a number, not %q", key, n.Str())
	}
	return v
}

func (r *reader) strings(n *schema.Node) []string {
	if n == nil {
		return nil
	}
	if n.Shape != schema.ShapeList {
		r.fail(n.Pos, "expected a list, found %s", n.Shape)
		return nil
	}
	return n.Strings()
}

func (r *reader) status(n *schema.Node) string {
	s := r.text(n.Get("status"))
	if s != Live && s != Retired && s != Forgotten {
		r.fail(n.Get("status").Pos, "unknown status %q", s)
	}
	return s
}

func (r *reader) stack(key string, n *schema.Node) Stack {
	r.known(n, "spec", "status", "environment", "state_key", "backend", "proxmox", "dns", "cluster", "units", "vms")
	s := Stack{Spec: r.text(n.Get("spec")), Status: r.status(n), Environment: r.text(n.Get("environment")), StateKey: r.text(n.Get("state_key"))}
	if s.Spec == "" || s.StateKey == "" {
		r.fail(n.Pos, "stack %q has no spec or no state_key", key)
	}
	if b := n.Get("backend"); b != nil {
		r.known(b, "type", "bucket", "region", "endpoint", "path_style", "lock")
		s.Backend = Backend{Type: r.text(b.Get("type")), Bucket: r.text(b.Get("bucket")), Region: r.text(b.Get("region")),
			Endpoint: r.text(b.Get("endpoint")), PathStyle: b.Get("path_style").Bool(), Lock: b.Get("lock").Bool()}
	}
	if p := n.Get("proxmox"); p != nil {
		r.known(p, "endpoint", "insecure", "ca_file")
		s.Proxmox = &Proxmox{Endpoint: r.text(p.Get("endpoint")), Insecure: p.Get("insecure").Bool(), CAFile: r.text(p.Get("ca_file"))}
	}
	if d := n.Get("dns"); d != nil {
		r.known(d, "zone", "server", "port", "key_name", "algorithm")
		s.DNS = &DNS{Zone: r.text(d.Get("zone")), Server: r.text(d.Get("server")), Port: r.number(d, "port"),
			KeyName: r.text(d.Get("key_name")), Algorithm: r.text(d.Get("algorithm"))}
	}
	if c := n.Get("cluster"); c != nil {
		s.Cluster = r.cluster(c)
	}
	r.each(n.Get("units"), func(name string, u *schema.Node) {
		r.known(u, "status", "pool", "lineage", "applied", "gone")
		unit := Unit{Status: Moving, Pool: r.text(u.Get("pool")), Lineage: r.text(u.Get("lineage")), Applied: u.Get("applied").Bool(), Gone: u.Get("gone").Bool()}
		if r.text(u.Get("status")) != Moving {
			unit.Status = r.status(u)
		}
		s.Units = append(s.Units, Entry[Unit]{name, unit})
	})
	r.each(n.Get("vms"), func(vm string, v *schema.Node) {
		s.VMs = append(s.VMs, Entry[VM]{vm, r.vm(v)})
	})
	return s
}

func (r *reader) cluster(n *schema.Node) *Cluster {
	r.known(n, "ca", "name", "nodes")
	c := &Cluster{CA: r.text(n.Get("ca")), Name: r.text(n.Get("name"))}
	for _, node := range n.Get("nodes").List() {
		r.known(node, "name", "address")
		c.Nodes = append(c.Nodes, ClusterNode{Name: r.text(node.Get("name")), Address: r.text(node.Get("address"))})
	}
	return c
}

func (r *reader) vm(n *schema.Node) VM {
	r.known(n, "vmid", "node", "clone", "profile", "template", "macs", "unit", "member", "former", "fingerprint", "addresses", "gone", "status")
	v := VM{VMID: r.number(n, "vmid"), Node: r.text(n.Get("node")), Clone: r.text(n.Get("clone")), Profile: r.text(n.Get("profile")),
		Unit: r.text(n.Get("unit")), Member: r.text(n.Get("member")), Addresses: r.strings(n.Get("addresses")), Gone: n.Get("gone").Bool(), Status: r.status(n), at: n.Pos}
	if macs := n.Get("macs"); macs != nil {
		v.MACs = append([]string{}, r.strings(macs)...)
	}
	for _, s := range r.strings(n.Get("former")) {
		v.Former = append(v.Former, parseAddress(s, cmp.Or(v.Profile, "default")))
	}
	if t := n.Get("template"); t != nil {
		r.known(t, "vmid", "node", "name")
		v.Template = &Template{VMID: r.number(t, "vmid"), Node: r.text(t.Get("node")), Name: r.text(t.Get("name"))}
	}
	if f := n.Get("fingerprint"); f != nil {
		r.known(f, "uuid", "macs")
		v.Fingerprint = &Fingerprint{UUID: r.text(f.Get("uuid")), MACs: r.strings(f.Get("macs"))}
	}
	return v
}
