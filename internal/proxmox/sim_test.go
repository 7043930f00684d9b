package proxmox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

// tokenSecret is the secret of every token in these tests.
const tokenSecret = "5f3c9a10-7e61-4c55-9a53-000000000001"

// smallCluster is a cluster of three nodes with a few guests.
func smallCluster(t testing.TB) *pvesim.Seed {
	t.Helper()
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Guests = append(seed.Guests, vm(201, "pve1", "web01"), vm(202, "pve2", "web02"), vm(203, "pve3", "web01"),
		&pvesim.Guest{VMID: 700, Type: "lxc", Node: "pve2", Config: map[string]string{"hostname": "ct", "memory": "512", "rootfs": "local-lvm:vm-700-disk-0,size=4G",
			"ostype": "debian", "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:07:00,type=veth"}})
	seed.Pools = []*pvesim.Pool{{ID: "lab", Comment: "c", Guests: []int{201, 202}}}
	return seed
}

func vm(vmid int, node, name string) *pvesim.Guest {
	return &pvesim.Guest{VMID: vmid, Node: node, Config: map[string]string{"name": name, "memory": "1024", "tags": "a;b", "cipassword": "swordfish",
		"net0": fmt.Sprintf("virtio=bc:24:11:00:%02x:%02x,bridge=vmbr0", vmid/256, vmid%256), "meta": "creation-qemu=9.2.0,ctime=1735689600",
		"smbios1": fmt.Sprintf("uuid=4C1F3A52-0000-4d1a-9c54-%012d", vmid)}}
}

// grant gives a role to the token audit@pve!t and to its user.
func grant(seed *pvesim.Seed, path, role string, propagate bool) {
	for _, to := range []pvesim.Grant{{To: "audit@pve", Type: "user"}, {To: "audit@pve!t", Type: "token"}} {
		to.Path, to.Role, to.NoPropagate = path, role, !propagate
		seed.ACL = append(seed.ACL, &to)
	}
}

// addAuditor adds the user audit@pve with the token audit@pve!t.
func addAuditor(seed *pvesim.Seed, privsep bool) {
	seed.Users = append(seed.Users, &pvesim.User{ID: "audit@pve", Password: "correct-horse", Tokens: []*pvesim.Token{{ID: "t", Secret: tokenSecret, Privsep: privsep}}})
}

// A simulator is a simulated cluster with the virtual clock that it shares with
// its clients: whoever waits moves the clock on, so no test sleeps.
type simulator struct {
	*pvesim.Server
	clock *clock.Virtual
}

func start(t testing.TB, o pvesim.Options) *simulator {
	t.Helper()
	s := &simulator{clock: clock.NewVirtual(time.Now(), true)}
	o.NoAuthDelay, o.Clock = true, s.clock
	var err error
	if s.Server, err = pvesim.New(o); err != nil {
		t.Fatal(err)
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// wait lets virtual time pass.
func (s *simulator) wait(ctx context.Context, d time.Duration) error {
	return s.clock.WaitUntil(ctx, s.clock.Now().Add(d))
}

// configFor is the configuration of a client with a token.
func configFor(t testing.TB, s *simulator, token string) proxmox.Config {
	t.Helper()
	return configure(t, s, map[string]string{"PROXMOX_VE_INSECURE": "true", "PROXMOX_VE_API_TOKEN": token + "=" + tokenSecret})
}

func configure(t testing.TB, s *simulator, vars map[string]string, targets ...proxmox.Target) proxmox.Config {
	t.Helper()
	vars["PROXMOX_VE_ENDPOINT"] = s.URL() + "/"
	c, err := proxmox.Configure(env(vars), targets)
	if err != nil {
		t.Fatal(err)
	}
	return c.WithTime(s.clock.Now, s.wait)
}

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// read reads the simulated cluster, and checks what must hold for every reading.
func read(t testing.TB, s *simulator, token string, w proxmox.Wanted) (cluster.Inventory, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.ResetLog()
	inv, err := proxmox.Read(ctx, configFor(t, s, token), w)
	if n := s.Counters().Writes; n != 0 {
		t.Errorf("%d writes reached the cluster", n)
	}
	text := fmt.Sprint(err)
	if err == nil {
		if got := s.Counters().Requests; got != inv.Requests {
			t.Errorf("%d requests reported, %d seen", inv.Requests, got)
		}
		body, err := json.Marshal(inv)
		if err != nil {
			t.Fatal(err)
		}
		text = string(body)
	}
	if strings.Contains(text, tokenSecret) || strings.Contains(text, "swordfish") || strings.Contains(text, "cipassword") {
		t.Errorf("the output contains a secret: %s", text)
	}
	return inv, err
}

func mustRead(t testing.TB, s *simulator, token string, w proxmox.Wanted) cluster.Inventory {
	t.Helper()
	inv, err := read(t, s, token, w)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// gaps lists the paths and privileges of an inventory's gaps.
func gaps(inv cluster.Inventory) string {
	var out []string
	for _, g := range inv.Gaps {
		out = append(out, strings.TrimSpace(g.Path+" "+g.Privilege))
	}
	return strings.Join(out, ", ")
}
