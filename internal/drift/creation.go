package drift

import (
	"cmp"
	"strconv"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/schema"
)

// oldTemplate reports that a VM was made from another template than the spec says.
func (x *explainer) oldTemplate(f *finding.Finding) {
	spec := ""
	if e := x.Lock.Stacks.Get(f.Stack).VMs.Get(f.Key); e != nil && e.Template != nil {
		spec = strconv.Itoa(e.Template.VMID)
	}
	own := x.acted(f, finding.Why("drift-old-template"), guest.Template, strconv.Itoa(f.MadeFrom), spec)
	own.MadeFrom, own.Change.Attribute = f.MadeFrom, guard.CloneOf
	own.Change.NoAccept = "a template acts at creation"
	own.Because("made from template %s, and the spec says %s", own.Change.Real, own.Change.Spec)
	if f.Kind == finding.OldTemplate {
		own.Steps = f.Steps
	}
}

// madeOtherwise reports what a VM was made with, where the spec has another value of a property
// that acts at creation only.
func (x *explainer) madeOtherwise(f *finding.Finding) {
	for _, m := range f.MadeWith {
		why, has := finding.Why("drift-creation-only"), "made with"
		if m.Read {
			why, has = finding.Why("read-otherwise"), "it has"
		}
		own := x.acted(f, why, m.Property, m.Was, m.Spec)
		own.MadeWith = []finding.Made{m}
		own.Because("%s %s: %s, and the spec says %s", has, m.Property, cmp.Or(m.Was, "none"), cmp.Or(m.Spec, "none"))
		switch {
		case m.Read:
			own.Steps, own.Change.Cause = m.Steps, finding.NotKnown
		case f.Kind == finding.CreationOnly:
			own.Steps = f.Steps
		}
	}
}

// acted adds the finding of a property that acted when a VM was created.
func (x *explainer) acted(f *finding.Finding, why finding.Reason, property, made, spec string) *finding.Finding {
	r := x.unplannedVM(f)
	own := r.add(finding.Noise, why)
	own.VMID, own.Node, own.Name = f.VMID, f.Node, f.Name
	own.Change = &finding.Change{
		Attribute: property,
		Property:  property,
		Real:      made,
		Spec:      spec,
		Cause:     finding.BySpec,
		Effect:    string(schema.Creation),
		NoAccept:  property + " acts at creation",
		Unplanned: true,
	}
	if row := schema.FieldOf(guest.KindOf(r.change.Type), property); row != nil { // the image of a template is none
		own.Change.Attribute = cmp.Or(row.HCL, property)
	}
	if r.vm != nil && r.vm.Values.Has(property) {
		pos := r.vm.At(property)
		own.Change.At = &finding.Place{File: pos.File, Line: pos.Line, Column: pos.Col}
	}
	return own
}
