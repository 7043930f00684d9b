//go:build unix

package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompletionInBash loads the script in bash, which then completes words: commands,
// flags, and no subcommand `help`, which the library would add to each command.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	folder := t.TempDir()
	check(t, os.Symlink(binary(t), filepath.Join(folder, "stackgen")))
	script, err := process(t, folder, "completion", "bash").Output()
	check(t, err)
	for line, want := range map[string][]string{
		"stackgen dis":             {"discover"},
		"stackgen ma":              {"man"},
		"stackgen render ":         nil,
		"stackgen drift --ba":      {"--baseline", "--baseline-add"},
		"stackgen discover --gr":   {"--groups"},
		"stackgen completion ":     {"bash", "zsh", "fish"},
		"stackgen init -- ":        nil,
		"stackgen render specs --": {"--check", "--diff", "--format", "--help", "--out", "--records-moved", "--state-moved", "--verbose"},
	} {
		words := strings.Split(line, " ")
		c := exec.Command(bash, append([]string{"-c", string(script) +
			`COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stackgen; printf '%s\n' "${COMPREPLY[@]}"`, "bash"}, words...)...)
		c.Dir, c.Env = folder, append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		got := strings.Fields(string(out))
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v\n%s\nwant %q", line, err, out, want)
		}
	}
}
