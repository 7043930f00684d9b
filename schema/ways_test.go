package schema

import (
	"strings"
	"testing"
)

// TestWaysNameWhatExists: retired, forgotten and renamed name every stack and every unit that there can be. A
// Template has dots in its name, and the unit of records of a VM has a longer name than its key.
func TestWaysNameWhatExists(t *testing.T) {
	const project = "apiVersion: stackgen/v1\nkind: Project\n"
	unit := "dns-" + strings.Repeat("k", maxKey) + "-2"
	for _, text := range []string{
		project + "retired: {stacks: [ubuntu-24.04]}\n",
		project + "forgotten: {stacks: [ubuntu-24.04]}\n",
		project + "renamed: {stacks: {ubuntu-24.04: ubuntu-24.10}}\n",
		stackHead + "retired: [" + unit + "]\n",
		stackHead + "forgotten: [" + unit + "]\n",
	} {
		if _, problems := Parse("specs/a.yaml", []byte(text)); len(problems) > 0 {
			t.Errorf("%s: %v", text, problems)
		}
	}
	for _, text := range []string{
		project + "retired: {stacks: [../x]}\n",
		project + "renamed: {stacks: {a..b: c}}\n",
		stackHead + "retired: [Web]\n",
		stackHead + "retired: [" + strings.Repeat("k", 64) + "]\n",
	} {
		if _, problems := Parse("specs/a.yaml", []byte(text)); len(problems) == 0 {
			t.Errorf("%s: no problem", text)
		}
	}
}
