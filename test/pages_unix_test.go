//go:build unix

package test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackgen/internal/pvesim"
	"stackgen/test/page"
)

// TestPages runs the blocks of pages that need stackgen and a cluster, and neither
// OpenTofu nor Terragrunt: those of a page in one shell, in an empty folder with bin/stackgen.
func TestPages(t *testing.T) {
	program := binary(t)
	ran := 0
	for _, name := range pages(t) {
		blocks, err := page.Read("../" + name)
		check(t, err)
		if !slices.ContainsFunc(blocks, func(b page.Block) bool { return b.Mark == "TestPages" }) {
			continue
		}
		ran++
		dir := t.TempDir()
		check(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
		check(t, os.Symlink(program, filepath.Join(dir, "bin", "stackgen")))
		sim, err := pvesim.New(pvesim.Options{NoAuthDelay: true})
		check(t, err)
		check(t, sim.Start("127.0.0.1:0"))
		t.Cleanup(func() { check(t, sim.Close()) })
		path := filepath.Join(dir, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH")
		env := append([]string{"PATH=" + path, "HOME=" + dir, "TMPDIR=" + dir}, sim.Env()...)
		wrong, err := page.Run(t.Context(), page.Shell{Dir: dir, Env: env}, blocks, "TestPages")
		check(t, err)
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
	}
	if ran == 0 {
		t.Error("no page has a block of this test")
	}
}
