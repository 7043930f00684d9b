package progress

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/power"
)

// A Trouble is an error of one VM, pool or record, or of a unit, in words: what did not
// happen, why, and what to do. Text is the message of the tool, without the lines of a copy.
type Trouble struct {
	What string
	Why  string // empty if the text is unknown
	Next []finding.Step
	Text string

	Item  Item
	Read  *Reading // nil if nothing was read since
	Not   string   // what did not happen: was not created
	Again string   // the command that continues the run
}

// String is the trouble in one line.
func (t Trouble) String() string {
	if t.Why != "" {
		return t.What + ": " + t.Why
	}
	text := []rune(unwrapped(t.Text))
	if len(text) == 0 {
		return t.What
	}
	if len(text) > shortText {
		text = append(text[:shortText], []rune("...")...)
	}
	return t.What + ": " + string(text)
}

// shortText is how much of a message without a known reason is on the first line.
const shortText = 200

// Name is what people call a target: VM web01 (VMID 2101, node pve2).
func (t Target) Name() string {
	switch where := t.Where(); {
	case t.Kind == Unit:
		return "unit " + t.Stack + "/" + t.Unit
	case t.Kind != VM:
		return string(t.Kind) + " " + t.Key
	case where == "":
		return t.Guest.Name() + " " + t.Key
	default:
		return t.Guest.Name() + " " + t.Key + " (" + where + ")"
	}
}

// Where is the VMID of a VM and its node, as far as they are known: VMID 2101, node pve2.
func (t Target) Where() string {
	var of []string
	if t.VMID != 0 {
		of = append(of, fmt.Sprintf("VMID %d", t.VMID))
	}
	if t.Node != "" {
		of = append(of, "node "+t.Node)
	}
	return strings.Join(of, ", ")
}

// notDone says that an action did not happen, as far as the tool says. A change may have
// happened in part.
var notDone = map[Action]string{
	Create: "was not created", Change: "was not changed as planned", Import: "was not imported",
	Destroy: "was not destroyed", Move: "was not moved",
}

// Trouble explains why a row failed. It is the zero Trouble if the row has not.
func (b *Board) Trouble(r *Row) Trouble {
	if of := power.Of(string(r.Action)); of != nil && !r.Planned && r.Failed() {
		return acted(r, of)
	}
	if r.Phase != Broken {
		return Trouble{}
	}
	t := Explain(r.Item, r.Error, b.Plan.Again)
	switch t.Read = r.Reading; {
	case r.Action == Create && (t.Read != nil && t.Read.Exists || t.Read == nil && r.seen.made):
		t.Not = "was created, but not completed"
	case r.Action == Create && r.Kind == VM && t.Read == nil && !r.seen.failed: // it may exist: an error does not say
		t.Not = "was not completed"
	case t.Read == nil:
	case r.Action == Change && t.Read.Works:
		t.Not = "is still being changed by a task of Proxmox VE"
	case r.Action == Change && len(t.Read.Taken) > 0:
		t.Not = "was changed in part"
	case r.Action == Change:
		t.Not = "was not changed"
	}
	if t.Read != nil && t.Read.Off {
		t.Not += " and is off now"
	}
	if t.Read != nil && t.Read.Off && !t.Read.Works {
		t.Next = append([]finding.Step{finding.Do("it ran before: start it", "stackgen power start "+r.Stack+"/"+r.Key)}, t.Next...)
	}
	t.What = r.Name() + " " + t.Not
	b.downReason(&t)
	return t
}

// Failed reports whether a row failed, or was not begun for a reason of its own.
func (r *Row) Failed() bool { return r.Phase == Broken || r.Phase == Skipped && r.Error != "" }

// acted explains why an action on a VM was not done: its text is in words already.
func acted(r *Row, of *power.Action) Trouble {
	t := Trouble{Not: "was not " + of.Done, Text: r.Error, Item: r.Item}
	t.What = r.Name() + " " + t.Not
	if r.Fix != "" {
		t.Next = append(t.Next, finding.Do("to go on", strings.Split(r.Fix, "\n")...))
	}
	return t
}

// Explain translates the message of a tool about an item. again is the command that
// was run, as it can be pasted.
func Explain(item Item, text, again string) Trouble {
	text = withoutCopies(text)
	t := Trouble{Not: notDone[item.Action], Text: text, Item: item, Again: again}
	if of := power.Of(string(item.Action)); of != nil {
		t.Not = "was not " + of.Done
	}
	if t.Not == "" || item.Kind == Unit {
		t.Not = "failed"
	}
	t.What = item.Name() + " " + t.Not
	reason(&t, item, unwrapped(text))
	return t
}

// Alike are troubles that have the same reason, or message, and what did not happen.
type Alike []Trouble

// Group puts troubles that are alike together, in the order of the first of each.
func Group(ts []Trouble) []Alike {
	var out []Alike
	for _, t := range ts {
		i := slices.IndexFunc(out, func(a Alike) bool {
			return a[0].Item.Kind == t.Item.Kind && a[0].Not == t.Not && a[0].Reason() == t.Reason()
		})
		switch {
		case i < 0:
			out = append(out, Alike{t})
		case !slices.ContainsFunc(out[i], func(o Trouble) bool { return o.Item.Name() == t.Item.Name() }): // of a unit, OpenTofu says some twice
			out[i] = append(out[i], t)
		}
	}
	return out
}

// Reason is why it did not happen, or the message of the tool without what is of its item
// alone. It is the same for troubles that are alike.
func (t Trouble) Reason() string { return cmp.Or(t.Why, t.general()) }

// general is a message without what is of its item alone: the number of its task and VM.
func (t Trouble) general() string {
	text := upidShape.ReplaceAllString(unwrapped(t.Text), "UPID")
	if t.Item.VMID == 0 {
		return text
	}
	return regexp.MustCompile(`\b`+strconv.Itoa(t.Item.VMID)+`\b`).ReplaceAllString(text, "VMID")
}

var upidShape = regexp.MustCompile(`UPID:[^\s"']+`)

// Guests counts them, if they are about guests.
func (a Alike) Guests() guest.Tally {
	return guest.Count(a, func(t Trouble) guest.Kind { return t.Item.Guest })
}

// What is what did not happen to all of them.
func (a Alike) What() string {
	first := a[0]
	if len(a) == 1 {
		return first.String()
	}
	things := fmt.Sprintf("%d %ss", len(a), first.Item.Kind)
	if first.Item.Kind == VM {
		things = a.Guests().String()
	}
	not := strings.NewReplacer("was ", "were ", "and is ", "and are ").Replace(first.Not)
	return fmt.Sprintf("%s %s%s", things, not, strings.TrimPrefix(first.String(), first.What))
}

// Next are the steps for all of them, each with the lines of all.
func (a Alike) Next() []finding.Step {
	var all finding.Finding
	for _, t := range a {
		for _, s := range t.Next {
			all.Add(s)
		}
	}
	return all.Steps
}

// unwrapped is a message on one line: the provider breaks lines anywhere.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// UnitTrouble explains the error of a unit.
func (b *Board) UnitTrouble(e UnitError) Trouble {
	return Explain(Item{Target: e.Target}, e.Text, b.Plan.Again)
}
