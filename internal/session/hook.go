package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/disk"
	"stackgen/internal/engine"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// varsFile is where Terragrunt writes a unit's VMs, in the unit's root module.
const varsFile = "vms.auto.tfvars.json"

// A Hook is the apply or destroy of one unit, which stackgen guard permits or
// refuses. It runs in the unit's root module.
type Hook struct {
	*Session
	Unit    guard.UnitID
	command guard.Command
	run     *sharedRun // nil if no other process shares what is read
}

// An Answer says whether a unit may be applied or destroyed.
type Answer struct {
	Off       bool   // the spec has guard: off
	RefusedBy string // the unit of the same run whose refusal has the findings
	Findings  []finding.Finding
}

// NewHook begins the check of a unit. args are those of OpenTofu, its command first.
func NewHook(p *project.Project, unit string, args []string, from Sources) (*Hook, error) {
	h := &Hook{Session: New(p, from)}
	h.tools = engine.Inherited(os.Environ())
	stack, name, _ := strings.Cut(unit, "/")
	h.Unit = guard.UnitID{Stack: stack, Unit: name}
	if !slices.Contains(h.Units(), h.Unit) {
		return nil, h.noUnit(unit)
	}
	p.Selected = func(name string) bool { return name == stack }
	h.command = guard.Command{Args: args, Env: os.Getenv, Workspace: selectedWorkspace()}
	return h, h.readPlans()
}

// selectedWorkspace is the workspace of the root module, or empty.
func selectedWorkspace() string {
	dir := os.Getenv("TF_DATA_DIR")
	if dir == "" {
		dir = ".terraform"
	}
	body, err := disk.Read(filepath.Join(dir, "environment"), 1<<20)
	if err != nil {
		return "" // OpenTofu uses the default one too
	}
	return strings.TrimSpace(string(body))
}

// Check judges the run.
func (h *Hook) Check(ctx context.Context) (*Answer, error) {
	a, command := &Answer{}, h.command.Args[0]
	level := h.stack().Guard
	if a.Off = level == "off"; a.Off {
		return a, nil
	}
	misled, err := h.misled()
	if err != nil {
		return nil, err
	}
	if misled != nil {
		a.Findings = []finding.Finding{*misled}
		return a, nil
	}
	if err := h.lookOnce(ctx); err != nil {
		return nil, err
	}
	if err := h.readImports(); err != nil {
		return nil, err
	}
	in := h.input()
	in.Running, in.NoDNSKey = true, h.noDNSKey()
	// A retired unit may be destroyed alone, whatever its stack holds.
	retired := h.Project.Lock.Stacks.Get(h.Unit.Stack).Units.Get(h.Unit.Unit).Status == lock.Retired
	in.Destroy = command == "destroy" && !retired
	a.Findings = guard.Judge(in)
	if command != "destroy" { // a destroy does not need what was not rendered
		unrendered, err := h.unrendered(finding.Blocked)
		if err != nil {
			return nil, err
		}
		a.Findings = append(unrendered, a.Findings...)
	}
	used, err := h.inUse(ctx, a.Findings, h.run.started())
	if err != nil {
		return nil, err
	}
	if used != nil {
		a.Findings = used
	}
	switch {
	case finding.Exit(a.Findings) != finding.OK: // without a plan, because some findings block a plan
		if a.RefusedBy = h.run.refusedBy(command); a.RefusedBy == "" {
			err = h.run.refuse(command, h.Unit)
		}
		return a, err
	case level == "full" && (h.Unit.Unit == lock.UnitVM || h.Unit.Unit == lock.UnitPool):
		// The destroy of records is judged by what it leaves behind, not by its plan.
		a.Findings, err = h.judgePlan(ctx, in)
	}
	return a, err
}

func (h *Hook) stack() *schema.Stack {
	stacks := h.Project.Stacks.Stacks
	return stacks[slices.IndexFunc(stacks, func(s *schema.Stack) bool { return s.Name == h.Unit.Stack })]
}

// misled says why the run does something else than its command says, or runs a unit
// that was generated before the last render. It is nil if there is no reason.
func (h *Hook) misled() (*finding.Finding, error) {
	at := finding.Address{Stack: h.Unit.Stack, Unit: h.Unit.Unit, Type: finding.Unit}
	f, err := h.command.Misled()
	rendered := h.Project.Rendered.Stacks.Get(h.Unit.Stack)
	if f != nil {
		f.Address = at
	}
	if err != nil || f != nil || h.command.Args[0] != "apply" || h.Unit.Unit != lock.UnitVM || rendered == nil {
		return f, err
	}
	body, err := disk.Read(varsFile, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a unit of a catalog may keep its VMs elsewhere
	}
	var keys []string
	if err == nil {
		keys, err = guard.Outdated(body, rendered.VMs)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", varsFile, err)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	f = &finding.Finding{Address: at, Kind: finding.Unrendered, Severity: finding.Blocked,
		Reason:   "this unit was generated from another render than the last one",
		Evidence: []string{"it differs in " + strings.Join(keys, ", ")}}
	return f.Next("generate it again", "(cd stacks/"+h.Unit.Stack+" && terragrunt stack generate)"), nil
}

// judgePlan judges everything again with the unit's plan, and with the state that
// it was made from.
func (h *Hook) judgePlan(ctx context.Context, in guard.Input) ([]finding.Finding, error) {
	if h.plans[h.Unit] == nil {
		body, failed := h.plan(ctx)
		if body == nil {
			return nil, fmt.Errorf("%s cannot be planned, so what it would do is unknown: %w", h.Unit, failed)
		}
		if err := h.addPlan(h.Unit, "the plan of "+h.Unit.String(), body); err != nil {
			return nil, err
		}
	}
	return h.judge(in)
}

// plan is the plan as JSON: the saved one of the command, or one that is made in
// the same way as the apply makes it.
func (h *Hook) plan(ctx context.Context) (body []byte, err error) {
	if file := h.command.SavedPlan(); file != "" {
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
