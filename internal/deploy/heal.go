package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
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
// whether a state is another one now. It changes none if anything else stops the run. The plan that is asked
// for is made after that, so a run that ends before the import leaves them in no state: sayHealed names those.
func (r *run) heal(found []finding.Finding) (bool, error) {
	stale := func(f finding.Finding) bool { return f.Case == finding.StaleNode }
	if r.DryRun || !r.applies() || slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Stops() && !stale(f) }) {
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
			r.healed = append(r.healed, f)
			healed = true
		}
	}
	return healed, nil
}

// sayUnchanged says that a run has changed nothing, or only states.
func (r *run) sayUnchanged(why string) {
	what := "nothing was changed"
	if len(r.healed) > 0 {
		what = "nothing of the cluster was changed"
	}
	if r.gaveMACs {
		what = "nothing else was changed"
	}
	r.say("%s; %s", why, what)
}

// sayHealed names the containers that a run which was not successful has removed from their states, and has not
// imported again.
func (r *run) sayHealed() {
	if len(r.healed) == 0 {
		return
	}
	var units []tf.Unit
	for _, f := range r.healed {
		if u := (tf.Unit{Stack: f.Stack, Unit: f.Unit}); !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	s := check.New(r.p, check.Sources{})
	if err := s.ReadStates(r.background(), units); err != nil {
		r.say("the states of moved containers cannot be read: %v", err)
	}
	var names []string
	for _, f := range r.healed {
		if !slices.ContainsFunc(s.State.Guests(f.Stack), func(g tf.Resource) bool { return g.VMID == f.VMID }) {
			names = append(names, f.String())
		}
	}
	if len(names) > 0 {
		r.say("in no state until an apply imports %s: %s; to do that, once nothing blocks it: `%s`",
			one(names, "it", "them"), strings.Join(names, ", "), r.Line)
	}
}
