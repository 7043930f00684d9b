package real

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// A planJSON is the part of a plan that tests read.
type planJSON struct {
	Changes []changeJSON `json:"resource_changes"`
	Planned struct {
		Root struct {
			Resources []resourceJSON `json:"resources"`
		} `json:"root_module"`
		Outputs map[string]struct {
			Value any `json:"value"`
		} `json:"outputs"`
	} `json:"planned_values"`
	text string
}

type changeJSON struct {
	Address  string `json:"address"`
	Previous string `json:"previous_address"`
	Name     string `json:"name"`
	Index    string `json:"index"`
	Change   struct {
		Actions   []string       `json:"actions"`
		After     map[string]any `json:"after"`
		Importing *struct {
			ID string `json:"id"`
		} `json:"importing"`
	} `json:"change"`
}

type resourceJSON struct {
	Address string         `json:"address"`
	Index   string         `json:"index"`
	Values  map[string]any `json:"values"`
}

// plan generates the stack and plans one of its units.
func (p *project) plan(stack, unit string, args ...string) planJSON {
	p.Helper()
	p.generate(stack)
	dir := unitDir(stack, unit)
	file := filepath.Join(p.TempDir(), "plan")
	text := p.succeeds(dir, "terragrunt", append([]string{"run", "--", "plan", "-input=false", "-out=" + file}, args...)...)
	var plan planJSON
	r := p.run(dir, "terragrunt", "run", "--", "show", "-json", file)
	if err := json.Unmarshal(r.Stdout, &plan); err != nil {
		p.Fatalf("plan of %s: %v\n%s", unit, err, r.Text())
	}
	plan.text = text
	return plan
}

// actions are the changes of a plan as "action address", and moves as
// "move address -> address", without resources that do not change.
func (plan planJSON) actions() []string {
	var out []string
	for _, c := range plan.Changes {
		action := strings.Join(c.Change.Actions, "+")
		switch {
		case c.Previous != "" && action == "no-op":
			out = append(out, "move "+c.Previous+" -> "+c.Address)
		case c.Previous != "":
			out = append(out, "move and "+action+" "+c.Previous+" -> "+c.Address)
		case action != "no-op":
			out = append(out, action+" "+c.Address)
		}
	}
	slices.Sort(out)
	return out
}

// expect compares a plan's changes.
func (p *project) expect(plan planJSON, want ...string) {
	p.Helper()
	slices.Sort(want)
	if got := plan.actions(); !slices.Equal(got, want) {
		p.Errorf("the plan is\n  %s\nwant\n  %s\n%s", strings.Join(got, "\n  "), strings.Join(want, "\n  "), plan.text)
	}
}
