package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// expand unfolds a spec's vms, groups, teacher and students into VMs, in the
// order they are written in: the order in which first decisions are made.
func (j *joiner) expand(s *Stack, root *Node) {
	defaults := j.defaultVM(root)
	e := &expander{joiner: j, stack: s, root: root, defaults: defaults, pattern: j.fill(orEmpty(root.Get("naming")), find(sharedFields, "naming")).Get("pattern")}
	if groups := root.Get("groups"); groups != nil {
		total := 0
		for i, g := range groups.Items {
			if total += g.Get("count").Int(); total > maxVMs {
				j.errorAt(groups.Keys[i], "groups", CodeTooBig, "split it into several stacks", "stack %q has more than %d VMs", s.Name, maxVMs)
				return
			}
		}
	}
	errors := countErrors(j.problems)
	for i, key := range root.Keys {
		switch v := root.Items[i]; key.Text {
		case "vms":
			for k, name := range v.Keys {
				e.add(member{key: name.Text, pos: name.Pos, path: "vms." + name.Text, own: v.Items[k]})
			}
		case "groups":
			for k, name := range v.Keys {
				e.group(name, v.Items[k])
			}
		case "teacher":
			e.add(member{key: "teacher", pos: key.Pos, path: "teacher", own: v})
		case "students":
			e.students(key, v)
		}
	}
	if len(s.VMs) == 0 && len(s.Retired) == 0 && len(s.Forgotten) == 0 && countErrors(j.problems) == errors {
		fix := map[string]string{KindStack: "add vms: or groups:", KindClass: "add students:"}[s.Kind]
		j.warn(s.Pos, "", CodeNoVMs, fix, "stack %q has no VM", s.Name)
	}
}

func countErrors(ps []Problem) int {
	n := 0
	for _, p := range ps {
		if p.Severity == SeverityError {
			n++
		}
	}
	return n
}

func orEmpty(n *Node) *Node {
	if n == nil {
		return &Node{Shape: ShapeMap}
	}
	return n
}

// vmField is the row of a whole VM.
func vmField() *Field { return &Field{Type: Object, Fields: VMFields} }

// defaultVM is what every VM of the stack starts from.
func (j *joiner) defaultVM(root *Node) *Node {
	base := j.fill(&Node{Shape: ShapeMap}, vmField()).Without("profile")
	class := &Node{Shape: ShapeMap}
	for _, key := range []string{"template", "clone", "placement"} {
		if v := root.Get(key); v != nil {
			class = class.With(root.key(key), v)
		}
	}
	return merge(merge(base, class, vmField()), root.Get("defaults"), vmField())
}

// An expander turns the entries of one spec into VMs.
type expander struct {
	*joiner
	stack    *Stack
	root     *Node
	defaults *Node
	pattern  *Node
	keys     map[string]Pos
}

// maxVMs bounds a stack: groups multiply, and a small spec could ask for more
// VMs than memory holds.
const maxVMs = 50_000

// A member is one VM to be.
type member struct {
	key, path, name string
	pos             Pos
	n               int
	extra           []Extra
	own             *Node
}

func (e *expander) group(key, v *Node) {
	pattern, own := v.Get("key"), v.Without("count", "key")
	text, at := key.Text+"{n}", key
	if pattern != nil {
		text, at = pattern.Text, pattern
	}
	varies := hasOrdinal(own)
	for n := 1; n <= v.Get("count").Int(); n++ {
		memberKey, ok := e.ordinal(at, text, n, "")
		if !ok {
			return
		}
		m := member{key: memberKey, pos: at.Pos, path: "groups." + key.Text, n: n, own: own}
		if varies {
			m.own = e.unordinal(own, n, m.path)
		}
		e.add(m)
	}
}

// hasOrdinal reports whether any text in a tree depends on {n}.
func hasOrdinal(n *Node) bool {
	return n.Shape == ShapeString && ordinal.MatchString(n.Text) || slices.ContainsFunc(n.Items, hasOrdinal)
}

// unordinal puts the ordinal into a member's own properties and checks what
// comes out, which could not be checked before.
func (e *expander) unordinal(n *Node, ord int, path string) *Node {
	out := e.check(e.substitute(n, ord), vmField(), path)
	if out == nil {
		return &Node{Pos: n.Pos, Shape: ShapeMap}
	}
	return out
}

func (e *expander) substitute(n *Node, ord int) *Node {
	out := *n
	if n.Shape == ShapeString {
		if text, ok := e.ordinal(n, n.Text, ord, ""); ok {
			out.Text = text
		}
	}
	out.Items = make([]*Node, len(n.Items))
	for i, item := range n.Items {
		out.Items[i] = e.substitute(item, ord)
	}
	return &out
}

// ordinal replaces {n} arithmetic, and {name} where there is a name.
func (e *expander) ordinal(at *Node, text string, n int, name string) (string, bool) {
	ok := true
	out := ordinal.ReplaceAllStringFunc(text, func(expr string) string {
		v, err := evaluate(expr[1:len(expr)-1], n)
		if err != nil {
			ok = false
			e.errorAt(at, "", CodePlaceholder, "write {n}, {10+n} or {n-1}", "%s is no arithmetic on the ordinal", printable(expr))
		}
		return strconv.Itoa(v)
	})
	return strings.ReplaceAll(out, "{name}", name), ok
}

// evaluate adds up terms such as 10+n or n-1.
func evaluate(expr string, n int) (int, error) {
	sum, expr := 0, strings.ReplaceAll(strings.ReplaceAll(expr, " ", ""), "-", "+-")
	for i, term := range strings.Split(expr, "+") {
		sign := 1
		if strings.HasPrefix(term, "-") {
			sign, term = -1, term[1:]
		}
		switch v, err := strconv.Atoi(term); {
		case term == "n":
			sum += sign * n
		case term == "" && i == 0 && sign == 1:
		case err != nil || v < 0 || v > 1<<30:
			return 0, fmt.Errorf("%q is no number", term)
		default:
			sum += sign * v
		}
	}
	return sum, nil
}

// reserved reports whether a name cannot be a key of an HCL object, because
// Terragrunt writes keys without quotes.
func reserved(name string) bool { return name == "for" || name == "null" }

// add merges a member with what it inherits and reads it as a VM.
func (e *expander) add(m member) {
	if e.keys == nil {
		e.keys = map[string]Pos{}
	}
	if !matches("key", m.key) {
		e.errorPos(m.pos, m.path, CodeValue, "", "%q is not %s", printable(m.key), formats["key"].want)
		return
	}
	if reserved(m.key) {
		e.errorPos(m.pos, m.path, CodeValue, "choose another key", "%q is a word of HCL, which Terragrunt writes without quotes", m.key)
		return
	}
	if first, ok := e.keys[m.key]; ok {
		e.errorPos(m.pos, m.path, CodeKeyClash, "a key is one VM's address for good: choose another", "key %q is taken by %s", m.key, first)
		return
	}
	e.keys[m.key] = m.pos
	v := &VM{Pos: m.pos, Path: m.path, Key: m.key, N: m.n, Member: m.name, Extra: m.extra, Own: m.own,
		Values: e.fill(merge(e.defaults, m.own, vmField()), vmField())}
	e.read(v)
	e.stack.VMs = append(e.stack.VMs, v)
}

// name makes the name of a VM that has none of its own.
func (e *expander) name(v *VM) string {
	at := e.pattern
	if at.File == "" {
		at = Scalar(v.Pos, ShapeString, at.Text)
	}
	n := ""
	if v.N > 0 {
		n = strconv.Itoa(v.N)
	}
	out := strings.NewReplacer("{stack}", e.stack.Name, "{key}", v.Key, "{env}", e.stack.Environment, "{n}", n).Replace(at.Text)
	if strings.ContainsAny(out, "{}") {
		e.errorAt(at, "naming.pattern", CodePlaceholder, "placeholders: {stack}, {key}, {env}, {n}", "the naming pattern %q has an unknown placeholder", printable(at.Text))
		return v.Key
	}
	if !matches("label", out) {
		e.errorAt(at, v.Path, CodeValue, "give the VM a name:, or mend naming.pattern", "the name of %s would be %q, which is not %s", v.Key, printable(out), formats["label"].want)
	}
	return out
}
