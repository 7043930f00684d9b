package guard

import (
	"path/filepath"
	"slices"
	"strings"
)

// Exec returns the arguments of OpenTofu that `terragrunt exec` runs, by the command line of
// Terragrunt. What is not known there counts as an apply: a script may run one. judged is
// false if it is a command of OpenTofu for which Terragrunt runs no hook either.
func Exec(typed []string) (args []string, judged bool) {
	apply := []string{"apply"}
	at := slices.Index(typed, "--")
	if at < 0 || at+1 == len(typed) {
		return apply, true
	}
	program := strings.TrimSuffix(filepath.Base(typed[at+1]), ".exe")
	words := typed[at+2:]
	if program != "tofu" && program != "terraform" || len(words) == 0 || strings.HasPrefix(words[0], "-") { // -chdir names another folder
		return apply, true
	}
	return words, words[0] == "apply" || words[0] == "destroy"
}
