package pvesim

import (
	"cmp"
	"net/netip"
	"strings"
	"time"
)

// agentBoot is the time after its start at which a guest's agent responds.
const agentBoot = 3 * time.Second

// agentCall sends a command to the agent. An agent that does not respond costs
// three seconds.
func (c *call) agentCall() (*Guest, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if !g.Running {
		return nil, failf("VM %d is not running", g.VMID)
	}
	if !g.agentEnabled() {
		return nil, failf("No QEMU guest agent configured")
	}
	if !g.agentAnswers(c.w.now) {
		e := failf("QEMU guest agent is not running")
		e.delay = 3 * time.Second
		return nil, e
	}
	return g, nil
}

func (g *Guest) agentAnswers(now time.Time) bool {
	return (g.Agent.Mode == "present" || g.Agent.Mode == "refuses") && now.Sub(g.Started) >= agentBoot
}

func agentPing(c *call) (any, error) {
	if _, err := c.agentCall(); err != nil {
		return nil, err
	}
	return object{"result": object{}}, nil
}

func agentHostname(c *call) (any, error) {
	g, err := c.agentCall()
	if err != nil {
		return nil, err
	}
	return object{"result": object{"host-name": cmp.Or(g.Agent.Hostname, g.name())}}, nil
}

func agentOSInfo(c *call) (any, error) {
	if _, err := c.agentCall(); err != nil {
		return nil, err
	}
	return object{"result": object{"id": "debian", "name": "Debian GNU/Linux", "pretty-name": "Debian GNU/Linux 12 (bookworm)",
		"version": "12 (bookworm)", "version-id": "12", "machine": "x86_64", "kernel-release": "6.1.0-31-amd64",
		"kernel-version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.128-1"}}, nil
}

func agentInfo(c *call) (any, error) {
	if _, err := c.agentCall(); err != nil {
		return nil, err
	}
	commands := []object{{"enabled": true, "name": "guest-ping", "success-response": true}}
	return object{"result": object{"version": "7.2.11", "supported_commands": commands}}, nil
}

func agentInterfaces(c *call) (any, error) {
	g, err := c.agentCall()
	if err != nil {
		return nil, err
	}
	if g.Agent.Mode == "refuses" { // Source: QMPClient of qemu-server, which hands on the error of an agent as its result
		return object{"result": object{"error": object{"class": "CommandNotFound",
			"desc": "Command guest-network-get-interfaces has been disabled: the command is not allowed"}}}, nil
	}
	out := []object{{"name": "lo", "hardware-address": "00:00:00:00:00:00", "ip-addresses": []object{
		{"ip-address": "127.0.0.1", "ip-address-type": "ipv4", "prefix": 8}, {"ip-address": "::1", "ip-address-type": "ipv6", "prefix": 128}}}}
	for _, i := range c.w.interfaces(g) {
		addrs := []object{}
		for _, a := range i.Addresses {
			if p, err := netip.ParsePrefix(a); err == nil {
				kind := "ipv4"
				if p.Addr().Is6() {
					kind = "ipv6"
				}
				addrs = append(addrs, object{"ip-address": p.Addr().String(), "ip-address-type": kind, "prefix": p.Bits()})
			}
		}
		out = append(out, object{"name": i.Name, "hardware-address": strings.ToLower(i.MAC), "ip-addresses": addrs})
	}
	return object{"result": out}, nil
}

// interfaces returns the network interfaces in the seed, or else those that
// cloud-init would configure.
func (w *cluster) interfaces(g *Guest) []AgentInterface {
	if len(g.Agent.Interfaces) > 0 {
		return g.Agent.Interfaces
	}
	var out []AgentInterface
	for n := range 32 {
		line, ok := g.Config["net"+itoa(n)]
		if !ok {
			continue
		}
		i := AgentInterface{Name: "eth" + itoa(n), MAC: parseNet(line)["macaddr"]}
		ip := parseNet(g.Config["ipconfig"+itoa(n)])
		switch v := ip["ip"]; v {
		case "", "dhcp":
			i.Addresses = append(i.Addresses, w.dhcpLease(g))
		default:
			i.Addresses = append(i.Addresses, v)
		}
		if v := ip["ip6"]; strings.Contains(v, "/") {
			i.Addresses = append(i.Addresses, v)
		}
		out = append(out, i)
	}
	return out
}
