package deploy

import (
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/render"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

// rerender names render as the next command if an apply leaves files that are not what a
// render would write: the lock records what was applied, and without a former address that no
// state has any more, there is one moved block less. What render would refuse, and why, it
// says itself.
func (r *run) rerender() error {
	p, err := project.Load(r.Paths, "")
	if err != nil {
		return nil //nolint:nilerr // the apply is done
	}
	rendered, err := render.New(p, lock.Options{})
	if err != nil || rendered.Rejected != nil || rendered.Blocked() || len(rendered.Changes) == 0 {
		return nil //nolint:nilerr // as above
	}
	line := "stackgen render"
	for _, path := range r.Paths {
		line += " " + shell.Path(path)
	}
	return report.Text(r.Out, "next:\n"+
		"  "+line+"  # the lock records what was applied: "+report.Count(len(rendered.Changes), "file")+" would change\n")
}
