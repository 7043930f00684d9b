package tf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tfjson "github.com/hashicorp/terraform-json"
)

// A Plan is what `tofu show -json` says of a plan file, and the state that it was made
// from.
type Plan struct {
	Changes []*ResourceChange
	Drift   []*ResourceChange // what the refresh found changed since the last apply
	Outputs map[string]OutputChange
	Before  State
	Given   map[string]json.RawMessage // the values of its variables

	Errored      bool     // it failed, and was written nevertheless, as after a prevent_destroy
	Partial      bool     // it was made for a part of the unit
	Deferred     int      // changes that it leaves out, because it cannot know them yet
	Invoked      int      // actions that it runs
	FailedChecks []string // addresses of the checks that failed
}

// An OutputChange is what a plan does with an output. Unknown has true where the value is
// known only after an apply.
type OutputChange struct {
	Action                 Action
	Before, After, Unknown any
}

// ParsePlan reads the JSON of a plan, each value once. It leaves out what nobody needs: the
// planned values and the configuration.
func ParsePlan(body []byte) (*Plan, error) {
	var doc struct {
		Format  string                     `json:"format_version"`
		Drift   []*tfjson.ResourceChange   `json:"resource_drift"`
		Changes []*tfjson.ResourceChange   `json:"resource_changes"`
		Later   []struct{}                 `json:"deferred_changes"`
		Outputs map[string]*tfjson.Change  `json:"output_changes"`
		Actions []struct{}                 `json:"action_invocations"`
		Errored bool                       `json:"errored"`
		Planned *struct{}                  `json:"planned_values"`
		Whole   *bool                      `json:"complete"`
		Checks  []tfjson.CheckResultStatic `json:"checks"`
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
	format := tfjson.Plan{FormatVersion: doc.Format}
	if err := format.Validate(); err != nil && strings.HasPrefix(err.Error(), "unsupported plan format version") {
		return nil, fmt.Errorf(
			"its format is %s, which this version of stackgen does not know: use a newer stackgen, or make the plan with an older OpenTofu",
			doc.Format)
	} else if err != nil {
		return nil, fmt.Errorf("it is not a plan: %w", plain(err))
	}
	if doc.Planned == nil && len(doc.Changes) == 0 && !doc.Errored {
		return nil, errors.New("it is not a plan; give the output of `tofu show -json PLANFILE`")
	}
	p := &Plan{
		Outputs: map[string]OutputChange{}, Given: map[string]json.RawMessage{}, Errored: doc.Errored,
		Partial: doc.Whole != nil && !*doc.Whole, Deferred: len(doc.Later), Invoked: len(doc.Actions),
	}
	for _, c := range doc.Changes {
		p.Changes = append(p.Changes, resourceChange(c))
	}
	for _, c := range doc.Drift {
		p.Drift = append(p.Drift, resourceChange(c))
	}
	if slices.Contains(p.Changes, nil) || slices.Contains(p.Drift, nil) {
		return nil, errors.New("it is not a plan: one of its changes is null")
	}
	for name, c := range doc.Outputs {
		if c != nil {
			p.Outputs[name] = OutputChange{Action: actionOf[inWords(c.Actions)], Before: c.Before, After: c.After, Unknown: c.AfterUnknown}
		}
	}
	for name, v := range doc.Given {
		p.Given[name] = v.Value
	}
	for _, check := range doc.Checks {
		if check.Status == tfjson.CheckStatusFail || check.Status == tfjson.CheckStatusError {
			p.FailedChecks = append(p.FailedChecks, check.Address.ToDisplay)
		}
	}
	p.Before = stateBefore(p, doc.Prior.Values)
	keepOnce(p)
	return p, nil
}

// Without are the VMs and pools, of the given keys, that would not exist after a plan.
func (p *Plan) Without(keys []string) []string {
	has := map[string]bool{}
	for _, c := range p.Changes {
		if c.Managed && c.Action != Delete && c.Action != Forget {
			has[c.Key] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return has[key] })
}

// ChangedOutputs are the names of the outputs that a plan changes, sorted.
func (p *Plan) ChangedOutputs() []string {
	var out []string
	for name, c := range p.Outputs {
		if c.Action != NoOp {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
