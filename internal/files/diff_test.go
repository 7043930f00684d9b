package files

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	tests := map[string]struct {
		change Change
		want   string
	}{
		"created": {Change{Path: "m/a.tf", Kind: Created, New: []byte("a\nb\n")}, "--- /dev/null\n+++ b/m/a.tf\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"removed": {Change{Path: "m/a.tf", Kind: Removed, Old: []byte("a\nb")},
			"--- a/m/a.tf\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n"},
		"changed": {Change{Path: "a", Kind: Changed, Old: []byte("1\n2\n3\n4\n5\n6\n"), New: []byte("1\n2\n3\n4\nfive\n6\n")},
			"--- a/a\n+++ b/a\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n"},
		"newline added": {Change{Path: "a", Kind: Changed, Old: []byte("1"), New: []byte("1\n")},
			"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n"},
		"line ends":   {Change{Path: "a", Kind: Changed, Old: []byte("1\r\n"), New: []byte("1\n")}, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\r\n+1\n"},
		"refused":     {Change{Path: "a", Kind: Refused, New: []byte("1\n")}, ""},
		"left behind": {Change{Path: ".stackgen-tmp-1-1", Kind: Removed, Reason: leftBehind}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Diff(test.change); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Every diff must lead exactly from the old to the new text, by the line numbers it gives for both.
func TestDiffApplies(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	for range 3000 {
		before := randomLines(random, random.IntN(60), nil)
		after := randomLines(random, 0, before)
		c := Change{Path: "f", Kind: Changed, Old: []byte(strings.Join(before, "")), New: []byte(strings.Join(after, ""))}
		got, err := patch(before, Diff(c))
		if err != nil || got != string(c.New) {
			t.Fatalf("%v\nold %q\nnew %q\ngot %q\n%s", err, c.Old, c.New, got, Diff(c))
		}
	}
}

// randomLines makes n lines, or changes some of those given; the last may lack its line end.
func randomLines(random *rand.Rand, n int, from []string) []string {
	lines := append([]string{}, from...)
	for range n {
		lines = append(lines, fmt.Sprintf("%d\n", random.IntN(9)))
	}
	if len(lines) > 0 {
		last := &lines[len(lines)-1]
		*last = strings.TrimSuffix(*last, "\n") + "\n"
	}
	for range random.IntN(5) {
		i := random.IntN(len(lines) + 1)
		switch {
		case i == len(lines) || random.IntN(3) == 0:
			lines = append(lines[:i], append([]string{"new\n"}, lines[i:]...)...)
		case random.IntN(2) == 0:
			lines[i] = "other\n"
		default:
			lines = append(lines[:i], lines[i+1:]...)
		}
	}
	if len(lines) > 0 && random.IntN(3) == 0 {
		last := &lines[len(lines)-1]
		*last = strings.TrimSuffix(*last, "\n")
	}
	return lines
}

// patch applies a unified diff without any leniency.
func patch(before []string, diff string) (string, error) {
	var after []string
	next := 0 // the first old line not yet dealt with
	rows := strings.SplitAfter(diff, "\n")
	for i, row := range rows {
		cut := row
		if i+1 < len(rows) && strings.HasPrefix(rows[i+1], `\ No newline`) {
			cut = strings.TrimSuffix(row, "\n")
		}
		switch {
		case row == "" || strings.HasPrefix(row, "--- ") || strings.HasPrefix(row, "+++ ") || row[0] == '\\':
		case row[0] == '@':
			from, to := start(strings.Fields(row)[1]), start(strings.Fields(row)[2])
			if from < next || from > len(before) {
				return "", fmt.Errorf("old start of %q", row)
			}
			after = append(after, before[next:from]...)
			next = from
			if to != len(after) {
				return "", fmt.Errorf("new start of %q is not %d", row, len(after))
			}
		case row[0] == '+':
			after = append(after, cut[1:])
		case next >= len(before) || before[next] != cut[1:]:
			return "", fmt.Errorf("%q is not line %d", row, next)
		default:
			if row[0] == ' ' {
				after = append(after, before[next])
			}
			next++
		}
	}
	return strings.Join(append(after, before[next:]...), ""), nil
}

// start counts the lines ahead of a hunk, from "-12,3": an empty range names the line ahead of it.
func start(span string) int {
	line, count := 0, 1
	if n, _ := fmt.Sscanf(span[1:], "%d,%d", &line, &count); n == 2 && count == 0 {
		return line
	}
	return line - 1
}

func BenchmarkDiff10000Lines(b *testing.B) {
	var before, after strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&before, "line %d\n", i)
		if i%7 == 0 {
			fmt.Fprintf(&after, "other ")
		}
		fmt.Fprintf(&after, "line %d\n", i)
	}
	c := Change{Path: "f", Kind: Changed, Old: []byte(before.String()), New: []byte(after.String())}
	for b.Loop() {
		Diff(c)
	}
}
