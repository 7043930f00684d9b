package guard

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// GrantVariable names the file of the grant of a run that destroys or replaces parts of a unit.
// The variable permits nothing: the grant is in the private folder of the command that started
// the run, and is used once.
const GrantVariable = "STACKGEN_GRANT"

// A GrantKind is what a grant permits.
type GrantKind string

// The kinds of grants.
const (
	GrantDestroy GrantKind = "destroy"
	GrantReplace GrantKind = "replace"
)

// A Grant permits one run of a command of stackgen to apply one plan of a unit, which destroys
// or replaces exactly its parts and changes nothing else.
type Grant struct {
	Unit  tf.Unit   `json:"unit"`
	Kind  GrantKind `json:"kind"`
	Plan  string    `json:"plan"` // the SHA-256 of the plan file, in hexadecimal
	Parts []Granted `json:"parts"`
}

// A Granted is a part of a unit that a grant is about: a VM or a record.
type Granted struct {
	Address  string `json:"address"`
	Key      string `json:"key"`                // of for_each
	VMID     int    `json:"vmid,omitempty"`     // of a VM
	Template int    `json:"template,omitempty"` // the VMID that a VM is cloned from when it is replaced
}

// Refuses returns why a plan of a unit, whose file has a checksum, is not the one that the
// grant permits; nil if it is.
func (g *Grant) Refuses(u tf.Unit, sum string, plan *tf.Plan) []finding.Finding {
	switch {
	case g.Unit != u:
		return RefuseGrant(u, finding.Why("grant-other-unit", g.Unit))
	case g.Plan != sum || len(g.Parts) == 0 || plan.Errored:
		return RefuseGrant(u, finding.Why("grant-other-plan"))
	}
	var out []finding.Finding
	done := map[string]bool{}
	for _, c := range plan.Changes {
		switch {
		case !c.Managed || c.Action == tf.NoOp && !c.Imports && c.Previous == "":
		case g.Permits(c) && !done[c.Address]:
			done[c.Address] = true
		default:
			out = append(out, RefuseGrant(u, finding.Why("grant-more", strings.ReplaceAll(c.Words, "+", " and "), c.Address))...)
		}
	}
	for _, part := range g.Parts {
		if !done[part.Address] && !g.gone(part, plan) {
			out = append(out, RefuseGrant(u, finding.Why("grant-less", part.Address))...)
		}
	}
	return out
}

// gone reports whether the refresh of a plan did not find a part that it destroys: what destroyed
// it did not live to write the state.
func (g *Grant) gone(part Granted, plan *tf.Plan) bool {
	return g.Kind == GrantDestroy && !slices.ContainsFunc(plan.Before.Resources, func(r tf.Resource) bool { return r.Address == part.Address })
}

// RefuseGrant is the finding about a run that has no grant for its plan.
func RefuseGrant(u tf.Unit, why finding.Reason) []finding.Finding {
	f := finding.Finding{Address: unitAddress(u)}
	f.Is(finding.WouldDestroy, why)
	f.Next("only `stackgen destroy` and `stackgen rebuild` destroy parts of a unit that are not retired: run that command again")
	return []finding.Finding{f}
}

// Permits reports whether a change is the one that the grant has for its address. No grant
// permits nothing.
func (g *Grant) Permits(c *tf.ResourceChange) bool {
	if g == nil || c.Imports || c.Previous != "" || c.Deposed != "" {
		return false
	}
	i := slices.IndexFunc(g.Parts, func(p Granted) bool { return p.Address == c.Address })
	if i < 0 || g.Parts[i].Key != c.Key || g.Parts[i].VMID != tf.VMIDOf(c.Before) {
		return false
	}
	if g.Kind == GrantDestroy {
		return c.Action == tf.Delete
	}
	return g.Kind == GrantReplace && c.Type == guest.VMResource && c.Words == "delete+create" && c.Asked && len(c.Forces) == 0 &&
		tf.VMIDOf(c.After) == g.Parts[i].VMID && g.Parts[i].Template != 0 && tf.TemplateOf(c.After) == g.Parts[i].Template
}

// Concerning are the findings that a granted plan depends on: about the stack, the unit, and
// the parts that the grant is about. What is wrong with other VMs is no reason to refuse it.
func (g *Grant) Concerning(found []finding.Finding) []finding.Finding {
	var out []finding.Finding
	for _, f := range found {
		switch {
		case f.Stack != g.Unit.Stack:
		case f.Type == finding.Stack, f.Unit == g.Unit.Unit && (f.Type == finding.Unit || g.about(&f)):
			out = append(out, f)
		}
	}
	return out
}

// about reports whether a finding about a VM or record is about a part.
func (g *Grant) about(f *finding.Finding) bool {
	key := f.Key
	if f.Type == finding.Record {
		key = f.Name
	}
	return slices.ContainsFunc(g.Parts, func(p Granted) bool { return p.Key == key })
}
