package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	product = `package guard

func Count(all []int, more func() int) (n int, ok bool) {
	if len(all) > 1 && all[0] == 0 {
		n = more() + 1
	}
	return n + len(all[1:]), n > 0
}
`
	program = `package main

import "stackgen/internal/guard"

func main() {
	calls := 0
	n, ok := guard.Count([]int{0, 5, 7}, func() int { calls++; return 4 })
	print(n, " ", ok, " ")
	n, ok = guard.Count([]int{0}, func() int { calls++; return 4 })
	print(n, " ", ok, " ")
	n, ok = guard.Count([]int{0, 5}, func() int { calls++; return 0 })
	print(n, " ", ok, " ")
	n, ok = guard.Count([]int{1, 5}, func() int { calls++; return 4 })
	println(n, ok, calls)
}
`
)

// TestFaults: a program with all faults does what it does without them, and something else
// with each.
func TestFaults(t *testing.T) {
	root := t.TempDir()
	for path, body := range map[string]string{"go.mod": "module stackgen\n\ngo 1.26.0\n", "internal/guard/a.go": product, "main.go": program} {
		to := filepath.Join(root, path)
		check(t, os.MkdirAll(filepath.Dir(to), 0o700))
		check(t, os.WriteFile(to, []byte(body), 0o600))
	}
	sites, err := areaSites(root, "guard")
	check(t, err)
	kinds := map[string]int{}
	for _, s := range sites {
		kinds[s.Kind]++
	}
	for kind, want := range map[string]int{"negate": 1, "and-or": 1, "comparison": 3, "off-by-one": 5, "drop": 1, "zero": 2} {
		if kinds[kind] != want {
			t.Errorf("%d faults of the kind %s, want %d", kinds[kind], kind, want)
		}
	}
	overlay, err := writeOverlay(root, t.TempDir(), sites)
	check(t, err)
	binary := filepath.Join(t.TempDir(), "program")
	c := exec.Command("go", "build", "-overlay="+overlay, "-o", binary, ".")
	c.Dir, c.Env = root, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(id string) string {
		c := exec.Command(binary)
		c.Env = append(os.Environ(), "MUTANT="+id)
		out, _ := c.CombinedOutput() // a fault may be a panic
		return string(out)
	}
	const want = "7 true 0 false 2 true 1 false 2\n"
	if got := run(""); got != want {
		t.Errorf("without a fault: %swant %s", got, want)
	}
	for _, s := range sites {
		if got := run(s.ID); got == want {
			t.Errorf("%s of %q (number %s) changes nothing", s.Kind, s.Text, s.Nth)
		}
	}
}

// TestList: the code of each fault is still there, each area has its part, half of the faults
// are caught only with the real tools, and the list says which command runs a test.
func TestList(t *testing.T) {
	faults, err := readLists([]string{"list.tsv"})
	check(t, err)
	_, lost, err := sitesOf("../..", faults)
	check(t, err)
	for _, f := range lost {
		t.Error(f.gone())
	}
	makefile, err := os.ReadFile("../../Makefile")
	check(t, err)
	rest := regexp.MustCompile(`(?m)^REST := (.+)$`).FindSubmatch(makefile)
	if rest == nil {
		t.Fatal("the Makefile has no REST")
	}
	later := regexp.MustCompile("^(" + string(rest[1]) + ")$")
	byArea, tools := map[string]int{}, 0
	for _, f := range faults {
		area, _, _ := strings.Cut(f.ID, "-")
		byArea[area]++
		want := "go test ./..."
		if name, _, _ := strings.Cut(f.Test, "/"); f.Package == "./test/real" {
			tools++
			if want = "make test"; later.MatchString(name) {
				want = "make test-rest"
			}
		}
		if f.Suite != want {
			t.Errorf("%s: %s is run by %q, but the list says %q", f.ID, f.Test, want, f.Suite)
		}
	}
	for _, area := range areas {
		if byArea[area] != 8 {
			t.Errorf("%d faults of %s, want 8", byArea[area], area)
		}
	}
	if tools < 40 {
		t.Errorf("%d faults are caught with the real tools, want 40", tools)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
