package deploy

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/progress"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// show begins to show a run that was confirmed.
func (r *run) show(a *announcement) {
	plan := progress.Plan{Command: r.command, Again: r.Line, Items: a.items()}
	if r.command == "rebuild" {
		plan.Again = "" // notRebuilt says how to go on
	}
	for _, s := range r.p.SelectedStacks() {
		plan.Parallel = max(plan.Parallel, s.Parallelism)
	}
	r.view = r.View
	r.out, r.errOut = r.Out, r.ErrOut
	r.Out, r.ErrOut = &r.results, &r.messages // rows that change do not mix with lines
	r.view.Start(plan)
}

// items are the rows of the view.
func (a *announcement) items() []progress.Item {
	kinds := map[finding.Type]progress.Kind{finding.VM: progress.VM, finding.Pool: progress.Pool, finding.Record: progress.Record}
	var out []progress.Item
	for _, c := range a.changes {
		kind, known := kinds[c.Type]
		action := actionOf(c)
		if !known || action == "" {
			continue
		}
		out = append(out, progress.Item{Target: targetOf(kind, c),
			Action: action, Clone: c.Clones, Template: c.Template, From: c.From, Agent: c.Agent,
			Rebuilt: c.Action == tf.Replace})
	}
	for i := range a.starts {
		out = append(out, progress.Item{Target: a.starts[i].target(), Action: progress.Start, Planned: true})
	}
	for _, f := range a.records() {
		action := map[string]progress.Action{"create": progress.Create, "import": progress.Import, "destroy": progress.Destroy}[lateWord(&f)]
		if action != "" {
			target := progress.Target{Kind: progress.Record, Stack: f.Stack, Unit: f.Unit, Key: f.Name}
			out = append(out, progress.Item{Target: target, Action: action})
		}
	}
	return out
}

// targetOf is what a change is about.
func targetOf(kind progress.Kind, c tf.Summary) progress.Target {
	t := progress.Target{Kind: kind, Stack: c.Unit.Stack, Unit: c.Unit.Unit, Key: c.Key, VMID: c.VMID, Node: c.Node}
	if k := c.Unit.Kind(); k == guest.Container {
		t.Guest = k
	}
	return t
}

func actionOf(c tf.Summary) progress.Action {
	switch {
	case c.Imports && c.Action == tf.NoOp:
		return progress.Import
	case c.Action == tf.Create, c.Action == tf.Replace:
		return progress.Create
	case c.Action == tf.Update:
		return progress.Change
	case c.Action.Removes() && c.Action != tf.Forget:
		return progress.Destroy
	}
	return ""
}

// halted is what OpenTofu says of everything that it did not begin because of an
// interrupt.
const halted = "execution halted"

// watch follows a run of the plans until stop is called.
func (r *run) watch(p *plans, events string) (stop func()) {
	of := Watched{Events: []UnitEvents{{Stack: p.stack.name, Dir: events}}}
	for _, c := range p.changes() {
		if c.Type == finding.VM {
			of.VMIDs = append(of.VMIDs, c.VMID)
			of.Nodes = append(of.Nodes, c.Node)
		}
	}
	for _, s := range r.p.SelectedStacks() {
		for _, v := range s.VMs {
			if t := v.Template; t != nil {
				of.Nodes = append(of.Nodes, t.Node)
			}
		}
	}
	slices.Sort(of.Nodes)
	of.Nodes = slices.DeleteFunc(slices.Compact(of.Nodes), func(n string) bool { return n == "" })
	if config, err := check.ClusterConfig(r.p); err == nil { // it was read the cluster with it
		of.Cluster = &config
	}
	r.explained.Store(false)
	w := Watch(r.ctx, of, func(e progress.Event) {
		if e.Type == progress.Problem {
			if strings.Contains(e.Text, halted) {
				return
			}
			r.explained.Store(true)
		}
		r.view.Event(e)
	})
	return func() {
		if missed := w.Stop(); missed.Requests > 0 {
			r.say("the cluster is slow: %s had no answer", report.Count(missed.Requests, "request"))
		}
	}
}

// explain shows why a run of Terragrunt failed, if no event of OpenTofu did: it was
// killed, or a hook failed, or it is too old for events.
func (r *run) explain(p *plans, result *toolRun) {
	if r.explained.Load() {
		return
	}
	unit := ""
	for _, u := range result.units {
		if u.Result == "failed" {
			unit = u.Name
			break
		}
	}
	target := progress.Target{Kind: progress.Unit, Stack: p.stack.name, Unit: unit}
	r.view.Event(progress.Event{Type: progress.Problem, Target: target, Text: problems(result.log)})
}

// say tells a person what the command does.
func (r *run) say(format string, args ...any) {
	if r.view != nil { // a note is one line, and what a tool says has several
		lines := strings.FieldsFunc(fmt.Sprintf(format, args...), func(c rune) bool { return c == '\n' })
		r.view.Note(strings.Join(lines, " / "))
		return
	}
	_ = report.Printf(r.ErrOut, format+"\n", args...)
}

// endView ends what is shown, with the exit code of the command.
func (r *run) endView(exit finding.Severity) error {
	if r.view == nil {
		return nil
	}
	reason := ""
	if r.signals.count() > 0 {
		reason = "interrupted"
	}
	view := r.view
	r.view, r.Out, r.ErrOut = nil, r.out, r.errOut
	ended := view.End(int(exit), reason)
	_, err := io.Copy(r.ErrOut, &r.messages)
	_, failed := io.Copy(r.Out, &r.results)
	return errors.Join(ended, err, failed)
}
