package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"stackgen/internal/sshkey"
)

// cloudOrder are the settings that the list of those of the drive always has.
var cloudOrder = []string{"ciuser", "cipassword", "searchdomain", "sshkeys", "nameserver", "citype", "ciupgrade", "cicustom"}

func qemuCloudinit(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := []object{}
	conf := g.effective()
	for _, k := range cloudOrder {
		v, had := g.CloudInit[k]
		switch o := (object{"key": k}); {
		case k == "cicustom":
		case conf[k] == "" || conf[k] == "0":
			if had {
				o["delete"] = 1
				out = append(out, o)
			}
		case !had:
			o["value"] = masked(k, conf[k])
			out = append(out, o)
		default:
			if v != "" {
				o["value"] = masked(k, v)
			}
			o["pending"] = masked(k, conf[k])
			out = append(out, o)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(g.CloudInit)) { // of the others, a new value of an old one is not in the list
		switch v := g.CloudInit[k]; {
		case slices.Contains(cloudOrder, k):
		case conf[k] == "":
			out = append(out, object{"key": k, "delete": 1})
		case v == "":
			out = append(out, object{"key": k, "pending": conf[k]})
		}
	}
	return out, nil
}

// recordCloudinit records that a running guest's cloud-init drive has another
// value than its configuration, until the drive is generated again.
func (g *Guest) recordCloudinit(k, v string) {
	if k != "name" && !netKey.MatchString(k) && !cloudKeys.MatchString(k) {
		return
	}
	old, recorded := g.CloudInit[k]
	switch {
	case recorded && old == v:
		delete(g.CloudInit, k)
	case !recorded && g.Config[k] != v:
		if g.CloudInit == nil {
			g.CloudInit = map[string]string{}
		}
		g.CloudInit[k] = g.Config[k]
	}
}

func qemuCloudinitRegenerate(c *call) (any, error) {
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	g, err := c.unlockedGuest()
	if err == nil {
		err = c.w.cloudFiles(g)
	}
	if err == nil {
		g.CloudInit = nil
	}
	return nil, err
}

// cloudinit reports whether a guest has a cloud-init drive.
func (g *Guest) cloudinit() bool {
	return slices.ContainsFunc(driveKeys(g.Config), func(k string) bool { return parseDrive(g.Config[k]).cloudinit() })
}

// cloudFiles checks the snippets that are written to a guest's cloud-init drive: a
// configuration may name some that do not exist, and then no drive is generated.
func (w *cluster) cloudFiles(g *Guest) error {
	if !g.cloudinit() {
		return nil
	}
	files := parseDrive("none," + g.Config["cicustom"]).opts
	for _, part := range []string{"network", "user", "meta", "vendor"} {
		id := files[part]
		if id == "" {
			continue
		}
		s, err := w.checkStorage(storageOf(id), g.Node)
		switch name := plain(id); {
		case err != nil:
			return err
		case !s.fileBased():
			return failf("unable to parse %s volume name '%s'", strings.TrimSuffix(strings.TrimSuffix(s.Type, "thin"), "pool"), name)
		case !strings.HasPrefix(name, "snippets/"):
			return failf("%s is not in the snippets directory", id)
		case s.offline(g.Node):
			return failf("storage '%s' is not online", s.ID)
		case w.volumeOn(g.Node, id) == nil:
			return s.noVolume(id)
		}
	}
	return nil
}

// hook checks that the script exists that is run before a guest starts. Source: pve-guest-common 6,
// PVE::GuestHelpers::exec_hookscript.
func (w *cluster) hook(g *Guest) error {
	id := g.Config["hookscript"]
	if id == "" {
		return nil
	}
	why := "script '" + id + "' does not exist"
	if w.storage(storageOf(id)) == nil {
		why = "storage '" + storageOf(id) + "' does not exist"
	} else if w.volumeOn(g.Node, id) != nil {
		return nil
	}
	return failf("hookscript error for %d on pre-start: %s", g.VMID, why)
}

func qemuCloudinitDump(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	conf := g.effective()
	switch c.p["type"] {
	case "user":
		return userData(g, conf), nil
	case "network":
		return c.w.networkData(g, conf), nil
	}
	return "instance-id: " + digestOf(userData(g, conf)+c.w.networkData(g, conf)) + "\n", nil
}

func userData(g *Guest, conf map[string]string) string {
	fqdn := cmp.Or(conf["name"], "VM"+itoa(g.VMID))
	host, _, qualified := strings.Cut(fqdn, ".")
	if d := conf["searchdomain"]; d != "" && !qualified {
		fqdn += "." + d
	}
	b := "#cloud-config\nhostname: " + host + "\nmanage_etc_hosts: true\nfqdn: " + fqdn + "\n"
	if u := conf["ciuser"]; u != "" {
		b += "user: " + u + "\n"
		if u == "root" {
			b += "disable_root: False\n"
		}
	}
	if conf["cipassword"] != "" {
		b += "password: **********\n"
	}
	if keys, err := url.PathUnescape(conf["sshkeys"]); err == nil && keys != "" {
		b += "ssh_authorized_keys:\n"
		for _, k := range strings.Split(strings.TrimSpace(keys), "\n") {
			b += "  - " + k + "\n"
		}
	}
	b += "chpasswd:\n  expire: False\n"
	if conf["ciuser"] != "root" {
		b += "users:\n  - default\n"
	}
	if conf["ciupgrade"] != "0" {
		b += "package_upgrade: true\n"
	}
	return b
}

// validKeys reports whether every line that is not blank is an SSH public key.
func validKeys(encoded string) bool {
	keys, err := url.PathUnescape(encoded)
	return err == nil && validPublicKeys(keys)
}

// validPublicKeys is like validKeys, of keys that are not encoded.
func validPublicKeys(keys string) bool {
	return !slices.ContainsFunc(strings.Split(keys, "\n"), func(line string) bool {
		return strings.TrimSpace(line) != "" && sshkey.Fault(line) != ""
	})
}

func (w *cluster) networkData(g *Guest, conf map[string]string) string {
	b := "version: 1\nconfig:\n"
	for n := range 32 {
		line, ok := conf["net"+itoa(n)]
		if !ok || conf["ipconfig"+itoa(n)] == "" {
			continue
		}
		mac := strings.ToLower(parseNet(line)["macaddr"])
		b += fmt.Sprintf("    - type: physical\n      name: eth%d\n      mac_address: '%s'\n      subnets:\n", n, mac)
		b += subnets(parseNet(conf["ipconfig"+itoa(n)]))
	}
	servers := strings.Fields(conf["nameserver"])
	if len(servers) == 0 {
		servers = w.node(g.Node).resolvers()
	}
	b += "    - type: nameserver\n      address:\n"
	for _, a := range servers {
		b += "      - '" + a + "'\n"
	}
	if d := conf["searchdomain"]; d != "" {
		b += "      search:\n      - '" + d + "'\n"
	}
	return b
}

func subnets(ip map[string]string) string {
	b := ""
	switch v := ip["ip"]; {
	case v == "dhcp":
		b += "      - type: dhcp4\n"
	case v != "":
		if p, err := netip.ParsePrefix(v); err == nil {
			mask := net.IP(net.CIDRMask(p.Bits(), 32)).String()
			b += fmt.Sprintf("      - type: static\n        address: '%s'\n        netmask: '%s'\n", p.Addr(), mask)
			if ip["gw"] != "" {
				b += "        gateway: '" + ip["gw"] + "'\n"
			}
		}
	}
	switch v := ip["ip6"]; {
	case v == "dhcp":
		b += "      - type: dhcp6\n"
	case v == "auto":
		b += "      - type: ipv6_slaac\n"
	case v != "":
		b += "      - type: static6\n        address: '" + v + "'\n"
		if ip["gw6"] != "" {
			b += "        gateway: '" + ip["gw6"] + "'\n"
		}
	}
	return b
}
