package guest

import "testing"

// TestTally: guests are counted by what people call them.
func TestTally(t *testing.T) {
	for _, c := range []struct {
		kinds           []Kind
		text, new, word string
	}{
		{nil, "0 VMs", "0 new VMs", "VM"},
		{[]Kind{""}, "1 VM", "1 new VM", "VM"},
		{[]Kind{Container}, "1 container", "1 new container", "container"},
		{[]Kind{Container, VM, Container}, "1 VM and 2 containers", "1 new VM and 2 new containers", "guest"},
		{[]Kind{VM, Container, ""}, "2 VMs and 1 container", "2 new VMs and 1 new container", "guest"},
	} {
		tally := Count(c.kinds, func(k Kind) Kind { return k })
		if tally.String() != c.text || tally.Of("new ") != c.new || tally.Word() != c.word {
			t.Errorf("%v: %s, %s, %s", c.kinds, tally, tally.Of("new "), tally.Word())
		}
	}
}
