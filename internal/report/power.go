package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"stackgen/guest"
	"stackgen/internal/power"
)

// A Power is what a command that starts and stops VMs did, or would do. Its JSON keys are
// stable.
type Power struct {
	Action   string    `json:"action"` // of Proxmox VE
	Endpoint string    `json:"endpoint"`
	Exit     int       `json:"exit"`
	VMs      []Powered `json:"vms"`
	Next     []string  `json:"next"` // commands

	Done string `json:"-"` // what the action does, as a participle
	Dry  bool   `json:"-"` // nothing was sent
}

// A Powered is how an action on one VM ended.
type Powered struct {
	Stack   string       `json:"stack"`
	Key     string       `json:"key"`
	Member  string       `json:"member,omitempty"`
	Name    string       `json:"name"`
	VMID    int          `json:"vmid"`
	Node    string       `json:"node,omitempty"`
	Was     power.State  `json:"was,omitempty"` // before
	Result  power.Result `json:"result"`
	Text    string       `json:"text"`              // what happened, or why nothing did
	Fix     []string     `json:"fix,omitempty"`     // commands
	Seconds float64      `json:"seconds,omitempty"` // that it took

	Container  bool        `json:"container,omitempty"`
	Warnings   []string    `json:"warnings,omitempty"` // of its task
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
}

// A Checkpoint is a snapshot of a VM that a reset goes back to.
type Checkpoint struct {
	Name     string   `json:"name"`
	Time     string   `json:"time"`               // RFC 3339, UTC
	Repairs  []string `json:"repairs,omitempty"`  // properties that the next apply changes after a reset
	Leaves   []string `json:"leaves,omitempty"`   // properties that a reset changes, and that an apply leaves
	Detaches []string `json:"detaches,omitempty"` // interfaces of disks that a reset detaches
	Returns  []string `json:"returns,omitempty"`  // interfaces of disks that were replaced, and whose former ones a reset puts back
}

// Print writes the report as text or JSON.
func (r *Power) Print(w io.Writer, o Options) error {
	r.VMs, r.Next = append([]Powered{}, r.VMs...), append([]string{}, r.Next...) // JSON has empty lists, not null
	safe := clean(*r)
	if o.Format == "json" {
		return writeJSON(w, safe)
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, safe.answer())
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, g := range safe.groups(o.Verbose) {
		g.print(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, n := range safe.Next {
		fmt.Fprintf(&out, "  > %s\n", line(n))
	}
	return write(w, out.String())
}

// answer is the first line.
func (r *Power) answer() string {
	n := map[power.Result]int{}
	for i := range r.VMs {
		n[r.VMs[i].Result]++
	}
	var parts []string
	part := func(result power.Result, format string) {
		if n[result] > 0 {
			parts = append(parts, fmt.Sprintf(format, n[result]))
		}
	}
	if r.Dry {
		part(power.Planned, "%d would be "+r.Done)
	} else {
		part(power.Done, "%d "+r.Done)
	}
	part(power.Failed, "%d failed")
	part(power.Refused, "%d refused")
	part(power.Left, "%d not begun")
	part(power.InState, "%d already so")
	if len(parts) == 0 {
		return "nothing to do"
	}
	return fmt.Sprintf("%s: %s", poweredGuests(r.VMs), strings.Join(parts, ", "))
}

// Count counts the guests with a result: 2 VMs.
func (r *Power) Count(result power.Result) string {
	return poweredGuests(slices.DeleteFunc(slices.Clone(r.VMs), func(v Powered) bool { return v.Result != result }))
}

func poweredGuests(all []Powered) string {
	return guest.Count(all, func(v Powered) guest.Kind { return kindIf(v.Container) }).String()
}

// A poweredGroup is VMs of a stack that ended alike.
type poweredGroup []Powered

// groups are the VMs by their result, those of a stack that ended alike together.
func (r *Power) groups(verbose bool) []poweredGroup {
	var out []poweredGroup
	for _, result := range power.Results {
		at := map[string]int{}
		for _, v := range r.VMs {
			if v.Result != result {
				continue
			}
			alike := strings.Join(slices.Concat([]string{v.Stack, v.Text}, v.Fix, v.Warnings), "\x00")
			i, known := at[alike]
			if verbose || !known {
				i = len(out)
				at[alike], out = i, append(out, nil)
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

func (g poweredGroup) print(w io.Writer) {
	if len(g) > few {
		var keys []string
		for _, v := range g[:few] {
			keys = append(keys, v.Key)
		}
		fmt.Fprintf(w, "%s\t%s: %s\t%s\n", g[0].Result, line(g[0].Stack), poweredGuests(g), line(g[0].Text))
		fmt.Fprintf(w, "\t  %s and %d more\n", line(strings.Join(keys, ", ")), len(g)-few)
	} else {
		for _, v := range g {
			fmt.Fprintf(w, "%s\t%s/%s\t%s\n", v.Result, line(v.Stack), line(v.Key), line(v.Text))
		}
	}
	for _, text := range g[0].Warnings {
		fmt.Fprintf(w, "\t  warning: %s\n", line(text))
	}
	for _, f := range g[0].Fix {
		fmt.Fprintf(w, "\t  %s\n", line(f))
	}
}

// Sent reports whether there is a VM with a result.
func (r *Power) Sent(result power.Result) bool {
	return slices.ContainsFunc(r.VMs, func(v Powered) bool { return v.Result == result })
}
