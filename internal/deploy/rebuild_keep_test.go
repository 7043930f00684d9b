package deploy

import (
	"errors"
	"testing"

	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/progress"
	"stackgen/internal/selection"
)

// TestExchanged: a VM that has not got all its new disks, or that was not started with them, is not shown as ready.
func TestExchanged(t *testing.T) {
	one := func(key string, result power.Result) operate.One {
		return operate.One{VM: &selection.VM{Stack: "lab", Key: key}, Result: result}
	}
	failed := []operate.Failure{{Name: "lab/full", Err: errors.New("no space left")}}
	started := []operate.One{one("runs", power.Done), one("ran", power.InState), one("dead", power.Failed)}
	for key, want := range map[string]progress.Type{"runs": progress.Ended, "ran": progress.Ended, "off": progress.Ended,
		"full": progress.Failed, "dead": progress.Failed} {
		if got := exchanged("lab/"+key, failed, started); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}
