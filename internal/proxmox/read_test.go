package proxmox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

func TestRead(t *testing.T) {
	for _, version := range []string{"8.4", "9"} {
		t.Run(version, func(t *testing.T) {
			seed := smallCluster(t)
			seed.Guests[2].Started = time.Now().Add(-time.Hour)
			s := start(t, pvesim.Options{Seed: seed, Version: version})
			inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{201, 123, 300, 9002}, Names: []string{"WEB01"}, Pools: []string{"lab", "none"}})
			if len(inv.Nodes) != 3 || len(inv.Guests) != 11 || !inv.Quorate || gaps(inv) != "" || !strings.HasPrefix(inv.Release, version) {
				t.Errorf("%d nodes, %d guests, quorate %t, gaps %q, release %s", len(inv.Nodes), len(inv.Guests), inv.Quorate, gaps(inv), inv.Release)
			}
			if len(inv.Storages) != 12 || len(inv.Pools) != 1 || fmt.Sprint(inv.Pools[0].Members) != "[201 202]" || fmt.Sprint(inv.Free) != "[300]" {
				t.Errorf("storages %d, pools %v, free %v", len(inv.Storages), inv.Pools, inv.Free)
			}
			with := []int{}
			for _, g := range inv.Guests {
				if g.Config != nil {
					with = append(with, g.VMID)
				}
			}
			if fmt.Sprint(with) != "[123 201 203]" {
				t.Errorf("configurations of %v", with)
			}
			g := inv.Guest(201)
			if g.Name != "web01" || g.Node != "pve1" || g.Status != "stopped" || g.Pool != "lab" || fmt.Sprint(g.Tags) != "[a b]" ||
				g.Config.UUID != "4c1f3a52-0000-4d1a-9c54-000000000201" || fmt.Sprint(g.Config.MACs) != "[BC:24:11:00:00:C9]" || g.Config.Created != 1735689600 {
				t.Errorf("guest 201 is %+v %+v", g, g.Config)
			}
			if r := inv.Guest(123); r.Status != "running" || r.Config.Agent != cluster.AgentAnswers || len(r.Config.Address) == 0 {
				t.Errorf("guest 123 is %+v %+v", r, r.Config)
			}
			if !inv.Guest(9002).Template || inv.Guest(9002).Config != nil || inv.Guest(700).Kind != guest.Container {
				t.Errorf("template %+v, container %+v", inv.Guest(9002), inv.Guest(700))
			}
		})
	}
}

func TestRequestsForThousandGuests(t *testing.T) {
	seed := smallCluster(t)
	var w proxmox.Wanted
	for i := range 1000 {
		g := vm(1000+i, fmt.Sprintf("pve%d", 1+i%3), fmt.Sprintf("vm-%d", i))
		seed.Guests = append(seed.Guests, g)
		if i%10 < 3 {
			w.VMIDs = append(w.VMIDs, g.VMID)
			w.Names = append(w.Names, g.Config["name"])
		}
		if i == 0 || i == 3 { // one candidate and one other VM are running
			g.Config["agent"], g.Running, g.Started = "1", true, time.Now().Add(-time.Hour)
			g.Agent.Mode = "present"
		}
	}
	s := start(t, pvesim.Options{Seed: seed})
	begin := time.Now()
	inv := mustRead(t, s, "root@pam!sim", w)
	took := time.Since(begin)
	configs, pings, lists := 0, 0, 0
	for _, e := range s.Requests() {
		switch {
		case strings.HasSuffix(e.Path, "/pending"):
			configs++
		case strings.Contains(e.Path, "/agent/"):
			pings++
		default:
			lists++
		}
	}
	if configs != 300 || pings != 1 || lists > 3*len(inv.Nodes)+7+1 { // the last one: containers of one node
		t.Errorf("%d configurations, %d pings, %d lists", configs, pings, lists)
	}
	t.Logf("%d guests, %d requests (%d lists), %v", len(inv.Guests), inv.Requests, lists, took)
}

// TestSpaceOfStorages: what a storage has for new images is less than what is not used, and
// is read where the token sees the storage. A node that does not say it blocks nothing.
func TestSpaceOfStorages(t *testing.T) {
	seed := smallCluster(t)
	addAuditor(seed, true)
	grant(seed, "/vms", "PVEAuditor", true)
	grant(seed, "/storage/shared", "PVEAuditor", true)
	s := start(t, pvesim.Options{Seed: seed})
	if err := s.AddFault(&pvesim.Fault{Do: pvesim.DoError, Status: 500, Message: "no", Path: "/nodes/pve2/storage"}); err != nil {
		t.Fatal(err)
	}
	inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{})
	if got := inv.Storage("local", "pve1"); got.Avail == nil || got.Free() != got.Total-got.Used-10<<30 {
		t.Errorf("storage local of pve1 is %+v", got)
	}
	if got := inv.Storage("local", "pve2"); got.Avail != nil || got.Free() != got.Total-got.Used || got.Total == 0 {
		t.Errorf("storage local of pve2 is %+v", got)
	}
	if gaps(inv) != "" {
		t.Errorf("gaps %q", gaps(inv))
	}
	inv = mustRead(t, s, "audit@pve!t", proxmox.Wanted{})
	if got := inv.Storage("shared", "pve1"); len(inv.Storages) != 3 || got == nil || got.Avail == nil {
		t.Errorf("storages %+v", inv.Storages)
	}
}

func TestSilentAgents(t *testing.T) {
	seed := smallCluster(t)
	seed.Guests[2].Agent.Mode = "silent"
	s := start(t, pvesim.Options{Seed: seed})
	inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{123}})
	if got := inv.Guest(123).Config.Agent; got != cluster.AgentSilent {
		t.Errorf("agent %q", got)
	}
}

// TestAgentRefuses: an agent that may not report addresses is not silent, and what it says is kept.
func TestAgentRefuses(t *testing.T) {
	seed := smallCluster(t)
	seed.Guests[2].Agent.Mode = "refuses"
	inv := mustRead(t, start(t, pvesim.Options{Seed: seed}), "root@pam!sim", proxmox.Wanted{VMIDs: []int{123}})
	if c := inv.Guest(123).Config; c.Agent != cluster.AgentRefuses || !strings.Contains(c.Refusal, "has been disabled") {
		t.Errorf("agent %q, %q", c.Agent, c.Refusal)
	}
}

// TestAgentsWithoutAddress: an agent that answers without an address for which the provider
// waits is not silent, and has no address.
func TestAgentsWithoutAddress(t *testing.T) {
	for _, on := range []pvesim.AgentInterface{{Name: "eth0", Addresses: []string{"fe80::1/64"}}, {Name: "lo", Addresses: []string{"10.255.0.1/32"}}} {
		seed := smallCluster(t)
		seed.Guests[2].Agent.Interfaces = []pvesim.AgentInterface{on}
		inv := mustRead(t, start(t, pvesim.Options{Seed: seed}), "root@pam!sim", proxmox.Wanted{VMIDs: []int{123}})
		if c := inv.Guest(123).Config; c.Agent != cluster.AgentNoAddress || len(c.Address) > 0 {
			t.Errorf("agent %q with %q", c.Agent, c.Address)
		}
	}
}

// TestAddressesOfDevicesFirst: a guest lists its bridges before its network device.
func TestAddressesOfDevicesFirst(t *testing.T) {
	seed := smallCluster(t)
	g := seed.Guests[2]
	g.Running, g.Started, g.Agent.Mode = true, time.Now().Add(-time.Hour), "present"
	g.Agent.Interfaces = []pvesim.AgentInterface{
		{Name: "docker0", MAC: "02:42:00:00:00:01", Addresses: []string{"172.17.0.1/16"}},
		{Name: "eth1", MAC: "bc:24:11:00:00:0b", Addresses: []string{"10.1.0.7/24"}},
		{Name: "eth0", MAC: "bc:24:11:00:00:0a", Addresses: []string{"fe80::1/64", "10.0.0.7/24", "fd00::7/64"}},
	}
	g.Config["net0"], g.Config["net1"] = "virtio=BC:24:11:00:00:0A,bridge=vmbr0", "virtio=BC:24:11:00:00:0B,bridge=vmbr0"
	s := start(t, pvesim.Options{Seed: seed})
	inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{123}})
	const want = "10.0.0.7 fd00::7 10.1.0.7 172.17.0.1"
	if got := strings.Join(inv.Guest(123).Config.Address, " "); got != want {
		t.Errorf("addresses %s, want %s", got, want)
	}
}

func TestLaggingLists(t *testing.T) {
	seed := smallCluster(t)
	for _, g := range seed.Guests {
		if g.VMID == 201 || g.VMID == 700 {
			g.Silent = true // the cluster-wide list has only its VMID and node
		}
	}
	seed.Reports = []*pvesim.Report{{VMID: 202, Name: "old-name", Status: "running", Template: true}, {VMID: 701, Name: "ct1", Status: "running"}}
	seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: 701, Type: "lxc", Node: "pve1", Config: map[string]string{"hostname": "ct1", "memory": "512",
		"rootfs": "local-lvm:vm-701-disk-0,size=4G", "ostype": "debian"}})
	s := start(t, pvesim.Options{Seed: seed})
	if err := s.AddFault(&pvesim.Fault{Do: pvesim.DoStale, Path: "/cluster/resources", Delay: time.Minute}); err != nil {
		t.Fatal(err)
	}
	old := s.Do(t.Context(), pvesim.Request{Method: "GET", Path: "/api2/json/cluster/resources", Header: http.Header{"Authorization": {"PVEAPIToken=" + s.Token()}}})
	if !strings.Contains(string(old.Body), "old-name") || strings.Contains(string(old.Body), `"web02"`) {
		t.Fatalf("the list is not stale: %s", old.Body)
	}
	for i := range 4 {
		if i == 2 { // two requests to one node may return the old list and the new one
			s.ClearFaults()
		}
		inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{Names: []string{"web01", "web02"}})
		a, b, ct := inv.Guest(201), inv.Guest(202), inv.Guest(700)
		if a.Name != "web01" || a.Status != "stopped" || a.Config == nil || b.Name != "web02" || b.Template || b.Status != "stopped" || ct.Name != "ct" ||
			ct.Status != "stopped" || inv.Guest(701).Status != "stopped" {
			t.Errorf("201 %+v\n202 %+v\n700 %+v\n701 %+v", a, b, ct, inv.Guest(701))
		}
	}
}

// TestContainersNotListed: the list of containers of a node fails. The state of these containers is not known, and
// everything else of the node is.
func TestContainersNotListed(t *testing.T) {
	s := start(t, pvesim.Options{Seed: smallCluster(t)})
	if err := s.AddFault(&pvesim.Fault{Path: "/nodes/pve2/lxc", Do: pvesim.DoError, Status: 500, Message: "broken"}); err != nil {
		t.Fatal(err)
	}
	inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{202, 700}})
	vm, ct := inv.Guest(202), inv.Guest(700)
	if gaps(inv) != "" || !inv.Node("pve2").Online || vm.Status != "stopped" || vm.Config == nil || ct.Status != cluster.StatusUnknown || ct.Config == nil {
		t.Errorf("gaps %q, node %+v\n202 %+v\n700 %+v", gaps(inv), inv.Node("pve2"), vm, ct)
	}
}

// detection is the time in which other nodes detect that a node is lost.
const detection = 10 * time.Second

func TestLostNodes(t *testing.T) {
	for _, state := range []string{"lost", "daemons-down"} {
		t.Run(state, func(t *testing.T) {
			s := start(t, pvesim.Options{Seed: smallCluster(t)})
			if err := s.SetNode("pve2", pvesim.NodeState(state)); err != nil {
				t.Fatal(err)
			}
			s.clock.Advance(detection)
			inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{201, 202, 300}})
			if gaps(inv) != "/nodes/pve2" || inv.Node("pve2").Online || !inv.Quorate {
				t.Errorf("gaps %q, node %+v, quorate %t", gaps(inv), inv.Node("pve2"), inv.Quorate)
			}
			if g := inv.Guest(202); g == nil || g.Status != cluster.StatusUnknown || g.Config != nil || len(inv.GapsForVM(202)) != 1 {
				t.Errorf("guest 202 is %+v", g)
			}
			if inv.Guest(201).Config == nil || len(inv.GapsForVM(201)) != 0 || len(inv.GapsForVM(300)) != 0 {
				t.Error("the guests of other nodes have changed")
			}
		})
	}
}

func TestNoQuorum(t *testing.T) {
	for _, token := range []string{"root@pam!sim", "audit@pve!t"} {
		seed := smallCluster(t)
		addAuditor(seed, true)
		grant(seed, "/vms", "PVEAuditor", true)
		s := start(t, pvesim.Options{Seed: seed})
		for _, n := range []string{"pve2", "pve3"} {
			if err := s.SetNode(n, pvesim.NodeLost); err != nil {
				t.Fatal(err)
			}
		}
		s.clock.Advance(detection)
		inv := mustRead(t, s, token, proxmox.Wanted{VMIDs: []int{201}})
		if inv.Quorate || inv.Guest(201).Config == nil {
			t.Errorf("%s: quorate %t, guest %+v", token, inv.Quorate, inv.Guest(201))
		}
	}
}

func TestTransientFaults(t *testing.T) {
	for _, f := range []pvesim.Fault{{Do: pvesim.DoUnreachable}, {Do: pvesim.DoTimeout, Delay: time.Millisecond}, {Do: pvesim.DoReset}, {Do: pvesim.DoError, Status: 503},
		{Do: pvesim.DoError, Status: 500, Message: "can't lock file '/x' - got timeout"}} {
		t.Run(f.Do+fmt.Sprint(f.Status), func(t *testing.T) {
			t.Parallel()
			s := start(t, pvesim.Options{Seed: smallCluster(t)})
			for _, path := range []string{"/cluster/resources", "/nodes/pve1/qemu", "/nodes/pve1/qemu/201/pending"} {
				one := f
				one.Path, one.Count = path, 2
				if err := s.AddFault(&one); err != nil {
					t.Fatal(err)
				}
			}
			inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{201}})
			if gaps(inv) != "" || inv.Guest(201).Config == nil || inv.Requests != 7+3*3+1+1+6 {
				t.Errorf("gaps %q, %d requests", gaps(inv), inv.Requests)
			}
		})
	}
}

func TestPermanentFaults(t *testing.T) {
	s := start(t, pvesim.Options{Seed: smallCluster(t)})
	if err := s.AddFault(&pvesim.Fault{Do: pvesim.DoError, Status: 500, Message: "no", Path: "/nodes/pve1/qemu/201/pending"}); err != nil {
		t.Fatal(err)
	}
	inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{201, 202}})
	if gaps(inv) != "/vms/201" || inv.Guest(202).Config == nil || len(inv.GapsForVM(201)) != 1 {
		t.Errorf("gaps %q", gaps(inv))
	}
	if err := s.AddFault(&pvesim.Fault{Do: pvesim.DoUnreachable, Path: "/cluster/resources"}); err != nil {
		t.Fatal(err)
	}
	before := s.Counters().Requests
	_, err := proxmox.Read(t.Context(), configFor(t, s, "root@pam!sim"), proxmox.Wanted{})
	if err == nil || !strings.Contains(err.Error(), "/cluster/resources") || !strings.Contains(err.Error(), "595") {
		t.Errorf("error %v", err)
	}
	if n := s.Counters().Requests - before; n > 9 {
		t.Errorf("%d requests", n)
	}
}

func TestListsAreSorted(t *testing.T) {
	s := start(t, pvesim.Options{Seed: smallCluster(t)})
	inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{500, 400, 300}})
	if !slices.IsSorted(inv.Free) || !slices.IsSortedFunc(inv.Guests, func(a, b cluster.Guest) int { return a.VMID - b.VMID }) {
		t.Error("lists are not in order")
	}
}

// TestIdentitiesOfOtherGuests checks that the configurations of all guests are read
// only if a VM, or a MAC address of it, is not where it should be.
func TestIdentitiesOfOtherGuests(t *testing.T) {
	for name, c := range map[string]struct {
		vms  []proxmox.WantedVM
		all  bool // whatever was found
		want int  // other guests that are read
	}{
		"all VMs found":               {[]proxmox.WantedVM{{VMID: 1000}, {VMID: 1001, MACs: []string{"BC:24:11:00:03:E9"}}}, false, 0},
		"all guests are wanted":       {nil, true, 999},
		"a VM to create":              {[]proxmox.WantedVM{{VMID: 1000}, {VMID: 900}}, false, 999},
		"a MAC that no NIC of it has": {[]proxmox.WantedVM{{VMID: 1000, MACs: []string{"BC:24:11:00:03:E9"}}}, false, 999},
	} {
		t.Run(name, func(t *testing.T) {
			seed := smallCluster(t)
			for i := range 1000 {
				g := vm(1000+i, fmt.Sprintf("pve%d", 1+i%3), fmt.Sprintf("vm-%d", i))
				g.Config["net0"] = fmt.Sprintf("virtio=BC:24:11:00:%02X:%02X,bridge=vmbr0", g.VMID/256, g.VMID%256)
				g.Config["ipconfig0"] = "ip=10.0.0.5/24"
				seed.Guests = append(seed.Guests, g)
			}
			s := start(t, pvesim.Options{Seed: seed})
			begin := time.Now()
			inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{1000, 1001, 900}, VMs: c.vms, Others: c.all})
			took, read := time.Since(begin), 0
			for _, g := range inv.Guests {
				if g.Identity != nil && g.VMID >= 1000 {
					read++
				}
				if g.Config != nil && g.Identity != nil || g.Identity != nil && g.Template {
					t.Errorf("%d has an identity", g.VMID)
				}
			}
			if c.want > 0 { // 1000 and 1001 are candidates
				c.want--
				if g := inv.Guest(1999); g.Identity == nil || !slices.Equal(g.Identity.MACs, []string{"BC:24:11:00:07:CF"}) ||
					g.Identity.Addresses["10.0.0.5"] != "vmbr0" {
					t.Errorf("1999: %+v", g.Identity)
				}
			}
			if read != c.want {
				t.Errorf("%d identities, want %d", read, c.want)
			}
			t.Logf("%d requests, %v", inv.Requests, took)
		})
	}
}
