package hardware

import (
	"strings"

	"stackgen/internal/finding"
)

// A Difference is one thing that the first plan after an import would change.
type Difference struct {
	finding.Difference
	text      string // the difference in words
	uncertain bool   // whether a plan would change it is not known
}

// Absent reports whether the configuration does not have the entry at all.
func (d *Difference) Absent() bool { return strings.HasPrefix(d.Config, "no ") }

// String says what differs and what the first plan after an import does about it.
func (d *Difference) String() string {
	verb := "changes"
	switch {
	case d.Replaces:
		return d.text + ": the first plan after the import destroys the VM and creates another one"
	case d.Field == "started" && strings.HasSuffix(d.Config, "running"):
		verb = "stops"
	case d.Field == "started":
		verb = "starts"
	case d.Absent():
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
