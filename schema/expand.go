package schema

import (
	"slices"
	"strings"

	"stackgen/guest"
)

// maxVMs bounds a stack: groups multiply, and a small spec could ask for more
// VMs than fit into memory. A render of so many takes seconds.
const maxVMs = 10_000

// manyVMs is the number of VMs in one unit up to which a plan takes about ten seconds
// on two cores, by BenchmarkSize in test/real.
const manyVMs = 300

// An expander turns the entries of one spec into VMs.
type expander struct {
	*joiner
	stack    *Stack
	root     *Node
	defaults *Node
	shared   *Node // what containers inherit
	pattern  *Node
	keys     map[string]Pos  // of all members, also of those with errors
	sshKeys  map[*Node]*Node // public keys that were read already, by their place in the spec
}

// A member is an entry of vms, or one of a group or class, before it is read as
// a VM.
type member struct {
	key, path, name string
	email           string
	formerly        Member
	pos             Pos // the VM's
	keyPos          Pos // where the key comes from, if elsewhere: the roster's line
	n               int
	student, spelt  bool
	whose           string
	extra           []Extra
	own             *Node // its own properties, or nil if they have errors
	replica         *Replica
	kind            guest.Kind
}

// expand turns a spec's vms, containers, groups, teacher and students into VMs, in the
// order of the spec: the order in which first decisions are made.
func (j *joiner) expand(s *Stack, root *Node) {
	e := &expander{joiner: j, stack: s, root: root, defaults: j.defaultVM(root), shared: j.defaultContainer(root),
		keys: map[string]Pos{}, sshKeys: map[*Node]*Node{},
		pattern: j.fill(orEmpty(root.Get("naming")), find(sharedFields, "naming")).Get("pattern")}
	s.Naming = e.pattern.Str()
	if s.IsTemplate() {
		e.template()
		return
	}
	errors := j.errors
	roster := e.readRoster()
	if e.tooMany(roster) {
		return
	}
	for i, key := range root.Keys {
		switch v := root.Items[i]; key.Text {
		case "vms":
			for k, name := range v.Keys {
				e.add(member{key: name.Text, pos: name.Pos, path: "vms." + name.Text, own: v.Items[k]})
			}
		case containersKey:
			for k, name := range v.Keys {
				e.add(member{key: name.Text, pos: name.Pos, path: containersKey + "." + name.Text, own: v.Items[k], kind: guest.Container})
			}
		case "groups":
			for k, name := range v.Keys {
				e.group(name, v.Items[k])
			}
		case "teacher":
			e.add(member{key: "teacher", pos: key.Pos, path: "teacher", own: v})
		case "students":
			e.students(key, v, roster)
		}
	}
	e.vm = nil
	if len(s.VMs) == 0 && len(s.Retired) == 0 && len(s.Forgotten) == 0 && j.errors == errors {
		fix := map[string]string{KindStack: "add vms:, groups: or containers:", KindClass: "add students:"}[s.Kind]
		j.warn(s.Pos, "", CodeNoVMs, fix, "stack %q has no VM and no container", s.Name)
	}
	if len(s.VMs) > manyVMs {
		j.warn(s.Pos, "", CodeLargeStack, "split the stack, as docs/size.md describes",
			"stack %q has %d guests: with more than %d, a plan takes more than ten seconds", s.Name, len(s.VMs), manyVMs)
	}
	e.listClashes()
	e.canaries()
}

// tooMany refuses a stack that is too large, before any VM is made.
func (e *expander) tooMany(r *roster) bool {
	total := 0
	exceeds := func(n int) bool {
		total += n
		return total > maxVMs
	}
	refuse := func(pos Pos, path string) bool {
		e.errorPos(pos, path, CodeTooBig, "split it into several stacks", "stack %q has more than %d guests", e.stack.Name, maxVMs)
		return true
	}
	for i, key := range e.root.Keys {
		switch v := e.root.Items[i]; key.Text {
		case "vms", containersKey:
			if exceeds(len(v.Keys)) {
				return refuse(key.Pos, key.Text)
			}
		case "groups":
			for k, name := range v.Keys {
				if exceeds(v.Items[k].Get("count").Int()) {
					return refuse(name.Pos, "groups."+name.Text)
				}
			}
		case "teacher":
			if exceeds(1) {
				return refuse(key.Pos, "teacher")
			}
		case "students":
			if room := maxVMs - total; r != nil && exceeds(len(r.students)) {
				return refuse(r.students[room].pos, "students")
			}
		}
	}
	return false
}

func orEmpty(n *Node) *Node {
	if n == nil {
		return &Node{Shape: ShapeMap}
	}
	return n
}

// vmField is the row of a whole VM.
func vmField() *Field { return guestField(guest.VM) }

// guestField is the row of a whole guest of a kind.
func guestField(kind guest.Kind) *Field { return &Field{Type: Object, Fields: Fields(kind)} }

// defaultVM has the properties that every VM of the stack inherits.
func (j *joiner) defaultVM(root *Node) *Node {
	base := j.fill(&Node{Shape: ShapeMap}, vmField()).Without(guest.Profile)
	class := &Node{Shape: ShapeMap}
	for _, key := range []string{guest.Template, guest.Clone, guest.Placement, guest.Checkpoint} {
		if v := root.Get(key); v != nil {
			class = class.With(root.key(key), v)
		}
	}
	return merge(merge(base, class, vmField()), root.Get("defaults"), vmField())
}

func (e *expander) group(key, v *Node) {
	e.vm = nil
	pattern, own, overrides := v.Get("key"), v.Without(kindKey, "count", "key", "overrides"), e.overridesOf(v)
	text, at := key.Text+"{n}", key
	if pattern != nil {
		text, at = pattern.Text, pattern
	}
	kind := guest.VM
	if isContainers(v) {
		kind = guest.Container
	}
	varies := hasOrdinal(own)
	for n := 1; n <= v.Get("count").Int(); n++ {
		memberKey, ok := e.withOrdinal(at, text, n)
		if !ok {
			return
		}
		m := member{key: memberKey, pos: at.Pos, path: "groups." + key.Text, n: n, own: own, kind: kind}
		if varies {
			m.own = e.numbered(m, own)
		}
		e.add(overrides.apply(m))
	}
	e.vm = nil
	overrides.unused("groups."+key.Text, "no member of the group has the key %q")
}

// add merges a member with what it inherits and reads it as a VM. A member whose
// own is nil has errors already; it is not checked further, because other errors
// would follow from them.
func (e *expander) add(m member) {
	e.vm = &subject{e.stack.Name, m.path, m.key, m.kind}
	at := m.pos
	if m.keyPos.File != "" {
		at = m.keyPos
	}
	if !e.addKey(m, at) || m.own == nil {
		return
	}
	inherited, row := e.defaults, guestField(m.kind)
	switch {
	case m.kind == guest.Container:
		inherited = e.shared
	case m.replica != nil: // of the defaults, only those of the table
		inherited = e.fill(&Node{Shape: ShapeMap}, row)
	}
	v := &VM{Kind: m.kind, Pos: m.pos, Path: m.path, Key: m.key, N: m.n, Member: m.name, Email: m.email, Listed: m.keyPos,
		Formerly: m.formerly, Extra: m.extra, Own: m.own, Replica: m.replica,
		Values: e.fill(merge(inherited, m.own, row), row)}
	if m.student {
		v.Seat, v.Spelt, v.Whose = m.n, m.spelt, m.whose
	}
	if v.IsContainer() {
		e.readContainer(v)
	} else {
		e.read(v)
	}
	e.stack.VMs = append(e.stack.VMs, v)
}

// addKey reports whether a member's key is valid and free, and reserves it.
func (e *expander) addKey(m member, at Pos) bool {
	first, used := e.keys[m.key]
	switch {
	case !matches("key", m.key):
		e.errorPos(at, m.path, CodeValue, "", "%q is not %s", m.key, formats["key"].want)
	case Reserved(m.key):
		e.errorPos(at, m.path, CodeValue, "choose another key", "%q is an HCL keyword, and Terragrunt writes keys without quotes", m.key)
	case used:
		e.errorPos(at, m.path, CodeKeyClash, "choose another key: it is the permanent address of one guest",
			"the key is already used at %s", first)
	default:
		e.keys[m.key] = at
		return true
	}
	return false
}

// name makes the name of a VM that has none of its own.
func (e *expander) name(v *VM) string {
	at := e.pattern
	if at.File == "" {
		at = Scalar(v.Pos, ShapeString, at.Text)
	}
	out := ordinal.ReplaceAllStringFunc(at.Text, func(expr string) string {
		name, width, _ := strings.Cut(expr[1:len(expr)-1], ":")
		switch {
		case name != "n":
			return expr
		case v.N == 0:
			return ""
		}
		return padded(v.N, width)
	})
	out = strings.NewReplacer("{stack}", e.stack.Name, "{key}", v.Key, "{env}", e.stack.Environment).Replace(out)
	if strings.ContainsAny(out, "{}") {
		e.errorAt(at, "naming.pattern", CodePlaceholder, "placeholders: {stack}, {key}, {env}, {n}, {n:02}",
			"the naming pattern %q has an unknown placeholder", at.Text)
		return v.Key
	}
	if f := VMField(guest.Name); !matches(f.Format, out) || len(out) > f.Most {
		e.errorAt(at, v.Path, CodeValue, "give the "+v.Kind.Name()+" a name:, or change naming.pattern",
			"the name would be %q, which is not %s", out, f.want())
	}
	return out
}

// Reserved reports whether a name cannot be a key of an HCL object: Terragrunt
// writes keys without quotes.
func Reserved(name string) bool { return slices.Contains([]string{"for", "null"}, name) }
