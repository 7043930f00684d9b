package cluster

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/pve"
)

// A Setting is one entry of the configuration of a VM.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Defaults are entries to write into the configuration of a VM, with the values that
// Proxmox VE uses without them.
type Defaults struct {
	Guest    *Guest
	Settings []Setting
}

// A Written is the result of writing the defaults of one VM.
type Written struct {
	VMID    int      `json:"vmid"`
	Name    string   `json:"name"`
	Node    string   `json:"node"`
	Entries []string `json:"entries"`         // their keys
	Waits   []string `json:"waits,omitempty"` // entries that are pending until the VM starts the next time
	Error   string   `json:"error,omitempty"` // why they were not written
}

// addable are the entries that may be added to a configuration: none identifies the VM, and
// none adds a device.
var addable = []string{"balloon", "cpu", "ipconfig0", "memory", "numa", "ostype", "scsihw", "sockets"}

// Check says why settings are more than additions to the configuration of the VM: of an entry
// that exists, only a drive gets options, and keeps its volume and all that it has.
func (d *Defaults) Check() error {
	for _, s := range d.Settings {
		was, exists := d.Guest.Config.Raw[s.Key]
		switch {
		case !exists && slices.Contains(addable, s.Key):
		case exists && pve.IsDrive(s.Key) && addsOptions(was, s.Value):
		default:
			return fmt.Errorf("writing %s=%s would change it", s.Key, s.Value)
		}
	}
	return nil
}

// addsOptions reports whether a drive has everything that it had, and in addition only
// options that it did not have.
func addsOptions(was, is string) bool {
	had, has := pve.Parse(was), pve.Parse(is)
	lost := func(o pve.Option) bool { return !slices.Contains(has, o) }
	if len(had) == 0 || len(has) == 0 || had[0] != has[0] || slices.ContainsFunc(had, lost) {
		return false
	}
	return !slices.ContainsFunc(has, func(o pve.Option) bool { return had.Has(o.Name) && !slices.Contains(had, o) })
}

// Same reports whether an entry has a value: the options of a drive are in any order.
func (s *Setting) Same(text string) bool {
	sorted := func(text string) string {
		e := pve.Parse(text)
		slices.SortFunc(e, func(a, b pve.Option) int { return strings.Compare(a.String(), b.String()) })
		return e.String()
	}
	return sorted(s.Value) == sorted(text)
}
