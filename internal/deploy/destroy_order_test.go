package deploy

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/project"
	"stackgen/schema"
)

// TestTemplatesLast: Templates are destroyed after all other stacks, and not at all if one of these is
// left; what failed of a Template keeps no other one.
func TestTemplatesLast(t *testing.T) {
	p := &project.Project{Stacks: &schema.Project{Stacks: []*schema.Stack{
		{Name: "base", Kind: schema.KindTemplate}, {Name: "web"}, {Name: "other", Kind: schema.KindTemplate}, {Name: "db"},
	}}}
	for fails, want := range map[string]string{
		"": "web db base other", "web": "web db", "db": "web db", "base": "web db base other", "blocked": "web db",
	} {
		var out bytes.Buffer
		r := &run{Request: Request{Out: &out, Line: "stackgen destroy --yes"}, p: p, ctx: context.Background()}
		for _, s := range p.Stacks.Stacks {
			r.stacks = append(r.stacks, &stack{name: s.Name})
		}
		var all []*plans
		for _, st := range r.templatesLast() {
			all = append(all, &plans{stack: st})
		}
		var done []string
		err := r.destroyInOrder(all, func(p *plans) error {
			done = append(done, p.stack.name)
			if fails == "blocked" && p.stack.name == "web" {
				return ended{finding.Blocked}
			}
			r.failed = r.failed || p.stack.name == fails
			return nil
		})
		if got := strings.Join(done, " "); err != nil || got != want || r.failed != (fails != "") {
			t.Errorf("%q fails: %s, want %s (%v, failed: %v)", fails, got, want, err, r.failed)
		}
		if said, left := out.String(), !strings.Contains(want, "base"); strings.Contains(said, "base: ") != left || left && !strings.Contains(said, "`stackgen destroy --yes`") {
			t.Errorf("%q fails: %s", fails, said)
		}
	}
}

// TestRefusing: what refuses Templates that an apply applies last, and not what it waits for or what is
// about other stacks.
func TestRefusing(t *testing.T) {
	of := func(stack string, what finding.Type, kind finding.Kind, severity finding.Severity) finding.Finding {
		return finding.Finding{Address: finding.Address{Stack: stack, Type: what}, Kind: kind, Severity: severity}
	}
	for want, found := range map[bool][]finding.Finding{
		true: {of("base", finding.VM, finding.Busy, finding.Blocked), of("base", finding.VM, finding.Unknown, finding.Failed)},
		false: {of("web", finding.VM, finding.Busy, finding.Blocked), of("base", finding.Image, finding.Busy, finding.Blocked),
			of("base", finding.Unit, finding.Busy, finding.Blocked), of("base", finding.VM, finding.Retiring, finding.OK)},
	} {
		for i := range found {
			if got := len(refusing(found[i:i+1], []string{"base"})) > 0; got != want {
				t.Errorf("%s %s of %s: %v, want %v", found[i].Kind, found[i].Type, found[i].Stack, got, want)
			}
		}
	}
}

// TestForgetIdle: the lock keeps what tells where the state of a stack is whose VMs exist.
func TestForgetIdle(t *testing.T) {
	r := &run{} // it looks at nothing
	for _, f := range []finding.Finding{{Kind: finding.Adopt}, {Kind: finding.Busy, Case: finding.LeftClone}} {
		f.Address = finding.Address{Stack: "art", Type: finding.VM, Key: "bo"}
		if err := r.forgetIdle(nil, []string{"art"}, []finding.Finding{f}); err != nil {
			t.Error(err)
		}
	}
}
