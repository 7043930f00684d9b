package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/discover"
	"stackgen/internal/finding"
)

// A Discover is the specs that a cluster needs, as they are proposed or written. Its JSON
// keys are stable.
type Discover struct {
	*discover.Proposal
	Changes []Change `json:"changes"`         // of specs
	Start   []string `json:"start,omitempty"` // further files of a project that begins here
	Script  []string `json:"script"`          // commands that write what Proxmox VE uses now

	// The results, where stackgen wrote them.
	Defaults []cluster.Written `json:"defaults,omitempty"`

	Hidden  []cluster.Gap `json:"hidden"` // why guests may exist that are not here
	Lines   int           `json:"lines"`  // that are added
	Written bool          `json:"written"`
	Next    []string      `json:"next"` // commands
}

// NewDiscover is a report of a proposal. gaps are those of the inventory.
func NewDiscover(p *discover.Proposal, changes []Change, start []string, gaps []cluster.Gap) *Discover {
	r := &Discover{
		Proposal: p, Changes: append([]Change{}, changes...), Start: start,
		Script: []string{}, Hidden: []cluster.Gap{}, Next: []string{},
	}
	p.Stacks, p.Left = append([]discover.Stack{}, p.Stacks...), append([]discover.Left{}, p.Left...)
	for _, s := range p.Stacks {
		for _, v := range s.VMs {
			if v.Command != "" {
				r.Script = append(r.Script, v.Command)
			}
		}
	}
	for _, g := range gaps {
		if g.Privilege == "" || g.Privilege == cluster.VMAudit {
			r.Hidden = append(r.Hidden, g)
		}
	}
	for _, c := range changes {
		for l := range strings.Lines(c.Diff) {
			if strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++ ") {
				r.Lines++
			}
		}
	}
	if len(p.Stacks) > 0 {
		r.Next = []string{"stackgen render", "stackgen import-blocks --verify", "stackgen apply"}
	}
	if slices.ContainsFunc(p.Stacks, func(s discover.Stack) bool { return len(s.Missing) > 0 }) {
		r.Next[1] = "stackgen import-blocks" // with --verify it would refuse what the plan creates
	}
	return r
}

// Blocked reports whether a VM that was asked for needs a person before it can be in a spec.
func (r *Discover) Blocked() bool {
	return slices.ContainsFunc(r.Left, func(l discover.Left) bool { return l.Blocks() })
}

// Print writes the proposal as text or JSON.
func (r *Discover) Print(w io.Writer, o Options) error {
	safe := clean(*r)
	if o.Format == "json" {
		return writeJSON(w, safe)
	}
	var out bytes.Buffer
	safe.text(&out, o)
	return write(w, out.String())
}

// Question is what a person is asked before the specs are written.
func (r *Discover) Question() string {
	return fmt.Sprintf("Nothing in the cluster is changed. Write %s, %s? [y/N] ", Count(len(r.Changes), "spec"), Count(r.Lines, "line"))
}

// DefaultsQuestion is what a person is asked before configurations are changed.
func (r *Discover) DefaultsQuestion() string {
	return fmt.Sprintf("Write %s into the configurations of %s? No VM is restarted. Only `yes` is accepted: ",
		entries(r.settings()), Count(len(r.Script), "VM"))
}

// settings is the number of entries to write.
func (r *Discover) settings() (n int) {
	vms, _ := r.vms()
	for _, v := range vms {
		n += len(v.Defaults)
	}
	return n
}

// vms are all VMs that get an entry.
func (r *Discover) vms() (out []discover.VM, names []string) {
	for _, s := range r.Stacks {
		for _, v := range s.VMs {
			out, names = append(out, v), append(names, s.Name+"/"+v.Key)
		}
	}
	return out, names
}

func (r *Discover) text(w io.Writer, o Options) {
	vms, _ := r.vms()
	switch {
	case len(vms) > 0:
		fmt.Fprintf(w, "%s in no spec: %s, %s\n", tally(vms), Count(len(r.Changes), "spec"), Count(r.Lines, "line"))
		if len(r.Start) > 0 {
			fmt.Fprintf(w, "no project is here yet: also %s, as `stackgen init` writes them\n", line(strings.Join(r.Start, ", ")))
		}
	case r.Blocked():
		fmt.Fprintln(w, "nothing to add: the guests in no spec need you first, see below")
	default:
		fmt.Fprintln(w, "nothing to add: the specs have every guest that was asked for and can be seen")
	}
	for _, s := range r.Stacks {
		word := "changed"
		if s.New {
			word = "new"
		}
		fmt.Fprintf(w, "  %s (%s): %s: %s\n", line(s.File), word, tally(s.VMs), line(s.Why))
		if len(s.Groups) > 0 {
			fmt.Fprintf(w, "    groups: %s\n", line(strings.Join(s.Groups, ", ")))
		}
		if s.NoRecords {
			fmt.Fprintf(w, "    dns: false, because the first plan must create no record; remove it to publish records of these guests\n")
		}
	}
	for _, n := range r.Named {
		fmt.Fprintf(w, "named as the VMs of a stack %s, which no spec here has: %s. If another project has that stack, leave them there\n",
			line(n.Stack), line(vmids(n.VMIDs)))
	}
	r.counts(w)
	r.keys(w, o)
	r.managed(w, o)
	r.waiting(w)
	r.sharedMACs(w, o)
	r.left(w, o)
	for _, g := range r.Hidden {
		fmt.Fprintf(w, "not visible: %s\n", line(g.Reason))
		if g.Fix != "" {
			fmt.Fprintf(w, "      %s\n", line(g.Fix))
		}
	}
}

// tally counts VMs and containers.
func tally(list []discover.VM) guest.Tally {
	return guest.Count(list, func(v discover.VM) guest.Kind { return kindIf(v.Kind != "") })
}

// vmids are VMIDs in a text.
func vmids(list []int) string {
	var out []string
	for _, vmid := range list {
		out = append(out, fmt.Sprint(vmid))
	}
	return strings.Join(out, ", ")
}

// counts says what the cluster has, as far as it can be seen.
func (r *Discover) counts(w io.Writer) {
	c := r.Count
	fmt.Fprintf(w, "the cluster has %s: %s, %s, %s\n",
		Count(c.Guests, "guest"), Count(c.VMs, "VM"), Count(c.Containers, "container"), Count(c.Templates, "template"))
	if c.InSpecs+c.ContainersInSpecs > 0 {
		fmt.Fprintf(w, "in specs already: %s\n", guestsOf(c.InSpecs, c.ContainersInSpecs))
	}
	if c.Other+c.OtherContainers > 0 {
		fmt.Fprintf(w, "not asked for: %s in no spec\n", guestsOf(c.Other, c.OtherContainers).Of("other "))
	}
}

// PrintSpecs writes what changes in the specs as a diff.
func (r *Discover) PrintSpecs(w io.Writer) error {
	for _, c := range r.Changes {
		if err := Text(w, c.Diff); err != nil {
			return err
		}
	}
	return nil
}

// PrintEnd says what was done, and what to run next.
func (r *Discover) PrintEnd(w io.Writer, confirmed, terminal bool) error {
	nothing := "nothing was written"
	if len(r.Defaults) > 0 {
		nothing = "no spec was written"
	}
	switch {
	case !confirmed && !terminal:
		return Printf(w, "nobody can confirm this here: standard input is no terminal. "+
			"Give --yes to confirm it in advance; nothing was written\n")
	case !confirmed:
		return Printf(w, "not confirmed; %s\n", nothing)
	case !r.Written:
		return nil
	}
	return Printf(w, "written: %s. %s Next:\n  %s\n", Count(len(r.Changes), "spec"), line(r.firstPlan()), line(strings.Join(r.Next, " && ")))
}

// firstPlan says what the first plan does. Where a spec existed before, that is also what
// was not applied of it.
func (r *Discover) firstPlan() string {
	var existing, missing []string
	for _, s := range r.Stacks {
		if !s.New {
			existing = append(existing, s.Name)
		}
		for _, key := range s.Missing {
			missing = append(missing, s.Name+"/"+key)
		}
	}
	vms, _ := r.vms()
	text := "The first plan imports " + tally(vms).String() + " and changes "
	switch {
	case len(existing) == 0:
		return text + "nothing; `stackgen import-blocks --verify` proves it."
	case len(missing) == 0:
		return text + "none of them. It also makes the changes of " + shortened(existing, false) + " that were not applied before: " +
			"`stackgen import-blocks --verify` shows them, and fails if there are any."
	}
	return text + "none of them. It also creates VMs of the spec that do not exist yet: " + shortened(missing, false) + ". " +
		"`stackgen apply` shows the whole plan and asks."
}

// Exit is the exit code: of a question that was not answered with yes, or of VMs that need
// a person.
func (r *Discover) Exit(confirmed bool) finding.Severity {
	switch {
	case !confirmed, slices.ContainsFunc(r.Defaults, func(d cluster.Written) bool { return d.Error != "" }):
		return finding.Failed
	case r.Blocked():
		return finding.Blocked
	}
	return finding.OK
}
