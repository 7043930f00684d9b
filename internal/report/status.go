package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/outputs"
)

// A Status is the VMs of stacks as they are now. Its JSON keys are stable.
type Status struct {
	Endpoint string   `json:"endpoint,omitempty"` // empty if there is no cluster to ask
	Taken    string   `json:"taken,omitempty"`    // RFC 3339, UTC
	VMs      []Now    `json:"vms"`
	Notes    []string `json:"notes"`
}

// A Now is what is known of one VM.
type Now struct {
	Stack    string   `json:"stack"`
	Key      string   `json:"key"`
	Member   string   `json:"member,omitempty"`
	Name     string   `json:"name"`
	VMID     int      `json:"vmid,omitempty"`
	Node     string   `json:"node,omitempty"`
	Power    string   `json:"power"` // running, paused, stopped, or why that is not known
	Address  string   `json:"address,omitempty"`
	Agent    string   `json:"agent,omitempty"`  // answers, no-address, refuses or silent; empty if it was not asked
	Uptime   int64    `json:"uptime,omitempty"` // seconds
	Pending  []string `json:"pending"`          // entries of the configuration that wait for a restart
	Template string   `json:"template,omitempty"`
	Lock     string   `json:"lock,omitempty"`

	Checkpoint     string `json:"checkpoint,omitempty"`      // the name of the snapshot that was taken or reset to last
	CheckpointTime string `json:"checkpoint_time,omitempty"` // RFC 3339, UTC; empty if it is not known

	Console   string `json:"console,omitempty"` // the address of Proxmox VE's own page
	Container bool   `json:"container,omitempty"`

	Problem string `json:"problem,omitempty"` // why no guest is certainly the VM
	Fix     string `json:"fix,omitempty"`     // the command that tells more
}

// Print writes the status as text, json or csv, or as a page.
func (r *Status) Print(w io.Writer, o Options) error {
	r.VMs, r.Notes = append([]Now{}, r.VMs...), append([]string{}, r.Notes...) // JSON has empty lists, not null
	for i := range r.VMs {
		r.VMs[i].Pending = append([]string{}, r.VMs[i].Pending...)
	}
	safe := clean(*r)
	var out bytes.Buffer
	switch o.Format {
	case "json":
		return writeJSON(w, safe)
	case "csv":
		if err := safe.csv(&out); err != nil {
			return err
		}
		return Data(w, out.Bytes())
	case "html":
		if err := safe.html(&out); err != nil {
			return err
		}
		_, err := w.Write(out.Bytes())
		return err
	}
	if err := safe.text(&out); err != nil {
		return err
	}
	return write(w, out.String())
}

// Answer is the first line: how many VMs there are in each state.
func (r *Status) Answer() string {
	n, waiting := map[string]int{}, 0
	var states []string
	for i := range r.VMs {
		v := &r.VMs[i]
		if n[v.Power] == 0 {
			states = append(states, v.Power)
		}
		if n[v.Power]++; len(v.Pending) > 0 {
			waiting++
		}
	}
	slices.Sort(states)
	parts := make([]string, len(states))
	for i, s := range states {
		parts[i] = fmt.Sprintf("%d %s", n[s], s)
	}
	out := guest.Count(r.VMs, func(v Now) guest.Kind { return kindIf(v.Container) }).String()
	if len(parts) > 0 {
		out += ": " + strings.Join(parts, ", ")
	}
	if waiting > 0 {
		out += fmt.Sprintf("; %d with changes that wait for a restart", waiting)
	}
	return out
}

// statusColumns are the columns of text and page. A column without any value is left out,
// except for the first ones. The first has what its guests are called.
var statusColumns = []struct {
	Title string
	Keep  bool
	of    func(*Now) string
}{
	{"", true, func(v *Now) string { return v.Stack + "/" + v.Key }},
	{"MEMBER", false, func(v *Now) string { return v.Member }},
	{"VMID", true, func(v *Now) string { return number(v.VMID) }},
	{"NODE", true, func(v *Now) string { return v.Node }},
	{"POWER", true, func(v *Now) string { return v.Power }},
	{"ADDRESS", true, func(v *Now) string { return v.Address }},
	{"AGENT", false, func(v *Now) string { return agentWord(v.Agent) }},
	{"UPTIME", false, func(v *Now) string { return uptime(v.Uptime) }},
	{"PENDING", false, func(v *Now) string { return strings.Join(v.Pending, " ") }},
	{"LOCK", false, func(v *Now) string { return v.Lock }},
	{"TEMPLATE", false, func(v *Now) string { return v.Template }},
	{"CHECKPOINT", false, func(v *Now) string { return strings.TrimSpace(v.Checkpoint + " " + shortTime(v.CheckpointTime)) }},
}

// table is the titles and cells of the columns that have a value.
func (r *Status) table() (titles []string, rows [][]string) {
	rows = make([][]string, len(r.VMs))
	kinds := guest.Count(r.VMs, func(v Now) guest.Kind { return kindIf(v.Container) })
	for _, c := range statusColumns {
		cells, empty := make([]string, len(r.VMs)), true
		for i := range r.VMs {
			cells[i] = c.of(&r.VMs[i])
			empty = empty && cells[i] == ""
		}
		if empty && !c.Keep {
			continue
		}
		titles = append(titles, cmp.Or(c.Title, strings.ToUpper(kinds.Word())))
		for i, cell := range cells {
			rows[i] = append(rows[i], cell)
		}
	}
	return titles, rows
}

func (r *Status) text(out *bytes.Buffer) error {
	fmt.Fprintln(out, line(r.Answer()))
	if len(r.VMs) > 0 {
		titles, rows := r.table()
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, strings.Join(titles, "\t"))
		for _, cells := range rows {
			for i := range cells {
				if cells[i] = line(cells[i]); cells[i] == "" {
					cells[i] = "-"
				}
			}
			fmt.Fprintln(table, strings.Join(cells, "\t"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	for _, p := range r.problems() {
		fmt.Fprintln(out, p)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(out, "note: %s\n", line(n))
	}
	return nil
}

// problems are lines about VMs without a guest, one for all that are alike.
func (r *Status) problems() []string {
	type group struct {
		text, fix string
		vms       []string
	}
	var groups []*group
	for i := range r.VMs {
		v := &r.VMs[i]
		if v.Problem == "" {
			continue
		}
		j := slices.IndexFunc(groups, func(g *group) bool { return g.text == v.Problem && g.fix == v.Fix })
		if j < 0 {
			j, groups = len(groups), append(groups, &group{text: v.Problem, fix: v.Fix})
		}
		groups[j].vms = append(groups[j].vms, v.Stack+"/"+v.Key)
	}
	var out []string
	for _, g := range groups {
		names := strings.Join(g.vms[:min(few, len(g.vms))], ", ")
		if more := len(g.vms) - few; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, line(names+": "+g.text))
		if g.fix != "" {
			out = append(out, "  > "+line(g.fix))
		}
	}
	return out
}

// shortTime is a time of RFC 3339 in UTC without its seconds.
func shortTime(text string) string {
	const minutes = len("2006-01-02T15:04")
	return strings.Replace(text[:min(minutes, len(text))], "T", " ", 1)
}

// agentWord says why the agent of a VM reports no address; empty if it reports one, or was not asked.
func agentWord(agent string) string {
	if agent == cluster.AgentAnswers {
		return ""
	}
	return agent
}

// number is a number, or nothing for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// uptime is a time in its two largest units.
func uptime(seconds int64) string {
	days, hours, minutes := seconds/86400, seconds/3600%24, seconds/60%60
	switch {
	case seconds <= 0:
		return ""
	case days > 0:
		return fmt.Sprintf("%dd%dh", days, hours)
	case hours > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%dm", minutes)
	}
	return fmt.Sprintf("%ds", seconds)
}

// csv is a line for each VM, with all columns.
func (r *Status) csv(out io.Writer) error {
	w := csv.NewWriter(out)
	rows := [][]string{{"stack", "key", "member", "name", "vmid", "node", "power", "address", "uptime", "pending", "template", "lock",
		"console", "problem", "checkpoint", "checkpoint_time", "agent"}}
	for _, v := range r.VMs {
		row := []string{v.Stack, v.Key, v.Member, v.Name, number(v.VMID), v.Node, v.Power, v.Address, number(int(v.Uptime)),
			strings.Join(v.Pending, " "), v.Template, v.Lock, v.Console, v.Problem, v.Checkpoint, v.CheckpointTime, v.Agent}
		for i := range row {
			row[i] = outputs.Cell(row[i])
		}
		rows = append(rows, row)
	}
	return w.WriteAll(rows)
}
