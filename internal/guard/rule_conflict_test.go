package guard

import (
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// static gives web1 a static address, which guest 300 has in a network.
func (s *scene) static(network, status string) {
	s.spec.Values, _ = schema.ParseYAML("", []byte("{started: true, networks: [{bridge: vmbr0, vlan: 20}], cloud_init: {ipv4: 10.0.0.5/24}}"))
	g := newGuest(300, "other")
	g.Status, g.Config, g.Identity = status, nil, &cluster.Identity{Addresses: map[string]string{"10.0.0.5": network}}
	s.Inventory.Guests = append(s.Inventory.Guests, g)
}

func conflictCases() []ruleCase {
	const mac, other = "BC:24:11:00:00:01", "BC:24:11:00:00:02"
	return []ruleCase{
		{"conflict: its id is another VMID", both, func(s *scene) { s.state().ID = "700" }, "state rm"},
		{"conflict: another guest has its VMID", both, func(s *scene) { s.guest().Config.UUID = "another" }, "stackgen adopt lab/web1=100"},
		{"conflict: another guest has its VMID", both, func(s *scene) { s.guest().Kind = guest.Container }, "forgotten: [web1]"},
		{"conflict: another guest has its VMID", both, func(s *scene) { s.guest().Template = true }, "forgotten: [web1]"},
		{"conflict: another guest has its VMID", both, func(s *scene) { s.guest().Config.UUID = "another"; s.retire() }, "pvesh get /nodes/pve1/qemu/100/config"},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { s.begun(); s.unlocked("VM 100") }, "pvesh delete /nodes/pve1/qemu/100"},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { s.unlocked("VM 100") }, "pvesh get /nodes/pve1/qemu/100/config"},
		{"conflict: in the state of another VM", both, func(s *scene) {
			s.State[tf.VMUnit("lab")] = tf.State{Resources: []tf.Resource{*s.state(), inState("old", 100)}}
		}, "state rm"},
		{"conflict: another guest has its MAC", nowhere, func(s *scene) { s.entry.MACs = []string{mac}; s.addGuest("x", mac) }, "stackgen resolve --again lab/web1"},
		{"conflict: another guest has its address", nowhere, func(s *scene) { s.static("vmbr0.20", "running") }, "pvesh get /nodes/pve1/qemu/300/config"},
		{"create", nowhere, func(s *scene) { s.static("vmbr0.30", "running") }, ""},
		{"create", nowhere, func(s *scene) { s.static("vmbr0.20", "stopped") }, ""},
		{"create", nowhere, func(s *scene) { // it is not started
			s.static("vmbr0.20", "running")
			s.spec.Values = s.spec.Values.With(schema.Scalar(schema.Pos{}, schema.ShapeString, guest.Started), schema.Scalar(schema.Pos{}, schema.ShapeBool, "false"))
		}, ""},
		{"create", nowhere, func(s *scene) { // the guest is a VM of the project, whose spec says what it has then
			s.static("vmbr0.20", "running")
			s.Lock.Stacks[0].Value.VMs.Get("web2").VMID = 300
			s.Lock.Stacks[0].Value.VMs.Get("web2").Fingerprint = &lock.Fingerprint{UUID: "u-other"}
			s.Inventory.Guests[0].Config = &cluster.Config{UUID: "u-other", Raw: map[string]string{
				"net0": "virtio=BC:24:11:00:00:09,bridge=vmbr0,tag=20", "ipconfig0": "ip=10.0.0.5/24"}}
		}, ""},
		{"conflict: another guest has its MAC, too", both, func(s *scene) {
			s.guest().Config.MACs = []string{mac}
			s.entry.Fingerprint.MACs = []string{mac}
			s.addGuest("x", mac)
		}, "stackgen adopt lab/web1=300"},
		{"conflict: other MACs in the lock", both, func(s *scene) {
			s.entry.MACs, s.state().MACs, s.guest().Config.MACs = []string{other}, []string{mac}, []string{mac}
		}, "git stash push -- stackgen.lock.yaml"},
	}
}

// TestLeftEmpty: only a guest that a run has begun, that is stopped and that has nothing in its configuration is destroyed.
func TestLeftEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*scene)
		destroy bool
	}{
		"left":        {func(*scene) {}, true},
		"not begun":   {func(s *scene) { s.Begun = nil }, false},
		"complete":    {func(s *scene) { s.Begun["lab/web1"] = cluster.Begun{VMID: 100, Done: true} }, false},
		"another one": {func(s *scene) { s.Begun["lab/web1"] = cluster.Begun{VMID: 101} }, false},
		"running":     {func(s *scene) { s.guest().Status = "running" }, false},
		"with a name": {func(s *scene) { s.guest().Config.Raw = map[string]string{"name": "erp"} }, false},
		"with a disk": {func(s *scene) { s.guest().Config.Disks = []string{"scsi0=local:100/vm-100-disk-0.raw"} }, false},
		"with a NIC":  {func(s *scene) { s.guest().Config.MACs = []string{"BC:24:11:00:00:09"} }, false},
		"template":    {func(s *scene) { s.guest().Template = true }, false},
		"container":   {func(s *scene) { s.guest().Kind = guest.Container }, false},
	} {
		s := (&ruleCase{from: onlyGuest}).scene()
		s.begun()
		s.unlocked("VM 100")
		c.change(s)
		f := Judge(s.Input)[0]
		var steps string
		for _, step := range f.Steps {
			steps += step.What + "\n"
			for _, l := range step.Lines {
				steps += l.String() + "\n"
			}
		}
		if strings.Contains(steps, "pvesh delete ") != c.destroy || f.Kind != finding.Conflict {
			t.Errorf("%s: %s, steps\n%s", name, f.Kind, steps)
		}
	}
}

// TestWithUUID keeps all else of the SMBIOS values.
func TestWithUUID(t *testing.T) {
	for smbios, want := range map[string]string{
		"":                             "uuid=u1",
		"uuid=u2":                      "uuid=u1",
		"base64=1,serial=QQ==,uuid=u2": "uuid=u1,base64=1,serial=QQ==",
	} {
		if got := withUUID(smbios, "u1"); got != want {
			t.Errorf("%s becomes %s, want %s", smbios, got, want)
		}
	}
}

// TestWithMAC keeps all else of a NIC.
func TestWithMAC(t *testing.T) {
	for nic, want := range map[string]string{
		"virtio=BC:24:11:00:08:34,bridge=vmbr1,tag=30,firewall=1": "virtio=BC:24:11:00:00:01,bridge=vmbr1,tag=30,firewall=1",
		"e1000=BC:24:11:00:08:34":                                 "e1000=BC:24:11:00:00:01",
		"virtio,bridge=vmbr0":                                     "virtio=BC:24:11:00:00:01,bridge=vmbr0",
	} {
		if got := withMAC(nic, "BC:24:11:00:00:01"); got != want {
			t.Errorf("%s becomes %s, want %s", nic, got, want)
		}
	}
}
