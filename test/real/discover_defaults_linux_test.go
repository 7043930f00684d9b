package real

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// defaultsOfHandmade are what discover writes into the configurations of the handmade
// cluster: nothing into that of VM 506, which a spec cannot say.
var defaultsOfHandmade = []string{
	"PUT /nodes/pve1/qemu/500/config digest scsi0",
	"PUT /nodes/pve2/qemu/501/config digest scsi0",
	"PUT /nodes/pve3/qemu/502/config digest scsi0 scsi1 scsi2",
	"PUT /nodes/pve1/qemu/503/config balloon digest scsi0",
	"PUT /nodes/pve2/qemu/504/config digest scsi0",
	"PUT /nodes/pve1/qemu/505/config balloon cpu digest memory numa ostype scsi0 scsihw sockets",
}

// TestDiscoverWritesDefaults answers both questions of discover: it writes the defaults into
// the configurations of the VMs that it takes, restarts none, and says which wait for a
// restart. After that, their disks grow.
func TestDiscoverWritesDefaults(t *testing.T) {
	t.Parallel()
	p, sim := handmade(t)
	before := stateOf(sim).guests
	sim.ResetLog()
	c := p.onTerminal("discover --stack lab")
	asked := func(question string) {
		t.Helper()
		if !asks(func() string { _, after, _ := strings.Cut(c.text(), question); return after }, c.read) {
			t.Fatalf("the question is missing: %s\n%s", question, c.text())
		}
	}
	asked("Write 16 entries into the configurations of 6 VMs? ")
	noWrites(t, sim)
	c.types("yes\n")
	asked("lines? ")
	c.types("y\n")
	code, said := c.ends()
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, said)
	}
	p.contains(said, "VM 500 web1 on pve1: written: scsi0", "VM 503 nas on pve1: written: balloon, scsi0; waits for a restart: scsi0",
		"written: 16 entries of 6 VMs; waits for a restart: VM 503 nas (scsi0)", "written: 2 specs.")
	if got := writes(sim); !slices.Equal(got, defaultsOfHandmade) {
		t.Errorf("writes:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(defaultsOfHandmade, "\n"))
	}
	sameHardware(t, before, stateOf(sim).guests)
	if got := stateOf(sim).guests[502].config["scsi1"]; got != "local-lvm:vm-502-disk-1,aio=io_uring,backup=1,cache=none,discard=ignore,iothread=1,replicate=1,size=100G,ssd=0" {
		t.Errorf("scsi1 of VM 502 is %s", got)
	}

	sim.ResetLog()
	p.deployed(0, "discover --yes", "in specs already: 7 VMs")
	p.deployed(0, "render")
	p.deployed(0, "import-blocks --verify")
	noWrites(t, sim)
	p.deployed(0, "apply --yes", "lab is as its spec says", "web is as its spec says")
	callAPI(t, sim, "POST", "/nodes/pve1/qemu/503/status/stop", nil)
	callAPI(t, sim, "POST", "/nodes/pve1/qemu/503/status/start", nil)
	callAPI(t, sim, "POST", "/nodes/pve1/qemu/505/status/start", nil)
	p.write("specs/lab.yaml", strings.Replace(p.read("specs/lab.yaml"), "size: 32", "size: 33", 1))
	p.write("specs/lab.yaml", strings.Replace(p.read("specs/lab.yaml"), "size: 8}", "size: 9}", 1))
	p.deployed(0, "render")
	p.deployed(0, "apply --yes", "change 2 VMs", "lab is as its spec says")
	for _, vmid := range []int{503, 505} {
		if got := stateOf(sim).guests[vmid]; !got.running || !regexp.MustCompile(`size=(9|33)G`).MatchString(got.config["scsi0"]) {
			t.Errorf("VM %d: running %t, scsi0 %s", vmid, got.running, got.config["scsi0"])
		}
	}
}

// sameHardware fails unless the configurations differ in what was added to them only.
func sameHardware(t *testing.T, before, after map[int]guestState) {
	t.Helper()
	for vmid, was := range before {
		now := after[vmid]
		if now.running != was.running {
			t.Errorf("VM %d runs: %t, before %t", vmid, now.running, was.running)
		}
		for key, value := range was.config {
			for option := range strings.SplitSeq(value, ",") {
				if !slices.Contains(strings.Split(now.config[key], ","), option) {
					t.Errorf("VM %d: %s was %s and is %s", vmid, key, value, now.config[key])
				}
			}
		}
	}
}

// TestDiscoverLeavesDefaults answers the question about defaults with anything but yes, and
// does not ask it in a dry run, without a terminal, and with --specs-only: nothing is written
// into a configuration.
func TestDiscoverLeavesDefaults(t *testing.T) {
	t.Parallel()
	p, sim := handmade(t)
	sim.ResetLog()
	for _, answer := range []string{"y\n", "YES\n", "no\n", "\n", "early"} {
		c := p.onTerminal("discover --stack lab")
		if answer == "early" { // an answer before the question is none
			c.types("yes\n")
			answer = "no\n"
		}
		if !asks(c.text, c.read) {
			t.Fatal(c.text())
		}
		c.types(answer)
		if !asks(func() string {
			_, after, _ := strings.Cut(c.text(), "not confirmed; no configuration was changed")
			return after
		}, c.read) {
			t.Fatalf("answer %q\n%s", answer, c.text())
		}
		c.types("n\n")
		if code, said := c.ends(); code != 1 {
			t.Errorf("answer %q: exit %d\n%s", answer, code, said)
		}
	}
	p.answered(1, "discover --stack lab", "\x03", "interrupted; nothing was written")
	p.deployed(0, "discover --stack lab --dry-run", "pvesh set /nodes/pve1/qemu/505/config --scsihw lsi --ostype other")
	p.deployed(1, "discover --stack lab", "standard input is no terminal", "nothing was written")
	if p.exists("specs") || p.exists("stackgen.yaml") {
		t.Errorf("files were written: %v", p.list())
	}
	p.deployed(0, "discover --stack lab --yes --specs-only", "written: 2 specs.")
	noWrites(t, sim)
	for _, file := range []string{".gitignore", "stackgen.yaml", "stackgen.schema.json", ".pre-commit-config.yaml"} {
		if !p.exists(file) {
			t.Errorf("%s is missing: discover must make in an empty folder what init makes", file)
		}
	}
}

// TestDiscoverDefaultsFail refuses the writes to some VMs: one has changed since it was read,
// one is locked, and one belongs to somebody else. The others are written, and the same
// command does the rest.
func TestDiscoverDefaultsFail(t *testing.T) {
	t.Parallel()
	p, sim := handmade(t)
	c := p.onTerminal("discover --stack lab")
	if !asks(c.text, c.read) {
		t.Fatal(c.text())
	}
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/500/config", url.Values{"memory": {"3072"}})
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 503 {
				g.Config["lock"] = "backup"
			}
		}
	})
	c.types("yes\n")
	if !asks(func() string { _, after, _ := strings.Cut(c.text(), "lines? "); return "lines? " + after }, c.read) {
		t.Fatal(c.text())
	}
	c.types("\x03")
	code, said := c.ends()
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	p.contains(said, "VM 500 web1 on pve1: not written: its configuration has changed since it was read",
		"VM 503 nas on pve1: not written: its configuration has changed since it was read", "VM 505 forgotten on pve1: written: ",
		"not written: 2 VMs; run the same command again", "interrupted; no spec was written")
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 503 {
				delete(g.Config, "lock")
			}
		}
	})
	sim.ResetLog()
	p.deployed(0, "discover --stack lab --yes", "VM 500 web1 on pve1: written: scsi0", "VM 503 nas on pve1: written: balloon, scsi0")
	if got := writes(sim); len(got) != 2 {
		t.Errorf("writes of the second run: %q", got)
	}
}

// TestDiscoverGroups writes equal VMs as a group, by default: the first plan imports them.
func TestDiscoverGroups(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	sim := p.simulate()
	p.remove("stackgen.yaml")
	var vms []handmadeVM
	for _, n := range []string{"1", "2", "3"} {
		vms = append(vms, handmadeVM{key: n, node: "pve1", config: "name=app" + n + "\ncores=2\ncpu=host\nmemory=1024\nballoon=0\nostype=l26\nscsihw=virtio-scsi-pci\nscsi0=local-lvm:4\nnet0=virtio=BC:24:11:60:00:0" + n + ",bridge=vmbr0\nboot=order=scsi0"})
	}
	createHandmade(t, sim, vms)
	p.deployed(0, "discover --stack lab --yes 500 501 502", "groups: app")
	p.contains(p.read("specs/lab.yaml"), "groups:", `app: {count: 3, key: "app{n}"`, "app3: {adopt: {vmid: 502}}")
	p.deployed(0, "render")
	p.deployed(0, "import-blocks --verify", "3 to import, 0 to add, 0 to change, 0 to destroy")
	before := maps.Clone(stateOf(sim).guests)
	p.deployed(0, "apply --yes", "lab is as its spec says")
	sameHardware(t, before, stateOf(sim).guests)
}
