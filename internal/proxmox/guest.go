package proxmox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackgen/internal/cluster"
	"stackgen/schema"
)

// pingTimeout bounds how long an agent is waited for; a node gives up on one
// that does not run after three seconds.
const pingTimeout = 5 * time.Second

// config1 reads one guest's configuration.
func (l *look) config1(ctx context.Context, g *cluster.Guest) {
	var raw map[string]json.RawMessage
	if err := l.get(ctx, fmt.Sprintf("/nodes/%s/%s/%d/config", g.Node, g.Kind, g.VMID), &raw); err != nil {
		g.Status = cluster.StatusUnknown
		l.add(cluster.Gap{Path: vmPath(g.VMID), Reason: fmt.Sprintf("the configuration of VM %d could not be read: %v", g.VMID, err)})
		return
	}
	flat := make(map[string]string, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if key == "cipassword" || key == "digest" {
			continue // a secret, masked; and what changes with every write
		}
		flat[key] = schema.Redact(plain(raw[key]))
	}
	g.Name = or(or(flat["name"], flat["hostname"]), g.Name)
	g.Config = config(flat)
	_, g.Config.Password = raw["cipassword"]
}

// plain is a JSON value as text.
func plain(b json.RawMessage) string {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return s
	}
	return string(b)
}

// macShape finds the MAC in a netN entry, such as virtio=BC:24:11:00:00:01 or
// hwaddr=...
var macShape = regexp.MustCompile(`(?i)=([0-9a-f]{2}(?::[0-9a-f]{2}){5})(?:,|$)`)

// config picks a guest's identity from its configuration.
func config(raw map[string]string) *cluster.Config {
	c := &cluster.Config{Raw: raw, UUID: strings.ToLower(option(raw["smbios1"], "uuid")), GenID: strings.ToLower(raw["vmgenid"])}
	created, err := strconv.ParseInt(option(raw["meta"], "ctime"), 10, 64)
	if err == nil {
		c.Created = created
	}
	for _, key := range slices.SortedFunc(maps.Keys(raw), schema.NaturalCompare) {
		switch bus, n := split(key); {
		case bus == "net" && n >= 0:
			if m := macShape.FindStringSubmatch(raw[key]); m != nil {
				c.MACs = append(c.MACs, strings.ToUpper(m[1]))
			}
		case slices.Contains([]string{"scsi", "virtio", "sata", "ide", "efidisk", "tpmstate", "unused", "mp"}, bus) && n >= 0, key == "rootfs":
			c.Disks = append(c.Disks, key+"="+raw[key])
		}
	}
	return c
}

// split parts net0 into net and 0; the number is -1 where there is none.
func split(key string) (string, int) {
	name := strings.TrimRight(key, "0123456789")
	n, err := strconv.Atoi(key[len(name):])
	if err != nil {
		return key, -1
	}
	return name, n
}

// option is one entry of a list such as uuid=...,base64=1.
func option(list, name string) string {
	for part := range strings.SplitSeq(list, ",") {
		if value, ok := strings.CutPrefix(part, name+"="); ok {
			return value
		}
	}
	return ""
}

// listens reports whether the agent is switched on: 1, enabled=1,...
func listens(agent string) bool {
	first, _, _ := strings.Cut(agent, ",")
	on := option(agent, "enabled")
	return first == "1" || on == "1"
}

// agents asks the agents of running candidates what the provider will wait for:
// an address.
func (l *look) agents(ctx context.Context, candidates []*cluster.Guest) {
	privilege := cluster.AgentAudit
	if l.old {
		privilege = cluster.VMMonitor
	}
	var asked, barred []*cluster.Guest
	for _, g := range candidates {
		switch {
		case g.Kind != cluster.KindVM || g.Config == nil || g.Status != "running" || !listens(g.Config.Raw["agent"]):
		case l.rights.has(vmPath(g.VMID), privilege), !l.old && l.rights.has(vmPath(g.VMID), "VM.GuestAgent.Unrestricted"):
			asked = append(asked, g)
		default:
			barred = append(barred, g)
		}
	}
	if len(barred) > 0 && !l.rights.below("/vms", privilege) && len(asked) == 0 {
		l.add(l.mend(ctx).gap("/vms", privilege, "guest agents may not be asked whether they answer"))
		barred = nil
	}
	for _, g := range barred {
		l.add(l.mend(ctx).gap(vmPath(g.VMID), privilege, fmt.Sprintf("the agent of VM %d may not be asked whether it answers", g.VMID)))
	}
	if len(asked) > 0 {
		l.wanted.Progress(fmt.Sprintf("asking %d guest agents", len(asked)))
	}
	each(asked, func(g *cluster.Guest) { l.ping(ctx, g) })
}

// ping asks one agent, once. Only a yes counts as one: an agent that is there
// but has no address yet blocks the provider just so.
func (l *look) ping(ctx context.Context, g *cluster.Guest) {
	quick, cancel := context.WithTimeout(context.WithValue(ctx, once{}, true), pingTimeout)
	defer cancel()
	var found interfaces
	err := l.get(quick, fmt.Sprintf("/nodes/%s/qemu/%d/agent/network-get-interfaces", g.Node, g.VMID), &found)
	if code(err) == 403 {
		l.add(cluster.Gap{Path: vmPath(g.VMID), Privilege: cluster.AgentAudit, Reason: err.Error()})
		return
	}
	g.Config.Agent = cluster.AgentSilent
	for _, i := range found.Result {
		for _, a := range i.Addresses {
			if ip, err := netip.ParseAddr(a.Address); err == nil && ip.IsGlobalUnicast() {
				g.Config.Address = append(g.Config.Address, ip.String())
				g.Config.Agent = cluster.AgentAnswers
			}
		}
	}
}
