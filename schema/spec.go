package schema

import (
	"path"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/sshkey"
)

// A Spec is one document, checked against the tables but not yet joined with
// what it inherits.
type Spec struct {
	File string
	Kind string
	Name string
	root *Node
}

// Parse reads one document. The Spec is nil exactly when there are errors.
func Parse(file string, src []byte) (*Spec, []Problem) {
	n, problems := parseYAML(file, src)
	if n == nil {
		return nil, SortProblems(problems)
	}
	c := newChecker()
	for _, p := range problems {
		c.Add(p)
		c.reported[p.Pos] = true // what else is wrong there follows from it
	}
	c.texts(n, "")
	if n.Shape != ShapeMap {
		c.errorAt(n, "", CodeType, "`stackgen init` writes a commented example", "a spec is a map of keys, but this is %s", n.Shape)
		return nil, c.Problems()
	}
	kind := c.kind(n)
	if kind == "" {
		return nil, c.Problems()
	}
	s := &Spec{File: file, Kind: kind, root: c.object(n, fieldsOf(kind), "")}
	s.Name = s.root.Get("name").Str()
	if c.errors > 0 {
		return nil, c.Problems()
	}
	return s, c.Problems()
}

// kind reads apiVersion and kind first, because they decide which table applies.
func (c *checker) kind(n *Node) string {
	if v := n.Get("apiVersion"); v != nil && v.Shape == ShapeString && v.Text != APIVersion {
		c.errorAt(v, "apiVersion", CodeVersion, "write "+APIVersion, "this stackgen reads apiVersion %s, but this is %q", APIVersion, v.Text)
		return ""
	}
	kinds := AllKinds
	k := n.Get("kind")
	switch {
	case k == nil:
		fix := "add kind: " + KindStack
		if path.Base(n.File) == SettingsFile {
			fix = "add kind: " + KindProject
		}
		if n.Get("apiVersion") == nil {
			fix += ", and apiVersion: " + APIVersion
		}
		c.errorAt(n, "kind", CodeKind, fix, "the document has no kind")
	case k.Shape == ShapeString && slices.Contains(kinds, k.Text):
		return k.Text
	default:
		fix := "kinds: " + strings.Join(kinds, ", ")
		if near := Nearest(k.Text, kinds); near != "" {
			fix = "did you mean " + near + "?"
		}
		c.errorAt(k, "kind", CodeKind, fix, "%q is not a kind of document", k.Text)
	}
	return ""
}

// References returns the files that the document names: SSH keys, rosters and certificates.
// Paths are relative to where the document's own path is relative to.
func (s *Spec) References() []string {
	var out []string
	var walk func(n *Node, key string)
	walk = func(n *Node, key string) {
		for i, item := range n.Items {
			sub := key
			if n.Shape == ShapeMap {
				sub = n.Keys[i].Text
			}
			if item.Shape == ShapeString && (sub == "roster_file" || sub == "ca_file" || sub == guest.SSHKeys && !sshkey.Like(item.Text)) {
				out = append(out, item.sibling())
			}
			if sub != guest.Meta {
				walk(item, sub)
			}
		}
	}
	walk(s.root, "")
	slices.Sort(out)
	return slices.Compact(out)
}

// sibling resolves a path relative to the file the node was written in.
func (n *Node) sibling() string {
	if path.IsAbs(n.Text) {
		return n.Text
	}
	return path.Join(path.Dir(n.File), n.Text)
}
