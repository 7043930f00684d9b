package hardware

import (
	"fmt"
	"strings"

	"stackgen/schema"
)

// A Difference is one thing that the first plan after an import would change.
type Difference struct {
	Field    string   `json:"field,omitempty"`    // of the spec
	Config   string   `json:"config"`             // what the configuration has, such as serial0=socket
	Spec     string   `json:"spec,omitempty"`     // what the spec says instead; empty is nothing
	Line     string   `json:"line,omitempty"`     // what to write into the spec, so that they agree
	Reason   string   `json:"reason,omitempty"`   // why no line makes them agree
	Mend     []string `json:"mend,omitempty"`     // commands that make it sayable
	Replaces bool     `json:"replaces,omitempty"` // a plan would destroy the VM and make another one

	has, says bool
	quiet     bool // whether a plan would change it is not known
}

// harmless makes what stands in a configuration fit to be shown.
func harmless(ds []Difference) []Difference {
	for i := range ds {
		ds[i].Config, ds[i].Spec = schema.Printable(ds[i].Config), schema.Printable(ds[i].Spec)
	}
	return ds
}

// Says says what the first plan after an import would do, and why.
func (d *Difference) Says() string {
	has, spec, verb := "its config has "+d.Config, "the spec does not say so", "change"
	switch {
	case d.Field == "started":
		has = "it is " + strings.TrimPrefix(d.Config, "status=")
		verb = map[bool]string{true: "stop", false: "start"}[strings.HasSuffix(d.Config, "running")]
	case d.has && !d.says:
		verb = "remove"
	case !d.has:
		verb = "set"
	}
	switch {
	case d.says:
		spec = "the spec says " + d.Spec
	case d.Reason != "":
		spec = "no spec can say so"
	}
	if d.Replaces {
		return fmt.Sprintf("%s, %s: the first plan after the import would destroy the VM and create another one", has, spec)
	}
	out := fmt.Sprintf("%s, %s: the first plan after the import would %s it", has, spec, verb)
	if d.Reason != "" {
		out += " (" + d.Reason + ")"
	}
	return out
}
