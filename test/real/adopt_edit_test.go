package real

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/edit"
	"stackgen/internal/pvesim"
)

// An editedVM is a VM that was created by hand, and one later edit of its spec: the
// line that the spec then has, and the entries of the configuration that may change.
type editedVM struct {
	config string
	line   string
	change string
}

// common is the hardware that most VMs have.
const common = "memory=1024\ncores=1\nscsihw=virtio-scsi-pci\nostype=l26\nscsi0=local-lvm:4\nnet0=virtio,bridge=vmbr0\n"

// with is a configuration with other lines.
func with(base, lines string) string {
	entries, order := map[string]string{}, []string{}
	for line := range strings.Lines(base + lines) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		if _, has := entries[key]; !has {
			order = append(order, key)
		}
		entries[key] = value
	}
	var out strings.Builder
	for _, key := range order {
		if entries[key] != "-" {
			fmt.Fprintf(&out, "%s=%s\n", key, entries[key])
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

var editedVMs = []editedVM{
	{"", "memory: 2048", "memory"},
	{"balloon=0", "memory: 2048", "memory"},
	{"balloon=512", "memory: 2048", "memory"},
	{"balloon=1024", "memory: 2048", "memory"},
	{"balloon=512", "balloon: 768", "balloon"},
	{"memory=-", "memory: 1024", "memory"},
	{"memory=512\nballoon=0", "memory: 768", "memory"},
	{"shares=500", "memory: 2048", "memory"},
	{"", "cores: 2", "cores"},
	{"cpu=host,flags=+aes;-pcid", "cores: 2", "cores"},
	{"cpu=x86-64-v2-AES", "cpu_type: host", "cpu"},
	{"cores=2\nsockets=2\nnuma=1", "sockets: 1", "sockets"},
	{"cores=4\ncpulimit=1.5\ncpuunits=200", "cores: 3", "cores"},
	{"bios=ovmf\nmachine=pc-q35-9.0\nefidisk0=local-lvm:1,efitype=4m,pre-enrolled-keys=1\ntpmstate0=local-lvm:1,version=v2.0\nostype=win11\nlocaltime=1", "memory: 4096", "memory"},
	{"machine=q35\nvga=virtio,memory=64", "vga: qxl", "vga"},
	{"description=the office's own: \"don't touch\" # 100 %", "cores: 2", "cores"},
	{"description=old", "description: new", "description"},
	{"tags=b;a", "tags: [c]", "tags"},
	{"onboot=1", "on_boot: false", "onboot"},
	{"protection=1\nstartup=order=3,up=30", "startup: {order: 3, up: 60}", "startup"},
	{"scsi0=local-lvm:4,iothread=1,ssd=1,discard=on,cache=writeback\nscsihw=virtio-scsi-single", "memory: 2048", "memory"},
	{"virtio1=local-lvm:3,serial=DISK-1,aio=threads,backup=0", "cores: 2", "cores"},
	{"sata1=shared:3,format=qcow2,mbps_rd=10,iops_wr=500,replicate=0", "disks: [{interface: scsi0, datastore: local-lvm, size: 6}, {interface: sata1, datastore: shared, size: 3, format: qcow2, replicate: false, speed: {read: 10, iops_write: 500}}]", "scsi0"},
	{"net1=e1000,bridge=vmbr0,link_down=1,mtu=1400,rate=12.5\nnet2=virtio,bridge=vmbr0,tag=30,firewall=1,queues=4,trunks=10;20", "cores: 2", "cores"},
	{"agent=1,fstrim_cloned_disks=1,type=isa", "memory: 2048", "memory"},
	{"agent=enabled=0", "memory: 2048", "memory"},
	{"ide2=local-lvm:cloudinit\nipconfig0=ip=192.0.2.50/24,gw=192.0.2.1,ip6=auto\nnameserver=192.0.2.53 192.0.2.54\nsearchdomain=example.test\nciuser=ops\ncipassword=never-shown", "memory: 2048", "memory"},
	{"ide2=local-lvm:cloudinit\nipconfig0=ip=dhcp\nnameserver=192.0.2.53", "cloud_init: {datastore: local-lvm, interface: ide2, ipv4: dhcp, nameservers: [192.0.2.54]}", "nameserver"},
	{"serial0=socket\nserial1=/dev/ttyS0\nvga=serial0\ntablet=0\nkeyboard=de", "cores: 2", "cores"},
	{"usb0=host=1a86:7523\nhotplug=disk,network\nide2=shared:iso/debian-12-netinst.iso,media=cdrom\nboot=order=scsi0;net0", "memory: 2048", "memory"},
	{"scsihw=lsi\nostype=other\nbios=seabios\nfreeze=0\nacpi=1", "name: renamed", "name"},
	{"scsi0=-\nnet0=-", "memory: 2048", "memory"},
}

// TestAdoptedVMsChangeOnlyWhatIsEdited adopts VMs that were created by hand, with their
// hardware, and edits one property of each. After the apply, the configuration differs
// in that entry only.
func TestAdoptedVMsChangeOnlyWhatIsEdited(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	sim := p.simulate()
	var vms []handmadeVM
	for i, e := range editedVMs {
		key := fmt.Sprintf("v%d", i+1)
		vms = append(vms, handmadeVM{key: key, node: "pve1", config: with("name="+key+"\n"+common, e.config)})
	}
	spec := createHandmade(t, sim, vms)
	p.write("specs/live.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 500-599\nvms:\n"+spec)
	p.render()
	keys := make([]string, len(vms))
	for i := range vms {
		keys[i] = vms[i].key
	}
	p.matchWithCommands(sim, keys)
	p.render()
	p.step(0, "import-blocks --verify", fmt.Sprintf("live/proxmox-vm: %d to import, 0 to add, 0 to change, 0 to destroy", len(vms)))
	sim.ResetLog()
	p.all("live", "apply")
	if n := sim.Counters().Writes; n != 0 {
		t.Errorf("the adoption made %d writes", n)
	}
	p.step(0, "import-blocks")
	p.all("live", "apply") // what only the provider knows

	before := configurations(sim)
	src := []byte(p.read("specs/live.yaml"))
	for i, e := range editedVMs {
		key, _, _ := strings.Cut(e.line, ":")
		var err error
		if src, err = edit.Set(src, []string{"vms", vms[i].key}, []edit.Setting{{Key: key, Line: e.line}}); err != nil {
			t.Fatalf("%s: %v", vms[i].key, err)
		}
	}
	p.write("specs/live.yaml", string(src))
	p.render()
	p.all("live", "apply")
	after := configurations(sim)
	for i, e := range editedVMs {
		if changed := differences(before[500+i], after[500+i]); !slices.Equal(changed, []string{e.change}) {
			t.Errorf("%s (%s), edit %s: changed %q\nbefore %v\nafter  %v", vms[i].key, strings.ReplaceAll(e.config, "\n", " "), e.line, changed, before[500+i], after[500+i])
		}
	}
	p.contains(p.all("live", "plan"), "No changes.")
}

var setConfig = regexp.MustCompile(`(?m)^ *pvesh set (/nodes/\S+/config)((?: --\S+ \S+)+)$`)

// matchWithCommands writes the hardware of VMs into the spec. What it refuses has
// commands, which are run; none may change what the VM is.
func (p *project) matchWithCommands(sim *pvesim.Server, keys []string) {
	p.Helper()
	command := append([]string{"adopt", "--match", "--verbose", p.dir}, keys...)
	if code, output := p.stackgen(command...); code != 3 {
		p.Fatalf("adopt --match: exit %d, want 3\n%s", code, output)
	} else {
		p.setPrinted(sim, output)
	}
	if code, output := p.stackgen(command...); code != 0 {
		p.Fatalf("adopt --match: exit %d\n%s", code, output)
	}
}

// setPrinted runs the printed commands that set options of VMs.
func (p *project) setPrinted(sim *pvesim.Server, output string) {
	p.Helper()
	for _, m := range setConfig.FindAllStringSubmatch(output, -1) {
		form := url.Values{}
		words := strings.Fields(m[2])
		for i := 0; i < len(words); i += 2 {
			form.Set(strings.TrimPrefix(words[i], "--"), words[i+1])
		}
		callAPI(p.T, sim, "PUT", m[1], form)
	}
}

// configurations are the configurations of all guests.
func configurations(sim *pvesim.Server) map[int]map[string]string {
	out := map[int]map[string]string{}
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			out[g.VMID] = maps.Clone(g.Config)
		}
	})
	return out
}

// differences are the entries in which two configurations differ, except for defaults of
// Proxmox VE: the provider writes all options of a CPU and of disks.
func differences(a, b map[string]string) []string {
	var out []string
	for key := range a {
		if withoutDefaults(key, b[key]) != withoutDefaults(key, a[key]) {
			out = append(out, key)
		}
	}
	for key := range b {
		if _, has := a[key]; !has && withoutDefaults(key, b[key]) != "" {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

var driveKey = regexp.MustCompile(`^(ide|sata|scsi|virtio)[0-9]+$`)

// withoutDefaults is an entry without what Proxmox VE does anyway.
func withoutDefaults(key, value string) string {
	switch {
	case key == "numa" && value == "0", key == "sockets" && value == "1":
		return ""
	case key == "cpu":
		return strings.TrimPrefix(value, "cputype=")
	case driveKey.MatchString(key):
		return strings.Join(slices.DeleteFunc(strings.Split(value, ","), func(option string) bool {
			return slices.Contains([]string{"aio=io_uring", "backup=1", "cache=none", "discard=ignore", "iothread=0", "replicate=1", "ssd=0"}, option)
		}), ",")
	}
	return value
}

// TestBalloonThatAnApplyTurnsOffIsNamed edits the memory of VMs without an entry for
// ballooning. preflight and the guard name what the provider sends with it, and the
// printed line keeps it on.
func TestBalloonThatAnApplyTurnsOffIsNamed(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	p.write("stackgen.yaml", "apiVersion: stackgen/v1\nkind: Project\n")
	sim := p.simulate()
	vms := []handmadeVM{{key: "v1", node: "pve1", config: strings.TrimSpace("name=v1\n" + common)}, {key: "v2", node: "pve1", config: strings.TrimSpace("name=v2\n" + common)}}
	p.write("specs/live.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 500-599\nvms:\n"+createHandmade(t, sim, vms))
	p.render()
	p.matchWithCommands(sim, []string{"v1", "v2"})
	for _, vmid := range []string{"500", "501"} { // an earlier stackgen did not ask for the entry
		callAPI(t, sim, "PUT", "/nodes/pve1/qemu/"+vmid+"/config", url.Values{"delete": {"balloon"}})
	}
	spec := regexp.MustCompile(`(?m)^ *balloon: 1024\n`).ReplaceAllString(p.read("specs/live.yaml"), "")
	p.write("specs/live.yaml", spec)
	p.render()
	p.step(0, "import-blocks", "2 resources to import")
	p.all("live", "apply")
	p.step(0, "import-blocks")
	p.all("live", "apply") // what only the provider knows

	spec = strings.ReplaceAll(spec, "memory: 1024\n", "memory: 2048\n")
	p.write("specs/live.yaml", spec)
	p.render()
	p.step(0, "preflight", "balloon: on -> 0", "balloon: 2048  # vms.v1", "balloon: 2048  # vms.v2")
	i := strings.LastIndex(spec, "    memory: 2048\n")
	p.write("specs/live.yaml", spec[:i]+"    balloon: 2048\n"+spec[i:])
	p.render()
	p.contains(p.all("live", "apply"), "balloon: on -> 0")
	after := configurations(sim)
	if a, b := after[500]["balloon"], after[501]["balloon"]; a != "0" || b != "2048" {
		t.Errorf("VM 500 has balloon %q, want 0; VM 501 has %q, want 2048", a, b)
	}
	p.contains(p.all("live", "plan"), "No changes.")
}
