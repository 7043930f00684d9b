package cluster

import (
	"slices"
	"strings"

	"stackgen/internal/pve"
)

// An Act is a finished task that changed a guest, or may have, by the log of the node
// where it ran. A node lists about its last 1,000 tasks, and Proxmox VE logs a change of
// options, such as memory or tags in the web interface, as no task at all: a list without
// an act proves nothing.
type Act struct {
	Time string `json:"time"` // when it ended: RFC 3339, UTC
	User string `json:"user"` // USER@REALM or USER@REALM!TOKENID
	Task string `json:"task"` // qmconfig, resize, qmigrate
	Node string `json:"node"`

	Entries []string `json:"-"` // of the configuration that it changed; nil if its log does not say it
}

// Acts are what the logs of nodes say about guests.
type Acts struct {
	Of      map[int][]Act  // by VMID, the last first
	Applied map[int]string // by VMID: when the last task of an apply ended
	Gaps    []Gap          // what could not be read
}

// ChangedEntries are the entries of a configuration that a task of Proxmox VE changed, by the
// first line of its log: update VM 100: -memory 4096 -delete net1. A value may look like an
// entry, so there may be more. They are nil for another line.
func ChangedEntries(line string) []string {
	_, arguments, found := strings.Cut(line, ": ")
	if !found || !strings.HasPrefix(line, "update VM ") {
		return nil
	}
	var out []string
	last := ""
	for word := range strings.FieldsSeq(arguments) {
		switch name, isName := strings.CutPrefix(word, "-"); {
		case isName && name != "delete" && name != "":
			out = append(out, name)
		case last == "-delete":
			out = append(out, pve.List(word)...)
		}
		last = word
	}
	return out
}

// deeds says what each operation may change in a guest: attributes of the provider's
// resource, or those below one that ends with a dot. "" is the guest as a whole, and *
// everything but its node.
var deeds = map[pve.Operation][]string{
	pve.Configure: {"*"},
	pve.Resize:    {"disk."},
	pve.MoveDisk:  {"disk.", "efi_disk.", "tpm_state."},
	pve.Migrate:   {"node_name", "started"},
	pve.Start:     running,
	pve.Stop:      running,
	pve.Reboot:    running,
	pve.Restore:   {"", "*", "node_name"},
	pve.Create:    {"", "*", "node_name"},
	pve.Rollback:  {"*"},
	pve.Convert:   {"", "template"},
	pve.Destroy:   {""},
}

// running are the attributes that depend on whether a guest runs, and since when.
var running = []string{"started", "ipv4_addresses", "ipv6_addresses", "network_interface_names", "mac_addresses"}

// IsDeed reports whether tasks of a type may change a guest.
func IsDeed(task string) bool { return deeds[pve.OperationOf(task)] != nil }

// MayChange reports whether an act may have changed an attribute of a guest. attribute
// is a path in the provider's resource, with its device: disk.scsi0.size; "" is the
// guest as a whole.
func (a Act) MayChange(attribute string) bool {
	return slices.ContainsFunc(deeds[pve.OperationOf(a.Task)], func(what string) bool {
		switch {
		case what == "*":
			return attribute != "" && attribute != "node_name" && !slices.Contains(running, attribute)
		case strings.HasSuffix(what, "."):
			return strings.HasPrefix(attribute+".", what)
		}
		return what == attribute
	})
}
