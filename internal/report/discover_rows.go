package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"stackgen/internal/discover"
)

// keys shows the keys that differ from the names.
func (r *Discover) keys(w io.Writer, o Options) {
	var rows []listed
	vms, names := r.vms()
	for i, v := range vms {
		if v.Key != v.Name {
			rows = append(rows, listed{text: fmt.Sprintf("%s is VM %d %s", names[i], v.VMID, v.Name)})
		}
	}
	list(w, o, "keys that differ from the names: "+Count(len(rows), "VM"), rows)
}

// A listed is a line of a list, with the commands that belong to it.
type listed struct {
	text     string
	commands []string
}

// list writes a heading and rows below it, or the first of many. Commands that are those of
// all rows come once, at the end.
func list(w io.Writer, o Options, heading string, rows []listed) {
	const many = 12
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(w, heading)
	shown := rows
	if len(rows) > many && !o.Verbose {
		shown = rows[:many]
	}
	same := !slices.ContainsFunc(rows, func(r listed) bool { return !slices.Equal(r.commands, rows[0].commands) })
	for i, r := range shown {
		fmt.Fprintf(w, "  %s\n", line(r.text))
		if !same || i == len(rows)-1 {
			printCommands(w, r.commands)
		}
	}
	if n := len(rows) - len(shown); n > 0 {
		fmt.Fprintf(w, "  and %d more: --verbose prints them\n", n)
		if same {
			printCommands(w, rows[0].commands)
		}
	}
}

func printCommands(w io.Writer, commands []string) {
	for _, c := range commands {
		fmt.Fprintf(w, "      %s\n", line(c))
	}
}

// managed says how far each VM goes, and what would bring it further.
func (r *Discover) managed(w io.Writer, o Options) {
	vms, names := r.vms()
	n, stay, explicit := 0, 0, 0
	for _, v := range vms {
		if v.Managed {
			n++
			continue
		}
		stay++
		if !slices.ContainsFunc(v.Reasons, func(r discover.Reason) bool { return !r.Neutral }) {
			explicit++
		}
	}
	if n > 0 {
		fmt.Fprintf(w, "profile default: %s; a change of the spec changes the VM, and the first plan changes nothing\n", Count(n, "VM"))
	}
	reasons(w, o, vms, names, func(v discover.VM) []discover.Reason {
		if !v.Managed {
			return nil // its commands are in the script
		}
		return v.Later
	})
	if stay > 0 {
		fmt.Fprintf(w, "profile adopted: %s; no plan changes the VM\n", Count(stay, "VM"))
	}
	reasons(w, o, vms, names, func(v discover.VM) []discover.Reason { return v.Reasons })
	if len(r.Script) == 0 {
		return
	}
	var rows []listed
	for _, command := range r.Script {
		rows = append(rows, listed{text: command})
	}
	list(w, o, fmt.Sprintf("what Proxmox VE uses now can be written into the configurations of %s: "+
		"stackgen does it after a question, or run these commands on a node, then this command again", Count(len(rows), "VM")), rows)
	if explicit > 0 {
		fmt.Fprintf(w, "then %s can have profile default, too\n", Count(explicit, "more VM"))
	}
}

// reasons groups the VMs that have the same reason.
func reasons(w io.Writer, o Options, vms []discover.VM, names []string, of func(discover.VM) []discover.Reason) {
	var heads []string
	who, commands := map[string][]string{}, map[string][]string{}
	for i, v := range vms {
		for _, reason := range of(v) {
			head := explained(reason)
			if who[head] == nil {
				heads = append(heads, head)
			}
			who[head] = append(who[head], names[i])
			if !reason.Neutral {
				commands[head] = append(commands[head], reason.Commands...)
			}
		}
	}
	for _, head := range heads {
		fmt.Fprintf(w, "  %s: %s\n", line(shortened(who[head], o.Verbose)), line(head))
		printCommands(w, commands[head])
	}
}

// shortened are names, or the first of many.
func shortened(names []string, verbose bool) string {
	if n := len(names) - few; n > 0 && !verbose {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), n)
	}
	return strings.Join(names, ", ")
}

// explained is a reason in words.
func explained(r discover.Reason) string {
	if r.Config == "" {
		return r.Why
	}
	return r.Config + ": " + r.Why
}

// waiting names the running VMs whose configuration changes with their next start.
func (r *Discover) waiting(w io.Writer) {
	vms, names := r.vms()
	var rows []string
	for i, v := range vms {
		if len(v.Pending) > 0 {
			rows = append(rows, fmt.Sprintf("%s (%s)", names[i], strings.Join(v.Pending, ", ")))
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(w, "changes wait for a restart, and the specs have them already: %s\n", line(strings.Join(rows, ", ")))
	}
}

// left lists the guests that get no spec.
func (r *Discover) left(w io.Writer, o Options) {
	kinds := []struct {
		kind        discover.Kind
		thing, what string
	}{
		{discover.Unclear, "VM", " with the name of a VM in a spec"},
		{discover.Unfit, "VM", " that would stop every plan of the stack"},
		{discover.Unread, "VM", " that could not be read"},
		{discover.Unnamable, "VM", " that a spec cannot name"},
		{discover.Elsewhere, "VM", " of another project"},
		{discover.Leaving, "VM", " of the lock"},
		{discover.Template, "template", ""},
		{discover.Container, "container", ""},
	}
	for _, k := range kinds {
		var rows []listed
		for _, l := range r.Left {
			if l.Kind != k.kind {
				continue
			}
			r := listed{text: strings.TrimSpace(fmt.Sprintf("%d %s", l.VMID, l.Name)) + " on " + l.Node}
			if l.Kind != discover.Template && l.Kind != discover.Container {
				r.text += ": " + explained(l.Reason)
			}
			r.commands = l.Reason.Commands
			rows = append(rows, r)
		}
		list(w, o, "not written: "+Count(len(rows), k.thing)+k.what, rows)
	}
}
