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
// from. Errored is set where the plan failed and was written nevertheless, as after a
// prevent_destroy.
type Plan struct {
	tfjson.Plan
	Errored bool
	Before  State
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

// VMIDOf is the VMID in a plan's values, or 0.
func VMIDOf(values any) int {
	m, _ := values.(map[string]any)
	switch n := m["vm_id"].(type) {
	case float64:
		return int(n)
	case json.Number:
		i, _ := n.Int64()
		return int(i)
	}
	return 0
}

// ReplacePaths are the attributes that make OpenTofu replace a resource, sorted.
func ReplacePaths(c *tfjson.ResourceChange) []string {
	var paths []string
	for _, path := range c.Change.ReplacePaths {
		steps, _ := path.([]any)
		var words []string
		for _, s := range steps {
			words = append(words, fmt.Sprint(s))
		}
		paths = append(paths, strings.Join(words, "."))
	}
	slices.Sort(paths)
	return paths
}
