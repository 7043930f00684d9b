package pve

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestParse: what is between commas is an option, and an entry is written again as it was,
// except for spaces and empty parts.
func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		entry   Entry
		written string
	}{
		"":                       {},
		" ":                      {}, // an empty boot order reads back so
		",":                      {},
		"1":                      {Entry{{"", "1"}}, "1"},
		"std,memory=16":          {Entry{{"", "std"}, {"memory", "16"}}, "std,memory=16"},
		"memory=16,std":          {Entry{{"memory", "16"}, {"", "std"}}, "memory=16,std"},
		" std , memory=16,":      {Entry{{"", "std"}, {"memory", "16"}}, "std,memory=16"},
		"serial=Nw==,base64=1":   {Entry{{"serial", "Nw=="}, {"base64", "1"}}, "serial=Nw==,base64=1"},
		"romfile=":               {Entry{{"romfile", ""}}, "romfile="},
		"=x":                     {Entry{{"", "=x"}}, "=x"},
		"size=1G,size=2G":        {Entry{{"size", "1G"}, {"size", "2G"}}, "size=1G,size=2G"},
		"order=scsi0;ide2;net0":  {Entry{{"order", "scsi0;ide2;net0"}}, "order=scsi0;ide2;net0"},
		"local:100/a.raw,ssd=1,": {Entry{{"", "local:100/a.raw"}, {"ssd", "1"}}, "local:100/a.raw,ssd=1"},
	} {
		if got := Parse(text); !slices.Equal(got, want.entry) || got.String() != want.written {
			t.Errorf("%q: %q, written %q", text, got, got.String())
		}
	}
}

// FuzzParse: what is written is read again as the same entry.
func FuzzParse(f *testing.F) {
	f.Add("virtio=BC:24:11:00:00:01,bridge=vmbr0,,tag=20")
	f.Add("a==,=b, ,=")
	f.Fuzz(func(t *testing.T, text string) { roundTrip(t, text) })
}

// TestRoundTrip does the same with entries made at random of what entries consist of.
func TestRoundTrip(t *testing.T) {
	r, parts := rand.New(rand.NewPCG(1, 2)), []string{"", " ", ",", ",", "=", "=", "a", "size", "32G", "local:", "/", ";", "BC:24:11:00:00:01", "\t"}
	for range 20000 {
		var text strings.Builder
		for range r.IntN(12) {
			text.WriteString(parts[r.IntN(len(parts))])
		}
		roundTrip(t, text.String())
	}
}

func roundTrip(t *testing.T, text string) {
	t.Helper()
	e := Parse(text)
	if again := Parse(e.String()); !slices.Equal(e, again) {
		t.Errorf("%q: %q, read again %q", text, e, again)
	}
	n := ParseNIC(text)
	if again := ParseNIC(n.String()); n.MAC != "" && !strings.Contains(n.Model, "=") && (again.Model != n.Model || again.MAC != n.MAC) {
		t.Errorf("%q: %+v, read again %+v", text, n, again)
	}
}

func TestOptions(t *testing.T) {
	e := Parse("file=local:100/a.raw,size=1G,size=2G")
	if size, ok := e.Get("size"); size != "1G" || !ok || e.Has("") || e.Default("file") != "local:100/a.raw" || Parse("x,a=1").Default("file") != "x" {
		t.Errorf("%q: size %q", e, size)
	}
	if got := e.Without("size").With("ssd", "1").With("file", "b").String(); got != "file=b,ssd=1" {
		t.Error(got)
	}
	if e.String() != "file=local:100/a.raw,size=1G,size=2G" {
		t.Errorf("another entry was changed, too: %s", e)
	}
}

// TestAgentEnabled: the schema of the API says that enabled is the default key of agent, a
// boolean, and off by default.
func TestAgentEnabled(t *testing.T) {
	for agent, want := range map[string]bool{
		"":                                    false,
		"0":                                   false,
		"1":                                   true,
		"on":                                  true,
		"1,type=virtio":                       true,
		"1,fstrim_cloned_disks=1":             true,
		"0,type=isa":                          false,
		"enabled=1":                           true,
		"enabled=0":                           false,
		"enabled=yes":                         true,
		"enabled=1,fstrim_cloned_disks=0":     true,
		"enabled=0,fstrim_cloned_disks=1":     false,
		"type=isa,enabled=1":                  true,
		"type=virtio,1":                       true,
		"fstrim_cloned_disks=1":               false,
		"10":                                  false,
		"enabled=10":                          false,
		"0,what=enabled=1":                    false,
		"freeze-fs-on-backup=0,type=virtio":   false,
		"enabled=0,freeze-fs=1,type=virtio":   false,
		"guest-fsfreeze=1,enabled=1,type=isa": true,
	} {
		if got := AgentEnabled(agent); got != want {
			t.Errorf("%q: %v", agent, got)
		}
	}
}

func TestBootOrder(t *testing.T) {
	for _, c := range []struct{ boot, bootdisk, want string }{
		{"order=scsi0;ide2;net0", "", "scsi0 ide2 net0"},
		{"order=net0", "scsi0", "net0"},
		{"cdn", "virtio0", "virtio0"},
		{"legacy=cdn", "virtio0", "virtio0"},
		{" ", "", ""},
		{"", "", ""},
		{"order=", "", ""},
	} {
		if got := strings.Join(BootOrder(map[string]string{"boot": c.boot, "bootdisk": c.bootdisk}), " "); got != c.want {
			t.Errorf("%q %q: %q", c.boot, c.bootdisk, got)
		}
	}
}

func TestList(t *testing.T) {
	if got := List("images,rootdir; snippets  iso,"); !slices.Equal(got, []string{"images", "rootdir", "snippets", "iso"}) || len(List(" ")) > 0 {
		t.Errorf("%q", got)
	}
}

func TestNIC(t *testing.T) {
	for text, want := range map[string]struct {
		nic     NIC
		written string
	}{
		"virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20":              {NIC{"virtio", "BC:24:11:00:00:01", Parse("bridge=vmbr0,tag=20")}, "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20"},
		"bridge=vmbr0,e1000=bc:24:11:00:00:01":                      {NIC{"e1000", "bc:24:11:00:00:01", Parse("bridge=vmbr0")}, "e1000=bc:24:11:00:00:01,bridge=vmbr0"},
		"model=virtio,macaddr=BC:24:11:00:00:01,firewall=1":         {NIC{"virtio", "BC:24:11:00:00:01", Parse("firewall=1")}, "virtio=BC:24:11:00:00:01,firewall=1"},
		"virtio,bridge=vmbr0":                                       {NIC{"virtio", "", Parse("bridge=vmbr0")}, "virtio,bridge=vmbr0"},
		"virtio":                                                    {NIC{"virtio", "", nil}, "virtio"},
		"name=eth0,bridge=vmbr0,hwaddr=BC:24:11:53:01:58,type=veth": {NIC{"", "BC:24:11:53:01:58", Parse("name=eth0,bridge=vmbr0,hwaddr=BC:24:11:53:01:58,type=veth")}, "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:53:01:58,type=veth"},
		"": {},
	} {
		got := ParseNIC(text)
		if got.Model != want.nic.Model || got.MAC != want.nic.MAC || !slices.Equal(got.Options, want.nic.Options) || got.String() != want.written {
			t.Errorf("%q: %+v, written %q", text, got, got.String())
		}
	}
	if n := ParseNIC("virtio,bridge=vmbr0,tag=20"); n.Bridge() != "vmbr0" || n.VLAN() != "20" {
		t.Errorf("%+v", n)
	}
}

// TestStaticAddresses: a VM has them in the entries of cloud-init, and a container in those of its networks.
func TestStaticAddresses(t *testing.T) {
	for name, c := range map[string]struct{ raw, want map[string]string }{
		"none": {map[string]string{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0", "ipconfig0": "ip=dhcp,ip6=auto", "ip": "10.0.0.1/24"}, nil},
		"a VM": {map[string]string{
			"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20", "ipconfig0": "gw=10.0.0.1,ip=10.0.0.5/24,ip6=2001:DB8::5/64",
			"net1": "virtio=BC:24:11:00:00:02,bridge=vmbr1", "ipconfig1": "ip=10.1.0.5/24", "ipconfig2": "ip=10.2.0.5/24"},
			map[string]string{"10.0.0.5": "vmbr0.20", "2001:db8::5": "vmbr0.20", "10.1.0.5": "vmbr1", "10.2.0.5": ""}},
		"a container": {map[string]string{"net0": "name=eth0,bridge=vmbr0,gw=10.0.0.1,hwaddr=BC:24:11:00:00:01,ip=10.0.0.5/24,type=veth"},
			map[string]string{"10.0.0.5": "vmbr0"}},
	} {
		if got := StaticAddresses(c.raw); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
