package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// Misled is the error of an environment that leads Terragrunt to a part of the units or to
// other ones, or OpenTofu to another state, to other variables or to something else than
// the command says. The guard refuses most of it, too, but only when the plan was confirmed.
func Misled(command string, environ []string) error {
	if names := guard.Misleading(environ); len(names) > 0 {
		return fmt.Errorf("%s works on all units of a stack as they are rendered and on its own state, and the environment says otherwise: "+
			"`unset %s`, then run the same command again; nothing was read or changed",
			command, strings.Join(names, " "))
	}
	c := guard.Command{
		Unit:  tf.Unit{Unit: lock.UnitVM},
		Args:  []string{command},
		Whole: true,
		Env:   func(name string) string { return valueOf(environ, name) },
	}
	for _, name := range guard.UnitVariables {
		if valueOf(environ, "TF_VAR_"+name) != "" {
			c.Variables = append(c.Variables, name)
		}
	}
	f, err := c.Misled()
	if err != nil || f == nil {
		return err
	}
	reason, lines := f.Reason.Args[0], f.Steps[0].Lines // what it does, by the table of variables and flags
	if len(lines) == 0 {
		return errors.New(reason)
	}
	return fmt.Errorf("%s: `%s`, then run the same command again; nothing was read or changed", reason, lines[0])
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
