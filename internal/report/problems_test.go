package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"stackgen/schema"
)

// problemAt makes an error in a.yaml.
func problemAt(line, col int, code, message, fix string) schema.Problem {
	return schema.Problem{Pos: schema.Pos{File: "a.yaml", Line: line, Col: col}, Severity: schema.SeverityError, Code: code, Message: message, Fix: fix}
}

func printed(t *testing.T, format, source string, color bool, problems ...schema.Problem) string {
	t.Helper()
	var out bytes.Buffer
	if err := Problems(&out, Options{Format: format, Color: color}, problems, map[string][]byte{"a.yaml": []byte(source)}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const token = "root@pam!ci=01234567-89ab-cdef-0123-456789abcdef"

func TestPrintText(t *testing.T) {
	long := strings.Repeat("x", 5000) + "HERE" + strings.Repeat("y", 5000)
	for name, c := range map[string]struct {
		source    string
		line, col int
		want      string // between the first and the last line
	}{
		"plain":             {"a: 1\nb: 2\n", 2, 4, "    b: 2\n       ^\n"},
		"tabs":              {"\ta:\t1\n", 1, 5, "    \ta:\t1\n    \t  \t^\n"},
		"beyond the line":   {"a: 1\n", 1, 40, "    a: 1\n        ^\n"},
		"beyond the file":   {"a: 1\n", 7, 1, ""},
		"blank line":        {"a: 1\n  \n", 2, 1, ""},
		"no source":         {"", 1, 1, ""},
		"no column":         {"a: 1\n", 1, 0, ""},
		"CRLF":              {"a: 1\r\nb: 2\r\n", 2, 1, "    b: 2\n    ^\n"},
		"CR":                {"a: 1\rb: 2\rc: 3", 3, 1, "    c: 3\n    ^\n"},
		"line separators":   {"a: 1\u2028b: 2\u0085c: 3", 3, 1, "    c: 3\n    ^\n"},
		"byte order mark":   {"\ufeffa: 1\n", 1, 1, "    a: 1\n    ^\n"},
		"escape sequences":  {"a: \x1b[2J\x1b]0;x\x07b\u202ec\u009b\n", 1, 13, "    a: \ufffd[2J\ufffd]0;x\ufffdb\ufffdc\ufffd\n                ^\n"},
		"long line":         {long, 1, 5001, "    ..." + strings.Repeat("x", 60) + "HERE" + strings.Repeat("y", 56) + "...\n    " + strings.Repeat(" ", 63) + "^\n"},
		"long line's end":   {long, 1, 20000, "    ..." + strings.Repeat("y", 60) + "\n    " + strings.Repeat(" ", 63) + "^\n"},
		"wide characters":   {"日本: é\u0301x\n", 1, 7, "    日本: é\u0301x\n           ^\n"},
		"not UTF-8":         {"a: \xff\n", 1, 1, ""},
		"mark before token": {"a: " + token + "\n", 1, 1, "    a: (secret)\n    ^\n"},
		"mark after token":  {"{a: " + token + ", b: 1}\n", 1, 57, "    {a: (secret), b: 1}\n"},
		"body of a key":     {"a: |\n  -----BEGIN PRIVATE KEY-----\n  MIIE\n  -----END PRIVATE KEY-----\nb: 1", 3, 1, ""},
		"after a key":       {"a: |\n  -----BEGIN PRIVATE KEY-----\n  MIIE\n  -----END PRIVATE KEY-----\nb: 1", 5, 1, "    b: 1\n    ^\n"},
		"told by its key":   {"tsig: {Secret: c2VjcmV0, x: 1}\n", 1, 8, "    tsig: {Secret: (secret)\n           ^\n"},
		"quoted key":        {"{\"password\":\"hunter2\"}\n", 1, 2, "    {\"password\":(secret)\n     ^\n"},
		"behind its key":    {"tsig: {'api_token' : c2VjcmV0, x: 1}\n", 1, 34, "    tsig: {'api_token' : (secret)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := problemAt(c.line, c.col, schema.CodeValue, "no good", "fix it")
			want := place(p.Pos) + "error: no good [bad-value]\n" + c.want + "    fix: fix it\n1 error\n"
			if got := printed(t, "text", c.source, false, p); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestPrintTextOfSeveral(t *testing.T) {
	warning := problemAt(2, 1, schema.CodeIgnored, "never reaches web", "")
	warning.Severity = schema.SeverityWarning
	nowhere := schema.Problem{Severity: schema.SeverityError, Code: schema.CodeLock, Message: "lost"}
	whole := schema.Problem{Pos: schema.Pos{File: "b.yaml"}, Severity: schema.SeverityError, Code: schema.CodeLock, Message: "two\nlines\x1b[31m"}
	secret := problemAt(1, 4, schema.CodeSecret, "this looks like a token", "revoke it")
	got := printed(t, "text", "a: "+token+"\nb: 2\n", false, whole, warning, secret, nowhere, secret)
	want := `error: lost [bad-lock]
a.yaml:1:4: error: this looks like a token [secret]
    fix: revoke it
a.yaml:2:1: warning: never reaches web [ignored-change]
    b: 2
    ^
b.yaml: error: two
    lines` + "\ufffd" + `[31m [bad-lock]
3 errors, 1 warning
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := printed(t, "text", "", false); got != "" {
		t.Errorf("no problem is %q", got)
	}
}

func TestPrintTextInColor(t *testing.T) {
	warning := problemAt(2, 1, schema.CodeIgnored, "hm", "")
	warning.Severity = schema.SeverityWarning
	got := printed(t, "text", "a: 1\nb: 2\n", true, problemAt(1, 4, schema.CodeValue, "no", ""), warning)
	want := "\x1b[1ma.yaml:1:4: \x1b[0m\x1b[31merror\x1b[0m: no [bad-value]\n    a: 1\n       \x1b[31m^\x1b[0m\n" +
		"\x1b[1ma.yaml:2:1: \x1b[0m\x1b[33mwarning\x1b[0m: hm [ignored-change]\n    b: 2\n    \x1b[33m^\x1b[0m\n1 error, 1 warning\n"
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// nasty is a problem with hostile text in every field.
func nasty() schema.Problem {
	return schema.Problem{Pos: schema.Pos{File: "dir, a:b\x1b%.yaml", Line: 3, Col: 5}, Path: "vms:" + token, Severity: schema.SeverityError,
		Code: schema.CodeUnknownKey, Message: "100% <wrong>\r\nkey " + token + "\x1b[31m", Fix: "a, b: c"}
}

func TestPrintGitHub(t *testing.T) {
	nowhere := schema.Problem{Severity: schema.SeverityWarning, Code: schema.CodeNoVMs, Message: "none"}
	got := printed(t, "github", "", false, nasty(), nowhere)
	want := "::warning title=no-vms::none\n" +
		"::error file=dir%2C a%3Ab\ufffd%25.yaml,line=3,col=5,title=unknown-key::100%25 <wrong>\ufffd%0Akey (secret)\ufffd[31m%0Afix: a, b: c\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPrintJSON(t *testing.T) {
	got := printed(t, "json", "", false, nasty())
	want := `{
  "problems": [
    {
      "file": "dir, a:b` + "\ufffd" + `%.yaml",
      "line": 3,
      "column": 5,
      "path": "vms:(secret)",
      "severity": "error",
      "code": "unknown-key",
      "message": "100% <wrong>` + "\ufffd" + `\nkey (secret)` + "\ufffd" + `[31m",
      "fix": "a, b: c"
    }
  ],
  "errors": 1,
  "warnings": 0
}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := printed(t, "json", "", false); got != "{\n  \"problems\": [],\n  \"errors\": 0,\n  \"warnings\": 0\n}\n" {
		t.Errorf("no problem is %s", got)
	}
}

func TestPrintSARIF(t *testing.T) {
	warning := problemAt(0, 0, "code-of-tomorrow", "hm", "")
	warning.File, warning.Severity = "/abs/a b.yaml", schema.SeverityWarning
	nowhere := schema.Problem{Severity: schema.SeverityWarning, Code: schema.CodeNoVMs, Message: "none"}
	var log struct {
		Version string
		Runs    []struct {
			ColumnKind string
			Tool       struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(printed(t, "sarif", "", false, nasty(), warning, nowhere)), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if log.Version != "2.1.0" || run.ColumnKind != "unicodeCodePoints" || len(run.Tool.Driver.Rules) != len(schema.Codes) {
		t.Errorf("%+v", log)
	}
	want := []string{
		`{"ruleId":"no-vms","ruleIndex":21,"level":"warning","message":{"text":"none"}}`,
		`{"ruleId":"code-of-tomorrow","level":"warning","message":{"text":"hm"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///abs/a%20b.yaml"}}}]}`,
		`{"ruleId":"unknown-key","ruleIndex":8,"level":"error","message":{"text":"100% <wrong>` + "\ufffd" + `\nkey (secret)` + "\ufffd" + `[31m\nfix: a, b: c"},` +
			`"locations":[{"physicalLocation":{"artifactLocation":{"uri":"./dir,%20a:b%EF%BF%BD%25.yaml"},"region":{"startLine":3,"startColumn":5}}}]}`,
	}
	for i, result := range run.Results {
		var got bytes.Buffer
		if err := json.Compact(&got, result); err != nil || got.String() != want[i] {
			t.Errorf("got\n%s\nwant\n%s", got.String(), want[i])
		}
	}
	if rule := run.Tool.Driver.Rules[21].ID; len(run.Results) != len(want) || rule != "no-vms" {
		t.Errorf("%d results, rule 21 is %s", len(run.Results), rule)
	}
	if got := printed(t, "sarif", "", false); !strings.Contains(got, `"results": []`) {
		t.Errorf("no problem is %s", got)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestPrintFails(t *testing.T) {
	var out bytes.Buffer
	if err := Problems(&out, Options{Format: "xml"}, nil, nil); err == nil || out.Len() > 0 {
		t.Errorf("unknown format: %v", err)
	}
	for _, format := range []string{"text", "json", "sarif", "github"} {
		if err := Problems(brokenWriter{}, Options{Format: format}, nil, nil); err == nil {
			t.Errorf("%s: a failed write goes unnoticed", format)
		}
	}
}

// TestLongMessage: a message that quotes a large value is cut, after secrets in
// it are redacted.
func TestLongMessage(t *testing.T) {
	for _, format := range []string{"text", "json", "github", "sarif"} {
		out := printed(t, format, "", false, problemAt(1, 1, schema.CodeValue, strings.Repeat("x", 990)+" "+token+strings.Repeat("y", 1<<20), ""))
		if len(out) > 20_000 || strings.Contains(out, token[:9]) || !strings.Contains(out, "x (secret)") {
			t.Errorf("%s: %d bytes: %.2000s", format, len(out), out)
		}
	}
}
