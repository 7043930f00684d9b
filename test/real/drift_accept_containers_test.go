//go:build unix

package real

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// An acceptedContainer is a container of which one thing is changed by hand: its entry in the spec before, and after
// drift --accept.
type acceptedContainer struct {
	key, was, is string
	hand         []string // entries of the configuration and their values; MAC is that of net0
	grow         string   // of the root volume, by hand
}

// acceptedContainers are the kinds of differences, of the containers from VMID 300 on. After what a spec cannot say, the
// entry is the same.
var acceptedContainers = []acceptedContainer{
	{key: "memory", was: "\n    # small\n    memory: 256  # MiB\n    cores: 2\n", is: "\n    # small\n    memory: 768  # MiB\n    cores: 3\n", hand: []string{"memory", "768", "cores", "3"}},
	{key: "inherited", was: " {}  # all defaults\n", is: " {memory: 1024}  # all defaults\n", hand: []string{"memory", "1024"}},
	{key: "notes", was: " {description: old, on_boot: false, protection: true}\n", is: " {description: \"new: notes\", on_boot: true, protection: false}\n", hand: []string{"description", "new: notes", "onboot", "1", "protection", "0"}},
	{key: "nonotes", was: " {description: old, cores: 2}\n", is: " {cores: 2}\n", hand: []string{"delete", "description"}},
	{key: "tags", was: "\n    tags:\n      - a  # first\n      - b\n", is: "\n    tags:\n      - a  # first\n      - c\n", hand: []string{"tags", "a;all;c"}},
	{key: "renamed", was: " {}\n", is: " {name: other-name}\n", hand: []string{"hostname", "other-name"}},
	{key: "startup", was: " {startup: {order: 3, up: 30}}\n", is: " {startup: {order: 5}}\n", hand: []string{"startup", "order=5"}},
	{key: "dns", was: " {}\n", is: "\n    nameservers: [\"10.0.0.1\", \"10.0.0.2\"]\n    search_domain: lab.test\n", hand: []string{"nameserver", "10.0.0.1 10.0.0.2", "searchdomain", "lab.test"}},
	{
		key: "net", was: "\n    networks:\n      - bridge: vmbr0  # the LAN\n        ipv4: dhcp\n",
		is:   "\n    networks:\n      - bridge: vmbr0  # the LAN\n        ipv4: dhcp\n      - interface: lan\n        bridge: vmbr0\n        vlan: 30\n        mac: \"BC:24:11:AA:00:01\"\n        ipv4: \"10.1.0.43/24\"\n",
		hand: []string{"net1", "name=lan,bridge=vmbr0,hwaddr=BC:24:11:AA:00:01,ip=10.1.0.43/24,tag=30"},
	},
	{
		key: "address", was: " {networks: [{bridge: vmbr0, ipv4: 10.0.0.8/24, gateway: 10.0.0.1}]}  # static\n",
		is:   " {networks: [{bridge: vmbr0, ipv4: \"10.0.0.9/24\", gateway: 10.0.0.1, firewall: true}]}  # static\n",
		hand: []string{"net0", "name=eth0,bridge=vmbr0,hwaddr=MAC,ip=10.0.0.9/24,gw=10.0.0.1,firewall=1"},
	},
	{key: "nonet", was: " {networks: [{bridge: vmbr0, ipv4: dhcp}, {bridge: vmbr0, vlan: 9}]}  # two\n", is: " {networks: [{bridge: vmbr0, ipv4: dhcp}]}  # two\n", hand: []string{"delete", "net1"}},
	{key: "grown", was: " {rootfs: {datastore: local-lvm, size: 4}}  # small\n", is: " {rootfs: {datastore: local-lvm, size: 6}}  # small\n", grow: "6G"},
	{key: "mount", was: " {mounts: [{path: /a, size: 1}]}\n", is: " {mounts: [{path: /a, size: 1}]}\n", hand: []string{"mp1", "local-lvm:2,mp=/srv"}},
	{key: "limit", was: " {}\n", is: " {description: new}\n", hand: []string{"cpulimit", "2", "description", "new"}}, // one property of two
	{key: "swap", was: " {}\n", is: " {}\n", hand: []string{"swap", "0"}},                                            // the spec would leave out the block of the memory, which the state has
	{
		key: "mounted", was: " {mounts: [{path: /a, size: 1}], cores: 2}\n", is: " {mounts: [{path: /a, size: 1}], cores: 3}\n",
		hand: []string{"mp1", "local-lvm:2,mp=/srv", "cores", "3"},
	},
}

const acceptContainersHead = "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\n" +
	"defaults: {node: pve1, tags: [all], containers: {template: \"" + containerArchive + "\"}}\n"

// acceptContainersSpec is the spec of all of them, before or after.
func acceptContainersSpec(after bool) string {
	text := acceptContainersHead + "containers:\n"
	for _, c := range acceptedContainers {
		entry := c.was
		if after {
			entry = c.is
		}
		text += "  " + c.key + ":" + entry
	}
	text += "groups:\n  w:\n    kind: container\n    count: 2  # workers\n"
	if after {
		text += "    overrides:\n      w2: {cores: 2}\n"
	}
	return text
}

// byHand makes the change.
func (c acceptedContainer) byHand(w *acceptWorld, vmid int) {
	path := fmt.Sprintf("/nodes/pve1/lxc/%d", vmid)
	if c.grow != "" {
		callAPI(w.T, w.sim, "PUT", path+"/resize", url.Values{"disk": {"rootfs"}, "size": {c.grow}})
		return
	}
	net := callAPI(w.T, w.sim, "GET", path+"/config", nil).(map[string]any)["net0"].(string)
	_, mac, _ := strings.Cut(net, "hwaddr=")
	mac, _, _ = strings.Cut(mac, ",")
	hand := slices.Clone(c.hand)
	for i := range hand {
		hand[i] = strings.ReplaceAll(hand[i], "MAC", mac)
	}
	setByHand(hand...)(w, path)
}

// TestDriftAcceptContainers changes containers by hand, one thing each, and accepts all of it: the spec has the expected
// lines and no other change, and the plan after it is empty. What cannot be accepted is said, and what is printed for it
// works. Nothing is written to a container, and none is restarted.
func TestDriftAcceptContainers(t *testing.T) {
	t.Parallel()
	w := &acceptWorld{project: newProject(t, map[string]string{"specs/live.yaml": acceptContainersSpec(false)})}
	w.sim = w.simulate()
	w.render()
	w.deployed(0, "apply --yes")
	first := stateOf(w.sim).guests
	vmids := map[string]int{}
	for vmid, g := range first {
		vmids[g.config["hostname"]] = vmid
	}
	for _, c := range acceptedContainers {
		c.byHand(w, vmids["live-"+c.key])
	}
	acceptedContainer{hand: []string{"cores", "2"}}.byHand(w, vmids["live-w2"])
	was := stateOf(w.sim).guests
	w.sim.ResetLog()

	w.deployed(3, "drift", "stackgen drift --accept live/net", "rootfs.size: Proxmox VE has 6 GiB, specs/live.yaml:", "protection: Proxmox VE has nothing")
	said := w.deployed(3, "drift --accept",
		"cpulimit=2: a spec has no property for `cpulimit`; change it back, by hand or by an apply",
		"mp1=local-lvm:vm-312-disk-2,mp=/srv,size=2G: mount points act at the creation only: the container keeps it, whatever its spec says. For a new one, write into the spec",
		"mounts: [{path: /a, datastore: local-lvm, size: 1}, {path: /srv, datastore: local-lvm, size: 2, backup: false}]",
		"its state has a block memory from an earlier time, which the next plan would remove: remove it from the state, and import it again",
		"live/grown: the spec says what it has: rootfs.", "live/limit, live/nonotes: the specs say what they have: description.",
		"live/mounted, live/w2: the specs say what they have: cores.")
	if got, want := w.read("specs/live.yaml"), acceptContainersSpec(true); got != want {
		t.Errorf("specs/live.yaml:\n%s\nwant\n%s", got, want)
	}
	w.render()
	noWrites(t, w.sim)

	// Paste what is printed of those that were not written. An apply sets back what no spec says, without a restart.
	w.pasteLine(".", said, `this["swap"]`)
	w.deployed(0, "adopt --match live/swap", "live/swap: the spec says what container 314 has")
	w.write("specs/live.yaml", strings.Replace(w.read("specs/live.yaml"), "mounts: [{path: /a, size: 1}]", "mounts: [{path: /a, datastore: local-lvm, size: 1}, {path: /srv, datastore: local-lvm, size: 2, backup: false}]", 2))
	setByHand("delete", "cpulimit")(w, fmt.Sprintf("/nodes/pve1/lxc/%d", vmids["live-limit"]))
	w.sim.ResetLog()
	w.render()
	w.deployed(0, "drift --accept live/mount live/mounted", "Nothing to write.")
	w.deployed(0, "import-blocks --verify", "live/proxmox-container: 1 to import, 0 to add, 0 to change, 0 to destroy")
	w.deployed(0, "apply --yes", "live is as its spec says")
	w.deployed(0, "apply --yes", "nothing to do")
	w.deployed(0, "drift --accept", "Nothing to write.")
	noWrites(t, w.sim)
	is := stateOf(w.sim).guests
	delete(was[vmids["live-limit"]].config, "cpulimit")
	if !reflect.DeepEqual(is, was) {
		for _, vmid := range slices.Sorted(maps.Keys(was)) {
			t.Errorf("container %d was %v, and is %v", vmid, was[vmid], is[vmid])
		}
	}
}
