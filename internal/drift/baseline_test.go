package drift

import (
	"strings"
	"testing"

	"stackgen/internal/finding"
)

func known(at, attribute, now, spec string, severity finding.Severity) finding.Finding {
	stack, key, _ := strings.Cut(at, "/")
	return finding.Finding{Address: finding.Address{Stack: stack, Type: finding.VM, Key: key}, Kind: finding.Live, Severity: severity,
		Object: finding.Object{Change: &finding.Change{Attribute: attribute, Real: now, Spec: spec, Cause: finding.ByHand}}}
}

// TestBaseline: what is added is known until it expires, and only with the same values.
func TestBaseline(t *testing.T) {
	found := []finding.Finding{known("lab/a", "memory.dedicated", "10240", "8192", finding.Outdated), known("lab/a", "vm_id", "1", "2", finding.Blocked),
		known("lab/b", "description", "password: hunter2hunter2hunter2", "", finding.Outdated)}
	found[2].Change.Sensitive = true
	empty, problems := ParseBaseline("known.yaml", nil)
	if problems != nil {
		t.Fatal(problems)
	}
	body, n, err := empty.Add(found, "2026-01-01", "a: \"reason\"", "2026-02-01")
	if err != nil || n != 3 || strings.Contains(string(body), "hunter2") {
		t.Fatal(n, err, string(body))
	}
	all := func(string) bool { return true }
	for _, c := range []struct {
		today string
		exit  finding.Severity
	}{{"2026-01-31", finding.OK}, {"2026-02-01", finding.OK}, {"2026-02-02", finding.Blocked}} {
		b, problems := ParseBaseline("known.yaml", body)
		if b == nil {
			t.Fatal(problems)
		}
		now := append([]finding.Finding(nil), found...)
		if unused := b.Apply(now, c.today, all); len(unused) != 0 || finding.Exit(now) != c.exit || now[0].Change.Known.Reason != "a: \"reason\"" {
			t.Errorf("%s: unused %v, exit %v", c.today, unused, finding.Exit(now))
		}
	}
	b, _ := ParseBaseline("known.yaml", body)
	other := []finding.Finding{known("lab/a", "memory.dedicated", "10241", "8192", finding.Outdated)}
	if unused := b.Apply(other, "2026-01-01", all); len(unused) != 3 || other[0].Change.Known != nil || unused[0].String() != "lab/a memory.dedicated" {
		t.Error(unused, other[0].Change.Known)
	}
	if unused := b.Apply(other, "2026-01-01", func(string) bool { return false }); len(unused) != 0 {
		t.Error(unused)
	}
	hidden := finding.Finding{Address: finding.Address{Stack: "lab", Type: finding.VM, Key: "a"}, Kind: finding.Unknown, Severity: finding.Blocked}
	if unused := b.Apply([]finding.Finding{hidden}, "2026-01-01", all); len(unused) != 1 || unused[0].String() != "lab/b description" {
		t.Errorf("a VM that cannot be seen: %v", unused)
	}
	hidden.Type, hidden.Key, hidden.Unit = finding.Unit, "", "proxmox-vm"
	if unused := b.Apply([]finding.Finding{hidden}, "2026-01-01", all); len(unused) != 0 {
		t.Errorf("a unit that is not known: %v", unused)
	}
}

// TestBaselineAdd: existing entries and comments stay as they are.
func TestBaselineAdd(t *testing.T) {
	const entry = "    at: lab/a\n    attribute: cores\n    real: \"4\"\n    spec: \"2\"\n    reason: r\n    expires: "
	src := "# ours\nversion: 1\nknown:\n  # why\n  -" + entry[3:] + "2020-01-01 # soon\n"
	found := []finding.Finding{known("lab/a", "cores", "4", "2", finding.Outdated), known("lab/b", "on_boot", "true", "", finding.Outdated), known("lab/c", "x", "", "", finding.Failed)}
	b, problems := ParseBaseline("k", []byte(src))
	if b == nil {
		t.Fatal(problems)
	}
	body, n, err := b.Add(found, "2026-01-01", "new", "2026-03-01")
	want := strings.Replace(src, "2020-01-01", "2026-03-01", 1) + "  - at: lab/b\n    attribute: on_boot\n    real: \"true\"\n    spec: \"\"\n    reason: \"new\"\n    expires: 2026-03-01\n"
	if err != nil || n != 2 || string(body) != want {
		t.Errorf("%d %v\n%s\nwant\n%s", n, err, body, want)
	}
	if b, _ = ParseBaseline("k", body); b == nil {
		t.Fatal("it cannot be read")
	}
	if again, n, err := b.Add(found, "2026-01-01", "new", "2026-04-01"); err != nil || n != 0 || string(again) != want {
		t.Errorf("%d %v\n%s", n, err, again)
	}
	for src, want := range map[string]string{
		"known: []\nversion: 1\n": "last key", "version: 1\nknown: []\n": "without brackets",
		"version: 1\nknown: [{at: a/b, attribute: c, reason: r, expires: 2030-01-01}]\n": "lines of its own",
	} {
		b, problems := ParseBaseline("k", []byte(src))
		if b == nil {
			t.Fatal(problems)
		}
		if _, _, err := b.Add(found, "2026-01-01", "r", "2026-03-01"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
}

func TestBaselineProblems(t *testing.T) {
	for src, want := range map[string]string{
		"[]":                  "k:1:1: error: a baseline is a map of version and known, but this is a list [wrong-type]",
		"version: 2\nknown:":  "k:1:10: error: a baseline begins with version: 1 [bad-value]",
		"version: 1\nknow: a": `k:2:1: error: unknown key "know"; known keys: version, known [unknown-key]`,
		"version: 1\nknown:\n  - {at: a/b, attribute: c, reason: r, expires: 2026-02-30}":                                                              `k:3:49: error: expires takes a date such as 2026-12-31, but this is "2026-02-30" [bad-value]`,
		"version: 1\nknown:\n  - {at: a/b, reason: r, expires: 2028-02-29}":                                                                            "k:3:5: error: the entry needs attribute or verdict, and not both [missing-key]",
		"version: 1\nknown:\n  - {at: a/b, attribute: c, expires: 2028-02-29}":                                                                         `k:3:5: error: the entry lacks the key "reason" [missing-key]`,
		"version: 1\nknown:\n  - {at: a/b, verdict: [c], reason: ' ', expires: 2028-02-29}":                                                            "k:3:5: error: the entry needs attribute or verdict, and not both [missing-key]",
		"version: 1\nknown:\n  - {at: a/b, attribute: c, real: 1, why: x, expires: 2028-02-29, reason: r}":                                             `k:3:38: error: unknown key "why"; known keys: at, attribute, real, spec, verdict, reason, expires [unknown-key]`,
		"version: 1\nknown:\n  - {at: a/b, attribute: c, reason: r, expires: 2028-02-29}\n  - {at: a/b, attribute: c, reason: s, expires: 2029-02-01}": "k:4:5: error: a/b c is known at k:3:5 already [bad-value]",
	} {
		b, problems := ParseBaseline("k", []byte(src))
		if b != nil || problems[0].String() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", src, problems, want)
		}
	}
}

// TestExit: what could not be done counts in any case.
func TestExit(t *testing.T) {
	safe, blocked, failed := finding.Finding{Severity: finding.Outdated}, finding.Finding{Severity: finding.Blocked}, finding.Finding{Severity: finding.Failed}
	for _, c := range []struct {
		failOn string
		found  []finding.Finding
		want   finding.Severity
	}{
		{"any", []finding.Finding{safe}, finding.Outdated}, {"any", []finding.Finding{safe, blocked}, finding.Blocked}, {"any", nil, finding.OK},
		{"blocked", []finding.Finding{safe}, finding.OK}, {"blocked", []finding.Finding{safe, blocked}, finding.Blocked}, {"blocked", []finding.Finding{safe, failed}, finding.Failed},
		{"none", []finding.Finding{safe, blocked}, finding.OK}, {"none", []finding.Finding{blocked, failed}, finding.Failed},
	} {
		if got := Exit(c.found, c.failOn); got != c.want {
			t.Errorf("--fail-on %s: %v, want %v", c.failOn, got, c.want)
		}
	}
}

// TestBaselineHostile: what the cluster says may have every character, and is known by exactly that.
func TestBaselineHostile(t *testing.T) {
	for _, text := range []string{"a\u0085b", "a\u2028b", "\x7f", "\x1b[31m", "\ufeffa", "\u202ea", "a\nb: c\n- d", `"${x}" 'y' \`, "\u0000", "😀\U000e0001", "null", "yes", "1e3", "!x &a *a #"} {
		found := []finding.Finding{known("lab/a", "description", text, "old", finding.Outdated)}
		body, _, err := (&Baseline{}).Add(found, "2026-01-01", "r "+text, "2026-02-01")
		if err != nil {
			t.Fatal(err)
		}
		b, problems := ParseBaseline("k", body)
		if b == nil || len(b.Entries) != 1 || b.Entries[0].Real != text {
			t.Errorf("%q: %v\n%s", text, problems, body)
		}
	}
}

// TestBaselineForm: a file of which the edit makes one that cannot be read is left as it is.
func TestBaselineForm(t *testing.T) {
	const entry = "version: 1\nknown:\n  - {at: lab/a, attribute: cores, real: \"4\", spec: \"2\", reason: r, expires: 2030-01-01}\n"
	for _, end := range []string{"...\n", "---\n", "\n...\n# end\n"} {
		b, problems := ParseBaseline("k", []byte(entry+end))
		if b == nil {
			continue // a second document
		}
		body, _, err := b.Add([]finding.Finding{known("lab/b", "on_boot", "true", "", finding.Outdated)}, "2026-01-01", "new", "2026-03-01")
		if err == nil || !strings.Contains(err.Error(), "cannot be edited") {
			t.Errorf("%q: %v %v\n%s", end, problems, err, body)
		}
	}
}

// TestBaselineLines: YAML has more ends of lines than an editor shows, and counts characters.
func TestBaselineLines(t *testing.T) {
	src := "# a\u2028# b\r# c\nversion: 1\nknown:\n  - {at: lab/a, attribute: cores, real: \"4\", spec: \"2\", reason: für, expires: '2020-01-01'}\n"
	b, problems := ParseBaseline("k", []byte(src))
	if b == nil {
		t.Fatal(problems)
	}
	found := []finding.Finding{known("lab/a", "cores", "4", "2", finding.Outdated), known("lab/b", "on_boot", "true", "", finding.Outdated)}
	body, n, err := b.Add(found, "2026-01-01", "new", "2026-03-01")
	want := strings.Replace(src, "2020-01-01", "2026-03-01", 1) + "  - at: lab/b\n    attribute: on_boot\n    real: \"true\"\n    spec: \"\"\n    reason: \"new\"\n    expires: 2026-03-01\n"
	if err != nil || n != 2 || string(body) != want {
		t.Errorf("%v %d\n%s", err, n, body)
	}
}
