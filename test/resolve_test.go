//go:build unix

package test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
)

// seen is a cluster in which the VMs of a lock exist.
func seen(t *testing.T, lockFile string) string {
	t.Helper()
	inv := cluster.Inventory{Taken: "2026-01-01T00:00:00Z", Quorate: true, Nodes: []cluster.Node{{Name: "pve1", Online: true}, {Name: "pve2", Online: true}}}
	l, problems := lock.Read("lock", []byte(lockFile))
	if l == nil {
		t.Fatal(problems)
	}
	for _, s := range l.Stacks {
		for _, v := range s.Value.VMs {
			mac := fmt.Sprintf("BC:24:11:00:%02X:%02X", v.Value.VMID>>8, v.Value.VMID&255)
			if len(v.Value.MACs) > 0 {
				mac = v.Value.MACs[0]
			}
			inv.Guests = append(inv.Guests, cluster.Guest{VMID: v.Value.VMID, Node: v.Value.Node, Kind: guest.VM, Name: s.Key + "-" + v.Key, Status: "running",
				Config: &cluster.Config{UUID: fmt.Sprintf("00000000-0000-4000-8000-%012d", v.Value.VMID), MACs: []string{mac},
					Raw: map[string]string{"net0": "virtio=" + mac + ",bridge=vmbr0", "name": s.Key + "-" + v.Key}}})
		}
	}
	body, err := inv.Encode()
	check(t, err)
	return string(body)
}

// TestResolvesAndRenderAtOnce starts two resolves of different stacks and a render that
// makes decisions. The lock must then have what all of them recorded.
func TestResolvesAndRenderAtOnce(t *testing.T) {
	t.Parallel()
	specs := manyVMs(3, 10, "a")
	dir := t.TempDir()
	write(t, dir, specs)
	mustRender(t, dir)
	write(t, dir, map[string]string{"inv.json": seen(t, string(read(t, filepath.Join(dir, lock.File))))})
	rendered := tree(t, dir)
	for round := range 6 {
		write(t, dir, rendered)
		write(t, dir, map[string]string{"specs/s2.yaml": strings.Replace(specs["specs/s2.yaml"], "count: 10", "count: 20", 1)})
		var running []*exec.Cmd
		var outs [3]bytes.Buffer
		for i, args := range [][]string{{"resolve", "specs/s0.yaml", "--inventory", "inv.json"}, {"resolve", "specs/s1.yaml", "--inventory", "inv.json"}, {"render"}} {
			c := process(t, dir, args...)
			c.Stdout, c.Stderr = &outs[i], &outs[i]
			check(t, c.Start())
			running = append(running, c)
		}
		for i, c := range running {
			if err := c.Wait(); err != nil {
				t.Errorf("round %d: %v\n%s", round, err, outs[i].String())
			}
		}
		l, problems := lock.Read("lock", read(t, filepath.Join(dir, lock.File)))
		if l == nil {
			t.Fatalf("round %d: %v", round, problems)
		}
		fingerprints := 0
		for _, s := range l.Stacks {
			for _, v := range s.Value.VMs {
				if v.Value.Fingerprint != nil {
					fingerprints++
				}
			}
		}
		if n := len(l.Stacks.Get("s2").VMs); n != 20 || fingerprints != 20 {
			t.Fatalf("round %d: the lock has %d VMs of s2 and %d fingerprints, want 20 of both\n%s", round, n, fingerprints, outs[0].String())
		}
	}
}

// TestResolveWithoutSpace: a lock that cannot be written stays as it was.
func TestResolveWithoutSpace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, manyVMs(1, 10, "a"))
	mustRender(t, dir)
	write(t, dir, map[string]string{"inv.json": seen(t, string(read(t, filepath.Join(dir, lock.File))))})
	before := tree(t, dir)
	c := exec.Command("sh", "-c", `ulimit -f 0; exec "$0" resolve --inventory inv.json`, binary(t))
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), lock.File+": cannot be written") {
		t.Errorf("%v\n%s", err, out)
	}
	compare(t, before, tree(t, dir))
}
