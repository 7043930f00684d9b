//go:build unix

package real

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// handMade are unlike containers that somebody made by hand: what their configuration has beside the least,
// and what their spec says of that.
var handMade = []struct {
	key, spec string
	config    map[string]string
	running   bool
}{
	{"plain", "", nil, true},
	{"cores", "memory: 1024, swap: 0", map[string]string{"cores": "", "memory": "1024", "swap": "0"}, true},
	{"mounts", "", map[string]string{"mp0": "local-lvm:vm-302-disk-1,mp=/data,size=20G", "features": "nesting=1"}, true},
	{"nets", "", map[string]string{
		"net0": "name=eth0,bridge=vmbr0,firewall=1,gw=10.0.0.1,hwaddr=BC:24:11:AA:03:00,ip=10.0.0.43/24,tag=30,type=veth",
		"net1": "name=lan,bridge=vmbr0,hwaddr=BC:24:11:AA:03:01,ip=10.1.0.43/24,mtu=1400,type=veth",
	}, false},
	{"notes", "description: by hand, tags: [lab, hand], on_boot: true, startup: {order: 2, up: 30}",
		map[string]string{"description": "by hand\n", "tags": "hand;lab", "onboot": "1", "startup": "order=2,up=30"}, true},
	{"dns", "nameservers: [10.0.0.1, 10.0.0.2], search_domain: lab.test", map[string]string{"nameserver": "10.0.0.1 10.0.0.2", "searchdomain": "lab.test"}, false},
	{"privileged", "unprivileged: false", map[string]string{"unprivileged": "", "dev0": "/dev/dri/renderD128"}, true},
	{"odd", "protection: true, rootfs: {datastore: shared, size: 12}", map[string]string{
		"protection": "1", "cmode": "shell", "tty": "4", "console": "0", "timezone": "host", "rootfs": "shared:307/vm-307-disk-0.raw,size=12G,mountoptions=discard"}, false},
}

// networksByHand are the networks of a container in its spec, by its key.
var networksByHand = map[string]string{
	"nets": `[{bridge: vmbr0, firewall: true, mac: "BC:24:11:AA:03:00", ipv4: 10.0.0.43/24, gateway: 10.0.0.1, vlan: 30}, ` +
		`{interface: lan, bridge: vmbr0, mac: "BC:24:11:AA:03:01", ipv4: 10.1.0.43/24, mtu: 1400}]`,
}

// TestContainersByHand takes over eight unlike containers that were made by hand, by their VMIDs and MAC
// addresses. Nothing is written to any of them, and none is restarted.
func TestContainersByHand(t *testing.T) {
	t.Parallel()
	spec := "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\ndefaults:\n  node: pve1\n" +
		"  containers: {template: \"local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz\", on_boot: false}\ncontainers:\n"
	for i, c := range handMade {
		networks := networksByHand[c.key]
		if networks == "" {
			networks = fmt.Sprintf(`[{bridge: vmbr0, mac: "BC:24:11:AA:%02d:00", ipv4: dhcp}]`, i)
		}
		own := []string{fmt.Sprintf("vmid: %d, name: hand-%s, networks: %s", 300+i, c.key, networks)}
		if c.spec != "" {
			own = append(own, c.spec)
		}
		spec += "  " + c.key + ": {" + strings.Join(own, ", ") + "}\n"
	}
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	for i, c := range handMade {
		g := containerByHand(300+i, "pve1", "hand-"+c.key, fmt.Sprintf("BC:24:11:AA:%02d:00", i))
		g.Running = c.running
		g.Config["rootfs"] = fmt.Sprintf("local-lvm:vm-%d-disk-0,size=4G", 300+i)
		for key, value := range c.config {
			if g.Config[key] = value; value == "" {
				delete(g.Config, key)
			}
		}
		check(t, sim.Add(g))
	}
	p.render()
	before := stateOf(sim)
	sim.ResetLog()
	p.deployed(0, "apply --yes", "8 containers  cores, dns, mounts and 5 more: then completed in the state", "8 of 8 containers done")
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(t, sim)
	for i, c := range handMade {
		if was, is := before.guests[300+i], stateOf(sim).guests[300+i]; !reflect.DeepEqual(is, was) {
			t.Errorf("%s: was %v, is %v", c.key, was, is)
		}
	}
}
