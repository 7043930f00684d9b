package effect

import (
	"strings"
	"testing"

	"stackgen/internal/tf"
)

// TestDisabledAgentIsAHardStop: an update that disables an agent that answers does not
// shut the VM down with it.
func TestDisabledAgentIsAHardStop(t *testing.T) {
	vm := VM{Running: true, Answers: true, Restarts: true, Permits: true}
	for is, want := range map[string]string{"true": restarts, "false": hardStop} {
		changes := []tf.Change{{Path: "memory.dedicated", Was: "2048", Is: "3072"}, {Path: "agent.enabled", Was: "true", Is: is}}
		for _, u := range vm.Updates(changes) {
			if !strings.HasPrefix(u.Does, want) {
				t.Errorf("agent.enabled %s: %s, want %s", is, u, want)
			}
		}
	}
	for _, u := range vm.Updates([]tf.Change{{Path: "agent", Was: "enabled=true", Whole: true}}) { // the provider's default is off
		if u.Does != hardStop {
			t.Errorf("agent block removed: %s, want %s", u, hardStop)
		}
	}
	if !vm.Answers {
		t.Error("the VM was changed")
	}
}
