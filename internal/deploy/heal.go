package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"stackgen/internal/finding"
)

// changeState runs a command of OpenTofu that changes the state of a unit, and nothing else.
func (r *run) changeState(st *stack, unit string, command ...string) error {
	if _, err := os.Stat(filepath.Join(st.dir, generated, unit)); err != nil {
		if err := r.tools.Generate(r.ctx, st.dir); err != nil {
			return err
		}
	}
	return r.unit(st, unit, append([]string{"run", "--"}, command...)...)
}

// heal removes containers from states that have the node of before: the provider looks for a container
// there only, and would create it again. The import that follows writes nothing to them. It reports
// whether a state is another one now. It changes none if anything else stops the run.
func (r *run) heal(found []finding.Finding) (bool, error) {
	stale := func(f finding.Finding) bool { return f.Case == finding.StaleNode }
	if r.DryRun || r.command != "apply" || slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Stops() && !stale(f) }) {
		return false, nil
	}
	healed := false
	for _, st := range r.stacks {
		for _, f := range found {
			if f.Stack != st.name || !stale(f) {
				continue
			}
			r.say("%s/%s is on another node than its state says: it is removed from its state, and imported from where it is, "+
				"which changes nothing of it", st.name, f.Key)
			if err := r.changeState(st, f.Unit, "state", "rm", f.Resource); err != nil {
				return false, fmt.Errorf("cannot remove %s/%s from its state: %w", st.name, f.Key, err)
			}
			healed = true
		}
	}
	return healed, nil
}
