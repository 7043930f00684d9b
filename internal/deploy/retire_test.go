package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/render"
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
		{"outside the project", "roster_file: ../../art.csv", "art/bo", "OUTSIDE is outside the project"},
		{"nobody", "roster: [Ana Prva, Bo]", "", "nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
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
			write("specs/art.yaml", strings.Replace(artClass, "STUDENTS", c.students, 1))
			if strings.Contains(c.students, "shared") {
				write("specs/shared.csv", "name\nAna Prva\nBo\n")
				write("specs/math.yaml", strings.NewReplacer("art", "math", "300-399", "400-499", "STUDENTS", c.students).Replace(artClass))
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
			stay, text := r.unlist("art", keys)
			if len(stay) != len(keys)-len(r.Leave) || !strings.Contains(text, "left the class") {
				t.Errorf("stay %v: %s", stay, text)
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
	r := &run{Request: Request{Leave: []string{"art/ana", "art/bo"}}}
	vm := func(key string, kind finding.Kind) finding.Finding {
		return finding.Finding{Address: finding.Address{Stack: "art", Type: finding.VM, Key: key}, Kind: kind}
	}
	r.keepListed([]finding.Finding{vm("ana", finding.Adopt), vm("bo", finding.Managed)})
	if got := strings.Join(r.Leave, " "); got != "art/bo" {
		t.Errorf("%s leave", got)
	}
}
