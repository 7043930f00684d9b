package test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/guard"
	"stackgen/internal/pvesim"
	"stackgen/schema"
)

// realGuests are VMs as people make them by hand: entries of a configuration,
// each a line. A size after a storage makes a disk.
var realGuests = []struct {
	key, node, config string
	run               bool
}{
	{key: "plain", node: "pve1", config: `name=plain
memory=1024
cores=1
scsihw=virtio-scsi-pci
ostype=l26
scsi0=local-lvm:4
net0=virtio=BC:24:11:0A:00:01,bridge=vmbr0`},
	{key: "windows", node: "pve2", config: `name=windows
bios=ovmf
machine=pc-q35-9.0
cpu=host,flags=+aes;-pcid
cores=4
sockets=2
numa=1
memory=8192
balloon=2048
ostype=win11
scsihw=virtio-scsi-single
efidisk0=local-lvm:1,efitype=4m,pre-enrolled-keys=1
tpmstate0=local-lvm:1,version=v2.0
scsi0=local-lvm:32,iothread=1,ssd=1,discard=on,cache=writeback
ide2=shared:iso/debian-12-netinst.iso,media=cdrom
net0=virtio=BC:24:11:0A:00:02,bridge=vmbr0,tag=30,firewall=1,queues=4
agent=1,fstrim_cloned_disks=1
onboot=1
tags=office;windows
keyboard=de
vga=virtio,memory=64
startup=order=3,up=30
protection=1
localtime=1
description=the office's own: "don't touch"
second line # 100 %`},
	{key: "cloudy", node: "pve1", run: true, config: `name=cloudy
memory=2048
cores=2
cpu=x86-64-v2-AES
scsihw=virtio-scsi-pci
ostype=l26
scsi0=shared:8,format=qcow2
ide2=local-lvm:cloudinit
ciuser=ops
cipassword=never-shown
sshkeys=ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIPretendKeyOfNobodyAtAllForTests%20ops%40example%0Assh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIPretendKeyOfSomebodyElse00000%20x
ipconfig0=ip=192.0.2.50/24,gw=192.0.2.1,ip6=auto
nameserver=192.0.2.53 192.0.2.54
searchdomain=example.test
serial0=socket
vga=serial0
agent=enabled=0
net0=virtio=BC:24:11:0A:00:03,bridge=vmbr0
net1=e1000=BC:24:11:0A:00:04,bridge=vmbr0,link_down=1,mtu=1400,rate=12.5
boot=order=scsi0;net0
onboot=1`},
	{key: "disks", node: "pve3", config: `name=disks
memory=512
balloon=0
cores=2
cpulimit=1.5
cpuunits=200
scsihw=lsi
ostype=other
ide0=local-lvm:4
sata1=local-lvm:3,backup=0
virtio2=local-lvm:5,serial=DISK-1,aio=threads
scsi3=shared:6,format=raw,mbps_rd=10,iops_wr=500,iops_wr_max=900,replicate=0
tablet=0
net0=rtl8139=BC:24:11:0A:00:05,bridge=vmbr0`},
	{key: "bare", node: "pve1", config: `name=bare
memory=512
cores=1
cpu=qemu64
scsihw=virtio-scsi-pci
ostype=l26
tags=b;a`},
	{key: "usb", node: "pve1", config: `name=usb
memory=768
scsihw=virtio-scsi-single
ostype=l24
scsi0=local-lvm:2
usb0=host=1a86:7523
usb1=host=1-1.4,usb3=1
serial0=/dev/ttyS0
serial1=socket
efidisk0=local-lvm:1,efitype=2m
bios=ovmf
agent=0
net0=virtio=bc:24:11:0a:00:06,bridge=vmbr0`},
	{key: "least", node: "pve1", config: `name=least
scsi0=local-lvm:1
ide2=local-lvm:cloudinit
net0=virtio=BC:24:11:0A:00:07,bridge=vmbr0`},
}

// realRoot logs in as root, who alone may give a VM devices of its node.
func realRoot(t *testing.T, s *pvesim.Server) http.Header {
	t.Helper()
	body := url.Values{"username": {"root@pam"}, "password": {"stackgen"}}
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	resp := s.Do(context.Background(), pvesim.Request{Method: "POST", Path: "/api2/json/access/ticket", Header: h, Body: []byte(body.Encode())})
	var v struct {
		Data struct{ Ticket, CSRFPreventionToken string }
	}
	if err := json.Unmarshal(resp.Body, &v); err != nil || resp.Status != 200 {
		t.Fatalf("no ticket: %d %v", resp.Status, err)
	}
	return http.Header{"Cookie": {"PVEAuthCookie=" + url.QueryEscape(v.Data.Ticket)}, "Csrfpreventiontoken": {v.Data.CSRFPreventionToken}}
}

// realAPI makes a change on the simulated cluster by hand.
func realAPI(t *testing.T, s *pvesim.Server, method, path string, form url.Values) any {
	t.Helper()
	h := realRoot(t, s)
	r := pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h}
	if form != nil {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = []byte(form.Encode())
	}
	resp := s.Do(context.Background(), r)
	if resp.Status != 200 {
		t.Fatalf("%s %s: %d %s %s", method, path, resp.Status, resp.Reason, resp.Body)
	}
	var v struct{ Data any }
	if err := json.Unmarshal(resp.Body, &v); err != nil {
		t.Fatal(err)
	}
	if upid, ok := v.Data.(string); ok && strings.HasPrefix(upid, "UPID:") {
		realTask(t, s, upid)
	}
	return v.Data
}

func realTask(t *testing.T, s *pvesim.Server, upid string) {
	t.Helper()
	for range 200 {
		m := realAPI(t, s, "GET", "/nodes/"+strings.Split(upid, ":")[1]+"/tasks/"+upid+"/status", nil).(map[string]any)
		if m["status"] == "stopped" {
			if m["exitstatus"] != "OK" {
				t.Fatalf("%s: %v", upid, m["exitstatus"])
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s does not end", upid)
}

// realHandmade makes the VMs of realGuests, from VMID 500 on.
func realHandmade(t *testing.T, s *pvesim.Server) (specs string) {
	t.Helper()
	for i, g := range realGuests {
		form := url.Values{"vmid": {fmt.Sprint(500 + i)}}
		last := ""
		for line := range strings.Lines(g.config) {
			line = strings.TrimSuffix(line, "\n")
			if key, value, ok := strings.Cut(line, "="); ok && !strings.Contains(key, " ") {
				form.Set(key, value)
				last = key
			} else {
				form.Set(last, form.Get(last)+"\n"+line)
			}
		}
		realAPI(t, s, "POST", "/nodes/"+g.node+"/qemu", form)
		if g.run {
			realAPI(t, s, "POST", fmt.Sprintf("/nodes/%s/qemu/%d/status/start", g.node, 500+i), url.Values{})
		}
		specs += fmt.Sprintf("  %s: {node: %s, adopt: {vmid: %d}}\n", g.key, g.node, 500+i)
	}
	return specs
}

// realAnnounced are the attributes that a look says the first plan would change,
// by VM.
func (p *realProject) realAnnounced() map[string][]string {
	p.Helper()
	_, said := p.stackgen("preflight", "--format", "json", p.dir)
	_, said, _ = strings.Cut(said, "{\n")
	var report struct{ Verdicts []guard.Verdict }
	if err := json.Unmarshal([]byte("{\n"+said), &report); err != nil {
		p.Fatalf("%v\n%s", err, said)
	}
	out := map[string][]string{}
	for _, v := range report.Verdicts {
		for _, d := range v.Differs {
			for _, f := range schema.VMFields {
				if root, _, _ := strings.Cut(f.HCL, "."); f.Key == d.Field && !slices.Contains(out[v.Key], root) {
					out[v.Key] = append(out[v.Key], root)
				}
			}
		}
		slices.Sort(out[v.Key])
	}
	return out
}

// realPlanned are the attributes that a verified plan changes, by VM.
func realPlanned(said string) map[string][]string {
	out := map[string][]string{}
	for _, m := range regexp.MustCompile(`update proxmox_virtual_environment_vm\.\w+\["([^"]+)"\]: (.*)`).FindAllStringSubmatch(said, -1) {
		for _, a := range strings.Split(m[2], ", ") {
			if !strings.HasPrefix(a, "ipv") && a != "network_interface_names" && a != "mac_addresses" { // what a change of others makes unknown
				out[m[1]] = append(out[m[1]], a)
			}
		}
	}
	return out
}

// TestRealAdoptMatch looks at VMs made by hand under specs that say other
// hardware: the look announces what the provider's own plan would change, and
// nothing else. Then it writes their hardware into the spec, and their import
// changes nothing, and neither does the next plan.
func TestRealAdoptMatch(t *testing.T) {
	p := realNew(t, nil)
	sim := p.realCluster()
	vms := realHandmade(t, sim)
	spec := func(vms string) {
		p.write("specs/live.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\nvms:\n"+vms)
		p.render()
	}
	for _, other := range []string{"", "tags: [a], disks: [{interface: scsi0, size: 4}], serial: socket, vga: std, balloon: 100, startup: {order: 9}, boot_order: [net0]",
		"cloud_init: false, agent: false, networks: [], bios: ovmf, tpm: local-lvm, machine: q35, cpu_units: 100, keyboard: fr, memory: 512, on_boot: false"} {
		spec(strings.ReplaceAll(vms, "adopt:", strings.TrimPrefix(other+", profile: default, adopt:", ", ")))
		announced := p.realAnnounced()
		code, said := p.stackgen("import-blocks", "--verify", p.dir)
		if planned := realPlanned(said); code != 3 || !reflect.DeepEqual(planned, announced) || len(planned) != len(realGuests) {
			t.Errorf("%s: exit %d\nplanned   %v\nannounced %v", other, code, planned, announced)
		}
	}
	p.remove("stackgen.lock.yaml")
	p.remove("stacks")
	sim.ResetLog()
	p.matched(vms)
	if n := sim.Counters().Writes; n != 0 {
		t.Errorf("adopting what was there has cost %d writes", n)
	}
	p.least(sim)
}

// matched adopts all VMs with their hardware: two are in state already, in
// profile adopted, and move.
func (p *realProject) matched(vms string) {
	t := p.T
	t.Helper()
	step := func(want int, command string, says ...string) {
		t.Helper()
		code, said := p.stackgen(append(strings.Fields(command), p.dir)...)
		if code != want {
			t.Fatalf("%s: exit %d, want %d\n%s", command, code, want, said)
		}
		p.says(said, says...)
	}
	plan := func() string {
		t.Helper()
		return p.good("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive")
	}
	apply := func() {
		t.Helper()
		p.good("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	two := strings.Join(strings.SplitAfter(vms, "\n")[:2], "")
	p.write("specs/live.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\nvms:\n"+two)
	p.render()
	step(0, "import-blocks --verify", "live/proxmox-vm: 2 to import, 0 to add, 0 to change, 0 to destroy")
	apply()
	p.write("specs/live.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\nvms:\n"+vms)
	step(3, "adopt --match plain windows cloudy disks bare usb least", "live/cloudy: the spec says what VM 502 has; its profile is default now.",
		"STOP live/least: VM 506: it stays in profile adopted, and its hardware was not written.", "qm set 506 --scsihw lsi", "qm set 506 --ostype other", "qm set 506 --memory 512 --balloon 512", "qm set 506 --ipconfig0 ip=dhcp")
	if spec := p.read("specs/live.yaml"); strings.Contains(spec, "never-shown") || !strings.Contains(spec, "description: \"the office's own") {
		t.Errorf("the spec is\n%s", spec)
	}
	p.render()
	step(0, "import-blocks --verify", "live/proxmox-vm: 5 to import, 0 to add, 0 to change, 0 to destroy")
	apply()
	step(0, "import-blocks")
	p.says(plan(), "No changes.")
	step(0, "preflight", "7 managed")
	step(0, "adopt --match plain windows cloudy disks bare usb", "Nothing to write.")
}

// least does by hand what was said of the VM that has less than a spec can say.
// Its state has blocks from before, which nothing but a new import takes away;
// that is said, and then changes nothing either.
func (p *realProject) least(sim *pvesim.Server) {
	p.Helper()
	realAPI(p.T, sim, "PUT", "/nodes/pve1/qemu/506/config", url.Values{"scsihw": {"lsi"}, "ostype": {"other"}, "memory": {"512"}, "balloon": {"512"}, "ipconfig0": {"ip=dhcp"}})
	address := `'proxmox_virtual_environment_vm.adopted["least"]'`
	code, said := p.stackgen("adopt", "--match", "least", p.dir)
	if code != 3 {
		p.Fatalf("adopt --match: exit %d\n%s", code, said)
	}
	p.says(said, "its state has a block operating_system from an earlier time", "terragrunt state rm "+address)
	p.good(realUnit("live", "proxmox-vm"), "terragrunt", "state", "rm", strings.Trim(address, "'"))
	if code, said := p.stackgen("adopt", "--match", "least", p.dir); code != 0 {
		p.Fatalf("adopt --match: exit %d\n%s", code, said)
	}
	p.render()
	code, said = p.stackgen("import-blocks", "--verify", p.dir)
	if code != 0 {
		p.Errorf("import-blocks --verify: exit %d", code)
	}
	p.says(said, "live/proxmox-vm: 1 to import, 0 to add, 0 to change, 0 to destroy")
}
