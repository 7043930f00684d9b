package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func lxcHandlers() map[string]handler {
	const ct = "/nodes/{node}/lxc/{vmid}"
	return map[string]handler{
		"GET /nodes/{node}/lxc":                        lxcList,
		"POST /nodes/{node}/lxc":                       lxcCreate,
		"DELETE " + ct:                                 lxcDestroy,
		"GET " + ct + "/config":                        qemuConfig,
		"PUT " + ct + "/config":                        lxcUpdate,
		"GET " + ct + "/pending":                       qemuPending,
		"GET " + ct + "/feature":                       lxcFeature,
		"GET " + ct + "/status":                        lxcStatusIndex,
		"GET " + ct + "/status/current":                lxcStatus,
		"GET " + ct + "/interfaces":                    lxcInterfaces,
		"PUT " + ct + "/resize":                        lxcResize,
		"POST " + ct + "/move_volume":                  lxcMoveVolume,
		"POST " + ct + "/clone":                        lxcClone,
		"POST " + ct + "/template":                     lxcTemplate,
		"POST " + ct + "/migrate":                      lxcMigrate,
		"POST " + ct + "/vncproxy":                     lxcVNC,
		"POST " + ct + "/termproxy":                    qemuTerminal,
		"POST " + ct + "/spiceproxy":                   lxcSpice,
		"GET " + ct + "/vncwebsocket":                  consoleSocket,
		"POST " + ct + "/status/start":                 lxcStart,
		"POST " + ct + "/status/stop":                  lxcStop,
		"POST " + ct + "/status/shutdown":              lxcShutdown,
		"POST " + ct + "/status/reboot":                lxcReboot,
		"POST " + ct + "/status/suspend":               lxcSuspend,
		"POST " + ct + "/status/resume":                lxcResume,
		"GET " + ct + "/snapshot":                      snapshotList,
		"POST " + ct + "/snapshot":                     snapshotCreate,
		"GET " + ct + "/snapshot/{snapname}":           index("cmd", "rollback", "config"),
		"DELETE " + ct + "/snapshot/{snapname}":        snapshotDelete,
		"GET " + ct + "/snapshot/{snapname}/config":    snapshotConfig,
		"PUT " + ct + "/snapshot/{snapname}/config":    snapshotDescribe,
		"POST " + ct + "/snapshot/{snapname}/rollback": snapshotRollback,
	}
}

const lxcConfigPath = "/nodes/{node}/lxc/{vmid}/config"

func lxcList(c *call) (any, error) {
	out := []object{}
	for _, id := range c.w.vmids() {
		g := c.w.guests[id]
		if g.Node == c.node && g.container() && c.w.allowed(c.who, "/vms/"+itoa(id), "VM.Audit") {
			out = append(out, c.w.lxcFigures(g))
		}
	}
	return out, nil
}

func (w *cluster) lxcFigures(g *Guest) object {
	out := w.guestStatus(g)
	out["type"], out["swap"], out["maxswap"] = "lxc", 0, int64(atoi(g.Config["swap"]))*mib
	out["diskread"], out["diskwrite"] = 0, 0
	if limit := g.Config["cpulimit"]; g.Config["cores"] == "" && limit != "" && limit != "0" {
		out["cpus"] = limit
	}
	return out
}

// containerCPUs returns the CPUs that a container may use: without a limit, those of its node.
func (w *cluster) containerCPUs(g *Guest) int {
	if n := cmp.Or(atoi(g.Config["cores"]), atoi(g.Config["cpulimit"])); n > 0 {
		return n
	}
	if n := w.node(g.Node); n != nil {
		return n.CPUs
	}
	return 1
}

func lxcStatus(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := c.w.lxcFigures(g)
	out["ha"] = c.w.haStatus(g)
	return out, nil
}

func lxcStatusIndex(c *call) (any, error) {
	if _, err := c.guest(); err != nil {
		return nil, err
	}
	return index("subdir", "current", "start", "stop", "shutdown", "reboot", "migrate")(c)
}

// stored returns a description as the configuration has it: that of a container keeps the
// end of its last line of comments.
func (g *Guest) stored(description string) string {
	if !g.container() || strings.TrimSpace(description) == "" {
		return description
	}
	return strings.TrimRight(description, " \t\r\n") + "\n"
}

// lease is an address of a container, and when it got it.
type lease struct {
	address string // with the length of its prefix
	from    time.Time
}

// dhcpDelay is the time that a container needs to get an address from a DHCP server.
const dhcpDelay = 2 * time.Second

// leasesOf returns the addresses that a NIC of a container gets which is up since a time.
func (w *cluster) leasesOf(g *Guest, nic map[string]string, up time.Time) []lease {
	var out []lease
	for _, k := range []string{"ip", "ip6"} {
		switch v := nic[k]; v {
		case "", "manual", "auto":
		case "dhcp":
			wait := dhcpDelay
			if w.durations != nil {
				if d, ok := w.durations("dhcp", g.VMID); ok {
					wait, up = d, w.now // what a caller knows is when it is seen
				}
			}
			if k == "ip" {
				out = append(out, lease{w.dhcpAddress(g), up.Add(wait)})
			}
		default:
			out = append(out, lease{v, up})
		}
	}
	return out
}

// dhcpAddress is an address in the network of the container's node, by its VMID.
func (w *cluster) dhcpAddress(g *Guest) string {
	net := "192.0.2."
	if n := w.node(g.Node); n != nil {
		net = n.Address[:strings.LastIndex(n.Address, ".")+1]
	}
	return net + itoa(100+g.VMID%100) + "/24"
}

// nics returns the addresses of a running container by its NICs.
func (w *cluster) nics(g *Guest) map[string][]lease {
	if g.leases == nil {
		g.leases = map[string][]lease{}
		for k, v := range g.Config {
			if netKey.MatchString(k) {
				n := parseDrive(v).opts
				g.leases[k] = w.leasesOf(g, n, g.Started)
				if n["ip"] != "dhcp" && n["ip"] != "" {
					g.leases[k] = append(g.leases[k], lease{linkLocal(n["hwaddr"]), g.Started})
				}
			}
		}
	}
	return g.leases
}

// linkLocal returns the address that a card with a MAC address gives itself.
func linkLocal(mac string) string {
	var b [6]int64
	for i, part := range strings.Split(mac, ":") {
		if i < len(b) {
			b[i], _ = strconv.ParseInt(part, 16, 64)
		}
	}
	return fmt.Sprintf("fe80::%x:%xff:fe%02x:%x/64", (b[0]^2)<<8|b[1], b[2], b[3], b[4]<<8|b[5])
}

// changeNIC changes the addresses of a NIC of a running container: another card has its own,
// and another address is added to those that it has.
func (w *cluster) changeNIC(g *Guest, k, value string) {
	was, is, leases := parseDrive(g.Config[k]).opts, parseDrive(value).opts, w.nics(g)
	switch {
	case g.Config[k] == "" || !same(was, is, "hwaddr", "name"):
		leases[k] = w.leasesOf(g, is, w.now)
	case !same(was, is, "ip", "ip6"):
		leases[k] = append(leases[k], w.leasesOf(g, is, w.now)...)
	}
}

func lxcInterfaces(c *call) (any, error) {
	g := c.w.guests[c.vmid()]
	if g == nil || g.Node != c.node || !g.container() || !g.Running {
		return nil, nil
	}
	long := func(address string) lease { return lease{address: address} }
	out := []object{netInterface("lo", "00:00:00:00:00:00", []lease{long("127.0.0.1/8"), long("::1/128")}, c.w.now)}
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		if netKey.MatchString(k) {
			n := parseDrive(g.Config[k]).opts
			out = append(out, netInterface(n["name"], strings.ToLower(n["hwaddr"]), c.w.nics(g)[k], c.w.now))
		}
	}
	return out, nil
}

// netInterface is one interface with the addresses that it has at a time.
func netInterface(name, mac string, leases []lease, now time.Time) object {
	addresses := []object{}
	out := object{"name": name, "hwaddr": mac, "hardware-address": mac}
	for _, l := range leases {
		if l.from.After(now) {
			continue
		}
		family := "inet"
		if strings.Contains(l.address, ":") {
			family = "inet6"
		}
		ip, prefix, _ := strings.Cut(l.address, "/")
		addresses = append(addresses, object{"ip-address": ip, "ip-address-type": family, "prefix": prefix})
		out[family] = l.address
	}
	out["ip-addresses"] = addresses
	return out
}
