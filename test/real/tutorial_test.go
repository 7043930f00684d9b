//go:build unix

package real

import (
	"path/filepath"
	"testing"

	"stackgen/test/page"
)

// TestTutorial runs docs/tutorial.md in an empty folder, in one shell, with the simulated
// cluster that the page starts.
func TestTutorial(t *testing.T) {
	t.Parallel()
	blocks, err := page.Read(filepath.Join(repository, "docs", "tutorial.md"))
	check(t, err)
	p := &project{T: t, dir: t.TempDir(), tools: findTools(t)}
	env := p.tools.With("PATH=" + filepath.Dir(stackgen) + string(filepath.ListSeparator) + p.pathOf()).Env
	wrong, err := page.Run(t.Context(), page.Shell{Dir: p.dir, Env: env}, blocks, "TestTutorial")
	check(t, err)
	for _, w := range wrong {
		t.Errorf("docs/tutorial.md: %s", w)
	}
}
