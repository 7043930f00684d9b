package deploy

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/render"
	"stackgen/schema"
)

const artClass = `apiVersion: stackgen/v1
kind: Class
name: art
vmids: 300-399
template: 9002
placement: {nodes: [pve1]}
defaults: {disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
students: {STUDENTS}
`

// TestLeave: exactly the members that are named leave their class, or nobody does.
func TestLeave(t *testing.T) {
	for _, c := range []struct {
		name, students, leave string
		want                  string // the changed lines, or the reason
	}{
		{"in the spec", "roster: [Ana Prva, Bo, Cy]", "art/bo", "art.yaml: students: {roster: [Ana Prva, Cy]}; retired: [bo]"},
		{"numbers stay", "key: 's{n}', roster: [Ana Prva, Bo, Cy]", "art/s1", "art.yaml: students: {key: 's{n}', roster: [Bo, Cy]}; retired: [s1]"},
		{"several", "roster: [Ana Prva, Bo, Cy]", "art/cy art/ana-prva", "art.yaml: students: {roster: [Bo]}; retired: [ana-prva, cy]"},
		{"in a file", "roster_file: art.csv", "art/bo", "art.csv: ; art.yaml: retired: [bo]"},
		{"all", "roster: [Bo]", "art/bo", "art.yaml: it is written in a form that cannot be edited"},
		{"in two classes", "roster_file: shared.csv", "art/bo", "math/bo, which is not named, would leave with it"},
		{"in two classes, both named", "roster_file: shared.csv", "art/bo math/bo",
			"math/bo would leave with it: the roster is shared, and each class has its own list `retired`"},
		{"outside the project", "roster_file: ../../art.csv", "art/bo", "OUTSIDE is outside the project"},
		{"nobody", "roster: [Ana Prva, Bo]", "", "nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := artProject(t, c.students)
			r := &run{Request: Request{Paths: []string{dir}, Leave: strings.Fields(c.leave)}, p: p}
			var keys []string
			for _, v := range p.Stacks.Stacks[0].VMs {
				keys = append(keys, v.Key)
			}
			l := r.leave("art", keys)
			if got := strings.ReplaceAll(leavingText(l), filepath.ToSlash(filepath.Join(dir, "specs"))+"/", ""); got != strings.Replace(c.want, "OUTSIDE", filepath.Join(filepath.Dir(dir), "art.csv"), 1) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if l == nil || l.err != nil {
				return
			}
			l, text := r.unlist("art", keys)
			if len(l.keys()) != len(r.Leave) || l.err != nil || !strings.Contains(text, "left the class") {
				t.Errorf("%v leave: %v: %s", l.keys(), l.err, text)
			}
			if _, err := project.Open([]string{dir}); err != nil {
				t.Error(err)
			}
			if again := r.leave("art", keys); again != nil {
				t.Error("they leave a second time")
			}
		})
	}
}

// artProject is a project with a class, as it was rendered, and its folder.
func artProject(t *testing.T, students string) (*project.Project, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("stackgen.yaml", "apiVersion: stackgen/v1\nkind: Project\n")
	write("specs/art.csv", "name,seat\nAna Prva,1\nBo,2\nCy,3\n")
	write("../art.csv", "name\nAna Prva\nBo\n")
	write("specs/art.yaml", strings.Replace(artClass, "STUDENTS", students, 1))
	if strings.Contains(students, "shared") {
		write("specs/shared.csv", "name\nAna Prva\nBo\n")
		write("specs/math.yaml", strings.NewReplacer("art", "math", "300-399", "400-499", "STUDENTS", students).Replace(artClass))
	}
	p, err := project.Load([]string{dir}, "")
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := render.New(p, lock.Options{Project: "0123456789abcdef"})
	if err != nil || rendered.Rejected != nil {
		t.Fatal(err, rendered.Rejected, p.Problems)
	}
	if err := rendered.Write(); err != nil {
		t.Fatal(err)
	}
	if p, err = project.Open([]string{dir}); err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// TestLeaveHalf: if the spec cannot be written after the roster, the output has the line to add to it.
func TestLeaveHalf(t *testing.T) {
	p, dir := artProject(t, "roster_file: art.csv")
	r := &run{Request: Request{Paths: []string{dir}, Leave: []string{"art/bo"}, Part: map[string][]string{"art": {"bo"}}}, p: p}
	l := r.leave("art", []string{"bo"})
	spec := filepath.Join(dir, "specs", "art.yaml")
	body, err := os.ReadFile(spec)
	if err != nil || l == nil || l.err != nil {
		t.Fatal(err, l)
	}
	if err := os.WriteFile(spec, append(body, "# another hand\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	l.write(p.Root)
	roster, err := os.ReadFile(filepath.Join(dir, "specs", "art.csv"))
	if said := l.failure(); err != nil || strings.Contains(string(roster), "Bo") || l.err == nil || !strings.Contains(said, "Bo left the roster, ") ||
		!strings.Contains(said, "art.csv, and the rest is not written: ") {
		t.Errorf("%v: %s\n%s", err, said, roster)
	}
	if got, want := r.byHand("art", []string{"bo"}, l), "to keep bo destroyed, retire it in specs/art.yaml:\n  retired: [bo]\n  stackgen render\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	blocked := (*project.BlockedError)(nil)
	if _, err := project.Open([]string{dir}); !errors.As(err, &blocked) || len(blocked.Project.Refusals) != 1 || blocked.Project.Refusals[0].Kind != finding.Removed {
		t.Errorf("a render does not say what to add: %v", err)
	}
}

// TestUnlistFails: files that cannot be changed make the command fail, with the lines to write by hand,
// whether it has destroyed the VM or an earlier one has.
func TestUnlistFails(t *testing.T) {
	p, dir := artProject(t, "roster: [Bo]")
	var said bytes.Buffer
	s := check.New(p, check.Sources{})
	s.Inventory = &cluster.Inventory{}
	by := "to keep bo destroyed, remove it from the roster of specs/art.yaml and retire it in the spec:\n  retired: [bo]\n  stackgen render\n"
	for name, end := range map[string]func(r *run) (string, error){
		"now":     func(r *run) (string, error) { return r.partDone("art", []string{"bo"}), nil },
		"earlier": func(r *run) (string, error) { return r.endGone(s, []*stack{{name: "art"}}) },
	} {
		r := &run{Request: Request{Paths: []string{dir}, ErrOut: &said, Leave: []string{"art/bo"}, Part: map[string][]string{"art": {"bo"}}}, p: p, ctx: t.Context()}
		if text, err := end(r); err != nil || !r.failed || !strings.HasSuffix(text, by) {
			t.Errorf("%s: %v, failed: %v\n%s", name, err, r.failed, text)
		}
	}
	if !strings.Contains(said.String(), "the files of the class still have Bo, and cannot be changed for certain: ") {
		t.Error(said.String())
	}
}

// TestByHand: VMs that leave the spec in the same way are in one step, and all are retired by one line.
func TestByHand(t *testing.T) {
	vm := func(key, path string) *schema.VM { return &schema.VM{Key: key, Path: path} }
	s := &schema.Stack{Name: "art", VMs: []*schema.VM{vm("a", "vms.a"), vm("t", "teacher"), vm("b", "vms.b"), vm("n1", "groups.n.1")}}
	r := &run{p: &project.Project{Stacks: &schema.Project{Stacks: []*schema.Stack{s}}, Specs: map[string]string{"art": "specs/art.yaml"}}}
	want := "to keep a, b destroyed, remove it from vms in specs/art.yaml and retire it there\n" +
		"to keep t destroyed, remove `teacher` from specs/art.yaml and retire it there\n" +
		"to keep n1 destroyed, set `count` of groups.n in specs/art.yaml to 0 and retire it there\n" +
		"to keep gone destroyed, retire it in specs/art.yaml:\n  retired: [a, t, b, n1, gone]\n  stackgen render\n"
	if got := r.byHand("art", []string{"a", "t", "b", "n1", "gone"}, nil); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// leavingText are the lines that a leaving adds, by their files, or why it writes nothing.
func leavingText(l *leaving) string {
	if l == nil {
		return "nobody"
	}
	if l.err != nil {
		return l.err.Error()
	}
	var out []string
	for _, c := range l.files {
		var lines []string
		for line := range strings.Lines(string(c.New)) {
			if !strings.Contains(string(c.Old), line) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		out = append(out, c.Shown+": "+strings.Join(lines, "; "))
	}
	return strings.Join(out, "; ")
}

// TestKeepListed: a VM that the destroy leaves in the cluster stays in its class.
func TestKeepListed(t *testing.T) {
	var said bytes.Buffer
	r := &run{Request: Request{ErrOut: &said, Leave: []string{"art/ana", "art/bo", "art/cy", "art/di", "art/ed", "art/fa"}}}
	vm := func(key string, kind finding.Kind) finding.Finding {
		return finding.Finding{Address: finding.Address{Stack: "art", Type: finding.VM, Key: key}, Kind: kind}
	}
	clone := vm("cy", finding.Busy)
	clone.Case = finding.LeftClone
	match := func(stack, key string, why cluster.Why) cluster.Match {
		return cluster.Match{Stack: stack, Key: key, Why: why, Holder: &cluster.Guest{VMID: 304, Node: "pve1"}}
	}
	r.keepListed([]finding.Finding{vm("ana", finding.Adopt), vm("bo", finding.Managed), clone}, []cluster.Match{
		match("art", "di", cluster.NameAlone), match("art", "ed", cluster.NotItsMAC), match("art", "fa", cluster.OtherIdentity), match("math", "bo", cluster.NameAlone),
	})
	if got := strings.Join(r.Leave, " "); got != "art/bo art/fa" {
		t.Errorf("%s leave", got)
	}
	if got := said.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "art/di stays in its class: VM 304 on pve1") {
		t.Error(got)
	}
}
