package deploy

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/edit"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A leaving is that of members of a stack: they are in no roster any more, and the spec retires
// their VMs.
type leaving struct {
	vms   []*schema.VM
	files []files.Change // by their paths as shown
	err   error          // why a person has to edit the files
	wrote []string       // the files that are written although err is set
}

// leave plans how the members among some VMs of a stack leave it, by the specs as they are now. It
// is nil if there are none.
func (r *run) leave(stack string, keys []string) *leaving {
	p, err := project.Open(r.Paths)
	if err != nil {
		p = r.p
	}
	out := &leaving{err: err}
	for _, key := range keys {
		if v := specOf(p, stack, key); v != nil && slices.Contains(r.Leave, stack+"/"+key) {
			out.vms = append(out.vms, v)
		}
	}
	if len(out.vms) == 0 {
		return nil
	}
	if out.err == nil {
		out.files, out.err = r.unlisted(p, stack, out.vms)
	}
	return out
}

// unlisted are the files of a stack in which members are in no roster, and their VMs retired. The spec
// is the last one: if only the rosters are written, a render says what to add to the spec, and with
// only the spec, its list and the roster would clash in every command.
func (r *run) unlisted(p *project.Project, stack string, vms []*schema.VM) ([]files.Change, error) {
	vms = slices.Clone(vms)
	slices.SortFunc(vms, func(a, b *schema.VM) int { return b.Listed.Compare(a.Listed) }) // the last one first: the others stay where they are
	spec, edited := vms[0].File, edits{root: p.Root, files: map[string]files.Change{}}
	for _, v := range vms {
		in, by := v.Listed.File, edit.UnlistRow
		if in == spec {
			by = func(src []byte, line int) ([]byte, error) { return edit.Unlist(src, line, v.Listed.Col) }
		}
		if err := edited.change(in, func(src []byte) ([]byte, error) { return by(src, v.Listed.Line) }); err != nil {
			return nil, err
		}
	}
	for _, v := range slices.Backward(vms) {
		if err := edited.change(spec, func(src []byte) ([]byte, error) { return edit.Retire(src, finding.Key(v.Key)) }); err != nil {
			return nil, err
		}
	}
	var out []files.Change
	for _, file := range slices.Sorted(maps.Keys(edited.files)) {
		if file != spec {
			out = append(out, edited.files[file])
		}
	}
	return append(out, edited.files[spec]), r.onlyLeave(p, stack, edited)
}

// edits are changes of files below the folder of a project, by their paths as shown.
type edits struct {
	root  string
	files map[string]files.Change
}

// change changes a file as it is so far.
func (e *edits) change(file string, by func(src []byte) ([]byte, error)) error {
	c, ok := e.files[file]
	if !ok {
		path := project.Relative(e.root, file)
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			return fmt.Errorf("%s is outside the project", file)
		}
		body, err := files.Read(file, maxFile)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", file, err)
		}
		c = files.Change{Path: path, Shown: filepath.ToSlash(file), Kind: files.Changed, Old: body, New: body, Sync: true}
	}
	body, err := by(c.New)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.New = body
	e.files[file] = c
	return nil
}

// maxFile bounds a spec or a roster that is changed, in bytes.
const maxFile = 64 << 20

// onlyLeave reads a project with changed files of a stack, and refuses them unless exactly the VMs of
// the request leave it: two classes may have one roster.
func (r *run) onlyLeave(p *project.Project, stack string, edited edits) error {
	bodies := map[string][]byte{}
	for file, c := range edited.files {
		bodies[file] = c.New
	}
	next, err := project.LoadEdited(r.Paths, "", bodies)
	switch {
	case err != nil:
		return err
	case next.Stacks == nil:
		return fmt.Errorf("the spec would have errors: %s", firstError(next.Problems))
	}
	was, is := seated(p), seated(next)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		switch now, ok := is[name]; {
		case !ok && !slices.Contains(r.Leave, name):
			return fmt.Errorf("%s, which is not named, would leave with it", name)
		case !ok && !strings.HasPrefix(name, stack+"/"):
			return fmt.Errorf("%s would leave with it: the roster is shared, and each class has its own list `retired`", name)
		case ok && now != was[name]:
			return fmt.Errorf("%s would be another VM", name)
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			return fmt.Errorf("%s would be a new VM", name)
		}
	}
	if err := next.Decide(lock.Options{}); err != nil {
		return errors.New("a render would refuse the spec after it")
	}
	return nil
}

// firstError is the first problem that is an error.
func firstError(problems []schema.Problem) string {
	for _, p := range problems {
		if p.Severity == schema.SeverityError {
			return p.Message
		}
	}
	return ""
}

// seated are the VMs of a project, each as STACK/KEY, with what they keep when another one leaves.
func seated(p *project.Project) map[string]string {
	out := map[string]string{}
	for _, s := range p.Stacks.Stacks {
		for _, v := range s.VMs {
			out[s.Name+"/"+v.Key] = fmt.Sprint(v.Member, v.Email, v.Seat, v.N, v.Name)
		}
	}
	return out
}

// keepListed keeps members in their class whose VMs are in no state but in the cluster, or may be: a
// destroy leaves these VMs there.
func (r *run) keepListed(found []finding.Finding, matches []cluster.Match) {
	r.Leave = slices.DeleteFunc(slices.Clone(r.Leave), func(name string) bool {
		stack, key, _ := strings.Cut(name, "/")
		if slices.Contains(existing(found, stack), key) {
			return true
		}
		i := slices.IndexFunc(matches, func(m cluster.Match) bool {
			return m.Stack == stack && m.Key == key && m.Holder != nil && (m.Why == cluster.NameAlone || m.Why == cluster.NotItsMAC)
		})
		if i < 0 {
			return false
		}
		g := matches[i].Holder
		r.say("%s stays in its class: VM %d on %s has its VMID and its name, and nothing proves whose it is", name, g.VMID, g.Node)
		return true
	})
}

// leaveNotes say what is written when VMs are gone, or that a person has to.
func (r *run) leaveNotes() []string {
	var out []string
	for _, st := range r.stacks {
		l := r.leave(st.name, r.Part[st.name])
		switch {
		case l == nil:
		case l.err != nil:
			out = append(out, l.failure())
		default:
			out = append(out, fmt.Sprintf("afterwards %s %s the class: out of the roster, and `%s`, in %s",
				strings.Join(l.members(), ", "), one(l.keys(), "leaves", "leave"), finding.Entries("retired", l.keys()...), l.paths()))
		}
	}
	return out
}

// unlist writes that members leave a stack, and says so. It returns who leaves; nil if nobody does.
func (r *run) unlist(stack string, keys []string) (l *leaving, text string) {
	if l = r.leave(stack, keys); l == nil {
		return nil, ""
	}
	if l.write(r.p.Root); l.err != nil {
		r.failed = true
		r.say("%s", l.failure())
		return l, ""
	}
	spec := shell.Path(l.vms[0].File)
	return l, fmt.Sprintf("%s left the class, by %s\nnext:\n  stackgen render %s && stackgen apply %s\n",
		strings.Join(l.members(), ", "), l.paths(), spec, spec)
}

// write writes the files, up to the first one that cannot be written.
func (l *leaving) write(root string) {
	for _, c := range l.files {
		if l.err != nil {
			return
		}
		if l.err = files.Apply(root, []files.Change{c}); l.err == nil {
			l.wrote = append(l.wrote, c.Shown)
		}
	}
}

// failure says why the files are left to a person.
func (l *leaving) failure() string {
	members := strings.Join(l.members(), ", ")
	if len(l.wrote) > 0 {
		return fmt.Sprintf("%s left the roster, %s, and the rest is not written: %v", members, strings.Join(l.wrote, " and "), l.err)
	}
	return fmt.Sprintf("the files of the class still have %s, and cannot be changed for certain: %v", members, l.err)
}

// byHand are the lines that keep VMs of a stack destroyed, for a person to write.
func (r *run) byHand(stack string, keys []string, l *leaving) string {
	var places []guard.Place
	by, first := map[guard.Place][]string{}, map[guard.Place]*schema.VM{}
	for _, key := range keys {
		v := specOf(r.p, stack, key)
		if l != nil && len(l.wrote) > 0 && slices.Contains(l.keys(), key) {
			v = nil
		}
		at := guard.PlaceOf(v)
		if by[at] == nil {
			places, first[at] = append(places, at), v
		}
		by[at] = append(by[at], key)
	}
	out := ""
	for i, at := range places {
		text, lines := guard.Leaves(vmsOf(r.p, stack), first[at], keys, r.p.Specs[stack])
		if i == len(places)-1 { // a spec has one list
			lines = append(lines, lock.Entries("retired", retiredIn(r.p, stack), keys...).String(), "stackgen render")
		}
		out += fmt.Sprintf("to keep %s destroyed, %s", strings.Join(by[at], ", "), text)
		if len(lines) > 0 {
			out += ":\n  " + strings.Join(lines, "\n  ")
		}
		out += "\n"
	}
	return out
}

func (l *leaving) paths() string {
	var names []string
	for _, c := range l.files {
		names = append(names, c.Shown)
	}
	return strings.Join(names, " and ")
}

func (l *leaving) members() []string {
	var out []string
	for _, v := range l.vms {
		out = append(out, v.Member)
	}
	return out
}

func (l *leaving) keys() []string {
	var out []string
	for _, v := range l.vms {
		out = append(out, v.Key)
	}
	return out
}
