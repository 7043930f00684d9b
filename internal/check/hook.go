package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/engine"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/proxmox"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A Hook is the apply or destroy of one unit, which stackgen guard permits or
// refuses. It runs in the unit's root module.
type Hook struct {
	*Session
	Unit    tf.Unit
	command guard.Command
	run     *sharedRun   // nil if no other process shares what is read
	shared  bool         // another process of the run has read it
	exec    bool         // of `terragrunt exec`, which may not have initialized the unit
	grant   *guard.Grant // what the run may destroy or replace; nil for what the specs say
	passes  bool         // of a command that changes nothing in the cluster
	left    bool         // Terragrunt generated the unit from an earlier render, and the stack does not have it any more
}

// An Answer says whether a unit may be applied or destroyed.
type Answer struct {
	Off       bool   // the spec has guard: off, or the command is not judged
	RefusedBy string // the unit of the same run whose refusal has the findings
	Findings  []finding.Finding
	Waits     *finding.Step // set if OpenTofu asks now, and what changes meanwhile is not checked
}

// NewHook begins the check of a unit. args are those of OpenTofu, its command first;
// variables are those of the unit that the environment sets.
func NewHook(p *project.Project, unit string, args, variables []string, from Sources) (*Hook, error) {
	h := &Hook{Session: New(p, from)}
	h.tools = engine.Inherited(os.Environ())
	stack, name, _ := strings.Cut(unit, "/")
	h.Unit = tf.Unit{Stack: stack, Unit: name}
	h.left = !slices.Contains(h.Units(), h.Unit)
	if h.left && (!hooked() || !slices.ContainsFunc(p.Stacks.Stacks, func(s *schema.Stack) bool { return s.Name == stack })) {
		return nil, h.noUnit(unit)
	}
	if h.left {
		return h, nil
	}
	p.Selected = func(name string) bool { return name == stack }
	h.command = guard.Command{Unit: h.Unit, Args: args, Env: os.Getenv, Environ: os.Environ(), Own: h.ownRun(), Variables: variables}
	h.command.Typed, _ = terragrunt()
	if h.exec = args[0] == "exec"; h.exec {
		judged := false
		h.command.Args, judged = guard.Exec(h.command.Typed)
		h.passes = !judged
	}
	return h, errors.Join(h.readRootModule(), h.readPlans())
}

// Check judges the run. It is an error if the run was interrupted before or meanwhile.
func (h *Hook) Check(ctx context.Context) (*Answer, error) {
	if err := interrupted(); err != nil {
		return nil, err
	}
	a, err := h.check(ctx)
	return a, cmp.Or(err, interrupted())
}

func (h *Hook) check(ctx context.Context) (a *Answer, err error) {
	a = &Answer{}
	if a.Off = h.stack().Guard == "off" || h.passes; a.Off {
		return a, nil
	}
	if a.Findings, err = h.takeGrant(); err != nil || len(a.Findings) > 0 {
		return a, err
	}
	if a.Findings, err = h.misled(); err != nil || len(a.Findings) > 0 {
		return a, err
	}
	if err := h.lookOnce(ctx); err != nil {
		return nil, err
	}
	command := h.command.Args[0]
	if a.RefusedBy = h.run.refusedBy(command); a.RefusedBy != "" {
		return a, nil
	}
	if a.Findings, err = h.judgeUnit(ctx); err != nil {
		return nil, err
	}
	if finding.Exit(a.Findings) != finding.OK {
		return a, h.run.refuse(command, h.Unit)
	}
	if hooked() {
		a.Waits = h.command.Waits()
		err = h.begins(a.Findings, a.Waits != nil)
	}
	return a, err
}

// misled says why the run does something else than its command says, or applies a
// unit that was generated before the last render, or files that stackgen did not write.
func (h *Hook) misled() ([]finding.Finding, error) {
	if h.left {
		return []finding.Finding{h.leftUnit()}, nil
	}
	f, err := h.command.Misled()
	if err == nil && f == nil {
		f, err = h.addedFiles()
	}
	if err == nil && f == nil && h.applies() {
		f, err = h.outdated()
	}
	if f == nil {
		return nil, err
	}
	return []finding.Finding{*f}, err
}

// leftUnit is a unit that the stack does not have any more. Terragrunt does not remove
// what it generated, and runs it with the other units.
func (h *Hook) leftUnit() finding.Finding {
	f := finding.Finding{
		Address:  finding.Address{Stack: h.Unit.Stack, Unit: h.Unit.Unit, Type: finding.Unit},
		Kind:     finding.Unrendered,
		Severity: finding.Blocked,
		Reason:   finding.Why("unit-removed"),
	}
	f.Next("remove what Terragrunt generated, then run the same command again", "stackgen render")
	return f
}

// judgeUnit judges what was read, and then the plan. Without a plan if anything
// stops the run: some findings block a plan.
func (h *Hook) judgeUnit(ctx context.Context) ([]finding.Finding, error) {
	if f := h.stale(); f != nil {
		return []finding.Finding{*f}, nil
	}
	r, err := h.judge(ctx, h.config())
	if err != nil {
		return nil, err
	}
	if h.grant != nil {
		return h.judgeGranted(ctx, r)
	}
	found := r.Found
	if h.applies() {
		left, err := h.recordsLeft(ctx)
		if err != nil {
			return nil, err
		}
		found = slices.Concat(r.Unrendered, left, found)
	}
	if own, confined, err := h.judgeConfined(ctx, r, found); err != nil || confined {
		return own, err
	}
	if !h.shared || !h.Unit.HasRecords() { // else the units before it have asked, and the locks are those of this run
		used, err := h.inUse(ctx, found, h.run.started())
		if err != nil {
			return nil, err
		}
		if used != nil {
			return used, nil
		}
	}
	if finding.Exit(found) != finding.OK || !h.judgesPlan() {
		return found, nil
	}
	creates := h.createsContainers()
	if found, err = h.judgePlan(ctx, r); err != nil {
		return nil, err
	}
	if creates || h.createsContainers() { // the plan took its time, and says what the state has now
		err = h.lookOnceMore(ctx, r)
		found = r.Found
	}
	return found, err
}

// config says what of the stack concerns the run of the unit.
func (h *Hook) config() Config {
	c := Config{Imports: true, Applies: true, Running: true, Partial: partialRun()}
	if h.applies() { // a destroy does not need what was not rendered
		c.Unrendered = finding.Blocked
	}
	// A retired unit may be destroyed alone, whatever its stack holds.
	retired := h.Project.Lock.Stacks.Get(h.Unit.Stack).Units.Get(h.Unit.Unit).Status == lock.Retired
	c.Destroy = !h.applies() && !retired
	if h.grant != nil {
		c.Grant, c.Destroy = h.grant, h.grant.Kind == guard.GrantDestroy
	}
	// What a saved plan of VMs changes is judged by the hook of their unit.
	c.Planned = map[tf.Unit]bool{}
	for _, u := range tf.GuestUnits(h.Unit.Stack) {
		c.Planned[u] = h.command.SavedPlan() != "" || h.plans[u] != nil
	}
	return c
}

// applies reports whether the run is an apply, and not a destroy.
func (h *Hook) applies() bool { return h.command.Args[0] == "apply" }

// judgeConfined judges a saved plan of a part of the stack that changes nothing but records,
// by what these depend on. found are the findings without the plan. confined is false if
// there is no such plan.
func (h *Hook) judgeConfined(ctx context.Context, r *Result, found []finding.Finding) (own []finding.Finding, confined bool, err error) {
	if h.command.SavedPlan() == "" || !r.Partial {
		return nil, false, nil
	}
	judged, err := h.judgePlan(ctx, r)
	if err != nil || !guard.Confined(h.plans[h.Unit]) {
		return nil, false, err
	}
	stack := slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Type != finding.Stack })
	return guard.Concerning(guard.Merge(stack, judged), h.Unit), true, nil
}

// judgesPlan reports whether a plan is judged: a saved one always, because the specs
// may have changed since; of records no other, because they are judged by DNS. That of containers always: what
// somebody has changed by hand, the provider takes back by a restart or a replacement. That of templates, too: what
// somebody creates while their images are downloaded, the provider takes for them.
func (h *Hook) judgesPlan() bool {
	return h.plans[h.Unit] != nil || h.command.SavedPlan() != "" || h.Unit.Unit == lock.UnitContainer ||
		h.stack().IsTemplate() && h.Unit.HasGuests() || h.stack().Guard == "full" && !h.Unit.HasRecords()
}

// recordsLeft are the records of retired VMs that the apply of the VM unit would
// leave behind. Units of retired records are applied before it; the unit of all
// records of a stack is applied after it, if it is in the run at all.
func (h *Hook) recordsLeft(ctx context.Context) ([]finding.Finding, error) {
	if !h.Unit.HasGuests() {
		return nil, nil
	}
	var units []tf.Unit
	for _, u := range h.Project.Lock.Stacks.Get(h.Unit.Stack).Units {
		id := tf.Unit{Stack: h.Unit.Stack, Unit: u.Key}
		if id.HasRecords() && len(h.State[id].Resources) > 0 && (u.Value.Status == lock.Retired || u.Value.Status == lock.Live && partialRun()) {
			units = append(units, id)
		}
	}
	in := h.input()
	if len(guard.RecordsLeft(in, h.Unit, units)) == 0 {
		return nil, nil
	}
	// Again, because this run may have removed them. Everything else is judged by what was
	// read before: DNS was, too.
	before := h.State
	h.State = maps.Clone(before)
	defer func() { h.State = before }()
	if err := h.ReadStates(ctx, units); err != nil {
		return nil, err
	}
	in.State = h.State
	return guard.RecordsLeft(in, h.Unit, units), nil
}

func (h *Hook) stack() *schema.Stack {
	stacks := h.Project.Stacks.Stacks
	return stacks[slices.IndexFunc(stacks, func(s *schema.Stack) bool { return s.Name == h.Unit.Stack })]
}

// judgePlan judges everything again with the unit's plan, and with the state that
// it was made from.
func (h *Hook) judgePlan(ctx context.Context, r *Result) ([]finding.Finding, error) {
	if h.plans[h.Unit] == nil {
		body, failed := h.plan(ctx)
		if body == nil {
			return nil, fmt.Errorf("%s cannot be planned, so what it would do is unknown: %w", h.Unit, failed)
		}
		plan, err := parsePlan("the plan of "+h.Unit.String(), body)
		if err != nil {
			return nil, err
		}
		h.addPlan(h.Unit, plan)
	}
	r.Plans = h.plans
	if err := h.readPower(ctx); err != nil {
		return nil, err
	}
	err := h.rules(ctx, r)
	return r.Found, err
}

// readPower reads what the VMs do that the plan updates and that are on or off otherwise in the lists of Proxmox VE: these
// are some seconds late.
func (h *Hook) readPower(ctx context.Context) error {
	var guests []*cluster.Guest
	for _, c := range h.plans[h.Unit].Changes {
		if g := h.Inventory.Guest(tf.VMIDOf(c.Before)); guard.PowerChanged(c, g) {
			guests = append(guests, g)
		}
	}
	if len(guests) == 0 || h.sources.Inventory != "" {
		return nil
	}
	config, err := ClusterConfig(h.Project)
	if err != nil {
		return err
	}
	return proxmox.ReadPower(ctx, config, guests)
}

// plan is the plan as JSON: the saved one of the command, or one that is made in
// the same way as the apply makes it.
func (h *Hook) plan(ctx context.Context) (body []byte, err error) {
	if file := h.command.SavedPlan(); file != "" {
		if body := h.shown(file); body != nil {
			return body, nil
		}
		return h.tools.Show(ctx, ".", file)
	}
	args, err := h.command.PlanArgs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "stackgen-plan-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The user's arguments for plans apply to the user's plans only.
	return h.tools.With("TF_CLI_ARGS_plan=").PlanIn(ctx, ".", filepath.Join(dir, "plan"), args...)
}
