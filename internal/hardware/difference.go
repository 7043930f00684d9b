package hardware

import "strings"

// A Difference is one thing that the first plan after an import would change.
type Difference struct {
	Field    string   `json:"field,omitempty"`    // of the spec
	Config   string   `json:"config"`             // the entries of the configuration, such as serial0=socket
	Spec     string   `json:"spec,omitempty"`     // the spec's line; empty if it has none
	Line     string   `json:"line,omitempty"`     // the line that makes the spec agree with the VM
	Reason   string   `json:"reason,omitempty"`   // why no line does
	Commands []string `json:"commands,omitempty"` // commands that change the VM, so that a line can
	Replaces bool     `json:"replaces,omitempty"` // a plan would destroy the VM and create another one

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
		return "Proxmox VE has " + d.Config + ": " + d.Reason + "; " + effect
	case d.Reason != "":
		return d.text + ": " + effect + " (" + d.Reason + ")"
	}
	return d.text + ": " + effect
}
