//go:build unix

package real

import "strings"

// guide does what docs/guides/drift.md says: it runs the commands of the page in their
// order. What the page shows of their output is in the real output.
func (j *driftJob) guide() {
	j.Helper()
	blocks := blocksOf(j.T, "docs/guides/drift.md")
	output := ""
	for i, b := range blocks {
		switch b.language {
		case "yaml":
			if !strings.Contains(driftJobSpec, b.body) {
				j.Errorf("the guide shows another spec:\n%s", b.body)
			}
		case "text":
			for line := range strings.Lines(b.body) {
				if !strings.Contains(output, line[:len(line)-1]) {
					j.Errorf("%s: the page shows %q, and the commands print\n%s", b.section, line, output)
				}
			}
		case "console":
			want, code := 0, 0
			if i+1 < len(blocks) && strings.HasPrefix(blocks[i+1].body, "blocked") {
				want = 3
			}
			if code, output = j.shell(b); code != want {
				j.Errorf("%s: exit %d, want %d\n%s%s", b.section, code, want, b.body, output)
			}
		default:
			j.Errorf("%s: no test knows what a block of %q is", b.section, b.language)
		}
	}
	if !j.exists("drift.html") || !j.exists("known.yaml") {
		j.Error("the guide did not write its files")
	}
}
