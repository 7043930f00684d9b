package real

import (
	"encoding/json"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/pvesim"
	"stackgen/schema"
)

// announcedUpdates are the attributes that preflight says the first plan changes, by VM,
// and the VMs that it blocks instead, sorted.
func (p *project) announcedUpdates() (map[string][]string, []string) {
	p.Helper()
	_, output := p.stackgen("preflight", "--format", "json", p.dir)
	_, output, _ = strings.Cut(output, "{\n")
	var report struct{ Verdicts []finding.Finding }
	if err := json.Unmarshal([]byte("{\n"+output), &report); err != nil {
		p.Fatalf("%v\n%s", err, output)
	}
	out, blocked := map[string][]string{}, []string{}
	for _, v := range report.Verdicts {
		if v.Stops() {
			blocked = append(blocked, v.Key)
			continue
		}
		for _, d := range v.Differs {
			for _, f := range schema.VMFields {
				if root, _, _ := strings.Cut(f.HCL, "."); f.Key == d.Field && !slices.Contains(out[v.Key], root) {
					out[v.Key] = append(out[v.Key], root)
				}
			}
		}
		slices.Sort(out[v.Key])
	}
	slices.Sort(blocked)
	return out, blocked
}

// plannedUpdates are the attributes that the plan of import-blocks --verify changes, by VM.
func plannedUpdates(output string) map[string][]string {
	out := map[string][]string{}
	for _, m := range regexp.MustCompile(`update proxmox_virtual_environment_vm\.\w+\["([^"]+)"\]: (.*)`).FindAllStringSubmatch(output, -1) {
		for _, a := range strings.Split(m[2], ", ") {
			if !strings.HasPrefix(a, "ipv") && a != "network_interface_names" && a != "mac_addresses" { // unknown after any change
				out[m[1]] = append(out[m[1]], a)
			}
		}
	}
	return out
}

// TestAdoptMatch imports VMs created by hand with specs that have other hardware and permit restarts:
// preflight announces exactly the changes of the provider's plan, and which line keeps what. Then it writes their
// hardware into the spec: the import and the next plan change nothing.
func TestAdoptMatch(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	sim := p.simulate()
	vms := createHandmade(t, sim, handmadeVMs)
	spec := func(vms string) {
		p.write("specs/live.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\nvms:\n"+vms)
		p.render()
	}
	for _, c := range []struct{ other, blocked string }{
		{"", "cloudy usb windows"},
		{"tags: [a], disks: [{interface: scsi0, size: 640}], serial: socket, vga: std, balloon: 100, startup: {order: 9}, boot_order: [net0]", "disks"},
		{"cloud_init: false, agent: false, networks: [], bios: ovmf, tpm: local-lvm, machine: q35, cpu_units: 100, keyboard: fr, memory: 512, on_boot: false", "cloudy least usb windows"},
	} {
		spec(strings.ReplaceAll(vms, "adopt:", strings.TrimPrefix(c.other+", profile: default, restart: true, adopt:", ", ")))
		code, output := p.stackgen("import-blocks", "--verify", p.dir)
		announced, blocked := p.announcedUpdates()
		if got := strings.Join(blocked, " "); got != c.blocked {
			t.Errorf("%s: blocked %s, want %s", c.other, got, c.blocked)
		}
		planned := plannedUpdates(output)
		if c.blocked == "disks" { // of which a new disk would get the volume of another one: nothing is planned
			continue
		}
		for _, key := range blocked { // what preflight says of these is in test/script
			delete(planned, key)
		}
		if code != 3 || !reflect.DeepEqual(planned, announced) || len(planned)+len(blocked) != len(handmadeVMs) {
			t.Errorf("%s: exit %d\nplanned   %v\nannounced %v", c.other, code, planned, announced)
		}
	}
	spec(vms)
	if code, output := p.stackgen("adopt", "--match", "--verbose", "plain", "windows", "cloudy", "disks", "bare", "usb", p.dir); code == 3 {
		p.setPrinted(sim, output) // what Proxmox VE does without an entry is an entry now
	}
	p.remove("stackgen.lock.yaml")
	p.remove("stacks")
	sim.ResetLog()
	p.adoptWithHardware(sim, vms)
	p.adoptMinimal(sim)
}

// adoptWithHardware adopts all VMs with their hardware. Two are already in the state,
// with the profile adopted, and move.
func (p *project) adoptWithHardware(sim *pvesim.Server, vms string) {
	t := p.T
	t.Helper()
	step := p.step
	plan := func() string {
		t.Helper()
		return p.succeeds("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive")
	}
	apply := func() {
		t.Helper()
		p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	two := strings.Join(strings.SplitAfter(vms, "\n")[:2], "")
	p.write("specs/live.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\nvms:\n"+two)
	p.render()
	step(0, "import-blocks --verify", "live/proxmox-vm: 2 to import, 0 to add, 0 to change, 0 to destroy")
	apply()
	p.write("specs/live.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\nvms:\n"+vms)
	step(3, "adopt --match plain windows cloudy disks bare usb least", "live/cloudy: the spec says what VM 502 has; its profile is default now.",
		"blocked unmatched live/least: VM 506 it stays in profile adopted, and its hardware was not written", "qemu/506/config --scsihw lsi", "qemu/506/config --ostype other", "qemu/506/config --memory 512 --balloon 512", "qemu/506/config --ipconfig0 ip=dhcp", "qemu/506/config --cpu kvm64")
	if spec := p.read("specs/live.yaml"); strings.Contains(spec, "never-shown") || !strings.Contains(spec, "description: \"the office's own") {
		t.Errorf("the spec is\n%s", spec)
	}
	p.render()
	step(0, "import-blocks --verify", "live/proxmox-vm: 5 to import, 0 to add, 0 to change, 0 to destroy; 2 settling")
	apply()
	step(0, "import-blocks")
	step(0, "preflight", "3 managed, 4 settling")
	apply()
	for _, w := range writes(sim) {
		if !strings.HasPrefix(w, "PUT ") || !strings.HasSuffix(w, "/config name") {
			t.Errorf("the adoption made the write %s", w)
		}
	}
	p.contains(plan(), "No changes.")
	step(0, "preflight", "7 managed")
	step(0, "adopt --match plain windows cloudy disks bare usb", "Nothing to write.")
}

// adoptMinimal follows the advice for the VM that has less hardware than a spec can
// describe. Its state has old blocks, which only a new import removes; the output says
// so, and the import changes nothing.
func (p *project) adoptMinimal(sim *pvesim.Server) {
	p.Helper()
	callAPI(p.T, sim, "PUT", "/nodes/pve1/qemu/506/config", url.Values{"scsihw": {"lsi"}, "ostype": {"other"}, "memory": {"512"}, "balloon": {"512"}, "ipconfig0": {"ip=dhcp"}, "cpu": {"kvm64"}})
	address := `'proxmox_virtual_environment_vm.adopted["least"]'`
	code, output := p.stackgen("adopt", "--match", "least", p.dir)
	if code != 3 {
		p.Fatalf("adopt --match: exit %d\n%s", code, output)
	}
	p.contains(output, "its state has a block operating_system from an earlier time", "terragrunt state rm "+address)
	p.succeeds(unitDir("live", "proxmox-vm"), "terragrunt", "state", "rm", strings.Trim(address, "'"))
	if code, output := p.stackgen("adopt", "--match", "least", p.dir); code != 0 {
		p.Fatalf("adopt --match: exit %d\n%s", code, output)
	}
	p.render()
	code, output = p.stackgen("import-blocks", "--verify", p.dir)
	if code != 0 {
		p.Errorf("import-blocks --verify: exit %d", code)
	}
	p.contains(output, "live/proxmox-vm: 1 to import, 0 to add, 0 to change, 0 to destroy")
}
