package proxmox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/internal/secret"
)

// agentTimeout limits the query of one guest agent. A node stops waiting for an
// agent that does not run after three seconds.
const agentTimeout = 5 * time.Second

// passwordKey is the entry of a configuration that has a masked secret.
const passwordKey = "cipassword"

// readConfig reads the configuration of one guest.
func (r *reader) readConfig(ctx context.Context, g *cluster.Guest) {
	raw, pending, err := r.readSettings(ctx, g)
	if err != nil {
		g.Status = cluster.StatusUnknown
		reason := fmt.Sprintf("the configuration of %s %d could not be read: %v", g.Kind.Name(), g.VMID, err)
		r.addGap(cluster.Gap{Path: vmPath(g.VMID), Reason: reason})
		return
	}
	digest := raw["digest"]
	if g.Config = safeConfig(raw); g.Kind == guest.Container {
		g.Config.Digest = digest
	}
	g.Name = cmp.Or(raw["name"], raw["hostname"], g.Name)
	g.Config.Pending = pending
	r.readSnapshots(ctx, g)
}

// readSnapshots reads the names of the snapshots of a guest whose configuration names none. That
// costs a request for each guest, so it does it only where they matter.
func (r *reader) readSnapshots(ctx context.Context, g *cluster.Guest) {
	if r.wanted.Snapshots == nil || g.Config.Snapshot() != "" || !r.wanted.Snapshots(g) {
		return
	}
	all, err := r.snapshots(ctx, g)
	if err != nil {
		reason := fmt.Sprintf("the snapshots of %s %d could not be read: %v", g.Kind.Name(), g.VMID, err)
		r.addGap(cluster.Gap{Path: vmPath(g.VMID), Reason: reason})
		return
	}
	slices.SortFunc(all, func(a, b Snapshot) int { return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(a.Name, b.Name)) })
	for _, s := range all {
		g.Config.Snapshots = append(g.Config.Snapshots, s.Name)
	}
}

// safeConfig is config without secrets. It changes raw.
func safeConfig(raw map[string]string) *cluster.Config {
	_, password := raw[passwordKey]
	delete(raw, passwordKey)
	delete(raw, "digest") // a checksum that changes with every write
	for key, value := range raw {
		raw[key] = secret.Redact(value)
	}
	c := config(raw)
	c.Password = password
	return c
}

// plain returns a JSON value as text.
func plain(b json.RawMessage) string {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return s
	}
	return string(b)
}

// diskBuses are the keys of disks and mount points, without their number.
var diskBuses = []string{"scsi", "virtio", "sata", "ide", "efidisk", "tpmstate", "unused", "mp"}

// config extracts the identity of a guest from its configuration.
func config(raw map[string]string) *cluster.Config {
	c := &cluster.Config{Raw: raw, UUID: strings.ToLower(pve.Parse(raw["smbios1"]).Option("uuid")), GenID: strings.ToLower(raw["vmgenid"])}
	created, err := strconv.ParseInt(pve.Parse(raw["meta"]).Option("ctime"), 10, 64)
	if err == nil {
		c.Created = created
	}
	for _, key := range slices.SortedFunc(maps.Keys(raw), compareKeys) {
		switch bus, n := pve.SplitKey(key); {
		case bus == "net" && n >= 0:
			if mac := pve.ParseNIC(raw[key]).MAC; mac != "" {
				c.MACs = append(c.MACs, strings.ToUpper(mac))
			}
		case slices.Contains(diskBuses, bus) && n >= 0, key == "rootfs":
			c.Disks = append(c.Disks, key+"="+raw[key])
		}
	}
	return c
}

// compareKeys orders net2 before net10.
func compareKeys(a, b string) int {
	busA, numberA := pve.SplitKey(a)
	busB, numberB := pve.SplitKey(b)
	return cmp.Or(strings.Compare(busA, busB), cmp.Compare(numberA, numberB), strings.Compare(a, b))
}

// queryAgents queries the agents of running candidates for an address, as the
// provider does.
func (r *reader) queryAgents(ctx context.Context, candidates []*cluster.Guest) {
	privilege := cluster.AgentAudit
	if r.beforeV9 {
		privilege = cluster.VMMonitor
	}
	var allowed, denied []*cluster.Guest
	for _, g := range candidates {
		switch {
		case g.Kind != guest.VM || g.Config == nil || g.Status != "running" || !pve.AgentEnabled(g.Config.Raw["agent"]):
		case r.rights.Has(vmPath(g.VMID), privilege), !r.beforeV9 && r.rights.Has(vmPath(g.VMID), "VM.GuestAgent.Unrestricted"):
			allowed = append(allowed, g)
		default:
			denied = append(denied, g)
		}
	}
	if len(denied) > 0 && !r.rights.Below("/vms", privilege) && len(allowed) == 0 {
		r.addGap(r.missing(ctx, "/vms", privilege, "guest agents cannot be queried"))
		denied = nil
	}
	for _, g := range denied {
		r.addGap(r.missing(ctx, vmPath(g.VMID), privilege, fmt.Sprintf("the agent of VM %d cannot be queried", g.VMID)))
	}
	if len(allowed) > 0 {
		r.wanted.Progress("querying " + cluster.Count(len(allowed), "guest agent"))
	}
	concurrently(allowed, func(g *cluster.Guest) { r.queryAgent(ctx, g) })
}

// queryAgent queries one agent, without retries. The provider waits for an address, on
// any interface but lo: an agent that answers without one, or that may not report any, is told
// apart from a silent one.
func (r *reader) queryAgent(ctx context.Context, g *cluster.Guest) {
	limited, cancel := context.WithTimeout(context.WithValue(ctx, noRetry{}, true), agentTimeout)
	defer cancel()
	var found interfaces
	err := r.get(limited, g.Path("agent", "network-get-interfaces"), &found)
	if statusCode(err) == http.StatusForbidden {
		r.addGap(cluster.Gap{Path: vmPath(g.VMID), Privilege: cluster.AgentAudit, Reason: err.Error()})
		return
	}
	if g.Config.Agent = cluster.AgentSilent; err != nil {
		return
	}
	if g.Config.Refusal = found.Result.refusal; g.Config.Refusal != "" {
		g.Config.Agent = cluster.AgentRefuses
		return
	}
	g.Config.Agent = cluster.AgentNoAddress
	if g.Config.Address = append(g.Config.Address, found.addresses(g.Config.MACs)...); len(g.Config.Address) > 0 {
		g.Config.Agent = cluster.AgentAnswers
	}
}

// addresses are those of the interfaces but lo, without those of the loopback and of links.
func (found *interfaces) addresses(macs []string) (out []string) {
	// A guest may have bridges and tunnels in any order. The addresses of its network
	// devices come first.
	device := func(mac string) int {
		if i := slices.Index(macs, strings.ToUpper(mac)); i >= 0 {
			return i
		}
		return len(macs)
	}
	slices.SortStableFunc(found.Result.list, func(a, b agentInterface) int { return device(a.MAC) - device(b.MAC) })
	for _, i := range found.Result.list {
		for _, a := range i.Addresses {
			if ip, err := netip.ParseAddr(a.Address); err == nil && ip.IsGlobalUnicast() && i.Name != "lo" {
				out = append(out, ip.String())
			}
		}
	}
	return out
}

// Agent queries the agent of a VM once, without retries, and returns the addresses that it reports
// of the network devices of the VM, or of all interfaces if their MAC addresses are not known: a
// bridge of containers in a guest often has the address of another one here. An agent that does not
// answer is no error; a missing privilege is one.
func (p *Power) Agent(ctx context.Context, g *cluster.Guest) (answers bool, addresses []string, err error) {
	limited, cancel := context.WithTimeout(context.WithValue(ctx, noRetry{}, true), agentTimeout)
	defer cancel()
	var found interfaces
	switch err := p.get(limited, g.Path("agent", "network-get-interfaces"), &found); {
	case Forbidden(err):
		return false, nil, err
	case err != nil:
		return false, nil, ctx.Err()
	}
	if g.Config == nil || len(g.Config.MACs) == 0 {
		return true, found.addresses(nil), nil
	}
	found.Result.list = slices.DeleteFunc(found.Result.list, func(i agentInterface) bool {
		return !slices.Contains(g.Config.MACs, strings.ToUpper(i.MAC))
	})
	return true, found.addresses(g.Config.MACs), nil
}
