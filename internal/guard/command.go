package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-shellwords"

	"stackgen/internal/finding"
)

// A Command is a command line of OpenTofu, with what changes its meaning from the
// outside.
type Command struct {
	Args      []string                 // apply or destroy first
	Env       func(name string) string // its environment
	Workspace string                   // as `tofu workspace select` recorded it, or empty
}

// Misled says why the environment or an argument makes a run do something else
// than its command says, or use another state than the unit's. It returns nil if
// nothing does.
func (c Command) Misled() (*finding.Finding, error) {
	misled := func(reason, what string, lines ...string) *finding.Finding {
		f := &finding.Finding{Kind: finding.Misled, Severity: finding.Blocked, Reason: reason}
		return f.Next(what, lines...)
	}
	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_" + c.Args[0]} {
		words, err := shellwords.Parse(c.Env(name))
		if err != nil {
			return nil, fmt.Errorf("%s cannot be split into words: %w", name, err)
		}
		switch {
		case c.Args[0] == "apply" && hasFlag(words, "destroy"):
			return misled(name+" turns every apply into a destroy", "remove it, and use `terragrunt destroy` to destroy", "unset "+name), nil
		case hasFlag(words, "replace"):
			return misled(name+" makes every apply replace a VM", "remove it", "unset "+name), nil
		case hasFlag(words, "state"):
			return misled(name+" names another state than the unit's", "remove it", "unset "+name), nil
		}
	}
	if hasFlag(c.Args[1:], "state") {
		return misled("-state names another state than the unit's", "run the command without it"), nil
	}
	const other = ", which has another state than the one that was read"
	switch named := c.Env("TF_WORKSPACE"); {
	case named == "default":
		return nil, nil // it overrides the selected workspace
	case named != "":
		return misled("TF_WORKSPACE names workspace "+named+other, "remove it", "unset TF_WORKSPACE"), nil
	case c.Workspace != "" && c.Workspace != "default":
		return misled("workspace "+c.Workspace+" is selected"+other, "select the default workspace", "terragrunt workspace select default"), nil
	}
	return nil, nil
}

// SavedPlan is the plan file that an apply is given, or empty.
func (c Command) SavedPlan() string {
	if c.Args[0] != "apply" || len(c.Args) < 2 {
		return ""
	}
	last, before := c.Args[len(c.Args)-1], c.Args[len(c.Args)-2]
	if strings.HasPrefix(last, "-") || takesNext(before) {
		return ""
	}
	return last
}

// PlanArgs are the arguments of a plan that shows what the command would do. They
// include those from the command's environment variable.
func (c Command) PlanArgs() ([]string, error) {
	variable := "TF_CLI_ARGS_" + c.Args[0]
	extra, err := shellwords.Parse(c.Env(variable))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be split into words: %w", variable, err)
	}
	var out []string
	if c.Args[0] == "destroy" {
		out = append(out, "-destroy")
	}
	all := slices.Concat(extra, c.Args[1:])
	for i := 0; i < len(all); i++ {
		name, _, _ := parseFlag(all[i])
		omit := slices.Contains(notOfPlans, name)
		if !omit {
			out = append(out, all[i])
		}
		if takesNext(all[i]) && i+1 < len(all) {
			if i++; !omit {
				out = append(out, all[i])
			}
		}
	}
	return out, nil
}

// notOfPlans are the flags of apply and destroy that plan does not have, or that
// the guard's own plan sets itself.
var notOfPlans = []string{"auto-approve", "backup", "input", "json", "json-into", "lock", "lock-timeout", "no-color", "state-out", "detailed-exitcode", "out", "suppress-forget-errors"}

// parseFlag splits an argument of OpenTofu, whose flags have one dash or two. The
// name of an argument that is no flag is empty.
func parseFlag(arg string) (name, value string, hasValue bool) {
	if !strings.HasPrefix(arg, "-") {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
}

// hasFlag reports whether a flag is given and not false.
func hasFlag(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		given, value, _ := parseFlag(arg)
		return given == name && value != "false"
	})
}

// takesNext reports whether the value of an argument is the next argument.
func takesNext(arg string) bool {
	name, _, hasValue := parseFlag(arg)
	return !hasValue && slices.Contains([]string{"backup", "exclude", "exclude-file", "json-into", "lock-timeout", "parallelism", "replace",
		"state", "state-out", "target", "target-file", "var", "var-file"}, name)
}
