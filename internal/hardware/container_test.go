package hardware

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/schema"
)

// containerOf is a container whose configuration is like what `pct` makes, with other entries. An empty one
// removes the entry.
func containerOf(change map[string]string) *cluster.Guest {
	raw := map[string]string{
		"arch": "amd64", "cores": "1", "hostname": "box", "memory": "512", "swap": "512", "ostype": "debian", "unprivileged": "1",
		"rootfs": "local-lvm:vm-100-disk-0,size=4G", "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:01,ip=dhcp,type=veth", "onboot": "1",
	}
	maps.Copy(raw, change)
	maps.DeleteFunc(raw, func(_, text string) bool { return text == "" })
	return &cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.Container, Name: "box", Status: "running", Config: &cluster.Config{Raw: raw}}
}

// containerSpec is a container of a spec with an entry.
func containerSpec(t *testing.T, entry string) *schema.VM {
	t.Helper()
	spec, problems := schema.Parse("a.yaml", []byte("apiVersion: stackgen/v1\nkind: Stack\nname: a\nnaming: {pattern: \"{key}\"}\ndefaults: {node: pve1}\n"+
		"containers:\n  box: {adopt: {vmid: 100}, profile: default, "+entry+"}\n"))
	if spec == nil {
		t.Fatal(problems)
	}
	p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: "specs/a.yaml"}}, nil, nil)
	if schema.HasErrors(problems) {
		t.Fatal(problems)
	}
	return p.Stacks[0].VMs[0]
}

// TestContainerLines: the lines that a spec lacks, and that it then says what the container has. Networks are in
// the order of their numbers, whatever their interfaces are called in the container.
func TestContainerLines(t *testing.T) {
	const mac = `networks: [{mac: "BC:24:11:00:00:01"}]`
	for _, c := range []struct {
		name, entry string
		change      map[string]string
		want        string
	}{
		{"nothing", `networks: [{mac: "BC:24:11:00:00:01", ipv4: dhcp}]`, nil, ""},
		{"what acts at the creation only", `networks: [{mac: "BC:24:11:00:00:01", ipv4: dhcp}]`, map[string]string{"features": "nesting=1,mount=nfs", "ostype": "alpine", "mp0": "a:b,mp=/x"}, ""},
		{"values", `networks: [{mac: "BC:24:11:00:00:01", ipv4: dhcp}]`, map[string]string{"cores": "2", "swap": "0", "onboot": "", "unprivileged": "", "description": "a\nb\n", "tags": "b;a", "startup": "order=1"},
			`description: "a\nb", tags: [a, b], unprivileged: false, on_boot: false, cores: 2, swap: 0, startup: {order: 1}`},
		{"volume", `networks: [{mac: "BC:24:11:00:00:01", ipv4: dhcp}]`, map[string]string{"rootfs": "volume=tank:subvol-100-disk-0,size=10756M"}, "rootfs: {datastore: tank, size: 10}"},
		{"networks", `networks: [{mac: "BC:24:11:00:00:01"}, {mac: "BC:24:11:00:00:02"}, {mac: "BC:24:11:00:00:03"}]`, map[string]string{
			"net0": "name=wan,bridge=vmbr0,firewall=1,gw=192.0.2.1,hwaddr=BC:24:11:00:00:01,ip=192.0.2.9/24,tag=7,type=veth",
			"net1": "name=eth0,bridge=vmbr1,hwaddr=BC:24:11:00:00:02,ip6=auto,mtu=1400,type=veth",
			"net2": "name=eth2,bridge=vmbr2,hwaddr=BC:24:11:00:00:03,type=veth",
		}, `networks: [{interface: wan, bridge: vmbr0, vlan: 7, mac: "BC:24:11:00:00:01", ipv4: "192.0.2.9/24", gateway: "192.0.2.1", firewall: true}, ` +
			`{interface: eth0, bridge: vmbr1, mac: "BC:24:11:00:00:02", ipv6: auto, mtu: 1400}, {bridge: vmbr2, mac: "BC:24:11:00:00:03"}]`},
		{"DNS", mac, map[string]string{"nameserver": "192.0.2.1 2001:db8::1", "searchdomain": "lab.test"},
			`networks: [{bridge: vmbr0, mac: "BC:24:11:00:00:01", ipv4: dhcp}], nameservers: ["192.0.2.1", "2001:db8::1"], search_domain: lab.test`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Read(containerOf(c.change))
			var lines []string
			for _, o := range r.Own(containerSpec(t, c.entry)) {
				if o.Reason != "" {
					t.Errorf("%s: %s", o.Config, o.Reason)
				}
				lines = append(lines, o.Line)
			}
			got := strings.Join(lines, ", ")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if !strings.Contains(got, "networks:") {
				got = strings.Trim(c.entry+", "+got, ", ")
			}
			for _, d := range r.Missing(containerSpec(t, got)) {
				t.Errorf("with these lines: %s", d.String())
			}
		})
	}
}

// TestContainerSetsNothing: a reading of a container offers no value to write into its configuration.
func TestContainerSetsNothing(t *testing.T) {
	r := Read(containerOf(map[string]string{"memory": "", "swap": "", "cores": "", "tags": "A", "novelty": "1", "arch": "arm64"})).WithoutMACs()
	r = r.WithDriveOptions(func(string) string { return "dir" })
	var said []string
	for _, d := range r.Missing(containerSpec(t, `networks: [{mac: "BC:24:11:00:00:01", ipv4: dhcp}]`)) {
		said = append(said, fmt.Sprint(d.Config, " ", d.Commands))
		if len(d.Settings) > 0 || d.Neutral || d.Reason == "" {
			t.Errorf("%+v", d)
		}
	}
	if got, want := strings.Join(said, "; "), "no memory [pvesh set /nodes/pve1/lxc/100/config --memory 512]; no swap [pvesh set /nodes/pve1/lxc/100/config --swap 512]; no cores []; "+
		"tags=A [pvesh set /nodes/pve1/lxc/100/config --tags 'a']; arch=arm64 []; novelty=1 []"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
