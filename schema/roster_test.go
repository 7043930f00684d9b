package schema

import (
	"fmt"
	"strings"
	"testing"
)

// joined joins one spec and returns its VMs and its problems, one on a line.
func joined(t *testing.T, spec string, files map[string]string, seats ...Seat) ([]*VM, string) {
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
	p, problems := Join(nil, []Input{{Spec: s, Label: "specs/a.yaml"}}, given, Seats{"a": seats})
	var text []string
	for _, problem := range problems {
		text = append(text, problem.String())
	}
	return p.Stacks[0].VMs, strings.Join(text, "\n")
}

const class = "apiVersion: stackgen/v1\nkind: Class\nname: a\ndefaults: {node: n, template: 9000}\nstudents: {roster_file: r.csv}\n"

func TestRosterFile(t *testing.T) {
	for name, c := range map[string]struct{ csv, problems, keys string }{
		"names":                                     {"name\nAna\nBo Žuk\n", "", "ana bo-zuk"},
		"merge conflict":                            {"name\nAna\n<<<<<<< HEAD\nBo\n=======\nCid\n>>>>>>> x\n", "specs/r.csv:3:1: error: Git left a merge conflict here [bad-roster]", ""},
		"merge conflict, columns":                   {"name,x\r\nAna,1\r\n<<<<<<< HEAD\r\nBo,2\r\n||||||| 0123abc\r\n=======\r\nCid,3\r\n>>>>>>> x\r\n", "specs/r.csv:3:1: error: Git left a merge conflict here [bad-roster]", ""},
		"merge conflict of headers":                 {"<<<<<<< HEAD\nname\n=======\nname,x\n>>>>>>> x\n", "specs/r.csv:1:1: error: Git left a merge conflict here [bad-roster]", ""},
		"byte order mark":                           {"\ufeffname,x\nAna,1\n", "", "ana"},
		"header in any case, any column":            {"Mail, NAME \nx,Ana\n", "", "ana"},
		"blank lines":                               {"name\n\nAna\n\nBo\n", "", "ana bo"},
		"semicolons":                                {"name;mail\n\"Žuk; Bo\";\"x,y\"\n", "", "zuk-bo"},
		"semicolons in quoted header":               {"\"name\";\"a,b\"\nAna;1\n", "", "ana"},
		"quotes, commas, line breaks":               {"name,note\n\"O'Brien, \"\"B.\"\"\",\"two\nlines\"\nAna,\n", "", "obrien-b ana"},
		"CRLF and a byte order mark":                {"\ufeffname;x\r\nAna;1\r\n", "", "ana"},
		"lines of separators only":                  {"name;x;\nAna;1;\n;;\n", "", "ana"},
		"two columns of one name":                   {"Name,mail, name\nAna,x,Bo\n", `specs/r.csv:1:12: error: the roster has two columns "name" [bad-roster]`, ""},
		"two other columns of one name":             {"name,mail,Mail\nAna,x,y\n", `specs/r.csv:1:11: error: the roster has two columns "mail" [bad-roster]`, ""},
		"a column without a name":                   {"name,\nÄna,\nBo,x\n", `specs/r.csv:3:4: error: column 2 has values and no name [bad-roster]`, "ana bo"},
		"a line without a name":                     {"name,mail\nAna,x\n ,y\n", `specs/r.csv:3:1: error: a student has no name [bad-roster]`, ""},
		"same name in upper case":                   {"room,name\nx,Ana  Žuk\ny,ana Z\u030cuk\n", `specs/r.csv:3:1: error: two students are named "ana Žuk": this one with room "y", and one at specs/r.csv:2:1 with room "x" [bad-roster]`, ""},
		"one name and two addresses, in any column": {"E-Post,name,room\nx@y,Ana Žuk,1\nb@y,Bo,1\nz@y,Ana Žuk,1\n", "", "ana-zuk bo ana-zuk-2"},
		"one name and address":                      {"name,mail,room\nAna,x@y,1\nana,X@y,2\n", `specs/r.csv:3:1: error: two students are ana <x@y>: this one with mail "X@y", room "2", and one at specs/r.csv:2:1 with mail "x@y", room "1" [bad-roster]`, ""},
		"one name and one address":                  {"name,mail\nAna,x@y\nAna,z\n", `specs/r.csv:3:1: error: two students are named "Ana": this one with mail "z", and one at specs/r.csv:2:1 with mail "x@y" [bad-roster]`, ""},
		"UTF-16 with a byte order mark":             {"\xff\xfen\x00a\x00m\x00e\x00\n\x00", "specs/r.csv:1:1: error: the roster is not encoded in UTF-8 [bad-roster]", ""},
		"UTF-16":                                    {"n\x00a\x00m\x00e\x00\n\x00", "specs/r.csv:1:2: error: the roster is not encoded in UTF-8 [bad-roster]", ""},
		"Windows-1252 in line 3":                    {"name\nAna\n\xc4nne\n", "specs/r.csv:3:1: error: the roster is not encoded in UTF-8 [bad-roster]", ""},
		"empty":                                     {"", `specs/r.csv:1:1: error: the roster has no line [bad-roster]`, ""},
		"only a header":                             {"name\n", `specs/a.yaml:3:7: warning: stack "a" has no VM and no container [no-vms]`, ""},
		"Latin-1":                                   {"name\nAna\nZo\xeb\n", "specs/r.csv:3:3: error: the roster is not encoded in UTF-8 [bad-roster]", ""},
		"ragged":                                    {"name,mail\nAna,x\nBo\n", `specs/r.csv:3:1: error: the number of fields is 1, but the roster has 2 columns, separated by commas: "name", "mail" [bad-roster]`, ""},
		"open quote":                                {"name\nAna\n\"Bo\n", "specs/r.csv:3:1: error: the roster is not valid CSV: extraneous or missing \" in quoted-field [bad-roster]", ""},
		"control characters":                        {"name,note\nÄna,\"x\x7f\"\nBo,\u202e\nCy,\n", `specs/r.csv:2:5: error: column "note" on 2 lines, first here, contains the control character U+007F [bad-value]`, "ana bo cy"},
		"control character in a header":             {"name,no\u200ete\nAna,\n", `specs/r.csv:1:6: error: column "no\u200ete" on this line contains the invisible character U+200E, which changes lines or the direction of text [bad-value]`, "ana"},
		"same name":                                 {"name\nAna\nAna\n", `specs/r.csv:3:1: error: the student "Ana" is already at specs/r.csv:2:1 [bad-roster]`, ""},
		"no Latin letter":                           {"name\nAna\n李雷\nΆννα\n", "", "ana student2 student3"},
		"TABs, and a field without text":            {"name\tmail\tnote\nAna\t\tx\n", "", "ana"},
		"a line for a spreadsheet":                  {"\ufeffsep=;\r\nname;mail\r\nAna, B.;x\r\n", "", "ana-b"},
		"a line for a spreadsheet, TAB":             {"sep=\t\nname\tmail\nAna\tx\n", "", "ana"},
		"carriage returns alone":                    {"name,mail\rAna,x\rBo,y\r", "", "ana bo"},
		"other columns":                             {"Vorname;Nachname;E-Mail\nAna;B;x\n", `specs/r.csv:1:1: error: the roster has no column "name"; it has 3 columns, separated by semicolons: "vorname", "nachname", "e-mail" [bad-roster]`, ""},
		"another separator":                         {"name|mail\nAna|x\n", `specs/r.csv:1:1: error: the roster has no column "name"; it has the one column "name|mail", without commas, semicolons or TABs [bad-roster]`, ""},
		"more empty fields":                         {"name,mail\nAna,x,,\n", "", "ana"},
		"one name and two addresses":                {"name,room,mail\nAna,1,x@y\nBo,2,y@y\nAna,1,z@y\n", "", "ana bo ana-2"},
		"all mistakes in one run": {"name,mail\nAna\n,x\nBo\"b,y\nCy,z\nCy,z\n", strings.Join([]string{
			`specs/r.csv:2:1: error: the number of fields is 1, but the roster has 2 columns, separated by commas: "name", "mail" [bad-roster]`,
			`specs/r.csv:3:1: error: a student has no name [bad-roster]`,
			`specs/r.csv:4:1: error: the roster is not valid CSV: bare " in non-quoted-field [bad-roster]`,
			`specs/r.csv:6:1: error: the student "Cy" is already at specs/r.csv:5:1 [bad-roster]`}, "\n"), ""},
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
	tooMany := `error: stack "a" has more than 10000 guests [too-big]`
	for name, c := range map[string]struct{ spec, csv, want string }{
		"roster":             {class, long.String(), "specs/r.csv:10002:1: " + tooMany},
		"teacher and roster": {strings.Replace(class, "students", "teacher: {}\nstudents", 1), long.String(), "specs/r.csv:10001:1: " + tooMany},
		"list":               {head + "students: {roster: [\n" + strings.ReplaceAll(strings.TrimPrefix(long.String(), "name\n"), "\n", ",\n") + "]}\n", "", "specs/a.yaml:10006:1: " + tooMany},
		"groups": {head + "groups:\n" + strings.Repeat("  ", 1) + strings.Join([]string{"a: {count: 5000}", "b: {count: 5000}", "c: {count: 1}"}, "\n  ") + "\n",
			"", "specs/a.yaml:8:3: " + tooMany},
	} {
		t.Run(name, func(t *testing.T) {
			vms, problems := joined(t, c.spec, map[string]string{"specs/r.csv": c.csv})
			if problems != c.want || len(vms) != 0 {
				t.Errorf("got %d VMs, %.300s, want %s", len(vms), problems, c.want)
			}
		})
	}
}
