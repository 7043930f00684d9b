package test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackgen/cmd"
)

// benchSpec is a stack of n VMs with a DNS record each.
func benchSpec(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: stackgen/v1
kind: Stack
name: bench
vmids: 100000-199999
dns: {zone: bench.example.org, server: 192.0.2.53, tsig: {key_name: bench.}}
pool: {id: bench, create: true}
defaults:
  node: pve1
  template: 9000
  disks: [{interface: scsi0, size: 32, datastore: local-lvm}]
  networks: [{bridge: vmbr0, vlan: 20}]
  tags: [bench]
vms:
`)
	for i := range n {
		fmt.Fprintf(&b, "  vm%d: {memory: %d}\n", i, 1024*(1+i%8))
	}
	return b.String()
}

// BenchmarkRender renders stacks of several sizes, into an empty folder (cold)
// and over the same files (unchanged).
func BenchmarkRender(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprintf("vms=%d/cold", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := benchProject(b, n)
				b.StartTimer()
				benchRender(b, dir)
			}
		})
		b.Run(fmt.Sprintf("vms=%d/unchanged", n), func(b *testing.B) {
			dir := benchProject(b, n)
			benchRender(b, dir)
			for b.Loop() {
				benchRender(b, dir)
			}
		})
	}
}

func benchProject(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "specs"), 0o777); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "specs", "bench.yaml"), []byte(benchSpec(n)), 0o666); err != nil {
		b.Fatal(err)
	}
	return dir
}

func benchRender(b *testing.B, dir string) {
	b.Helper()
	var errOut bytes.Buffer
	if code := cmd.Main([]string{"stackgen", "render", filepath.Join(dir, "specs")}, zeros{}, strings.NewReader(""), io.Discard, &errOut); code != 0 {
		b.Fatalf("exit %d\n%s", code, &errOut)
	}
}

// BenchmarkPreflight checks 300 VMs in a cluster of 1,000 guests, of which some are
// about to be created, and 300 VMs that all exist. The cluster answers at once, after
// 10 ms, as in a local network, or after 50 ms, as over the internet.
func BenchmarkPreflight(b *testing.B) {
	for _, c := range []struct {
		guests, exit int
		words        []string
	}{{1000, 3, scaleWords}, {300, 0, []string{"managed"}}} {
		for _, latency := range []time.Duration{0, 10 * time.Millisecond, 50 * time.Millisecond} {
			b.Run(fmt.Sprintf("guests=%d/vms=300/latency=%v", c.guests, latency), func(b *testing.B) {
				s := newScale(b, c.guests, latency, c.words...)
				for b.Loop() {
					if code, said := s.run("preflight", s.dir); code != c.exit {
						b.Fatalf("exit %d\n%.2000s", code, said)
					}
				}
			})
		}
	}
}
