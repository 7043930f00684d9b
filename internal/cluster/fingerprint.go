package cluster

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/lock"
)

// Fingerprint is what the lock records of a guest; nil if its configuration
// was not read or says nothing.
func (g *Guest) Fingerprint() *lock.Fingerprint {
	if g.Config == nil || g.Config.UUID == "" && len(g.Config.MACs) == 0 {
		return nil
	}
	return &lock.Fingerprint{UUID: g.Config.UUID, MACs: slices.Clone(g.Config.MACs)}
}

// compare says how a configuration differs from a recorded fingerprint, and
// whether it is the same VM all the same. The UUID decides where both have one:
// Proxmox VE gives every clone another one and keeps it for life. Without it one
// common MAC decides; NICs come and go.
func compare(print *lock.Fingerprint, c *Config) (differ []string, agrees bool) {
	if c == nil {
		return nil, false
	}
	uuid := print.UUID != "" && strings.EqualFold(print.UUID, c.UUID)
	if print.UUID != "" && !uuid {
		differ = append(differ, fmt.Sprintf("smbios1 uuid is %s, recorded is %s", or(c.UUID, "none"), print.UUID))
	}
	common := slices.ContainsFunc(print.MACs, func(mac string) bool { return holds(c.MACs, mac) })
	for _, mac := range print.MACs {
		if !holds(c.MACs, mac) {
			differ = append(differ, fmt.Sprintf("no NIC has the recorded MAC %s", mac))
		}
	}
	if print.UUID != "" && c.UUID != "" {
		return differ, uuid
	}
	return differ, common
}

func holds(macs []string, mac string) bool {
	return slices.ContainsFunc(macs, func(m string) bool { return strings.EqualFold(m, mac) })
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
