package power

import "testing"

// TestIn: what is sent to a VM in each state, as recorded servers answer: they take a stop of a
// stopped VM for done, and refuse the rest.
func TestIn(t *testing.T) {
	states := []State{Running, Paused, Stopped, Hibernated}
	want := map[string][]Need{ // in the order of states
		"start":    {Already, Unusable, Send, Send},
		"shutdown": {Send, Unusable, Already, Already},
		"stop":     {Send, Send, Already, Already},
		"reboot":   {Send, Unusable, Unusable, Unusable},
		"suspend":  {Send, Already, Unusable, Unusable},
		"resume":   {Already, Send, Unusable, Send},
	}
	for i := range Actions {
		a := &Actions[i]
		for j, s := range states {
			if need, why := a.In(s); need != want[a.Name][j] || (need == Send) != (why == "") {
				t.Errorf("%s in %s: %d %q, want %d", a.Name, s, need, why, want[a.Name][j])
			}
		}
	}
	if len(want) != len(Actions) {
		t.Errorf("%d actions, and %d have a case", len(Actions), len(want))
	}
	if Find("stop") == nil || Find("halt") != nil || !Find("reboot").Reboots() || Find("start").Reboots() {
		t.Error("an action is not found, or one that does not exist is")
	}
}
