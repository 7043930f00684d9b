package cluster

import (
	"slices"
	"strings"

	"stackgen/guest"
)

// A CloneRecord is what tells the clone of a template container from another container that has got its VMID, and from a
// part of it, until it has our MAC addresses. A nil one is of no clone.
type CloneRecord struct {
	Token    string   `json:"token"`    // its description until then
	Template int      `json:"template"` // the VMID of its template
	Volumes  []string `json:"volumes"`  // the entries of the volumes of its template
}

// Is reports whether a guest is the clone, or what was made of it so far.
func (c *CloneRecord) Is(g *Guest) bool {
	return c.describes(g) && strings.TrimSpace(g.Config.Raw["description"]) == c.Token
}

// MayBe reports whether a guest is the clone, or may become it: Proxmox VE writes an empty configuration before that
// with the description.
func (c *CloneRecord) MayBe(g *Guest) bool {
	return c.Is(g) || c.describes(g) && g.Lock == g.Kind.CloneLock() && g.Config.Raw["description"] == "" && len(g.Config.MACs) == 0
}

func (c *CloneRecord) describes(g *Guest) bool {
	return c != nil && c.Token != "" && g != nil && g.Kind == guest.Container && g.Config != nil
}

// Lacks are the volumes of its template that a clone does not have: it was interrupted, and somebody has removed its lock.
func (c *CloneRecord) Lacks(config map[string]string) []string {
	return slices.DeleteFunc(slices.Clone(c.Volumes), func(key string) bool { return config[key] != "" })
}
