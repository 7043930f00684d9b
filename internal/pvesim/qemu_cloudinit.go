package pvesim

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

var cloudOrder = []string{"ciuser", "cipassword", "searchdomain", "sshkeys", "nameserver", "citype", "ciupgrade", "cicustom"}

func qemuCloudinit(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := []object{}
	for _, k := range cloudOrder {
		if v, ok := g.effective()[k]; ok && k != "cicustom" {
			out = append(out, object{"key": k, "value": masked(k, v)})
		}
	}
	return out, nil
}

func qemuCloudinitRegenerate(c *call) (any, error) {
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	_, err := c.unlockedGuest()
	return nil, err
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
		return networkData(conf), nil
	}
	return "instance-id: " + digestOf(userData(g, conf)+networkData(conf)) + "\n", nil
}

func userData(g *Guest, conf map[string]string) string {
	host, domain, _ := strings.Cut(g.name(), ".")
	domain = cmp.Or(conf["searchdomain"], domain)
	b := "#cloud-config\nhostname: " + host + "\nmanage_etc_hosts: true\n"
	if domain != "" {
		b += "fqdn: " + host + "." + domain + "\n"
	}
	if u := conf["ciuser"]; u != "" {
		b += "user: " + u + "\n"
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
	return b + fmt.Sprintf("package_upgrade: %t\n", conf["ciupgrade"] != "0")
}

func networkData(conf map[string]string) string {
	b := "version: 1\nconfig:\n"
	for n := range 32 {
		line, ok := conf["net"+itoa(n)]
		if !ok {
			continue
		}
		mac := strings.ToLower(parseNet(line)["macaddr"])
		b += fmt.Sprintf("    - type: physical\n      name: eth%d\n      mac_address: '%s'\n      subnets:\n", n, mac)
		b += subnets(parseNet(conf["ipconfig"+itoa(n)]))
	}
	if ns := conf["nameserver"]; ns != "" || conf["searchdomain"] != "" {
		b += "    - type: nameserver\n"
		if ns != "" {
			b += "      address:\n"
			for _, a := range strings.Fields(ns) {
				b += "      - '" + a + "'\n"
			}
		}
		if d := conf["searchdomain"]; d != "" {
			b += "      search:\n      - '" + d + "'\n"
		}
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
