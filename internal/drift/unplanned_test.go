package drift

import (
	"testing"

	"stackgen/internal/finding"
	"stackgen/schema"
)

// TestCommand: a printed command has the path of the spec as one word, or none.
func TestCommand(t *testing.T) {
	for path, want := range map[string]string{"": "stackgen drift", "specs/lab.yaml": "stackgen drift specs/lab.yaml", "specs/my lab.yaml": "stackgen drift 'specs/my lab.yaml'"} {
		if got := command("stackgen drift", path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// TestBlockedFirst: no step applies a stack whose apply the guard refuses, whether drift itself
// has the finding that blocks or has another one about the same VM.
func TestBlockedFirst(t *testing.T) {
	at := finding.Address{Stack: "lab", Unit: "proxmox-vm", Type: finding.VM, Key: "web01"}
	for name, found := range map[string][]finding.Finding{
		"nothing blocks":   nil,
		"the guard does":   {{Address: at, Kind: finding.WouldHarm, Severity: finding.Blocked}},
		"of another stack": {{Address: finding.Address{Stack: "other"}, Severity: finding.Blocked}},
	} {
		x := &explainer{Input: Input{Found: found}}
		x.Project = &schema.Project{}
		f := finding.Finding{Address: at}
		x.out = []finding.Finding{*f.Next("to undo the change by hand, apply", x.apply("lab"))}
		x.blockedFirst()
		applies := len(x.out[0].Steps[0].Lines) > 0
		if want := name == "nothing blocks" || name == "of another stack"; applies != want {
			t.Errorf("%s: %+v", name, x.out[0].Steps)
		}
	}
}
