package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/report"
	"stackgen/internal/report/sample"
)

// between is the text of the first element of a page.
func between(t *testing.T, page, open, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, open)
	text, _, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("the page has no %s", open)
	}
	return text
}

// TestPagePolicy: the page permits its own style and script, by their digests, and nothing
// else: it has no attribute with a style or script, and no address of anything to load.
func TestPagePolicy(t *testing.T) {
	page := printed(t, sample.Drift(42, 30), report.Options{Format: "html"})
	want := "default-src 'none'; style-src 'sha256-STYLE'; script-src 'sha256-SCRIPT'; base-uri 'none'; form-action 'none'"
	for name, element := range map[string]string{"STYLE": "style", "SCRIPT": "script"} {
		sum := sha256.Sum256([]byte(between(t, page, "<"+element+">", "</"+element+">")))
		want = strings.Replace(want, name, base64.StdEncoding.EncodeToString(sum[:]), 1)
	}
	if got := html.UnescapeString(between(t, page, `Content-Security-Policy" content="`, `"`)); got != want {
		t.Errorf("the policy is\n%s\nwant\n%s", got, want)
	}
	body := between(t, page, "<body", "<script>")
	if found := regexp.MustCompile(`(?i) (style|on[a-z]+|src|srcset|action)=|href="[^#]|url\(|@import`).FindString(body); found != "" {
		t.Errorf("the page has %q", found)
	}
}

// TestPageSize: a page of 500 VMs and 40 changes loads over a slow line.
func TestPageSize(t *testing.T) {
	for _, c := range []struct{ vms, findings, kib int }{{42, 0, 40}, {500, 40, 180}, {500, 2000, 1800}} {
		n := len(printed(t, sample.Drift(c.vms, c.findings), report.Options{Format: "html"}))
		t.Logf("%d VMs, %d changes: %d KiB", c.vms, c.findings, n>>10)
		if n > c.kib<<10 {
			t.Errorf("%d VMs, %d changes: %d KiB, more than %d", c.vms, c.findings, n>>10, c.kib)
		}
	}
}

// TestPageEscapes: text from a cluster is text on the page.
func TestPageEscapes(t *testing.T) {
	const evil = `"><script>pwned()</script></style></title><img src=x onerror=pwned()>'--><a href="javascript:pwned()">{{.}}` + "`${pwned()}"
	f := change(evil, evil, finding.Blocked, finding.Change{Attribute: evil, Property: evil, Applied: evil, Real: evil + "2", Spec: evil, Does: evil, Cause: evil, Accept: evil,
		At: &finding.Place{File: evil, Line: 1}, By: []finding.Act{{User: evil}}})
	f.Because("%s", evil).Next(evil, evil)
	r := report.NewDrift([]finding.Finding{f}, []string{evil})
	r.Endpoint, r.Taken = evil, evil
	r.VMs, r.Nodes, r.Units = []finding.ScopeVM{{Stack: evil, Key: evil, Node: evil}}, []finding.ScopeNode{{Name: evil}}, []finding.ScopeUnit{{Stack: evil, Unit: evil}}
	r.Coverage = finding.Coverage{Unmanaged: []finding.Unmanaged{{Name: evil, Node: evil, Why: evil}}, Steps: []finding.Step{finding.Do(evil, evil)}}
	page := printed(t, r, report.Options{Format: "html"})
	for tag, want := range map[string]int{"<script": 1, "</script": 1, "<img": 0, "<style": 1, "</style": 1, "</title": 1, "href=\"javascript": 0} {
		if n := strings.Count(page, tag); n != want {
			t.Errorf("the page has %s %d times, want %d", tag, n, want)
		}
	}
	if n := strings.Count(page, "pwned"); n < 20 {
		t.Errorf("the page shows the text %d times only", n)
	}
}

// TestPageIsComplete: every change and every thing is on the page, and each link of the
// picture goes to a change.
func TestPageIsComplete(t *testing.T) {
	r := sample.Drift(500, 200)
	page := printed(t, r, report.Options{Format: "html"})
	if n := strings.Count(page, "<tr id="); n != len(r.Findings.Findings) {
		t.Errorf("the page has %d changes of %d", n, len(r.Findings.Findings))
	}
	if n := strings.Count(page, "<i class=\"mark") + strings.Count(page, "<a class=\"mark"); n != len(r.VMs)+len(r.Units) {
		t.Errorf("the picture has %d marks, want %d", n, len(r.VMs)+len(r.Units))
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, ` id="`+link[1]+`"`) {
			t.Errorf("a link goes to %s, which is not on the page", link[1])
		}
	}
	for _, v := range []string{"destroy", "replace", "disk-loss", "unknown", "noise", "secret: the values are not shown", "known until 2026-12-31", "was known until 2026-10-31"} {
		if !strings.Contains(page, v) {
			t.Errorf("the page has no %q", v)
		}
	}
}
