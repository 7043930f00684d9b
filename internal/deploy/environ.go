package deploy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/guard"
	"stackgen/internal/lock"
)

// misled is the error of an environment that leads Terragrunt to a part of the units, or
// OpenTofu to another state, to other variables or to something else than its command
// says. The guard refuses most of it, too, but only when the plan was confirmed.
func misled(command string, environ []string) error {
	if names := misleading(environ); len(names) > 0 {
		return fmt.Errorf("%s works on all units of a stack and on its own state, and the environment says otherwise: unset %s, then run the same command again", command, strings.Join(names, ", "))
	}
	c := guard.Command{Unit: guard.UnitID{Unit: lock.UnitVM}, Args: []string{command}, Env: func(name string) string { return valueOf(environ, name) }}
	for _, name := range guard.UnitVariables {
		if valueOf(environ, "TF_VAR_"+name) != "" {
			c.Variables = append(c.Variables, name)
		}
	}
	f, err := c.Misled()
	if err != nil || f == nil {
		return err
	}
	lines := f.Steps[0].Lines
	if len(lines) == 0 {
		return errors.New(f.Reason)
	}
	return fmt.Errorf("%s: `%s`, then run the same command again; nothing was read or changed", f.Reason, lines[0])
}

// valueOf is a variable of an environment; the last one counts.
func valueOf(environ []string, name string) string {
	for _, e := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// misleading are the variables that lead Terragrunt to a part of the units, or OpenTofu
// to another state.
func misleading(environ []string) []string {
	var out []string
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		other := name == "TF_WORKSPACE" || strings.HasPrefix(name, "TG_FILTER") || strings.HasPrefix(name, "TG_QUEUE_")
		if other && value != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
