package cmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-shellwords"

	"stackgen/internal/finding"
)

// misleading says why a run would not do what its command says, or would use
// another state than the one that was read. It returns nil if there is no reason.
func misleading(args []string, getenv func(string) string) (*finding.Finding, error) {
	misled := func(reason, what string, lines ...string) *finding.Finding {
		f := &finding.Finding{Kind: finding.Misled, Severity: finding.Blocked, Reason: reason}
		return f.Next(what, lines...)
	}
	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_" + args[0]} {
		words, err := shellwords.Parse(getenv(name))
		if err != nil {
			return nil, fmt.Errorf("%s cannot be split into words: %w", name, err)
		}
		switch {
		case args[0] == "apply" && flagged(words, "destroy"):
			return misled(name+" turns every apply into a destroy", "remove it, and use `terragrunt destroy` to destroy", "unset "+name), nil
		case flagged(words, "replace"):
			return misled(name+" makes every apply replace a VM", "remove it", "unset "+name), nil
		case flagged(words, "state"):
			return misled(name+" names another state than the unit's", "remove it", "unset "+name), nil
		}
	}
	if flagged(args[1:], "state") {
		return misled("-state names another state than the unit's", "run the command without it"), nil
	}
	const other = ", which has another state than the one that was read"
	if named := getenv("TF_WORKSPACE"); named != "" {
		if named != "default" {
			return misled("TF_WORKSPACE names workspace "+named+other, "remove it", "unset TF_WORKSPACE"), nil
		}
		return nil, nil
	}
	chosen, err := os.ReadFile(filepath.Join(cmp.Or(getenv("TF_DATA_DIR"), ".terraform"), "environment"))
	if name := strings.TrimSpace(string(chosen)); err == nil && name != "" && name != "default" {
		return misled("workspace "+name+" is selected"+other, "select the default workspace", "terragrunt workspace select default"), nil
	}
	return nil, nil
}
