//go:build unix

package real

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// A found is a container that somebody made by hand: what its configuration has beside the least, and how far
// a spec goes. An empty value removes the entry.
type found struct {
	name     string
	config   map[string]string
	stopped  bool
	adopted  bool   // a spec cannot say all of it
	left     string // why it gets no spec
	inflight string // a pending change of a running one, as `pct set` leaves it
}

// foundContainers are unlike containers, the first one with the VMID 400.
var foundContainers = []found{
	{name: "plain"},
	{name: "NAS.Home", config: map[string]string{"description": "files: {x}\n", "tags": "hand;lab", "onboot": "1", "startup": "order=2,up=30,down=60", "protection": "1"}},
	{name: "static", stopped: true, config: map[string]string{
		"net0":       "name=eth0,bridge=vmbr0,firewall=1,gw=10.0.0.1,hwaddr=BC:24:11:BB:02:00,ip=10.0.0.43/24,tag=30,type=veth",
		"net1":       "name=lan,bridge=vmbr0,hwaddr=BC:24:11:BB:02:01,ip=10.1.0.43/24,ip6=auto,mtu=1400,type=veth",
		"net2":       "name=eth2,bridge=vmbr0,hwaddr=BC:24:11:BB:02:02,type=veth",
		"nameserver": "10.0.0.1 10.0.0.2", "searchdomain": "lab.test",
	}},
	{name: "resolver", config: map[string]string{"nameserver": "10.0.0.1", "memory": "2048", "swap": "0", "cores": "4"}},
	{name: "searches", config: map[string]string{"searchdomain": "lab.test", "ostype": "unmanaged"}},
	{name: "privileged", config: map[string]string{"unprivileged": "", "dev0": "/dev/dri/renderD128", "lxc": ""}},
	{name: "mounts", config: map[string]string{"mp0": "local-lvm:vm-406-disk-1,mp=/data,size=20G", "mp1": "/srv/media,mp=/media", "features": "nesting=1,keyctl=1", "hookscript": "local:snippets/hook.pl"}},
	{name: "console", stopped: true, config: map[string]string{"cmode": "shell", "tty": "4", "console": "0", "timezone": "host", "rootfs": "local-lvm:vm-407-disk-0,size=12G"}},
	{name: "megabytes", config: map[string]string{"rootfs": "shared:408/vm-408-disk-0.raw,size=10756M"}},
	{name: "six", stopped: true, config: map[string]string{"net0": "name=eth0,bridge=vmbr0,gw6=2001:db8::1,hwaddr=BC:24:11:BB:09:00,ip6=2001:db8::9/64,type=veth"}},
	{name: "waits", inflight: "10.0.0.9"},

	{name: "gap", adopted: true, config: map[string]string{"net2": "name=eth2,bridge=vmbr0,hwaddr=BC:24:11:BB:0B:02,ip=dhcp,type=veth"}},
	{name: "manual", stopped: true, adopted: true, config: map[string]string{"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:BB:0C:00,ip=manual,type=veth"}},
	{name: "rate", adopted: true, config: map[string]string{"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:BB:0D:00,ip=dhcp,link_down=1,rate=10,type=veth"}},
	{name: "vlans", adopted: true, config: map[string]string{"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:BB:0E:00,ip=dhcp,trunks=10;20,type=veth"}},
	{name: "limits", adopted: true, config: map[string]string{"cpulimit": "2"}},
	{name: "units", adopted: true, config: map[string]string{"cpuunits": "2048"}},
	{name: "noswap", adopted: true, config: map[string]string{"swap": ""}},
	{name: "mapped", adopted: true, config: map[string]string{"rootfs": "local-lvm:vm-417-disk-0,size=4G,acl=1,mountoptions=discard"}},
	{name: "arm", adopted: true, config: map[string]string{"arch": "arm64"}},
	{name: "late", stopped: true, adopted: true, config: map[string]string{
		"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:BB:13:00,type=veth",
		"net1": "name=eth1,bridge=vmbr0,hwaddr=BC:24:11:BB:13:01,ip=10.9.0.5/24,type=veth",
	}},
	{name: "", adopted: true, config: map[string]string{"hostname": ""}},

	{name: "alone", left: "it has no network", config: map[string]string{"net0": ""}},
	{name: "nomac", left: "has no hwaddr", config: map[string]string{"net0": "name=eth0,bridge=vmbr0,ip=dhcp,type=veth"}},
	{name: "range", left: "a range of VLANs", config: map[string]string{"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:BB:17:00,ip=dhcp,trunks=2-9,type=veth"}},
	{name: "quoted", left: "a quote", config: map[string]string{"mp0": `/srv/a"b,mp=/media`}},
	{name: "limited", left: "a limit and without cores", config: map[string]string{"cpulimit": "2", "cores": ""}},
	{name: "all", adopted: true, config: map[string]string{"cores": ""}},
	{name: "backup", left: "lock=backup", config: map[string]string{"lock": "backup"}},
	{name: "copy-a", left: "has its MAC address", config: map[string]string{"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:BB:FF:00,ip=dhcp,type=veth"}},
	{name: "copy-b", left: "has its MAC address", config: map[string]string{"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:BB:FF:00,ip=dhcp,type=veth"}},
}

// TestDiscoverContainers brings unlike containers that were made by hand into a spec beside two VMs, in an
// empty project. The apply after it imports them: no request writes to any of them, none is restarted,
// and the plan is empty. A change in the spec changes only that.
func TestDiscoverContainers(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	sim := p.simulate()
	vmids := []int{}
	for i, c := range foundContainers {
		vmid := 400 + i
		g := containerByHand(vmid, "pve1", c.name, fmt.Sprintf("BC:24:11:AA:%02X:00", i))
		g.Running = !c.stopped
		g.Config["rootfs"] = fmt.Sprintf("local-lvm:vm-%d-disk-0,size=4G", vmid)
		for key, value := range c.config {
			if g.Config[key] = value; value == "" {
				delete(g.Config, key)
			}
		}
		check(t, sim.Add(g))
		if c.inflight != "" {
			sim.Change(func(s *pvesim.Seed) {
				g := s.Guests[slices.IndexFunc(s.Guests, func(g *pvesim.Guest) bool { return g.VMID == vmid })]
				g.Pending = map[string]string{"nameserver": c.inflight}
			})
		}
		vmids = append(vmids, vmid)
	}
	for i := range 2 {
		check(t, sim.Add(guestByHand(500+i, "pve1", fmt.Sprintf("vm%d", i))))
		vmids = append(vmids, 500+i)
	}
	sim.Change(func(s *pvesim.Seed) { s.Pools = append(s.Pools, &pvesim.Pool{ID: "hand", Guests: vmids}) })
	before, was := digests(t, sim), stateOf(sim).guests
	sim.ResetLog()
	said := p.deployed(3, "discover --yes --specs-only --pool hand", "2 VMs and 23 containers in no spec: 1 spec", "the cluster has 40 guests: 5 VMs, 31 containers, 4 templates",
		"profile default: 2 VMs and 11 containers", "profile adopted: 12 containers; no plan changes the container", "The first plan imports 2 VMs and 23 containers and changes nothing")
	spec := p.read("specs/hand.yaml")
	for i, c := range foundContainers {
		of := regexp.MustCompile(fmt.Sprintf(`\{adopt: \{vmid: %d\}(, profile: default)?`, 400+i)).FindStringSubmatch(spec)
		switch {
		case c.left != "" && (of != nil || !regexp.MustCompile(fmt.Sprintf(`(?m)^\s+%d %s on pve1: .*%s`, 400+i, c.name, c.left)).MatchString(said)):
			t.Errorf("%s is in the spec, or it is not said why it is not", c.name)
		case c.left == "" && (of == nil || (of[1] == "") != c.adopted):
			t.Errorf("%s is not in the spec as it should be", c.name)
		}
	}
	if regexp.MustCompile(`/lxc/\d+/config --(delete|dev|mp|net|rootfs)`).MatchString(said) {
		t.Error("a line is printed that replaces an entry of a container")
	}
	p.deployed(0, "render")
	p.deployed(0, "import-blocks --verify", "hand/proxmox-container: 23 to import, 0 to add, 0 to change, 0 to destroy")
	noWrites(t, sim)
	p.deployed(0, "apply --yes", "hand is as its spec says")
	p.deployed(0, "apply --yes", "nothing to do")
	settled(t, sim) // of VMs
	if after := digests(t, sim); !maps.Equal(before, after) {
		t.Errorf("configurations changed:\n%v\n%v", before, after)
	}
	if is := stateOf(sim).guests; !reflect.DeepEqual(is, was) {
		t.Errorf("was %v, is %v", was, is)
	}
	p.deployed(3, "discover --pool hand", "nothing to add", "in specs already: 2 VMs and 23 containers")
	p.deployed(2, "drift", "1 change is harmless: 1 waiting for a restart already", "the new nameserver (10.0.0.9) waits for a restart")
	p.editsFound(sim)
	p.retiresFound(sim)
	p.losesFound(sim)
}

// editsFound changes some containers in the spec. Nothing else changes in the cluster.
func (p *project) editsFound(sim *pvesim.Server) {
	p.Helper()
	before := stateOf(sim).guests
	spec := p.read("specs/hand.yaml")
	for _, edit := range [][2]string{
		{"{adopt: {vmid: 402}, profile: default, ", "{adopt: {vmid: 402}, profile: default, cores: 3, "},
		{"nameservers: [\"10.0.0.1\"]}", "nameservers: [\"10.0.0.1\"], description: resolves}"},
		{"rootfs: {size: 12}", "rootfs: {size: 13}"},
		{"{adopt: {vmid: 407}, profile: default, memory: 512", "{adopt: {vmid: 407}, profile: default, memory: 768"},
		{"{adopt: {vmid: 413}, ", "{adopt: {vmid: 413}, memory: 768, "}, // of profile adopted
	} {
		if !strings.Contains(spec, edit[0]) {
			p.Fatalf("the spec lacks %s:\n%s", edit[0], spec)
		}
		spec = strings.Replace(spec, edit[0], edit[1], 1)
	}
	p.write("specs/hand.yaml", spec)
	p.deployed(0, "render")
	p.deployed(0, "apply --yes", "hand is as its spec says")
	p.deployed(0, "apply --yes", "nothing to do")
	want := map[int]string{
		402: "cores=3", 403: "description=resolves\n", 407: "memory=768 rootfs=acl=0,size=13958643712,quota=0,replicate=0,volume=local-lvm:vm-407-disk-0",
	}
	for vmid, is := range stateOf(sim).guests {
		var differs []string
		for _, key := range slices.Sorted(maps.Keys(is.config)) {
			if is.config[key] != before[vmid].config[key] {
				differs = append(differs, key+"="+is.config[key])
			}
		}
		if got := strings.Join(differs, " "); got != want[vmid] || len(is.config) < len(before[vmid].config) || !is.started.Equal(before[vmid].started) {
			p.Errorf("guest %d: the edits change %q, want %q; it has %v", vmid, got, want[vmid], is)
		}
	}
}

// retiresFound destroys a container that was made by hand, and that no plan changes: its spec asks for that.
func (p *project) retiresFound(sim *pvesim.Server) {
	p.Helper()
	spec, before := p.read("specs/hand.yaml"), stateOf(sim).guests
	entry := regexp.MustCompile(`(?m)^  rate: .*\n`).FindString(spec)
	p.write("specs/hand.yaml", strings.Replace(spec, entry, "", 1)+"retired: [rate]\n")
	p.deployed(0, "render")
	p.deployed(0, "apply --yes", "destroy 1 container")
	after := stateOf(sim).guests
	for vmid, was := range before {
		if is, left := after[vmid]; left != (vmid != 413) || left && !reflect.DeepEqual(is, was) {
			p.Errorf("guest %d was %v, is %v", vmid, was, is)
		}
	}
	p.write("specs/hand.yaml", strings.Replace(spec, entry, "", 1))
	p.deployed(0, "render")
	p.deployed(0, "apply --yes", "nothing to do")
}

// losesFound deletes a container that was made by hand, and what knows it: no apply makes another one, also
// where the spec has an archive for new containers.
func (p *project) losesFound(sim *pvesim.Server) {
	p.Helper()
	spec := p.read("specs/hand.yaml")
	p.write("specs/hand.yaml", strings.Replace(spec, "  containers: {", "  containers: {template: \"local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz\", ", 1))
	p.deployed(0, "render")
	p.deployed(0, "apply --yes", "nothing to do")
	sim.Remove(400)
	sim.ResetLog()
	p.deployed(3, "apply --yes", "blocked gone", "hand/plain")
	p.remove(".state")
	p.deployed(3, "apply --yes", "not-found", "hand/plain")
	p.remove("stackgen.lock.yaml") // the lock is lost, too
	p.deployed(0, "render")
	p.deployed(3, "apply --yes", "not-found", "hand/plain")
	noWrites(p.T, sim)
	if _, made := stateOf(sim).guests[400]; made {
		p.Error("container 400 is there again")
	}
}
