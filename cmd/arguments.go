package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-shellwords"
)

// flagOf is the flag in an argument of OpenTofu, which takes one dash or two, and
// whether its value stands in the argument too. What is no flag has no name.
func flagOf(arg string) (name, value string, whole bool) {
	if !strings.HasPrefix(arg, "-") {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
}

// flagged reports whether a flag is given, and not switched off.
func flagged(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		given, value, _ := flagOf(arg)
		return given == name && value != "false"
	})
}

// savedPlan is the plan file in a command line of OpenTofu, or empty.
func savedPlan(args []string) string {
	if args[0] != "apply" || len(args) < 2 {
		return ""
	}
	last, before := args[len(args)-1], args[len(args)-2]
	if strings.HasPrefix(last, "-") || takesNext(before) {
		return ""
	}
	return last
}

// takesNext reports whether the argument behind an argument is its value.
func takesNext(arg string) bool {
	name, _, whole := flagOf(arg)
	return !whole && slices.Contains([]string{"backup", "exclude", "exclude-file", "json-into", "lock-timeout", "parallelism", "replace",
		"state", "state-out", "target", "target-file", "var", "var-file"}, name)
}

// notOfPlans are the arguments of apply and destroy that plan does not take, or
// that the guard's own plan has in its own way.
var notOfPlans = []string{"auto-approve", "backup", "input", "json", "json-into", "lock", "lock-timeout", "no-color", "state-out", "detailed-exitcode", "out", "suppress-forget-errors"}

// planArgs are the arguments of a plan of what a command line of OpenTofu would
// do, those from its environment variable included.
func planArgs(args []string, variable string) ([]string, error) {
	extra, err := shellwords.Parse(variable)
	if err != nil {
		return nil, fmt.Errorf("TF_CLI_ARGS_%s cannot be split into words: %w", args[0], err)
	}
	var out []string
	if args[0] == "destroy" {
		out = append(out, "-destroy")
	}
	all := append(extra, args[1:]...)
	for i := 0; i < len(all); i++ {
		name, _, _ := flagOf(all[i])
		own := slices.Contains(notOfPlans, name)
		if !own {
			out = append(out, all[i])
		}
		if takesNext(all[i]) && i+1 < len(all) {
			if i++; !own {
				out = append(out, all[i])
			}
		}
	}
	return out, nil
}
