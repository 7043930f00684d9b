//go:build unix

package real

import (
	"reflect"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// containersLive is a VM and two containers with records.
const containersLive = `pool: {id: live, create: true}
defaults: {node: pve1, tags: [lab]}
vms:
  web: {template: 9002, serial: socket, vga: {type: serial0}, agent: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}], cloud_init: {ipv4: 10.0.0.8/24}}
containers:
  ns:
    template: local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz
    networks: [{bridge: vmbr0, ipv4: 10.0.0.53/24, gateway: 10.0.0.1}]
    nameservers: [10.0.0.1]
    features: {nesting: true}
    description: resolver
    dns: {records: [dns, resolver]}
  proxy:
    template: local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz
    memory: 1024
    mounts: [{path: /srv/data, datastore: local-lvm, size: 2}]
    cores: 2
    startup: {order: 2}
`

// containerByHand is a container that is not of the project.
func containerByHand(vmid int, node, name, mac string) *pvesim.Guest {
	return &pvesim.Guest{VMID: vmid, Type: "lxc", Node: node, Config: map[string]string{
		"hostname": name, "memory": "512", "swap": "512", "cores": "1", "ostype": "alpine", "arch": "amd64", "unprivileged": "1",
		"net0": "name=eth0,bridge=vmbr0,hwaddr=" + mac + ",ip=dhcp,type=veth",
	}}
}

// change changes a guest of the simulator, as by hand.
func (c *dnsCluster) change(vmid int, change func(*pvesim.Guest)) {
	c.sim.Change(func(seed *pvesim.Seed) {
		for _, g := range seed.Guests {
			if g.VMID == vmid {
				change(g)
			}
		}
	})
}

// archives gives the archive of the containers to one node, or to all of them.
func (c *dnsCluster) archives(node string) {
	c.sim.Change(func(seed *pvesim.Seed) {
		for _, v := range seed.Volumes {
			if v.ID == containerArchive {
				v.Node = node
			}
		}
	})
}

// writes are the writes to guests since the log was reset.
func (c *dnsCluster) writes() int { return c.sim.Counters().Writes }

// TestContainers is the life of two containers and a VM with records: they are created, lose
// their state, and are destroyed. A VMID that is taken is never taken over. Adopted and moved ones are
// in the guide to containers, which TestGuides runs.
func TestContainers(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS\n"+containersLive)
	const ns, proxy = 101, 102 // web is 100

	// The VMID of a container belongs to a container, and then to a VM, of somebody else.
	check(t, p.sim.Add(containerByHand(ns, "pve2", "stranger", "BC:24:11:AA:AA:01")))
	p.sim.ResetLog()
	p.step(3, "apply --yes", "blocked conflict live/ns", "container 101 (stranger) on pve2")
	p.sim.Remove(ns)
	check(t, p.sim.Add(guestByHand(ns, "pve2", "stranger")))
	p.step(3, "apply --yes", "blocked conflict live/ns", "VM 101 (stranger) on pve2")
	if n := p.writes(); n != 0 {
		t.Fatalf("the refused applies made %d writes", n)
	}
	p.sim.Remove(ns)

	// The node does not have the archive, and another one does.
	p.archives("pve2")
	p.step(3, "apply --yes", "blocked cannot-create live/ns", "pveam download local", "one of pve2")
	if n := p.writes(); n != 0 {
		t.Fatalf("the apply without the archive made %d writes", n)
	}
	p.archives("")

	// From nothing to an empty plan.
	p.step(0, "apply --yes")
	p.has("dns", "10.0.0.53")
	p.has("resolver", "10.0.0.53")
	p.address("live-proxy")
	p.sim.ResetLog()
	p.step(0, "apply --yes", "nothing to do")
	if n := p.writes(); n != 0 {
		t.Errorf("an apply without changes made %d writes", n)
	}
	p.step(0, "status", "live/ns", "live/proxy")
	p.change(proxy, func(g *pvesim.Guest) {
		if g.Config["mp0"] != "local-lvm:vm-102-disk-1,mp=/srv/data,backup=1,size=2G" {
			t.Errorf("its mount point: %q", g.Config["mp0"])
		}
	})

	p.powersContainers(ns, proxy)

	// The state is lost: an apply imports both without a write, and another one has nothing to do.
	before := stateOf(p.sim)
	p.remove(".state/live/proxmox-container")
	p.sim.ResetLog()
	p.step(0, "apply --yes")
	p.step(0, "apply --yes", "nothing to do")
	if n := p.writes(); n != 0 {
		t.Errorf("the import made %d writes", n)
	}
	for _, id := range []int{ns, proxy} {
		was, is := before.guests[id], stateOf(p.sim).guests[id]
		if !reflect.DeepEqual(is, was) {
			t.Errorf("container %d is another one, or was restarted: was %v, is %v", id, was, is)
		}
	}

	// A change that restarts a running container needs its permission; another one does not.
	text := func(from, to string) string {
		return p.liveText("DNS\n" + strings.Replace(containersLive, from, to, 1))
	}
	p.write("specs/live.yaml", text("memory: 1024", "memory: 2048"))
	p.render()
	p.step(3, "apply --yes", "blocked would-harm live/proxy", "restart: true")
	p.write("specs/live.yaml", text("memory: 1024", "memory: 2048\n    restart: true"))
	p.render()
	p.step(0, "apply --yes")
	if is := stateOf(p.sim).guests[proxy]; is.started.Equal(before.guests[proxy].started) {
		t.Error("the change of memory did not restart the container")
	}
	if is := stateOf(p.sim).guests[ns]; !is.started.Equal(before.guests[ns].started) {
		t.Error("the change of another container restarted it")
	}

	// A container that is off has no address: its record stays, and every apply of its unit succeeds.
	p.change(proxy, func(g *pvesim.Guest) { g.Running = false })
	p.step(0, "apply --yes", "live is as its spec says")
	p.address("live-proxy")
	p.change(proxy, func(g *pvesim.Guest) { g.Running = true })

	// A rebuild of the VM leaves a change of a container to an apply.
	p.change(ns, func(g *pvesim.Guest) { g.Config["description"] = "by hand" })
	p.deployed(0, "rebuild live/web --yes", "the VMs of live are as its spec says")
	p.step(0, "apply --yes", "live/ns")
	p.step(0, "apply --yes", "nothing to do")

	p.step(0, "destroy --yes")
	for id := range stateOf(p.sim).guests {
		if id >= 100 && id < 110 {
			t.Errorf("guest %d is left", id)
		}
	}
	p.has("dns")
	p.noSecretInFiles()
}

// powersContainers starts and stops the containers of a stack with a VM, and takes one back to a checkpoint.
func (c *dnsCluster) powersContainers(ns, proxy int) {
	c.Helper()
	c.deployed(0, "power shutdown live/proxy --yes", "1 container: 1 shut down")
	c.deployed(0, "power start", "1 VM and 2 containers: 1 started, 2 already so")
	c.deployed(3, "power suspend live/ns --yes", "1 container: 1 refused", "it is a container, and Proxmox VE pauses only VMs")
	c.deployed(0, "power suspend live --dry-run", "note: suspend is for VMs; these containers are left as they are: live/ns, live/proxy", "1 VM: 1 would be paused")
	c.change(ns, func(g *pvesim.Guest) { g.Pending = map[string]string{"nameserver": "10.0.0.1"} })
	c.deployed(0, "restart --pending --yes", "nothing to do") // it has the value already
	c.change(ns, func(g *pvesim.Guest) {
		g.Config["nameserver"], g.Pending = "10.0.0.9", map[string]string{"nameserver": "10.0.0.1"}
	})
	c.deployed(0, "preflight", "stackgen restart --pending live/ns")
	c.deployed(0, "apply --yes", "nothing to do: live is as its spec says; changes of live/ns wait for a restart: `stackgen restart --pending live`")
	c.deployed(0, "restart --pending --yes", "1 container: 1 rebooted")
	c.deployed(0, "checkpoint baseline live/proxy", "1 container: 1 given a checkpoint")
	c.change(proxy, func(g *pvesim.Guest) { g.Config["memory"] = "2048" })
	c.deployed(3, "checkpoint late live/proxy", "its plan is not empty")
	c.deployed(0, "reset live/proxy --yes", "1 container: 1 reset", "and running")
	c.deployed(0, "apply --yes", "nothing to do")
}
