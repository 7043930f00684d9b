package progress

import (
	"fmt"
	"strings"

	"stackgen/internal/finding"
)

// A Trouble is an error of one VM, pool or record, or of a unit, in words: what did not
// happen, why, and what to do. Text is the message of the tool as it is.
type Trouble struct {
	What string
	Why  string // empty if the text is unknown
	Next []finding.Step
	Text string
}

// String is the trouble in one line.
func (t Trouble) String() string {
	if t.Why != "" {
		return t.What + ": " + t.Why
	}
	first, _, _ := strings.Cut(strings.TrimSpace(t.Text), "\n")
	if first == "" {
		return t.What
	}
	return t.What + ": " + first
}

// Name is what people call a target: VM web01 (VMID 2101, node pve2).
func (t Target) Name() string {
	switch t.Kind {
	case VM:
		var of []string
		if t.VMID != 0 {
			of = append(of, fmt.Sprintf("VMID %d", t.VMID))
		}
		if t.Node != "" {
			of = append(of, "node "+t.Node)
		}
		if len(of) == 0 {
			return "VM " + t.Key
		}
		return "VM " + t.Key + " (" + strings.Join(of, ", ") + ")"
	case Unit:
		return "unit " + t.Stack + "/" + t.Unit
	}
	return string(t.Kind) + " " + t.Key
}

// notDone says that an action did not happen.
var notDone = map[Action]string{
	Create: "was not created", Change: "was not changed", Import: "was not imported", Destroy: "was not destroyed", Move: "was not moved",
}

// Trouble explains why a row failed. It is the zero Trouble if the row has not.
func (b *Board) Trouble(r *Row) Trouble {
	if r.Phase != Broken {
		return Trouble{}
	}
	return Explain(r.Item, r.Error, b.Plan.Again)
}

// Explain translates the message of a tool about an item. again is the command that
// was run, as it can be pasted.
func Explain(item Item, text, again string) Trouble {
	t := Trouble{What: item.Name() + " " + notDone[item.Action], Text: text}
	if item.Kind == Unit {
		t.What = item.Name() + " failed"
	}
	reason(&t, item, unwrapped(text))
	t.Next = append(t.Next, finding.Do("then continue: what is done stays as it is", again))
	return t
}

// unwrapped is a message on one line: the provider breaks lines anywhere.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// UnitTrouble explains the error of a unit.
func (b *Board) UnitTrouble(e UnitError) Trouble {
	return Explain(Item{Target: e.Target}, e.Text, b.Plan.Again)
}
