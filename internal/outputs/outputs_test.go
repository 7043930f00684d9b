package outputs

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// hostile are texts that would break out of a file that takes them as they are.
var hostile = []string{"a\nb: c", "x\n10.0.0.1 bank.example", `"quoted", 'twice'`, "# no comment", "%h %% %(x)s", "\ttab", "- item", "{a: b}", "yes", "0x10", "1_000", "12:30:45",
	"2026-01-01", "~", "null", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "{{ lookup('pipe', 'id') }}", "{% for x in y %}", "{# x #}", "!unsafe x", "&a *a", "ends with :", "a\u0085b", "Žuk 😀", "\\u0041",
	"x;=1+1", "x; =1+1", "x;\"=1+1\"", "a\n=1+1", "a;b"}

func registration(text string) *Registration {
	meta, err := json.Marshal(map[string]any{"k": text, text + "k": []any{text, 1.5, nil, true, map[string]any{"in": text}}})
	if err != nil {
		panic(err)
	}
	return &Registration{Stack: "my-lab", spec: "specs/a.yaml", base: "registration/a", VMs: []VM{{Key: "web", Name: "web", Member: text, Role: roleVM, VMID: 100, Node: "pve1",
		IPv4: "10.0.0.1", User: "u", Extra: map[string]string{"column": text, text: "v"}, Meta: meta, group: "g-1"}}}
}

// TestTextIsData: every text comes out of every file as it went in, and nothing else
// does.
func TestTextIsData(t *testing.T) {
	for _, text := range hostile {
		r := registration(text)
		files, err := Files([]*Registration{r})
		if err != nil {
			t.Fatal(err)
		}
		bodies := map[string]string{}
		for _, f := range files {
			bodies[strings.TrimPrefix(f.Path, "registration/a")] = string(f.Body)
		}
		var doc struct{ VMs []VM }
		if err := json.Unmarshal([]byte(bodies[".json"]), &doc); err != nil || len(doc.VMs) != 1 || doc.VMs[0].Member != text || doc.VMs[0].Extra["column"] != text {
			t.Errorf("JSON of %q: %v %+v", text, err, doc)
		}
		rows, err := csv.NewReader(strings.NewReader(bodies[".csv"])).ReadAll()
		if err != nil || len(rows) != 2 || strings.ReplaceAll(rows[1][2], "'", "") != strings.ReplaceAll(text, "'", "") {
			t.Errorf("CSV of %q: %v %q", text, err, rows)
		}
		for _, begin := range strings.FieldsFunc(bodies[".csv"], func(c rune) bool { return strings.ContainsRune(",;\n\r\t", c) }) { // with any separator
			if begin = strings.TrimLeft(begin, " \""); begin != "" && strings.ContainsRune("=+-@", rune(begin[0])) {
				t.Errorf("CSV of %q: a cell may begin with %s", text, begin)
			}
		}
		var extra map[string]string
		if len(rows) == 2 && (json.Unmarshal([]byte(rows[1][11]), &extra) != nil || extra["column"] != text) {
			t.Errorf("CSV of %q: extra %s", text, rows[1][11])
		}
		inventory(t, text, bodies[".ansible.yaml"])
		for _, ending := range []string{".hosts", ".ssh_config"} { // no free text is in them
			if strings.Contains(bodies[ending], text) || strings.Count(bodies[ending], "10.0.0.1") != 1 {
				t.Errorf("%s has %q:\n%s", ending, text, bodies[ending])
			}
		}
	}
}

// inventory checks the inventory with a text.
func inventory(t *testing.T, text, body string) {
	t.Helper()
	type vars struct {
		Member yaml.Node      `yaml:"stackgen_member"`
		Extra  yaml.Node      `yaml:"stackgen_extra"`
		Meta   map[string]any `yaml:"stackgen_meta"`
	}
	var doc struct {
		All struct {
			Children map[string]struct {
				Hosts    map[string]vars
				Children map[string]struct{ Hosts map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(body), &doc); err != nil {
		t.Errorf("inventory of %q: %v\n%s", text, err, body)
		return
	}
	lab := doc.All.Children["my_lab"]
	web := lab.Hosts["web"]
	if len(doc.All.Children) != 1 || len(lab.Hosts) != 1 || len(lab.Children["my_lab_g_1"].Hosts) != 1 || web.Member.Value != text || web.Meta["k"] != text {
		t.Errorf("inventory of %q:\n%s", text, body)
	}
	want := ""
	if template(text) {
		want = "!unsafe"
	}
	if tag := web.Member.Tag; strings.HasPrefix(tag, "!unsafe") != (want != "") {
		t.Errorf("%q has the tag %q", text, tag)
	}
	if web.Extra.Tag != "!!map" || len(web.Extra.Content) != 4 || web.Extra.Content[1].Tag != web.Member.Tag {
		t.Errorf("extra of %q has the tag %q", text, web.Extra.Tag) // of a whole map, Ansible loses what is nested in it
	}
}

func TestGroupName(t *testing.T) {
	for name, want := range map[string]string{"lab": "lab", "my-lab": "my_lab", "3d": "_3d", "all": "all_", "ungrouped": "ungrouped_", "all_students": "all_students"} {
		if got := groupName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestWroteCSV: a registration knows its own CSV, at its own path, whatever Git does to
// line ends.
func TestWroteCSV(t *testing.T) {
	files, err := Files([]*Registration{registration("x")})
	if err != nil {
		t.Fatal(err)
	}
	table, doc := files[0], files[len(files)-1]
	if table.Path != "registration/a.csv" || doc.Path != "registration/a.json" {
		t.Fatalf("%s is written first, %s last", table.Path, doc.Path)
	}
	body := string(table.Body)
	for _, c := range []struct {
		doc, path, body string
		known, same     bool
	}{
		{string(doc.Body), table.Path, body, true, true},
		{string(doc.Body), table.Path, strings.ReplaceAll(body, "\n", "\r\n"), true, true},
		{string(doc.Body), table.Path, body + "mine\n", true, false},
		{string(doc.Body), "registration/b.csv", body, true, false},
		{`{"vms": []}`, table.Path, body, false, false},
		{"", table.Path, body, false, false},
	} {
		if known, same := WroteCSV([]byte(c.doc), c.path, []byte(c.body)); known != c.known || same != c.same {
			t.Errorf("%s, %q: %v %v, want %v %v", c.path, c.body, known, same, c.known, c.same)
		}
	}
}
