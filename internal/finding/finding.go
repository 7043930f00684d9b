// Package finding is the one type in which lock, guard and the commands say that
// the cluster, a state, a plan or a recorded decision differs from the specs:
// what it is about, how bad it is, why, and what to do.
//
// It prints nothing and reads nothing. Text in it may come from a spec, a
// cluster or a tool as it is: package report makes it harmless.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
)

// Severity is how bad a finding is: the exit code that it asks for.
type Severity int

// The severities.
const (
	OK       Severity = 0 // an apply is right
	Failed   Severity = 1 // it could not be found out
	Outdated Severity = 2 // generated files are missing or stale; of drift, a difference that is safe to apply
	Blocked  Severity = 3 // an apply must not run
)

// String is the word that people read for a severity.
func (s Severity) String() string {
	return [...]string{"ok", "failed", "outdated", "blocked"}[s]
}

// rank orders severities: a refusal outweighs what could not be found out, and
// that outweighs a stale file.
func (s Severity) rank() int { return [...]int{0, 2, 1, 3}[s] }

// Type is the type of what a finding is about.
type Type string

// The types, in the order in which they are reported.
const (
	Stack  Type = "stack"
	Pool   Type = "pool"
	Image  Type = "image" // a file that a template is imported from
	VM     Type = "vm"
	Record Type = "record"
	Guest  Type = "guest" // of the cluster, and no VM of the project
	Unit   Type = "unit"
)

var types = []Type{Stack, Pool, Image, VM, Record, Guest, Unit}

// An Address says what a finding is about. Key is a VM's key, a pool's id, a
// record's name, or the VMID of a guest; it is empty for a unit or a stack.
type Address struct {
	Stack string `json:"stack"`
	Unit  string `json:"unit,omitempty"`
	Type  Type   `json:"kind"`
	Key   string `json:"key"`
}

// String is the address as people write it: homelab/web02.
func (a Address) String() string {
	switch {
	case a.Key != "":
		return a.Stack + "/" + a.Key
	case a.Unit != "":
		return a.Stack + "/" + a.Unit
	}
	return a.Stack
}

// GuestKind is the kind of the guest that a finding is about, or whose record it is about.
func (f *Finding) GuestKind() guest.Kind {
	if f.Container || f.Type == VM && f.Unit == guest.ContainerUnit {
		return guest.Container
	}
	return guest.VM
}

// Word is what people call that guest: VM or container.
func (f *Finding) Word() string { return f.GuestKind().Name() }

// An Object is what is known of the thing at an address.
type Object struct {
	VMID         int          `json:"vmid,omitempty"`
	Node         string       `json:"node,omitempty"`
	Name         string       `json:"name,omitempty"`
	Resource     string       `json:"resource,omitempty"`   // its address in the unit
	Import       string       `json:"import,omitempty"`     // the id to import it by
	Candidates   []int        `json:"candidates,omitempty"` // VMIDs to choose from
	Differs      []Difference `json:"differs,omitempty"`    // what the first plan after an import would change
	FromTemplate []Difference `json:"brings,omitempty"`     // what a clone has by its template, and the spec does not say
	Updates      []Update     `json:"updates,omitempty"`    // what an apply would change
	Settles      []string     `json:"settles,omitempty"`    // attributes that the next apply sets, and that change nothing of the VM
	Pending      []string     `json:"pending,omitempty"`    // entries of the configuration that wait for a restart

	Change *Change `json:"change,omitempty"` // of drift

	MadeFrom int `json:"made_from,omitempty"` // the template of a VM, if it is another one than the spec says

	// MadeWith is what a VM was made with, where the spec has another value of a property that
	// acts at creation only.
	MadeWith []Made `json:"made_with,omitempty"`

	Lacks  []string `json:"lacks,omitempty"`  // keys of properties that the spec has, and the guest does not: no plan shows that
	Unread []string `json:"unread,omitempty"` // interfaces of disks that a VM has, and neither its spec nor its state: no plan shows them

	NoAddress bool `json:"no_address,omitempty"` // of a record: its VM reports none, so an apply leaves the record as it is

	Owner string `json:"-"` // of a record: its VM's key
	IPv4  string `json:"-"` // of a record: its VM's address, where spec or cluster have it
	Mark  string `json:"-"` // of an orphan: what it has of the stack, such as its pool; empty if that is a name
}

// A Made is a property that acts at the creation of a VM only.
type Made struct {
	Property string `json:"property"`
	Was      string `json:"made"`
	Spec     string `json:"spec"`
	Read     bool   `json:"read,omitempty"` // made is what it has now, whatever it was made with
	Steps    []Step `json:"-"`              // the ways out of this one
}

// An Update is one value, block or device of a VM that an apply would change.
type Update struct {
	Name   string `json:"name"`           // memory, scsi1, size of scsi0
	Was    string `json:"was,omitempty"`  // empty for none
	Is     string `json:"is,omitempty"`   // empty for none
	Effect string `json:"effect"`         // of the table of effects
	Does   string `json:"does"`           // in words
	Harm   string `json:"harm,omitempty"` // why it blocks

	Moves      string `json:"moves,omitempty"`      // of a network or USB device that gets another number: the one that it had
	Interrupts bool   `json:"interrupts,omitempty"` // it restarts or stops the running VM, which its spec permits
	Waits      bool   `json:"-"`                    // the running VM has the new value after its next restart
	SideEffect bool   `json:"unasked,omitempty"`    // it goes with other changes, and the spec does not say it

	Attribute string `json:"-"` // in HCL, with its device: disk.scsi0.size
	Says      string `json:"-"` // the line of evidence about it, or empty
}

// A Difference is one thing that the first plan after an import would change.
type Difference struct {
	Field    string   `json:"field,omitempty"`    // of the spec
	Config   string   `json:"config"`             // the entries of the configuration, such as serial0=socket
	Spec     string   `json:"spec,omitempty"`     // the spec's line; empty if it has none
	Line     string   `json:"line,omitempty"`     // the line that makes the spec agree with the VM
	Reason   string   `json:"reason,omitempty"`   // why no line does
	Commands []string `json:"commands,omitempty"` // commands that change the VM, so that a line can
}

// A Finding is one thing that was found out. Reason is the same for findings
// that are alike; what only this one has is evidence.
type Finding struct {
	Address
	Kind     Kind     `json:"verdict"`
	Severity Severity `json:"exit"`
	Case     Case     `json:"-"`
	Object
	Container bool       `json:"-"` // the guest of the cluster, or of a record, is a container
	Reason    Reason     `json:"-"`
	Says      string     `json:"reason,omitempty"` // the reason in words, which package report adds
	Evidence  []Evidence `json:"evidence"`
	Steps     []Step     `json:"next"`
}

// Stops reports whether an apply must not run.
func (f *Finding) Stops() bool { return f.Severity == Blocked || f.Severity == Failed }

// Notable reports whether there is something to say of what is found, although its verdict may be that all is well.
func (f *Finding) Notable() bool {
	o := &f.Object
	return len(o.Differs)+len(o.FromTemplate)+len(o.Updates)+len(o.Pending)+len(o.MadeWith)+len(o.Unread)+len(o.Lacks) > 0 ||
		o.NoAddress || o.MadeFrom != 0 || f.Kind == OtherState
}

// Warns reports whether a creation may fail, and nothing proves that it will.
func (f *Finding) Warns() bool { return f.Kind == CannotCreate && f.Severity == OK }

// Sort puts findings into their order, which is total: stack, type, key.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.Stack, b.Stack),
			cmp.Compare(slices.Index(types, a.Type), slices.Index(types, b.Type)),
			natural.Compare(a.Key, b.Key),
			strings.Compare(a.Unit, b.Unit),
			strings.Compare(a.Resource, b.Resource),
			cmp.Compare(a.VMID, b.VMID),
			strings.Compare(string(a.Kind), string(b.Kind)),
			natural.Compare(a.attribute(), b.attribute()),
			strings.Compare(a.Reason.String(), b.Reason.String()),
			slices.CompareFunc(a.Evidence, b.Evidence, Evidence.compare))
	})
}

// attribute is the attribute that a finding of drift is about, or empty.
func (f *Finding) attribute() string {
	if f.Change == nil {
		return ""
	}
	return f.Change.Attribute
}

// Exit is the exit code of all findings together: that of the worst one.
func Exit(fs []Finding) Severity {
	worst := OK
	for _, f := range fs {
		if f.Severity.rank() > worst.rank() {
			worst = f.Severity
		}
	}
	return worst
}

// A Count is how many findings have a kind.
type Count struct {
	Kind Kind `json:"verdict"`
	N    int  `json:"count"`
}

// Counts are the kinds that occur, in their order.
func Counts(fs []Finding) []Count {
	n := map[Kind]int{}
	for _, f := range fs {
		n[f.Kind]++
	}
	var out []Count
	for _, k := range Kinds {
		if n[k] > 0 {
			out = append(out, Count{k, n[k]})
		}
	}
	return out
}

// Is sets the kind, the severity that it has unless more is known, and the reason.
func (f *Finding) Is(k Kind, reason Reason) *Finding {
	f.Kind, f.Severity, f.Reason, f.Case = k, Blocked, reason, ""
	switch k {
	case Managed, Create, Adopt, Moved, Migrate, Settling, Pending, OldTemplate, CreationOnly, Retiring, Orphan:
		f.Severity = OK
	}
	return f
}

// Because adds evidence.
func (f *Finding) Because(format string, args ...any) *Finding {
	f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf(format, args...)})
	return f
}

// Cite adds the reason of another finding as evidence.
func (f *Finding) Cite(r Reason) *Finding {
	f.Evidence = append(f.Evidence, Evidence{Reason: &r})
	return f
}

// An Evidence is one thing that a finding was concluded from: a text, or the reason of another
// finding, whose text package report adds.
type Evidence struct {
	Text   string
	Reason *Reason
}

// MarshalText makes evidence text in JSON.
func (e Evidence) MarshalText() ([]byte, error) { return []byte(e.Text), nil }

// UnmarshalText reads what MarshalText wrote.
func (e *Evidence) UnmarshalText(text []byte) error {
	*e = Evidence{Text: string(text)}
	return nil
}

// Same reports whether two pieces of evidence say the same.
func (e Evidence) Same(other Evidence) bool { return e.compare(other) == 0 }

func (e Evidence) compare(other Evidence) int {
	reason := func(r *Reason) string {
		if r == nil {
			return ""
		}
		return r.String()
	}
	return cmp.Or(strings.Compare(e.Text, other.Text), strings.Compare(reason(e.Reason), reason(other.Reason)))
}
