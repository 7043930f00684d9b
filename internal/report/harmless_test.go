package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/schema"
)

// hostile is what a name, a path or a message may contain.
const hostile = "x\x1b[31m\x7f\u009b\u202eevil\n::error::pwned\n##[error]pwned\n##vso[task.setvariable variable=PATH]pwned " + token

// forbidden are the characters that no format prints. Tabs and newlines are
// allowed, and checked in lines.
var forbidden = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

// checkHarmless fails if something of hostile is in the output.
func checkHarmless(t *testing.T, name, out string) {
	t.Helper()
	if at := forbidden.FindStringIndex(out); at != nil {
		t.Errorf("%s: has %q\n%s", name, out[at[0]:at[1]], out)
	}
	if strings.Contains(out, "0123456789ab") {
		t.Errorf("%s: has a secret\n%s", name, out)
	}
	for l := range strings.Lines(out) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "::error::") || strings.HasPrefix(l, "##[") || strings.HasPrefix(l, "##vso[") {
			t.Errorf("%s: has a workflow command\n%s", name, out)
		}
	}
	if out == "" {
		t.Errorf("%s: is empty", name)
	}
}

// hostileFindings are one finding, and a group of many, with hostile text in
// every field.
func hostileFindings() []finding.Finding {
	f := finding.Finding{Address: finding.Address{Stack: hostile, Unit: hostile, Type: finding.VM, Key: hostile},
		Object: finding.Object{VMID: 100, Node: hostile, Name: hostile, Resource: hostile, Import: hostile,
			Differs: []finding.Difference{{Field: hostile, Config: hostile, Spec: hostile, Line: hostile, Reason: hostile, Commands: []string{hostile}}}}}
	f.Is(finding.Conflict, finding.Why(hostile, hostile)).Because("%s", hostile).Next(hostile, hostile)
	f.Add(finding.DoAll(hostile, finding.Entries(hostile, hostile), hostile))
	out := []finding.Finding{f}
	for range few + 1 {
		g := f
		g.Is(finding.Gone, finding.Why("obstacle", hostile))
		out = append(out, g)
	}
	ok := f
	ok.Is(finding.Adopt, finding.Why(hostile).And(finding.Why("obstacle", hostile)))
	return append(out, ok)
}

// hostileDrift is a report of changes with hostile text in every field.
func hostileDrift() *Drift {
	var fs []finding.Finding
	for i, f := range hostileFindings() {
		f.Kind, f.Severity = verdicts[i].Kind, finding.Severity(2+i%2)
		f.Change = &finding.Change{Attribute: hostile, Property: hostile, Unit: hostile, Applied: hostile, Real: hostile, Spec: hostile, Effect: hostile, Does: hostile, Cause: finding.Cause(hostile),
			At: &finding.Place{File: hostile, Line: 1}, By: []finding.Act{{Time: hostile, User: hostile, Task: hostile, Node: hostile}}, Accept: hostile, NoAccept: hostile}
		if i%2 == 1 {
			f.Change.Known = &finding.Known{Reason: hostile, Expires: hostile, Expired: i > 1}
		}
		fs = append(fs, f)
	}
	r := NewDrift(fs, []string{hostile})
	r.Endpoint, r.Taken = hostile, hostile
	r.Units = []finding.ScopeUnit{{Stack: hostile, Unit: hostile}}
	r.Nodes = []finding.ScopeNode{{Name: hostile}}
	r.VMs = []finding.ScopeVM{{Stack: hostile, Key: hostile, Node: hostile}, {Stack: "lab", Key: hostile}}
	r.Coverage = finding.Coverage{Unmanaged: []finding.Unmanaged{{Name: hostile, Node: hostile, Why: hostile}}, Steps: []finding.Step{finding.Do(hostile, hostile)}}
	return r
}

// TestHarmlessDrift prints hostile text in every format of a report of changes.
func TestHarmlessDrift(t *testing.T) {
	for _, format := range []string{"text", "json", "markdown", "sarif", "junit", "github", "html"} {
		for _, verbose := range []bool{false, true} {
			var out bytes.Buffer
			if err := hostileDrift().Print(&out, Options{Format: format, Verbose: verbose}); err != nil {
				t.Fatal(err)
			}
			checkHarmless(t, "drift in "+format, out.String())
		}
	}
}

// TestHarmless prints hostile text in every format.
func TestHarmless(t *testing.T) {
	problem := schema.Problem{Pos: schema.Pos{File: hostile, Line: 1, Col: 1}, Path: hostile, Severity: schema.SeverityError, Code: schema.CodeValue, Message: hostile, Fix: hostile}
	sources := map[string][]byte{hostile: []byte(hostile + "\n")}
	printed := func(f func(*bytes.Buffer) error) string {
		var out bytes.Buffer
		if err := f(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, format := range []string{"text", "json", "sarif", "github"} {
		out := printed(func(b *bytes.Buffer) error {
			return Problems(b, Options{Format: format}, []schema.Problem{problem}, sources)
		})
		checkHarmless(t, "problems in "+format, out)
		out = printed(func(b *bytes.Buffer) error {
			r := Render{Root: hostile, Problems: []schema.Problem{problem}, Sources: sources, Refusals: hostileFindings(), Notes: []string{hostile}}
			return r.Print(b, b, Options{Format: format})
		})
		checkHarmless(t, "refused render in "+format, out)
		problem.Severity = schema.SeverityWarning
		out = printed(func(b *bytes.Buffer) error {
			r := Render{Root: hostile, Problems: []schema.Problem{problem}, Sources: sources, Notes: []string{hostile}, Stacks: []string{hostile},
				Changes: []Change{{Path: hostile, Word: "created", Reason: hostile, Diff: hostile}}}
			return r.Print(b, b, Options{Format: format})
		})
		checkHarmless(t, "render in "+format, out)
	}
	for _, format := range []string{"text", "json", "junit", "github", "markdown"} {
		for _, verbose := range []bool{false, true} {
			out := printed(func(b *bytes.Buffer) error {
				return NewFindings(hostileFindings(), []string{hostile}).Print(b, Options{Format: format, Verbose: verbose})
			})
			checkHarmless(t, "findings in "+format, out)
		}
	}
	checkHarmless(t, "error", printed(func(b *bytes.Buffer) error { return Error(b, errors.New(hostile)) }))
	checkHarmless(t, "message", printed(func(b *bytes.Buffer) error { return Printf(b, "%s\n", hostile) }))
	body, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	escaped := printed(func(b *bytes.Buffer) error { return JSON(b, body) })
	var back string
	if err := json.Unmarshal([]byte(escaped), &back); err != nil || back != hostile || forbidden.MatchString(escaped) {
		t.Errorf("JSON: %s, %v", escaped, err)
	}
	checkHarmless(t, "diff", printed(func(b *bytes.Buffer) error { return Text(b, hostile) }))
}

// TestWorkflowCommands: no line is a command to a CI system.
func TestWorkflowCommands(t *testing.T) {
	for text, want := range map[string]string{
		"::error::x\n  ::set-output::x": "| ::error::x\n|   ::set-output::x",
		"a ::error::x":                  "a ::error::x",
		"##[error]x":                    "# #[error]x",
		"  ##vso[task.complete]x":       "  # #vso[task.complete]x",
		"VM ##vso[task.complete]x":      "VM # #vso[task.complete]x",
		"## heading":                    "## heading",
	} {
		var out bytes.Buffer
		if err := Text(&out, text); err != nil || out.String() != want {
			t.Errorf("%q: got %q, want %q, %v", text, out.String(), want, err)
		}
	}
}

// TestInventoryLines: names and reasons have no lines of their own.
func TestInventoryLines(t *testing.T) {
	inv := &cluster.Inventory{Endpoint: hostile, Release: hostile, Nodes: []cluster.Node{{Name: hostile}},
		Records: []cluster.Record{{Name: hostile, Error: hostile}},
		Gaps:    []cluster.Gap{{Path: hostile, Privilege: hostile, Reason: hostile, Fix: hostile}}}
	var out bytes.Buffer
	if err := Inventory(&out, inv); err != nil {
		t.Fatal(err)
	}
	checkHarmless(t, "inventory", out.String())
	if n := strings.Count(out.String(), "\n"); n != 7 {
		t.Errorf("got %d lines, want 7\n%s", n, out.String())
	}
}
