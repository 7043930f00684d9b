package schema

import (
	"path"
	"slices"
	"strings"
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
	said := map[Pos]bool{} // one mistake is one problem
	for _, p := range problems {
		said[p.Pos] = true
	}
	c := &checker{problems: problems, said: said}
	c.secrets(n, "")
	if n.Shape != ShapeMap {
		c.errorAt(n, "", CodeType, "`stackgen init` writes a commented example", "a spec is a map of keys; this is %s", n.Shape)
		return nil, SortProblems(c.problems)
	}
	kind := c.kind(n)
	if kind == "" {
		return nil, SortProblems(c.problems)
	}
	s := &Spec{File: file, Kind: kind, root: c.object(n, fieldsOf(kind), "")}
	s.Name = s.root.Get("name").Str()
	if HasErrors(c.problems) {
		return nil, SortProblems(c.problems)
	}
	return s, SortProblems(c.problems)
}

// kind peeks at apiVersion and kind: what they say decides what the rest means.
func (c *checker) kind(n *Node) string {
	if v := n.Get("apiVersion"); v != nil && v.Shape == ShapeString && v.Text != APIVersion {
		c.errorAt(v, "apiVersion", CodeVersion, "write "+APIVersion, "this stackgen reads apiVersion %s; this is %q", APIVersion, printable(v.Text))
		return ""
	}
	kinds := []string{KindProject, KindStack, KindClass}
	k := n.Get("kind")
	switch {
	case k == nil:
		c.errorAt(n, "kind", CodeKind, "add kind: Stack", "the document has no kind")
	case k.Shape == ShapeString && slices.Contains(kinds, k.Text):
		return k.Text
	default:
		fix := "kinds: " + strings.Join(kinds, ", ")
		if near := nearest(k.Text, kinds); near != "" {
			fix = "did you mean " + near + "?"
		}
		c.errorAt(k, "kind", CodeKind, fix, "%q is no kind of document", printable(k.Text))
	}
	return ""
}

// References returns the files that the document names: SSH keys and rosters.
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
			if item.Shape == ShapeString && (sub == "roster_file" || sub == "ssh_keys" && !IsPublicKey(item.Text)) {
				out = append(out, item.sibling())
			}
			if sub != "meta" {
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

// IsPublicKey reports whether text looks like an SSH public key.
func IsPublicKey(text string) bool {
	kind, rest, ok := strings.Cut(strings.TrimSpace(text), " ")
	return ok && rest != "" && (strings.HasPrefix(kind, "ssh-") || strings.HasPrefix(kind, "ecdsa-") || strings.HasPrefix(kind, "sk-"))
}
