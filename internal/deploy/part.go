package deploy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/register"
	"stackgen/internal/report"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// destroyPart destroys VMs of stacks with their records, and nothing else of the stacks: each
// unit by a plan of its own, whose grant permits exactly that.
func (r *run) destroyPart() error {
	s, found, err := r.lookForDestroy()
	if err != nil {
		return err
	}
	r.keepListed(found, s.Matches())
	var all []*plans
	var idle []*stack
	for _, st := range r.stacks {
		p, err := r.planPart(s, st, found)
		if err != nil {
			return err
		}
		if len(p.units) > 0 {
			all = append(all, p)
		} else {
			idle = append(idle, st)
		}
	}
	if len(all) == 0 {
		return r.noPart(s, found)
	}
	a := announce(nil, all)
	sum := report.Summary{
		Command: "destroy",
		Stacks:  namesOf(all),
		Actions: append(goneAlready(all), a.actions()...),
		Notes:   slices.Concat(s.Notes(found), r.notInState(found), r.holderNotes(s, a), r.keptNotes(a), lossNotes(s, a), r.leaveNotes()),
	}
	err = r.carryOutDestroy(sum, a, all, r.confirmPart, func(p *plans) error { return r.destroyUnits(s, p, found) })
	if err != nil || !r.applied || r.failed || r.ctx.Err() != nil {
		return err
	}
	text, err := r.endGone(s, idle)
	return errors.Join(err, report.Text(r.Out, text))
}

// goneAlready are the rows of the VMs that plans remove from the state only: the cluster does not
// have them any more.
func goneAlready(all []*plans) []report.Action {
	var out []report.Action
	for _, p := range all {
		changes := p.changes()
		for _, u := range p.units {
			for _, part := range u.grant.Parts {
				there := slices.ContainsFunc(changes, func(c tf.Summary) bool { return c.Unit == u.unit && c.Address == part.Address })
				if !there && part.VMID != 0 {
					out = append(out, report.Action{Word: "forget", Stack: p.stack.name, What: u.unit.Kind().Name(), Name: part.Key,
						Detail: fmt.Sprintf("%s %d is gone already", u.unit.Kind().Name(), part.VMID), Named: true})
				}
			}
		}
	}
	return out
}

// noPart ends a destroy of VMs of which no state has anything.
func (r *run) noPart(s *check.Session, found []finding.Finding) error {
	text := "nothing to destroy: no state has " + strings.Join(r.partNames(), ", ")
	for _, note := range r.notInState(found) {
		text += "\nnote: " + note
	}
	if r.DryRun {
		for _, note := range r.leaveNotes() {
			text += "\nnote: " + note
		}
		return report.Text(r.Out, text+"\n")
	}
	left, err := r.endGone(s, r.stacks)
	return errors.Join(err, report.Text(r.Out, text+"\n"+left))
}

// endGone ends the destroy of VMs of stacks of which no state has anything: the command that destroyed
// them may have been interrupted.
func (r *run) endGone(s *check.Session, stacks []*stack) (text string, err error) {
	for _, st := range stacks {
		keys := r.Part[st.name]
		if err := r.forgetGone(s, st.name, keys, nil); err != nil {
			return text, err
		}
		l, left := r.unlist(st.name, keys)
		if text += left; l != nil && l.err != nil {
			text += r.byHand(st.name, l.keys(), l)
		}
	}
	return text, nil
}

// partNames are the VMs of the part, each as STACK/KEY.
func (r *run) partNames() []string {
	var out []string
	for _, st := range r.stacks {
		for _, key := range r.Part[st.name] {
			out = append(out, st.name+"/"+key)
		}
	}
	return out
}

// confirmPart asks for the key of the only VM of a stack, or for the name of the stack.
func (r *run) confirmPart(all []*plans) (bool, error) {
	if r.Yes {
		return true, nil
	}
	for _, p := range all {
		what, name := askedName(p.stack.name, r.Part[p.stack.name], r.p.Lock)
		confirmed, err := r.answer(fmt.Sprintf("This cannot be undone. To destroy %s, type %s: ", what, name), name)
		if err != nil || !confirmed {
			return false, err
		}
	}
	return true, nil
}

// destroyUnits applies the plans of a part, verifies that it is gone, and removes from the lock
// what was seen of it.
func (r *run) destroyUnits(seen *check.Session, p *plans, found []finding.Finding) error {
	r.say("destroying %s of %s", strings.Join(r.Part[p.stack.name], ", "), p.stack.name)
	if err := p.unchanged(); err != nil {
		return err
	}
	if err := r.stops(p); err != nil {
		return err
	}
	for i := range p.units {
		if done, err := r.destroyUnit(p, i); err != nil || !done {
			return err
		}
		left, err := r.leftOf(p.units[i].grant)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			r.failed = true
			return report.Printf(r.Out, "%s: still in its state: %s\n", p.units[i].unit, left[0].Address)
		}
	}
	keys := r.Part[p.stack.name]
	if err := r.forgetGone(seen, p.stack.name, keys, p.destroyedBy(seen)); err != nil {
		return err
	}
	exist := existing(found, p.stack.name) // the destroy leaves these
	gone := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(exist, key) })
	maps.DeleteFunc(p.stack.unfinished, func(key string, _ check.BegunVM) bool { return slices.Contains(gone, key) })
	maps.DeleteFunc(p.stack.stopped, func(key string, _ int) bool { return slices.Contains(gone, key) })
	if err := p.stack.keepUnfinished(); err != nil {
		return err
	}
	r.registerRest(p.stack.name)
	return report.Text(r.Out, r.partDone(p.stack.name, gone))
}

// destroyUnit applies the plan of one unit of a part. done is false if it failed, which was said.
func (r *run) destroyUnit(p *plans, i int) (done bool, err error) {
	result, err := r.applyGranted(p, p.units[i])
	if err == nil {
		result, err = r.againAfterLock(p, i, result)
	}
	if err != nil {
		return false, err
	}
	if text := refusal(result.log); text != "" {
		if err := report.Text(r.Out, text); err != nil {
			return false, err
		}
		return false, ended{finding.Blocked}
	}
	if !result.failed() {
		return true, nil
	}
	r.failed = true
	if r.ctx.Err() == nil {
		r.explain(p, result)
	}
	return false, nil
}

// registerRest writes the registration of a stack without the VMs that were destroyed. What keeps
// it from being written is no failure of the destroy.
func (r *run) registerRest(stack string) {
	p, err := r.open()
	if err != nil || !slices.Contains(register.Wanted(p), stack) {
		return
	}
	without := map[string][]string{stack: r.Part[stack]}
	if err := r.writeOutputs(register.Request{Project: p, Stacks: []string{stack}, Partial: without}); err != nil {
		r.say("the registration of %s was not written: %s", stack, err)
	}
}

// partDone says what was destroyed, and how it stays so. Without keys, only records were.
func (r *run) partDone(stack string, keys []string) string {
	if len(keys) == 0 {
		names := strings.Join(namesIn(stack, r.Part[stack]), ", ")
		return fmt.Sprintf("destroyed the records of %s; the guests exist, and are in no state\n", names)
	}
	l, left := r.unlist(stack, keys)
	out, stay := "destroyed "+strings.Join(namesIn(stack, keys), ", "), slices.Clone(keys)
	if l != nil && (l.err == nil || len(l.wrote) > 0) { // the roster does not have them
		stay = slices.DeleteFunc(stay, func(key string) bool { return slices.Contains(l.keys(), key) })
	}
	byHand := keys
	if l != nil && l.err == nil {
		byHand = stay
	}
	if len(stay) > 0 {
		then := "the next apply creates " + one(stay, "it", "them") + " again"
		if r.adopts(stack, stay) {
			then = "no apply creates again what has `adopt`, and the next one is blocked"
		}
		out += fmt.Sprintf("; %s keeps the decisions, and %s still has %s: %s",
			r.p.LockFile(), shell.Path(r.p.Specs[stack]), one(keys, "it", strings.Join(stay, ", ")), then)
	}
	if out += "\n"; len(byHand) > 0 {
		out += r.byHand(stack, byHand, l)
	}
	return out + left
}

// adopts reports whether the spec of a stack says of one of some guests, or of all without keys, that it existed.
func (r *run) adopts(stack string, keys []string) bool {
	return slices.ContainsFunc(r.p.SelectedStacks(), func(s *schema.Stack) bool {
		return s.Name == stack && slices.ContainsFunc(s.VMs, func(v *schema.VM) bool {
			return v.Adopt && (keys == nil || slices.Contains(keys, v.Key))
		})
	})
}

func namesIn(stack string, keys []string) []string {
	var out []string
	for _, key := range keys {
		out = append(out, stack+"/"+key)
	}
	return out
}

// one is the word for one of a list, or for several.
func one(list []string, single, several string) string {
	if len(list) == 1 {
		return single
	}
	return several
}
