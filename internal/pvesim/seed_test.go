package pvesim_test

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

func TestSeedErrors(t *testing.T) {
	for name, src := range map[string]string{
		"an unknown key":         "nodes: [{name: a, colour: red}]",
		"no size":                "nodes: [{name: a, memory: much}]",
		"an unknown fault":       "nodes: [{name: a}]\nfaults: [{do: nonsense}]",
		"a guest on no node":     "nodes: [{name: a}]\nguests: [{vmid: 100, node: b}]",
		"one guest twice":        "nodes: [{name: a}]\nguests: [{vmid: 100, node: a}, {vmid: 100, node: a}]",
		"no nodes":               "storages: []",
		"an unknown API version": "version: \"7\"\nnodes: [{name: a}]",
	} {
		t.Run(name, func(t *testing.T) {
			seed, err := pvesim.ParseSeed([]byte(src))
			if err == nil {
				_, err = pvesim.New(pvesim.Options{Seed: seed})
			}
			if err == nil {
				t.Error("accepted without an error")
			}
		})
	}
}

func TestSeedFields(t *testing.T) {
	seed, err := pvesim.ParseSeed([]byte(`
version: "9"
cluster: lab
nodes:
  - {name: a, cpus: 4, memory: 8G, load: {cpu: 0.5, memory: 1G}}
  - {name: b, state: lost}
storages:
  - {id: local, type: dir, content: [images], size: 10G, used: 1G}
  - {id: thick, type: lvm, vg: vg0, content: [images], nodes: [a], size: 20G}
guests:
  - {vmid: 100, node: a, running: true, agent: {mode: silent}, config: {name: x, agent: enabled=1, memory: "1024", scsi0: "thick:vm-100-disk-0,size=8G"}}
  - {vmid: 101, node: a, type: lxc, config: {hostname: ct, rootfs: "local:101/vm-101-disk-0.raw,size=2G"}}
pools:
  - {id: p, comment: c, guests: [100], storage: [local]}
users:
  - {id: root@pam, tokens: [{id: t, secret: s}]}
  - {id: u@pve, password: x, tokens: [{id: sep, secret: s, privsep: true}]}
acl:
  - {path: /vms/100, to: u@pve, role: PVEVMUser}
faults:
  - {method: GET, path: /version, do: error, status: 503, delay: 1s, count: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	b := newTestSim(t, pvesim.Options{Seed: seed})
	if r := b.do("GET", "/version"); r.Status != 503 {
		t.Errorf("fault of the seed: %d", r.Status)
	}
	if r := b.do("GET", "/nodes/b/status"); r.Status != 595 {
		t.Errorf("request to the lost node: %d", r.Status)
	}
	node := b.data("GET", "/nodes/a/status").(map[string]any)
	if node["cpu"] != 0.5 {
		t.Errorf("load %v", node["cpu"])
	}
	if r := b.do("GET", "/nodes/a/qemu/100/agent/network-get-interfaces"); !strings.Contains(r.Reason, "not running") {
		t.Errorf("a silent agent: %d %s", r.Status, r.Reason)
	}
	thick := b.data("GET", "/nodes/a/storage/thick/status").(map[string]any)
	if thick["used"] != float64(8<<30) {
		t.Errorf("thick storage uses %v", thick["used"])
	}
}

func TestHandmadeSeed(t *testing.T) {
	seed, err := pvesim.HandmadeSeed()
	if err != nil {
		t.Fatal(err)
	}
	b := newTestSim(t, pvesim.Options{Seed: seed})
	if pool := fmt.Sprint(b.data("GET", "/pools/web")); !strings.Contains(pool, "web1") || !strings.Contains(pool, "web2") || !strings.Contains(pool, "web-db") {
		t.Errorf("the pool web is %s", pool)
	}
	if r := b.do("GET", "/nodes/pve3/qemu/123/config"); r.Status == 200 {
		t.Error("a VM of the default seed is there, too")
	}
}
