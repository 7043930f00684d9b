package test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackgen/cmd"
)

// TestExamples: this repository's specs and lock render, in an empty folder, the files that
// the repository has. The scripts render-NAME show what the commands print.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	check(t, os.CopyFS(filepath.Join(dir, "specs"), os.DirFS("../specs")))
	lock := read(t, "../stackgen.lock.yaml")
	write(t, dir, map[string]string{"stackgen.lock.yaml": string(lock)})
	var out bytes.Buffer
	if code := cmd.Main([]string{"stackgen", "render", dir}, zeros{}, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("render: exit %d\n%s", code, &out)
	}
	want := map[string]string{"root.hcl": string(read(t, "../root.hcl")), "stackgen.lock.yaml": string(lock)}
	for _, folder := range []string{"specs", "modules", "units", "stacks"} {
		for path, body := range tree(t, filepath.Join("..", folder)) {
			want[folder+"/"+path] = body
		}
	}
	maps.DeleteFunc(want, func(path, _ string) bool { return slices.Contains(strings.Split(path, "/"), ".terragrunt-stack") })
	compare(t, want, tree(t, dir))
}
