package pvesim_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/luthermonson/go-proxmox"

	"stackgen/internal/pvesim"
)

// TestGoProxmoxReads calls every function of the client library that reads a
// simulated path.
func TestGoProxmoxReads(t *testing.T) {
	for _, version := range []string{"8.4", "9"} {
		t.Run(version, func(t *testing.T) {
			seed, err := pvesim.DefaultSeed()
			if err != nil {
				t.Fatal(err)
			}
			seed.Pools = []*pvesim.Pool{{ID: "lab", Comment: "c", Guests: []int{123}, Storage: []string{"shared"}}}
			seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: 700, Type: "lxc", Node: "pve2", Running: true, Config: map[string]string{
				"hostname": "ct", "memory": "512", "swap": "512", "rootfs": "local-lvm:vm-700-disk-0,size=4G", "arch": "amd64", "ostype": "debian",
				"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:07:00,ip=192.0.2.70/24,type=veth"}})
			seed.Groups = []*pvesim.Group{{ID: "ops"}}
			seed.HAGroups = []*pvesim.HAGroup{{ID: "all", Nodes: "pve1,pve2,pve3"}} // which 9 has not made rules yet
			s := started(t, pvesim.Options{Seed: seed, Version: version})
			readAll(t, s)
		})
	}
}

func readAll(t *testing.T, s *pvesim.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	id, secret := "root@pam!sim", s.Token()[len("root@pam!sim="):]
	c := proxmox.NewClient(s.URL()+"/api2/json", proxmox.WithHTTPClient(client(4)), proxmox.WithAPIToken(id, secret))
	try := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	v, err := c.Version(ctx)
	try("version", err)
	if v != nil && v.Release == "" {
		t.Error("empty release")
	}
	readCluster(ctx, t, c, try)
	readAccess(ctx, c, try)
	for _, name := range []string{"pve1", "pve2", "pve3"} {
		readNode(ctx, t, c, name, try)
	}
	pools, err := c.Pools(ctx)
	try("pools", err)
	if len(pools) != 1 {
		t.Errorf("%d pools", len(pools))
	}
	p, err := c.Pool(ctx, "lab")
	try("pool", err)
	if p != nil && len(p.Members) != 4 {
		t.Errorf("%d members", len(p.Members))
	}
	_, err = c.ClusterStorages(ctx)
	try("storages", err)
	_, err = c.ClusterStorage(ctx, "shared")
	try("storage", err)
}

func readCluster(ctx context.Context, t *testing.T, c *proxmox.Client, try func(string, error)) {
	cl, err := c.Cluster(ctx)
	try("cluster", err)
	if err != nil {
		return
	}
	if len(cl.Nodes) != 3 {
		t.Errorf("%d cluster nodes", len(cl.Nodes))
	}
	rs, err := cl.Resources(ctx)
	try("resources", err)
	if len(rs) < 3+4+12 {
		t.Errorf("%d resources", len(rs))
	}
	for _, kind := range []string{"vm", "node", "storage", "sdn"} {
		_, err = cl.Resources(ctx, kind)
		try("resources "+kind, err)
	}
	_, err = cl.NextID(ctx)
	try("next id", err)
	_, err = cl.CheckID(ctx, 9002)
	try("check id", err)
	_, err = cl.Tasks(ctx)
	try("tasks", err)
	_, err = cl.HAResources(ctx, "")
	try("ha resources", err)
	_, err = cl.HAGroups(ctx)
	try("ha groups", err)
	_, err = cl.HAStatus(ctx)
	try("ha status", err)
	_, err = cl.HAManagerStatus(ctx)
	try("ha manager", err)
	_, err = cl.ConfigNodes(ctx)
	try("config nodes", err)
	_, err = cl.Totem(ctx)
	try("totem", err)
	// JoinInfo is omitted: it decodes numbers where a genuine server sends strings.
	_, err = cl.ClusterOptions(ctx)
	try("options", err)
}

func readAccess(ctx context.Context, c *proxmox.Client, try func(string, error)) {
	_, err := c.Permissions(ctx, nil)
	try("permissions", err)
	_, err = c.Permissions(ctx, &proxmox.PermissionsOptions{Path: "/vms/123"})
	try("permissions of a path", err)
	_, err = c.ACL(ctx)
	try("acl", err)
	_, err = c.Users(ctx)
	try("users", err)
	_, err = c.User(ctx, "root@pam")
	try("user", err)
	_, err = c.Roles(ctx)
	try("roles", err)
	_, err = c.Groups(ctx)
	try("groups", err)
	_, err = c.Domains(ctx)
	try("domains", err)
}

func readNode(ctx context.Context, t *testing.T, c *proxmox.Client, name string, try func(string, error)) {
	_, err := c.Nodes(ctx)
	try("nodes", err)
	n, err := c.Node(ctx, name)
	try("node", err)
	if err != nil {
		return
	}
	_, err = n.Version(ctx)
	try("node version", err)
	_, err = n.Networks(ctx)
	try("networks", err)
	_, err = n.DNS(ctx)
	try("dns", err)
	_, err = n.Time(ctx)
	try("time", err)
	_, err = n.RRDData(ctx, proxmox.TimeframeHour, proxmox.AVERAGE)
	try("rrd", err)
	_, err = n.Tasks(ctx, nil)
	try("node tasks", err)
	stores, err := n.Storages(ctx)
	try("node storages", err)
	for _, st := range stores {
		// Storage.Status is omitted: it reads the index and cannot decode it, on a genuine server as well.
		_, err = n.Storage(ctx, st.Name)
		try("storage status "+st.Name, err)
		_, err = st.GetContent(ctx)
		try("content of "+st.Name, err)
	}
	vms, err := n.VirtualMachines(ctx)
	try("vms", err)
	for _, v := range vms {
		readGuest(ctx, t, n, int(v.VMID), try)
	}
	cts, err := n.Containers(ctx)
	try("containers", err)
	for _, ct := range cts {
		full, err := n.Container(ctx, int(ct.VMID))
		try("container", err)
		if full != nil {
			_, err = full.Interfaces(ctx)
			try("container interfaces", err)
		}
	}
}

func readGuest(ctx context.Context, t *testing.T, n *proxmox.Node, vmid int, try func(string, error)) {
	what := "guest " + strconv.Itoa(vmid)
	v, err := n.VirtualMachine(ctx, vmid)
	try(what, err)
	if err != nil {
		return
	}
	if v.VirtualMachineConfig == nil || v.VirtualMachineConfig.Name == "" {
		t.Errorf("%s has no configuration", what)
	}
	_, err = v.Pending(ctx)
	try(what+" pending", err)
	_, err = v.Snapshots(ctx)
	try(what+" snapshots", err)
	if v.IsRunning() && vmid == 123 { // the agents of the others do not respond
		_, err = v.AgentGetNetworkIFaces(ctx)
		try(what+" interfaces", err)
		_, err = v.AgentOsInfo(ctx)
		try(what+" os", err)
	}
}
