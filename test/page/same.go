package page

import "regexp"

// same replaces what differs between two runs: times, ports and paths of temporary
// folders.
func same(text string) string {
	for _, v := range []struct{ is, shown string }{
		{`127\.0\.0\.1:\d+`, "127.0.0.1:8006"},
		{`\b\d+m?s\b`, "1s"},
		{`\[ *\d+ s\]`, "[1 s]"},
		{`after \d+ s`, "after 1 s"},
		{`until \d{4}-\d\d-\d\d`, "until 2026-12-31"},
		{`running for \d+ \w+`, "running for 1 second"},
		{` +`, " "},
	} {
		text = regexp.MustCompile(v.is).ReplaceAllString(text, v.shown)
	}
	return text
}
