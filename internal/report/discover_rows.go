package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/discover"
)

// keys shows the keys that differ from the names.
func (r *Discover) keys(w io.Writer, o Options) {
	var rows []listed
	var of []discover.VM
	vms, names := r.vms()
	for i, v := range vms {
		if v.Key != v.Name {
			rows = append(rows, listed{text: fmt.Sprintf("%s is %s %d %s", names[i], cmp.Or(v.Kind, guest.VM.Name()), v.VMID, v.Name)})
			of = append(of, v)
		}
	}
	list(w, o, "keys that differ from the names: "+tally(of).String(), rows)
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
	var managed, adopted []discover.VM
	explicit := 0
	for _, v := range vms {
		if v.Managed {
			managed = append(managed, v)
			continue
		}
		adopted = append(adopted, v)
		if !slices.ContainsFunc(v.Reasons, func(r discover.Reason) bool { return !r.Neutral }) {
			explicit++
		}
	}
	if len(managed) > 0 {
		fmt.Fprintf(w, "profile default: %s; a change of the spec changes the %s, and the first plan changes nothing\n",
			tally(managed), tally(managed).Word())
	}
	reasons(w, o, vms, names, func(v discover.VM) []discover.Reason {
		if !v.Managed {
			return nil // its commands are in the script
		}
		return v.Later
	})
	if len(adopted) > 0 {
		fmt.Fprintf(w, "profile adopted: %s; no plan changes the %s\n", tally(adopted), tally(adopted).Word())
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

// sharedMACs names the MAC addresses that something else has, too, as far as they were read.
func (r *Discover) sharedMACs(w io.Writer, o Options) {
	vms, names := r.vms()
	var rows []listed
	for i, v := range vms {
		if len(v.SharedMACs) > 0 {
			rows = append(rows, listed{text: names[i] + " has " + strings.Join(v.SharedMACs, ", ")})
		}
	}
	list(w, o, "the same MAC address twice, so the network reaches one of the two only: give one of them another one", rows)
	if len(vms) > 0 && r.Unread > 0 {
		fmt.Fprintf(w, "not read: the MAC addresses of %s; one of them may have that of a guest above\n", Count(r.Unread, "other guest"))
	}
}

// left lists the guests that get no spec.
func (r *Discover) left(w io.Writer, o Options) {
	kinds := []struct {
		kind discover.Kind
		what string
	}{
		{discover.Unclear, " with the name or VMID of a guest in a spec"},
		{discover.Unfit, " that would stop every plan of the stack"},
		{discover.Unread, " that could not be read"},
		{discover.Locked, " that is locked"},
		{discover.NoNetwork, " without a network"},
		{discover.Unknown, " that a spec cannot know"},
		{discover.Unnamable, " that a spec cannot name"},
		{discover.Elsewhere, " of another project"},
		{discover.Leaving, " of the lock"},
		{discover.Template, ""},
	}
	for _, k := range kinds {
		var rows []listed
		containers := 0
		for _, l := range r.Left {
			if l.Kind != k.kind {
				continue
			}
			if l.Guest != "" {
				containers++
			}
			r := listed{text: strings.TrimSpace(fmt.Sprintf("%d %s", l.VMID, l.Name)) + " on " + l.Node}
			if l.Kind != discover.Template {
				r.text += ": " + explained(l.Reason)
			}
			r.commands = l.Reason.Commands
			rows = append(rows, r)
		}
		things := guestsOf(len(rows)-containers, containers).String()
		if k.kind == discover.Template {
			things = Count(len(rows), "template")
		}
		list(w, o, "not written: "+things+k.what, rows)
	}
}
