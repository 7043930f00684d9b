package deploy

import (
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/render"
	"stackgen/internal/report"
)

// rerender names render as the next command if an apply leaves files that are made from
// what the lock recorded before: without a former address that no state has any more,
// there is one moved block less. What render would refuse, it says itself.
func (r *run) rerender() error {
	p, err := project.Load(r.Paths, "")
	if err != nil {
		return err
	}
	rendered, err := render.New(p, lock.Options{})
	if err != nil || rendered.Rejected != nil || len(rendered.Changes) == 0 {
		return err
	}
	return report.Text(r.Out, "next:\n  stackgen render  # the lock records what was applied: "+report.Count(len(rendered.Changes), "file")+" would change\n")
}
