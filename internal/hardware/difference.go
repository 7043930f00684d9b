package hardware

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// A Difference is one thing that the first plan after an import would change.
type Difference struct {
	finding.Difference
	Changes   []tf.Change       // what a plan would change
	Absent    bool              // the configuration does not have the entry at all
	Neutral   bool              // the commands write what Proxmox VE uses without the entry, and change nothing
	Settings  []cluster.Setting // that these commands set, of a VM that a plan can have
	Later     bool              // the first plan does not change it; a later change of the VM does
	Also      string            // a line that belongs to Line: without it, something else would differ
	text      string            // the difference in words
	brought   bool              // a clone has it by its template
	uncertain bool              // whether a plan would change it is not known
}

// String says what differs and what the first plan after an import does about it.
func (d *Difference) String() string {
	verb := "changes"
	switch {
	case d.brought:
		return d.text
	case d.harms(effect.Replaces):
		return d.text + ": the first plan after the import destroys the VM and creates another one"
	case d.harms(effect.Shrinks):
		return d.text + ": the first apply after the import fails, because Proxmox VE cannot shrink a disk"
	case d.Field == guest.Started && strings.HasSuffix(d.Config, "running"):
		verb = "stops"
	case d.Field == guest.Started:
		verb = "starts"
	case d.Absent:
		verb = "sets"
	case d.Spec == "":
		verb = "removes"
	}
	effect := "the first plan after the import " + verb + " it"
	switch {
	case d.text == "": // of an entry without a property
		return "Proxmox VE has " + brief(d.Config) + ": " + d.Reason + "; " + effect
	case d.Reason != "":
		return d.text + ": " + effect + " (" + d.Reason + ")"
	}
	return d.text + ": " + effect
}

// Differs reports whether a plan would change an attribute, or what is around it or in it.
func (d *Difference) Differs(attribute string) bool {
	return slices.ContainsFunc(d.Changes, func(c tf.Change) bool { return Overlap(c.Attribute(), attribute) })
}

// harms reports whether one of the changes does a harm that does not depend on the VM.
func (d *Difference) harms(harm effect.Harm) bool {
	return slices.ContainsFunc(d.Changes, func(c tf.Change) bool {
		_, does := (&effect.VM{}).Does(c)
		return does == harm
	})
}
