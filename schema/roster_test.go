package schema

import (
	"fmt"
	"strings"
	"testing"
)

// joined joins one spec and returns its VMs and its problems, one on a line.
func joined(t *testing.T, spec string, files map[string]string) ([]*VM, string) {
	t.Helper()
	s, problems := Parse("specs/a.yaml", []byte(spec))
	if s == nil {
		t.Fatal(problems)
	}
	given := Files{}
	for name, body := range files {
		f := given[name]
		f.Body = []byte(body)
		given[name] = f
	}
	p, problems := Join(nil, []Input{{Spec: s, Label: "specs/a.yaml"}}, given)
	var text []string
	for _, problem := range problems {
		text = append(text, problem.String())
	}
	return p.Stacks[0].VMs, strings.Join(text, "\n")
}

const class = "apiVersion: stackgen/v1\nkind: Class\nname: a\ndefaults: {node: n, template: 9000}\nstudents: {roster_file: r.csv}\n"

func TestRosterFile(t *testing.T) {
	for name, c := range map[string]struct{ csv, problems, keys string }{
		"names":                          {"name\nAna\nBo Žuk\n", "", "ana bo-zuk"},
		"byte order mark":                {"\ufeffname,x\nAna,1\n", "", "ana"},
		"header in any case, any column": {"Mail, NAME \nx,Ana\n", "", "ana"},
		"blank lines":                    {"name\n\nAna\n\nBo\n", "", "ana bo"},
		"empty":                          {"", `specs/a.yaml:5:25: error: specs/r.csv has no column "name" [bad-roster]`, ""},
		"only a header":                  {"name\n", `specs/a.yaml:3:7: warning: stack "a" has no VM [no-vms]`, ""},
		"Latin-1":                        {"name\nAna\nZo\xeb\n", "specs/r.csv:3:3: error: the roster is not encoded in UTF-8 [bad-roster]", ""},
		"ragged":                         {"name,mail\nAna,x\nBo\n", "specs/r.csv:3:1: error: the roster is not valid CSV: wrong number of fields [bad-roster]", ""},
		"open quote":                     {"name\nAna\n\"Bo\n", "specs/r.csv:3:1: error: the roster is not valid CSV: extraneous or missing \" in quoted-field [bad-roster]", ""},
		"control characters":             {"name,note\nÄna,\"x\x7f\"\nBo,\u202e\nCy,\n", `specs/r.csv:2:5: error: column "note" on 2 lines, first here, contains the control character U+007F [bad-value]`, "ana bo cy"},
		"control character in a header":  {"name,no\u200ete\nAna,\n", `specs/r.csv:1:1: error: column "no\u200ete" on this line contains the invisible character U+200E, which changes lines or the direction of text [bad-value]`, "ana"},
		"same name":                      {"name\nAna\nAna\n", "specs/r.csv:3:1: error: VM ana: the key is already used at specs/r.csv:2:1 [key-clash]", "ana"},
		"no Latin letter":                {"name\n李雷\n", `specs/r.csv:2:1: error: no key can be made from the name "李雷" [bad-roster]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			vms, problems := joined(t, class, map[string]string{"specs/r.csv": c.csv})
			var keys []string
			for _, v := range vms {
				keys = append(keys, v.Key)
			}
			if problems != c.problems || strings.Join(keys, " ") != c.keys {
				t.Errorf("got %q\n%s\nwant %q\n%s", keys, problems, c.keys, c.problems)
			}
		})
	}
}

// TestMostVMs: the limit of a stack holds for every way to ask for VMs, and
// nothing is made of a stack above it.
func TestMostVMs(t *testing.T) {
	var long strings.Builder
	long.WriteString("name\n")
	for n := range maxVMs + 2 {
		fmt.Fprintf(&long, "s%d\n", n)
	}
	head := strings.SplitAfter(class, "students")[0]
	head = strings.TrimSuffix(head, "students")
	tooMany := `error: stack "a" has more than 50000 VMs [too-big]`
	for name, c := range map[string]struct{ spec, csv, want string }{
		"roster":             {class, long.String(), "specs/r.csv:50002:1: " + tooMany},
		"teacher and roster": {strings.Replace(class, "students", "teacher: {}\nstudents", 1), long.String(), "specs/r.csv:50001:1: " + tooMany},
		"list":               {head + "students: {roster: [" + strings.Repeat("x,\n", maxVMs+5) + "]}\n", "", "specs/a.yaml:50005:1: " + tooMany},
		"groups": {head + "groups:\n" + strings.Repeat("  ", 1) + strings.Join([]string{"a: {count: 10000}", "b: {count: 10000}", "c: {count: 10000}", "d: {count: 10000}", "e: {count: 10000}", "f: {count: 1}"}, "\n  ") + "\n",
			"", "specs/a.yaml:11:3: " + tooMany},
	} {
		t.Run(name, func(t *testing.T) {
			vms, problems := joined(t, c.spec, map[string]string{"specs/r.csv": c.csv})
			if problems != c.want || len(vms) != 0 {
				t.Errorf("got %d VMs, %.300s, want %s", len(vms), problems, c.want)
			}
		})
	}
}
