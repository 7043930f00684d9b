package deploy

import (
	"slices"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/report"
	"stackgen/schema"
)

// templatesLast are the stacks in the order in which they are destroyed: Proxmox VE does not destroy a
// template before its linked clones.
func (r *run) templatesLast() []*stack {
	out := slices.Clone(r.stacks)
	slices.SortStableFunc(out, func(a, b *stack) int {
		switch last := r.isTemplate(a.name); {
		case last == r.isTemplate(b.name):
			return 0
		case last:
			return 1
		}
		return -1
	})
	return out
}

// isTemplate reports whether a stack is a Template.
func (r *run) isTemplate(stack string) bool {
	return slices.ContainsFunc(r.p.Stacks.Stacks, func(s *schema.Stack) bool { return s.Name == stack && s.IsTemplate() })
}

// destroyInOrder destroys one stack after the other. Templates, which are the last ones, are left if
// another stack is not destroyed.
func (r *run) destroyInOrder(all []*plans, destroy func(*plans) error) error {
	kept := false
	for _, p := range all {
		template := r.isTemplate(p.stack.name)
		switch {
		case r.ctx.Err() != nil:
			r.left(p)
			continue
		case template && kept:
			if err := r.keepTemplate(p); err != nil {
				return err
			}
			continue
		}
		if err := r.recordEnd(destroy(p)); err != nil {
			return err
		}
		kept = kept || r.failed && !template
	}
	return nil
}

// keepTemplate leaves a Template, because a stack before it is not destroyed: linked clones of it may
// be left.
func (r *run) keepTemplate(p *plans) error {
	const said = "%s: the destroy was not begun: a stack before it is not destroyed, and may have linked clones of it. " +
		"To go on, run the same command again: `%s`\n"
	return report.Printf(r.Out, said, p.stack.name, r.Line)
}

// forgetIdle removes from the lock what was seen of stacks whose states have nothing: the command that
// destroyed them may have been interrupted. It keeps what tells where the state of a stack is whose VMs
// exist: the state is somewhere else, or an apply was interrupted.
func (r *run) forgetIdle(seen *check.Session, stacks []string, found []finding.Finding) error {
	for _, name := range stacks {
		if len(existing(found, name)) > 0 {
			continue
		}
		if err := r.forgetGone(seen, name, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
