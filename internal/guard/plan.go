package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
)

// A Plan is what `tofu show -json` says of a plan file, and the state that it was made
// from. Errored is set where the plan failed and was written nevertheless, as after a
// prevent_destroy.
type Plan struct {
	tfjson.Plan
	Errored bool
	Before  UnitState
	Given   map[string]json.RawMessage // the values of its variables
}

// ParsePlan reads the JSON of a plan, each value once. It leaves out what nobody needs: the
// planned values and the configuration.
func ParsePlan(body []byte) (*Plan, error) {
	var doc struct {
		Format  string                           `json:"format_version"`
		Tool    string                           `json:"terraform_version"`
		Drift   []*tfjson.ResourceChange         `json:"resource_drift"`
		Changes []*tfjson.ResourceChange         `json:"resource_changes"`
		Later   []*tfjson.DeferredResourceChange `json:"deferred_changes"`
		Outputs map[string]*tfjson.Change        `json:"output_changes"`
		Actions []*tfjson.ActionInvocation       `json:"action_invocations"`
		Errored bool                             `json:"errored"`
		Planned *struct{}                        `json:"planned_values"`
		Whole   *bool                            `json:"complete"`
		Checks  []tfjson.CheckResultStatic       `json:"checks"`
		Given   map[string]struct {
			Value json.RawMessage `json:"value"`
		} `json:"variables"`
		Prior struct {
			Values stateValues `json:"values"`
		} `json:"prior_state"`
	}
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return nil, errors.New("the file is empty; give the output of `tofu show -json PLANFILE`")
	case !utf8.Valid(body):
		return nil, errors.New("it is no JSON")
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("it is not a plan: %w", plain(err))
	}
	p := &Plan{Errored: doc.Errored, Plan: tfjson.Plan{
		FormatVersion: doc.Format, TerraformVersion: doc.Tool,
		ResourceDrift: doc.Drift, ResourceChanges: doc.Changes, DeferredChanges: doc.Later, OutputChanges: doc.Outputs,
		ActionInvocations: doc.Actions, Complete: doc.Whole, Checks: doc.Checks,
	}}
	if err := p.Validate(); err != nil && strings.HasPrefix(err.Error(), "unsupported plan format version") {
		return nil, fmt.Errorf(
			"its format is %s, which this version of stackgen does not know: use a newer stackgen, or make the plan with an older OpenTofu",
			doc.Format)
	} else if err != nil {
		return nil, fmt.Errorf("it is not a plan: %w", plain(err))
	}
	if slices.Contains(doc.Changes, nil) || slices.Contains(doc.Drift, nil) {
		return nil, errors.New("it is not a plan: one of its changes is null")
	}
	if doc.Planned == nil && len(p.ResourceChanges) == 0 && !p.Errored {
		return nil, errors.New("it is not a plan; give the output of `tofu show -json PLANFILE`")
	}
	p.Given = map[string]json.RawMessage{}
	for name, v := range doc.Given {
		p.Given[name] = v.Value
	}
	p.Before = stateBefore(p, doc.Prior.Values)
	keepOnce(p)
	return p, nil
}

// JudgePlan refuses what the plan of one unit would do without a spec that asks
// for it: creating what exists, replacing, destroying, forgetting, and importing
// what is not ours for certain. Found are the findings of Judge for the same input.
// Updates are what the plan does to the VMs that it updates, by resource address.
func JudgePlan(in Input, found []finding.Finding, unit UnitID, plan *Plan) (
	refused []finding.Finding, updates map[string][]effect.Update, err error,
) {
	if in.Lock.Stacks.Get(unit.Stack) == nil {
		return nil, nil, fmt.Errorf("the lock has no stack %s", unit.Stack)
	}
	if NotJudged(found, unit.Stack) {
		return nil, nil, nil // nothing is known about what the plan changes
	}
	p := newPlanJudge(in, found, unit, plan)
	for _, c := range plan.ResourceChanges {
		if c.Mode == tfjson.ManagedResourceMode && c.Change != nil {
			p.change(c)
		}
	}
	if plan.Errored {
		p.errored()
	}
	shareLines(in.Project, p.out)
	finding.Sort(p.out)
	return p.out, p.does, nil
}

// A planJudge holds one run of JudgePlan.
type planJudge struct {
	in      Input
	unit    UnitID
	lock    *lock.Stack
	entries map[string]*lock.VM
	found   map[foundKey]*finding.Finding // of Judge, about the unit
	gone    map[string]bool               // what the plan's refresh did not find
	does    map[string][]effect.Update    // the plan, by resource address
	out     []finding.Finding
}

func newPlanJudge(in Input, found []finding.Finding, unit UnitID, plan *Plan) *planJudge {
	l := in.Lock.Stacks.Get(unit.Stack)
	p := &planJudge{
		in: in, unit: unit, lock: l, entries: l.VMs.ByKey(),
		found: map[foundKey]*finding.Finding{}, gone: map[string]bool{}, does: map[string][]effect.Update{},
	}
	for i := range slices.Backward(found) {
		if f := &found[i]; f.Stack == unit.Stack && f.Unit == unit.Unit {
			p.found[foundKeyOf(f)] = f
		}
	}
	for _, d := range plan.ResourceDrift {
		if d.Change != nil && d.Change.Actions.Delete() {
			p.gone[d.Address] = true
		}
	}
	return p
}

// change judges one change of the plan.
func (p *planJudge) change(c *tfjson.ResourceChange) {
	if p.sharesVolumes(c) {
		return
	}
	a := c.Change.Actions
	name := make([]string, len(a))
	for i := range a {
		name[i] = string(a[i])
	}
	if !a.NoOp() && p.otherID(c) {
		return
	}
	switch strings.Join(name, "+") {
	case "no-op", "update", "read":
		if c.Change.Importing != nil {
			p.imports(c)
		}
		if a.Update() || len(p.in.hiddenNodes(p.unit, c)) > 0 {
			p.updates(c)
		}
	case "create":
		p.creates(c)
	case "delete":
		p.deletes(c)
	case "forget":
		p.forgets(c)
	case "delete+create", "create+delete", "forget+create", "create+forget":
		p.replaces(c, strings.Join(name, " and "))
	default:
		p.add(c).Is(finding.Unknown, "the plan has an action that this version of stackgen does not know: "+strings.Join(name, "+")).
			Because("%s", c.Address).Next("do not apply it; use the version of OpenTofu that `engine.opentofu` names")
	}
}

// add begins the finding about a change.
func (p *planJudge) add(c *tfjson.ResourceChange) *finding.Finding {
	v := finding.Finding{Address: finding.Address{Stack: p.unit.Stack, Unit: p.unit.Unit, Type: finding.VM, Key: KeyOf(c)}}
	v.Resource = c.Address
	switch c.Type {
	case guest.PoolResource:
		v.Type = finding.Pool
	case guest.RecordResource:
		v.Type = finding.Record
	}
	if v.Key == "" {
		v.Key = c.Address
	}
	if known := p.known(c); known != nil {
		v.Key, v.VMID, v.Node, v.Name = known.Key, known.VMID, known.Node, known.Name
	}
	p.out = append(p.out, v)
	return &p.out[len(p.out)-1]
}

// Without are the VMs and pools, of the given keys, that would not exist after a plan.
func (p *Plan) Without(keys []string) []string {
	has := map[string]bool{}
	for _, c := range p.ResourceChanges {
		if c.Mode == tfjson.ManagedResourceMode && c.Change != nil && !c.Change.Actions.Delete() && !c.Change.Actions.Forget() {
			has[KeyOf(c)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return has[key] })
}

// KeyOf is the key of a resource of for_each; empty if it has none.
func KeyOf(c *tfjson.ResourceChange) string {
	key, _ := c.Index.(string)
	return key
}

// known is what Judge said of the same thing, or nil.
func (p *planJudge) known(c *tfjson.ResourceChange) *finding.Finding {
	return p.found[foundKey{TypeOf(c.Type), KeyOf(c)}]
}

// A foundKey is what a finding is about, as a change of a plan names it.
type foundKey struct {
	of  finding.Type
	key string
}

func foundKeyOf(f *finding.Finding) foundKey {
	if f.Type == finding.Record {
		return foundKey{f.Type, f.Name}
	}
	return foundKey{f.Type, f.Key}
}

// judged reports whether a resource type is judged.
func judged(kind string) bool {
	return kind == guest.VMResource || kind == guest.ContainerResource || kind == guest.PoolResource || kind == guest.RecordResource
}
