package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackgen/cmd"
	"stackgen/internal/pvesim"
)

// scaleWords are the verdicts that the VMs of the large cluster get in turn.
var scaleWords = []string{"managed", "managed", "managed", "moved", "adopt", "adopt", "create", "conflict", "gone", "ambiguous"}

// A scale is a large cluster and a project of three stacks with 100 VMs
// each. Some VMs exist, some are in state, some are neither.
type scale struct {
	dir  string
	sim  *pvesim.Server
	want map[string]string // verdicts by address
	runs int               // guests that may be a VM of the specs and run
}

// newScale creates a cluster of at least 300 guests. words are the verdicts on the VMs, in turn.
func newScale(t testing.TB, guests int, latency time.Duration, words ...string) *scale {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	seed, err := pvesim.DefaultSeed()
	fail(err)
	s := &scale{dir: t.TempDir(), want: map[string]string{}}
	fail(os.WriteFile(filepath.Join(s.dir, "stackgen.yaml"), []byte("apiVersion: stackgen/v1\nkind: Project\n"), 0o666))
	for n := range 3 {
		s.stack(t, n, seed, words)
	}
	for i := 0; len(seed.Guests) < guests; i++ {
		seed.Guests = append(seed.Guests, scaleGuest(20000+i, fmt.Sprintf("pve%d", 1+i%3), fmt.Sprintf("other-%d", i)))
	}
	s.sim, err = pvesim.New(pvesim.Options{Seed: seed, Latency: latency})
	fail(err)
	fail(s.sim.Start("127.0.0.1:0"))
	t.Cleanup(func() { _ = s.sim.Close() })
	for _, e := range s.sim.Env() {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	if code, said := s.run("render", s.dir); code != 0 {
		t.Fatalf("render: exit %d\n%s", code, said)
	}
	return s
}

// stack writes the spec and the state of one stack, and adds those of its VMs
// that exist to the cluster.
func (s *scale) stack(t testing.TB, n int, seed *pvesim.Seed, words []string) {
	t.Helper()
	stack := fmt.Sprintf("s%d", n)
	spec := fmt.Sprintf("apiVersion: stackgen/v1\nkind: Stack\nname: %s\nvmids: %d00-%d99\ndefaults: {template: {vmid: 9000, node: pve1}, restart: true, networks: [{mac: auto}]}\nvms:\n", stack, 10+n, 10+n)
	var state []string
	for i := range 100 {
		key, vmid, node := fmt.Sprintf("m%02d", i), 1000+100*n+i, fmt.Sprintf("pve%d", 1+i%3)
		name, word := stack+"-"+key, words[i%len(words)]
		nic := "" // an adoption needs more than the name
		if word == "adopt" {
			nic = fmt.Sprintf(", networks: [{mac: '%s'}]", scaleMAC(vmid))
		}
		spec += fmt.Sprintf("  %s: {node: %s%s}\n", key, node, nic)
		s.want[stack+"/"+key] = word
		switch word {
		case "moved":
			node = fmt.Sprintf("pve%d", 1+(i+1)%3)
		case "conflict":
			name = "stranger"
		case "create", "gone":
			node = ""
		case "ambiguous":
			vmid += 4000
		}
		if node != "" {
			g := scaleGuest(vmid, node, name)
			if seed.Guests = append(seed.Guests, g); g.Running {
				s.runs++
			}
		}
		if word == "managed" || word == "moved" || word == "gone" {
			state = append(state, fmt.Sprintf(`{"index_key":%q,"attributes":{"id":"%d","vm_id":%d,"name":%q}}`, key, vmid, vmid, name))
		}
	}
	unit := filepath.Join(".state", stack, "proxmox-vm")
	for file, text := range map[string]string{
		filepath.Join("specs", stack+".yaml"): spec,
		filepath.Join(unit, "tofu.tfstate"): `{"version":4,"resources":[{"mode":"managed","type":"proxmox_virtual_environment_vm","name":"this","instances":[` +
			strings.Join(state, ",") + `]}]}`,
	} {
		file = filepath.Join(s.dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// scaleGuest returns a VM. Every fourth one runs, with an agent that answers.
func scaleGuest(vmid int, node, name string) *pvesim.Guest {
	id := fmt.Sprintf("%012d", vmid)
	g := &pvesim.Guest{VMID: vmid, Node: node, Running: vmid%4 == 0, Agent: pvesim.Agent{Mode: "present"}, Config: map[string]string{
		"name": name, "memory": "4096", "cores": "2", "ostype": "l26", "boot": "order=scsi0", "scsihw": "virtio-scsi-pci",
		"scsi0":   fmt.Sprintf("shared:%d/vm-%d-disk-0.qcow2,size=32G", vmid, vmid),
		"net0":    "virtio=" + scaleMAC(vmid) + ",bridge=vmbr0",
		"smbios1": "uuid=77777777-0000-4d1a-9c54-" + id, "vmgenid": "88888888-0000-4b52-a6de-" + id, "meta": "creation-qemu=9.2.0,ctime=1700000000",
	}}
	if g.Running {
		g.Config["agent"], g.Started = "1", time.Now().Add(-time.Hour)
	}
	return g
}

func scaleMAC(vmid int) string { return fmt.Sprintf("BC:24:11:77:%02X:%02X", vmid/256, vmid%256) }

func (s *scale) run(args ...string) (int, string) {
	var out, errOut bytes.Buffer
	code := cmd.Main(append([]string{"stackgen"}, args...), zeros{}, strings.NewReader(""), &out, &errOut)
	if code == 1 {
		return code, out.String() + errOut.String()
	}
	return code, out.String()
}

// TestThousandGuests checks the verdicts on 300 VMs in a cluster of 1,000 guests,
// and the number of requests: a few lists, one request for each guest, because some
// VMs do not exist yet, and one for each agent that must answer.
func TestThousandGuests(t *testing.T) {
	s := newScale(t, 1000, 0, scaleWords...)
	code, said := s.run("preflight", s.dir, "--format", "json")
	var report struct {
		Verdicts []struct{ Stack, Kind, Key, Verdict string }
	}
	if err := json.Unmarshal([]byte(said), &report); code != 3 || err != nil {
		t.Fatalf("exit %d, %v\n%.2000s", code, err, said)
	}
	vms := 0
	for _, v := range report.Verdicts {
		if v.Kind == "unit" && v.Verdict == "cannot-create" {
			continue // a node has less free memory than its new VMs have, which blocks nothing
		}
		vms++
		if at := v.Stack + "/" + v.Key; v.Kind != "vm" || v.Verdict != s.want[at] {
			t.Errorf("%s %s: %s, want %s", v.Kind, at, v.Verdict, s.want[at])
		}
	}
	if vms != 300 {
		t.Errorf("%d verdicts, want one for each VM", vms)
	}
	lists, about, agents, snapshots := 0, map[string]int{}, 0, 0
	for _, e := range s.sim.Requests() {
		switch {
		case strings.Contains(e.Path, "/agent/"):
			agents++
		case strings.HasSuffix(e.Path, "/snapshot"): // of VMs that the spec moves
			snapshots++
		case strings.HasSuffix(e.Path, "/config"), strings.HasSuffix(e.Path, "/pending"): // of candidates, with what waits for a restart
			about[e.Path]++
		default:
			lists++
		}
	}
	// For a VMID that no guest has, one request asks whether the token could see it.
	free, moved := 0, 0
	for _, word := range s.want {
		if word == "moved" {
			moved++
		}
		if word == "create" || word == "gone" || word == "ambiguous" {
			free++
		}
	}
	if nodes := 3; lists > 3*nodes+8+free {
		t.Errorf("%d requests for lists, want at most %d and one for each of %d free VMIDs", lists, 3*nodes+8, free)
	}
	if snapshots != moved {
		t.Errorf("the snapshots of %d VMs were read, want those of %d", snapshots, moved)
	}
	// VMs are about to be created, and another guest may have their MAC addresses: all
	// guests are read, and the template of the VMs.
	guests := 1
	s.sim.Change(func(seed *pvesim.Seed) {
		for _, g := range seed.Guests {
			if g.Config["template"] != "1" {
				guests++
			}
		}
	})
	if len(about) != guests {
		t.Errorf("the configuration of %d guests was read, want %d", len(about), guests)
	}
	for path, n := range about {
		if n > 1 {
			t.Errorf("%s was read %d times", path, n)
		}
	}
	if agents != s.runs {
		t.Errorf("%d agents were asked, want %d", agents, s.runs)
	}
	t.Logf("%d lists, %d free VMIDs, %d guests, %d agents", lists-free, free, len(about), agents)
}
