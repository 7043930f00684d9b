package cmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-shellwords"
)

// astray says why a run would do something else than its command says, or with
// another state than the one that is looked at; and what to do about it.
func astray(args []string, getenv func(string) string) (why, way string, err error) {
	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_" + args[0]} {
		words, err := shellwords.Parse(getenv(name))
		if err != nil {
			return "", "", fmt.Errorf("%s cannot be split into words: %w", name, err)
		}
		switch {
		case args[0] == "apply" && flagged(words, "destroy"):
			return name + " makes a destroy of every apply", "unset " + name + "; what is to be destroyed is destroyed by `terragrunt destroy`", nil
		case flagged(words, "replace"):
			return name + " makes every apply replace a VM", "unset " + name, nil
		case flagged(words, "state"):
			return name + " names another state than the unit's", "unset " + name, nil
		}
	}
	if flagged(args[1:], "state") {
		return "-state names another state than the unit's", "leave it out", nil
	}
	if named := getenv("TF_WORKSPACE"); named != "" {
		if named != "default" {
			return "TF_WORKSPACE names workspace " + named + ", which has another state than the one that is looked at", "unset TF_WORKSPACE", nil
		}
		return "", "", nil
	}
	chosen, err := os.ReadFile(filepath.Join(cmp.Or(getenv("TF_DATA_DIR"), ".terraform"), "environment"))
	if name := strings.TrimSpace(string(chosen)); err == nil && name != "" && name != "default" {
		return "workspace " + name + " is chosen, which has another state than the one that is looked at", "terragrunt workspace select default", nil
	}
	return "", "", nil
}
