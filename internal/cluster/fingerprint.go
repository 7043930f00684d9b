package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/lock"
)

// Fingerprint returns what the lock records of a guest, or nil if its
// configuration was not read or has neither a UUID nor a MAC address.
func (g *Guest) Fingerprint() *lock.Fingerprint {
	if g.Config == nil || g.Config.UUID == "" && len(g.Config.MACs) == 0 {
		return nil
	}
	return &lock.Fingerprint{UUID: g.Config.UUID, MACs: slices.Clone(g.Config.MACs)}
}

// compare describes how a configuration differs from a recorded fingerprint, and
// whether both are the same VM nevertheless. If both have a UUID, it decides:
// Proxmox VE gives every clone a new one and never changes it. Otherwise one
// common MAC address is enough, because NICs may be added and removed.
func compare(recorded *lock.Fingerprint, c *Config) (differ []string, agrees bool) {
	if c == nil {
		return nil, false
	}
	uuid := recorded.UUID != "" && strings.EqualFold(recorded.UUID, c.UUID)
	if recorded.UUID != "" && !uuid {
		differ = append(differ, fmt.Sprintf("smbios1 uuid is %s, recorded is %s", cmp.Or(c.UUID, "none"), recorded.UUID))
	}
	common := slices.ContainsFunc(recorded.MACs, func(mac string) bool { return hasMAC(c.MACs, mac) })
	for _, mac := range recorded.MACs {
		if !hasMAC(c.MACs, mac) {
			differ = append(differ, fmt.Sprintf("no NIC has the recorded MAC %s", mac))
		}
	}
	if recorded.UUID != "" && c.UUID != "" {
		return differ, uuid
	}
	return differ, common
}

func hasMAC(macs []string, mac string) bool {
	return slices.ContainsFunc(macs, func(m string) bool { return strings.EqualFold(m, mac) })
}
