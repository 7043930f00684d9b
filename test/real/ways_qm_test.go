//go:build unix

package real

import (
	"fmt"
	"net/url"

	"stackgen/guest"
)

// guestTool runs a command on a guest of this node: qm or pct.
func (h *host) guestTool(kind guest.Kind, words []string, options url.Values) (string, error) {
	if len(words) < 3 {
		return "", fmt.Errorf("usage: %s COMMAND VMID", kind.Tool())
	}
	path := kind.Guests(h.node) + "/" + words[2]
	switch words[1] {
	case "config":
		return h.api("GET", path+"/config", nil)
	case "set":
		return h.api("PUT", path+"/config", options)
	case "unlock":
		return h.api("PUT", path+"/config", url.Values{"delete": {"lock"}, "skiplock": {"1"}})
	case "destroy":
		return h.api("DELETE", path, options)
	case "migrate":
		if len(words) < 4 {
			return "", fmt.Errorf("usage: %s migrate VMID TARGET", kind.Tool())
		}
		options.Set("target", words[3])
		return h.api("POST", path+"/migrate", options)
	case "start", "stop", "shutdown", "resume", "suspend":
		return h.api("POST", path+"/status/"+words[1], options)
	case "disk", "resize":
		rest := words[2:]
		if words[1] == "disk" {
			rest, path = words[3:], kind.Guests(h.node)+"/"+words[3]
		}
		if len(rest) < 3 {
			return "", fmt.Errorf("usage: %s resize VMID DISK SIZE", kind.Tool())
		}
		return h.api("PUT", path+"/resize", url.Values{"disk": {rest[1]}, "size": {rest[2]}})
	}
	return "", fmt.Errorf("unknown command %s %s", kind.Tool(), words[1])
}

// restore restores a guest as it was when its world was built.
func (h *host) restore(backup, vmid string) error {
	if backup != wayPlaceholders["BACKUP"] {
		return fmt.Errorf("unable to open file '%s'", backup)
	}
	for _, g := range h.world.guests() {
		if fmt.Sprint(g.VMID) == vmid {
			if _, exists := stateOf(h.cluster()).guests[g.VMID]; exists {
				return fmt.Errorf("unable to restore VM %s - VM %s already exists", vmid, vmid)
			}
			return h.cluster().Add(g)
		}
	}
	return fmt.Errorf("no backup of VM %s", vmid)
}
