package guard

import (
	"fmt"
	"strings"

	"stackgen/schema"
)

// line is a line for the VM's entry in its spec, with the place of the entry.
func (s *subject) line(text string) string { return specLine(s.match.VM, text) }

// specLine is a line for a VM's entry in its spec, with the place of the entry. Lines with
// disks come from a keeper.
func specLine(v *schema.VM, text string) string {
	if v == nil {
		return text
	}
	at := v.Path
	if !strings.HasSuffix(at, "."+v.Key) { // of a group or class
		at += ", " + v.Key
	}
	return text + "  # " + at
}

// macLine is the line for the MAC address of a network device, counted from 0.
func macLine(v *schema.VM, n int, mac string) string {
	return fmt.Sprintf("mac: %s  # networks of %s, entry %d", mac, v.Key, n+1)
}
