//go:build unix

package real

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// shownRun is the block of docs/apply.md with the output of a run.
var shownRun = regexp.MustCompile("(?s)(<!-- the output of test/real/apply_docs_test.go -->\n```text\n\\$ stackgen apply --yes\n)(.*?)(\n```)")

// varying is what differs between two runs, and what the page shows for it. Phases of
// less than a second may not be seen.
var varying = []struct {
	is   *regexp.Regexp
	show string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "pve.example.org:8006"},
	{regexp.MustCompile(`in [\d.]+m?s`), "in 90ms"},
	{regexp.MustCompile(`\[ *\d+ s\]`), "[   9 s]"},
	{regexp.MustCompile(`after (\d+ min )?\d+ s`), "after 9 s"},
	{regexp.MustCompile(`, about (\d+ min )?\d+ s left`), ""},
	{regexp.MustCompile(`(?m)^\[ *\d+ s\] (\S+: (cloning|configuring|starting|waiting for the agent)|still running)\b.*\n`), ""},
}

// TestApplyDocs runs what docs/apply.md shows. UPDATE=1 writes the output of the run into
// the page.
func TestApplyDocs(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS\n"+dnsLive+"vms: {web: {name: web}}\n")
	run, err := p.command("apply --yes").CombinedOutput() // as on a terminal
	if err != nil {
		t.Fatalf("%v\n%s", err, run)
	}
	output := strings.TrimSpace(string(run))
	page := repository + "/docs/apply.md"
	body, err := os.ReadFile(page)
	check(t, err)
	shown := shownRun.FindSubmatch(body)
	if shown == nil {
		t.Fatal("the page shows no run")
	}
	same := func(text string) string {
		for _, v := range varying[:2] {
			text = v.is.ReplaceAllString(text, v.show)
		}
		return text
	}
	if os.Getenv("UPDATE") != "" {
		text := strings.NewReplacer("$", "$$").Replace(same(output))
		check(t, os.WriteFile(page, shownRun.ReplaceAll(body, []byte("${1}"+text+"${3}")), 0o666))
		return
	}
	is, want := output, string(shown[2])
	for _, v := range varying {
		is, want = v.is.ReplaceAllString(is, v.show), v.is.ReplaceAllString(want, v.show)
	}
	if is != want {
		t.Errorf("the page shows\n%s\n\nand a run prints\n%s", want, is)
	}
}
