package discover

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A world is a cluster and a project.
type world struct {
	t      *testing.T
	specs  map[string][]byte
	guests []cluster.Guest
	gaps   []cluster.Gap
	lock   *lock.Lock
	others []lock.Other
	left   map[int]bool // what got no spec
	joins  int          // how often the specs were read
}

func (w *world) join(more map[string][]byte) (*schema.Project, []schema.Problem, error) {
	w.joins++
	files := maps.Clone(w.specs)
	if files == nil {
		files = map[string][]byte{}
	}
	maps.Copy(files, more)
	var inputs []schema.Input
	var problems []schema.Problem
	for _, file := range slices.Sorted(maps.Keys(files)) {
		spec, found := schema.Parse(file, files[file])
		problems = append(problems, found...)
		if spec != nil {
			inputs = append(inputs, schema.Input{Spec: spec, Label: file})
		}
	}
	p, found := schema.Join(nil, inputs, nil, nil)
	return p, append(problems, found...), nil
}

func (w *world) inventory() *cluster.Inventory {
	return &cluster.Inventory{Version: 1, Cluster: "lab", Nodes: []cluster.Node{{Name: "pve1", Online: true}, {Name: "pve2", Online: true}, {Name: "pve3"}}, Guests: w.guests, Gaps: w.gaps}
}

func (w *world) propose(r Request) (*Proposal, error) {
	w.t.Helper()
	project, problems, _ := w.join(nil)
	if schema.HasErrors(problems) {
		w.t.Fatal(problems)
	}
	l := w.lock
	if l == nil {
		l = &lock.Lock{}
	}
	return Propose(Input{Request: r, Inventory: w.inventory(), Lock: l, Others: w.others, Project: project, Sources: w.specs, Folder: "specs", Join: w.join})
}

// add writes the specs of a proposal.
func (w *world) add(p *Proposal) {
	if w.specs == nil {
		w.specs = map[string][]byte{}
	}
	maps.Copy(w.specs, p.Files)
}

// config is the configuration of a VM that a spec can say, with other lines. A line without
// a value removes an entry.
func config(vmid int, lines string) *cluster.Config {
	const usual = "onboot: 1\nscsihw: virtio-scsi-single\nostype: l26\ncores: 2\ncpu: x86-64-v2-AES\nmemory: 2048\nballoon: 0\nboot: order=scsi0\n" +
		"scsi0: local-lvm:vm-%d-disk-0,size=32G\nnet0: virtio=BC:24:11:00:%02X:%02X,bridge=vmbr0\n"
	raw := map[string]string{}
	for l := range strings.Lines(fmt.Sprintf(usual, vmid, vmid/256%256, vmid%256) + lines) {
		key, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ":")
		raw[key] = strings.TrimSpace(value)
		if raw[key] == "" {
			delete(raw, key)
		}
	}
	return &cluster.Config{Raw: raw}
}

func newGuest(vmid int, name, lines string) cluster.Guest {
	c := config(vmid, lines)
	if name != "" {
		c.Raw["name"] = name
	}
	g := cluster.Guest{VMID: vmid, Node: "pve1", Kind: guest.VM, Name: name, Status: "stopped", Config: c}
	for t := range strings.SplitSeq(c.Raw["tags"], ";") {
		if t != "" {
			g.Tags = append(g.Tags, t)
		}
	}
	return g
}

// Entries of configurations, some of which a spec cannot say.
var entries = map[string][]string{
	"name":       {"", "Web_1", "web", "WEB", "a.b", "x\x1b[31m: {y: [", "null", "for", "Straße", strings.Repeat("n", 63), "-", "1e3", "true", "web: {a: b}"},
	"onboot":     {"", "0", "1"},
	"scsihw":     {"", "lsi", "virtio-scsi-pci", "virtio-scsi-single", "nonsense"},
	"ostype":     {"", "l26", "win11", "other"},
	"cores":      {"", "1", "2", "8", "x"},
	"sockets":    {"", "1", "2"},
	"vcpus":      {"", "1", "99"},
	"cpu":        {"", "host", "kvm64", "qemu64", "host,flags=+aes;-pcid", "nonsense"},
	"numa":       {"", "0", "1"},
	"affinity":   {"", "0-3"},
	"cpulimit":   {"", "1.5", "0"},
	"cpuunits":   {"", "100", "2000"},
	"memory":     {"", "512", "2048", "4096", "current=2048"},
	"balloon":    {"", "0", "512", "2048", "9999"},
	"agent":      {"", "0", "1", "1,fstrim_cloned_disks=1", "enabled=1,type=isa", "0,type=isa", "1,what=2"},
	"bios":       {"", "ovmf", "seabios"},
	"machine":    {"", "q35", "pc-i440fx-9.0", "x{"},
	"efidisk0":   {"", "local-lvm:vm-1-disk-1,efitype=4m,pre-enrolled-keys=1,size=4M", "local-lvm:vm-1-disk-1,format=raw,efitype=2m,size=128K"},
	"tpmstate0":  {"", "local-lvm:vm-1-disk-2,size=4M,version=v2.0", "local-lvm:vm-1-disk-2,size=4M,version=v1.2"},
	"boot":       {"", "order=scsi0;net0", "order=ide2;scsi0;net0", "order=net7", "cdn"},
	"scsi0":      {"", "local-lvm:vm-1-disk-0,size=32G", "local-lvm:vm-1-disk-0,iothread=1,size=32G,ssd=1", "local:1/vm-1-disk-0.qcow2,size=512M", "/dev/sdb,size=1T", "tank:vm-1-disk-0,size=2252M,mbps_rd=5,serial=a b"},
	"scsi1":      {"", "local-lvm:vm-1-disk-1,discard=on,size=10G"},
	"virtio0":    {"", "local-lvm:vm-1-disk-3,cache=writeback,size=8G"},
	"ide2":       {"", "none,media=cdrom", "local-lvm:vm-1-cloudinit,media=cdrom", "local:iso/x.iso,media=cdrom,size=1M"},
	"ide3":       {"", "", "none,media=cdrom"},
	"ipconfig0":  {"", "ip=dhcp", "ip=192.0.2.5/24,gw=192.0.2.1", "ip=192.0.2.6/24", "ip=192.0.2.7/24,gw=192.0.3.1", "ip6=auto"},
	"ipconfig1":  {"", "", "ip=dhcp"},
	"ciuser":     {"", "ops", "a b"},
	"sshkeys":    {"", "ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4%20a%2Bb%0A", "nonsense", "ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4%20%22%7B%5D%3A%0A"},
	"nameserver": {"", "192.0.2.53", "192.0.2.53 192.0.2.54"},
	"net0":       {"", "virtio=BC:24:11:00:00:01,bridge=vmbr0", "e1000=BC:24:11:00:00:01,bridge=vmbr1,tag=5,firewall=1", "virtio=bc:24:11:00:00:01,bridge=vmbr0,trunks=5;6"},
	"net1":       {"", "", "virtio=BC:24:11:00:00:02,bridge=vmbr1,queues=4,mtu=1400"},
	"net2":       {"", "", "virtio=BC:24:11:00:00:03,bridge=vmbr1"},
	"serial0":    {"", "socket", "/dev/ttyS0"},
	"vga":        {"", "serial0", "std", "qxl,memory=32", "virtio,clipboard=vnc", "memory=32"},
	"tags":       {"", "a", "a;b", "B;a", "a]b"},
	"startup":    {"", "order=1", "order=2,up=30", "up=3"},
	"protection": {"", "1"}, "tablet": {"", "0"}, "keyboard": {"", "de"}, "hotplug": {"", "disk,network", "0", "memory"},
	"watchdog": {"", "i6300esb", "model=ib700,action=reset"}, "hookscript": {"", "local:snippets/a.pl"},
	"hostpci0": {"", "", "0000:01:00.0,pcie=1", "mapping=gpu"}, "usb0": {"", "", "host=1a86:7523,usb3=1", "spice"}, "rng0": {"", "", "source=/dev/urandom"},
	"description": {"", "plain", "two\nlines: {x}", "- a #b", "\x1b]0;x\x07", " blank ", "\"}, {\" ' \\", "ghp_" + strings.Repeat("a", 30)},
	"whatever":    {"", "", "", "1"}, "args": {"", "", "-device x"},
}

// containerEntries are those of containers. A MAC address is in each of them where it is written {mac}.
var containerEntries = map[string][]string{
	"hostname":   {"", "Web-1", "web", "WEB", "a.b", "vm1", "null"},
	"onboot":     {"", "0", "1"},
	"cores":      {"", "1", "2", "200", "x"},
	"cpulimit":   {"", "0", "1.5"},
	"cpuunits":   {"", "", "100"},
	"arch":       {"", "amd64", "arm64"},
	"memory":     {"", "16", "512", "2048", "4096"},
	"swap":       {"", "0", "512", "2048"},
	"ostype":     {"", "debian", "unmanaged"},
	"rootfs":     {"local-lvm:vm-1-disk-0,size=8G", "tank:subvol-1-disk-0,size=10G", "local-lvm:vm-1-disk-0,size=2252M", "local-lvm:vm-1-disk-0,acl=1,size=8G", "/srv/x,size=0", "local-lvm:vm-1-disk-0", "volume=tank:subvol-1-disk-0,size=1T"},
	"net0":       {"", "name=eth0,bridge=vmbr0,hwaddr={mac}:00,ip=dhcp,type=veth", "name=eth0,bridge=vmbr0,firewall=1,gw=192.0.2.1,hwaddr={mac}:00,ip=192.0.2.7/24,tag=9,type=veth", "name=wan,bridge=vmbr0,hwaddr={mac}:00,type=veth", "name=eth0,bridge=vmbr0,ip=dhcp", "name=eth0,bridge=vmbr0,hwaddr={mac}:00,ip=manual", "name=eth0,bridge=vmbr0,hwaddr={mac}:00,gw=192.0.3.1,ip=192.0.2.8/24,ip6=auto"},
	"net1":       {"", "", "name=eth1,bridge=vmbr1,hwaddr={mac}:01,ip=dhcp,mtu=1400", "name=eth0,bridge=vmbr1,hwaddr={mac}:01,ip6=2001:db8::5/64", "name=eth1,bridge=vmbr1,hwaddr={mac}:01,trunks=4-9"},
	"net2":       {"", "", "name=eth2,bridge=vmbr1,hwaddr={mac}:02,ip=dhcp,rate=5"},
	"nameserver": {"", "192.0.2.53", "192.0.2.53 192.0.2.54", "192.0.2.53  192.0.2.54", "x"}, "searchdomain": {"", "lab.test", "a.test b.test"},
	"tags": {"", "a", "a;b", "B;a", "a]b"}, "startup": {"", "order=1", "order=2,up=30", "up=3"}, "unprivileged": {"", "1"}, "protection": {"", "1"},
	"features": {"", "nesting=1", "nesting=1,mount=nfs"}, "mp0": {"", "", "tank:vm-1-disk-9,mp=/data"}, "dev0": {"", "", "/dev/fuse"}, "tty": {"", "1"},
	"description": {"", "plain\n", "two\nlines: {x}\n", "\x1b]0;x\x07", " blank ", "\"}, {\" ' \\\n"}, "whatever": {"", "", "", "1"}, "env": {"", "A=(secret)"},
}

// TestPropertySpecsSayWhatVMsHave makes specs for VMs and containers with all kinds of configurations, and
// compares what the specs say, read again, with them.
func TestPropertySpecsSayWhatVMsHave(t *testing.T) {
	managed, adopted := 0, 0
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := &world{t: t}
		w.random(random, 100, 1+random.IntN(12))
		for round := range 2 { // the second time into the specs of the first time
			p, err := w.propose(Request{Groups: random.IntN(2) == 0})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, s := range p.Stacks {
				for _, v := range s.VMs {
					if i := slices.IndexFunc(v.Reasons, func(r Reason) bool {
						return strings.Contains(r.Why, "together") && !strings.HasPrefix(r.Config, "vga=memory")
					}); i >= 0 && round == 0 {
						t.Errorf("seed %d: a spec does not say all of VM %d: %s: %s", seed, v.VMID, v.Reasons[i].Config, v.Reasons[i].Why)
					}
				}
			}
			w.add(p)
			w.left = map[int]bool{}
			for _, l := range p.Left {
				w.left[l.VMID] = l.Kind == Unknown || l.Kind == NoNetwork || l.Kind == Unfit
			}
			a, b := w.compare(seed)
			managed, adopted = managed+a, adopted+b
			again, err := w.propose(Request{})
			if err != nil || len(again.Files) > 0 || len(again.Stacks) > 0 {
				t.Fatalf("seed %d: a second run adds something: %v, %v", seed, again, err)
			}
			if t.Failed() {
				for file, body := range w.specs {
					t.Logf("%s\n%s", file, body)
				}
				t.FailNow()
			}
			w.random(random, 200, random.IntN(6))
		}
	}
	if managed < 200 || adopted < 200 {
		t.Errorf("%d managed and %d adopted VMs show little", managed, adopted)
	}
}

// random adds guests: some with few unusual entries, some with many.
func (w *world) random(r *rand.Rand, from, n int) {
	for i := range n {
		g, of := newGuest(from+i, "vm"+fmt.Sprint(r.IntN(9)), ""), entries
		if r.IntN(3) == 0 {
			g, of = newContainer(from+i, "vm"+fmt.Sprint(r.IntN(9)), ""), containerEntries
		}
		keys := slices.Sorted(maps.Keys(of))
		for range []int{0, 1, 2, 4, 12}[r.IntN(5)] {
			key := keys[r.IntN(len(keys))]
			text := strings.NewReplacer("vm-1-", fmt.Sprintf("vm-%d-", g.VMID), "{mac}", fmt.Sprintf("BC:24:11:0E:%02X", g.VMID)).Replace(of[key][r.IntN(len(of[key]))])
			if g.Config.Raw[key] = text; text == "" {
				delete(g.Config.Raw, key)
			}
		}
		g.Name = g.Config.Raw["name"] + g.Config.Raw["hostname"]
		if g.Kind == guest.Container {
			g.Config.MACs = macsOf(g.Config.Raw)
		}
		for t := range strings.SplitSeq(g.Config.Raw["tags"], ";") {
			if t != "" {
				g.Tags = append(g.Tags, t)
			}
		}
		g.Pool = []string{"", "", "p", "q"}[r.IntN(4)]
		g.Node = []string{"pve1", "pve2"}[r.IntN(2)]
		g.Status = []string{"running", "stopped"}[r.IntN(2)]
		w.guests = append(w.guests, g)
	}
}

// compare compares the specs with the VMs, and counts those that are managed and adopted.
func (w *world) compare(seed uint64) (managed, adopted int) {
	project, problems, _ := w.join(nil)
	for _, p := range problems {
		w.t.Errorf("seed %d: %v", seed, p)
	}
	seen := map[int]bool{}
	for _, s := range project.Stacks {
		for _, v := range s.VMs {
			g := w.inventory().Guest(v.VMID)
			switch {
			case g == nil || seen[v.VMID] || !v.Adopt || v.Node != g.Node:
				w.t.Errorf("seed %d: %s/%s is VM %d", seed, s.Name, v.Key, v.VMID)
				continue
			case v.Profile == "adopted":
				adopted++
			default:
				managed++
				if v.Name != g.Name || v.Profile != "default" {
					w.t.Errorf("seed %d: VM %d has name %q and profile %s", seed, v.VMID, v.Name, v.Profile)
				}
				for _, d := range hardware.Read(g).Differences(v, func(a string) bool { return a == "started" }) {
					w.t.Errorf("seed %d: VM %d: %s", seed, v.VMID, d.String())
				}
			}
			seen[v.VMID] = true
		}
	}
	for _, g := range w.guests {
		left := w.left[g.VMID] && g.Kind == guest.Container
		if !seen[g.VMID] && !left && hardware.FindUnreadable(g.Config.Raw) == nil {
			w.t.Errorf("seed %d: %s %d is in no spec", seed, g.Kind.Name(), g.VMID)
		}
	}
	return managed, adopted
}
