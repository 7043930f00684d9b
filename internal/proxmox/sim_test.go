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
)

// secret is the secret of every token here.
const secret = "5f3c9a10-7e61-4c55-9a53-000000000001"

// small is a cluster of three nodes with a few guests.
func small(t testing.TB) *pvesim.Seed {
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
	return &pvesim.Guest{VMID: vmid, Node: node, Config: map[string]string{"name": name, "memory": "1024", "tags": "a;b", "cipassword": "geheim",
		"net0": fmt.Sprintf("virtio=bc:24:11:00:%02x:%02x,bridge=vmbr0", vmid/256, vmid%256), "meta": "creation-qemu=9.2.0,ctime=1735689600",
		"smbios1": fmt.Sprintf("uuid=4C1F3A52-0000-4d1a-9c54-%012d", vmid)}}
}

// grant lets the token audit@pve!t do something; the user gets it too.
func grant(seed *pvesim.Seed, path, role string, propagate bool) {
	for _, to := range []pvesim.Grant{{To: "audit@pve", Type: "user"}, {To: "audit@pve!t", Type: "token"}} {
		to.Path, to.Role, to.NoPropagate = path, role, !propagate
		seed.ACL = append(seed.ACL, &to)
	}
}

// restricted adds a user with a privilege-separated token.
func restricted(seed *pvesim.Seed, privsep bool) {
	seed.Users = append(seed.Users, &pvesim.User{ID: "audit@pve", Password: "passwort", Tokens: []*pvesim.Token{{ID: "t", Secret: secret, Privsep: privsep}}})
}

func start(t testing.TB, o pvesim.Options) *pvesim.Server {
	t.Helper()
	o.NoAuthDelay = true
	s, err := pvesim.New(o)
	if err != nil {
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

// as is the configuration of one who asks the simulator with a token.
func as(t testing.TB, s *pvesim.Server, token string) proxmox.Config {
	t.Helper()
	c, err := proxmox.Configure(env(map[string]string{"PROXMOX_VE_ENDPOINT": s.URL() + "/", "PROXMOX_VE_INSECURE": "true",
		"PROXMOX_VE_API_TOKEN": token + "=" + secret}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// read looks at the simulator, and checks what must hold for every look.
func read(t testing.TB, s *pvesim.Server, token string, w proxmox.Wanted) (cluster.Inventory, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.ResetLog()
	inv, err := proxmox.Read(ctx, as(t, s, token), w)
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
	if strings.Contains(text, secret) || strings.Contains(text, "geheim") || strings.Contains(text, "cipassword") {
		t.Errorf("a secret came out: %s", text)
	}
	return inv, err
}

func must(t testing.TB, s *pvesim.Server, token string, w proxmox.Wanted) cluster.Inventory {
	t.Helper()
	inv, err := read(t, s, token, w)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// gaps is what an inventory's gaps say in short.
func gaps(inv cluster.Inventory) string {
	var out []string
	for _, g := range inv.Gaps {
		out = append(out, strings.TrimSpace(g.Path+" "+g.Privilege))
	}
	return strings.Join(out, ", ")
}
