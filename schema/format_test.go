package schema

import (
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// formatCases are text that has a format, and text that has not.
var formatCases = map[string]struct{ good, bad []string }{
	"":             {[]string{"anything"}, nil},
	"label":        {[]string{"web-server-01", "a", "0", strings.Repeat("a", 63)}, []string{"", "Web", "-a", "a-", "a_b", "a.b", "a\n", strings.Repeat("a", 64)}},
	"stackname":    {[]string{"ubuntu-24.04", "a", "debian.13"}, []string{"", "Ubuntu", "a..b", ".a", "a.", "a_b", "a/b"}},
	"release":      {[]string{"20261101", "v1-2", "a"}, []string{"", "1.2", "A", "-a", "a-", strings.Repeat("a", 21)}},
	"checksum":     {[]string{"sha256:" + strings.Repeat("0a", 32), "md5:" + strings.Repeat("0", 32), "sha512:" + strings.Repeat("f", 128)}, []string{"", "sha256:0a", strings.Repeat("0a", 32), "sha256:" + strings.Repeat("0A", 32), "crc:00"}},
	"imagefile":    {[]string{"ubuntu-24.04-20261101.qcow2", "a.raw", "a.vmdk"}, []string{"", "a.img", ".qcow2", "a/b.qcow2", "a b.qcow2", "a.ova"}},
	"vmname":       {[]string{"web-1", "Web", "DB.Example.org", "0", strings.Repeat("a", 64)}, []string{"", "-a", "a-", "a_b", "a.", ".a", "a..b", "a\n"}},
	"key":          {[]string{"web01", "a", strings.Repeat("a", 40)}, []string{"", "Web", "a-", "a_b", strings.Repeat("a", 41)}},
	"profile":      {[]string{"golden", "a_b-1"}, []string{"", "1a", "Golden", strings.Repeat("a", 41)}},
	"id":           {[]string{"local-lvm", "ubuntu-22.04-template", "A_1"}, []string{"", "-a", "a b", "a/b"}},
	"storage":      {[]string{"local-lvm", "nfs.a_1"}, []string{"", "a", "1a", "a-", "a b"}},
	"mapping":      {[]string{"gpu-1", "a_b"}, []string{"", "a", "1a", "a.b"}},
	"pool":         {[]string{"team", "a/b/c", "example-multi-vm-pool"}, []string{"", "/a", "a/b/c/d", "a b"}},
	"node":         {[]string{"pve1", "PVE-1"}, []string{"", "pve_1", "pve1.example.org", "-a"}},
	"range":        {[]string{"2100-2199"}, []string{"", "2100", "2100-", "2100 - 2199", "a-b"}},
	"tag":          {[]string{"k3s", "_a", "A.b+c-d"}, []string{"", "-a", "a b", "a;b", "ä"}},
	"mac":          {[]string{"BC:24:11:00:00:01", "bc:24:11:00:00:01"}, []string{"", "01:00:5e:00:00:01", "BC-24-11-00-00-01", "BC:24:11:00:00", "BC:24:11:00:00:0G"}},
	"chosenmac":    {good: []string{"BC:24:11:00:00:01"}, bad: []string{"auto", "01:00:5e:00:00:01"}},
	"archive":      {good: []string{"local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst"}, bad: []string{"debian-12", "local:iso/a.iso", "local:vztmpl/../a"}},
	"ifname":       {good: []string{"eth0", "lan.20"}, bad: []string{"0eth", "a-name-that-is-far-too-long"}},
	"ip":           {[]string{"192.168.1.13", "fd00::1", "::ffff:10.0.0.1"}, []string{"", "192.168.1.256", "192.168.1", "192.168.1.1/24", "example.org", "300.1.1.1", ":::", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "::1.2.3.400", "fe80::1%eth0"}},
	"ipv4":         {[]string{"dhcp", "192.168.1.10/24", "10.0.0.1/32", "10.0.0.0/0"}, []string{"", "auto", "192.168.1.10", "192.168.1.10/33", "300.0.0.1/8", "fd00::1/64"}},
	"mountpath":    {[]string{"/data", "/srv/nextcloud_1/a.b"}, []string{"", "/", "data", "/a/", "/a,b", "/a b", "/../etc", "/a/.b", "/$x"}},
	"gateway":      {[]string{"192.168.1.1"}, []string{"", "dhcp", "192.168.1.1/24", "192.168.01.1", "fd00::1"}},
	"ipv6":         {[]string{"dhcp", "auto", "fd00::1/64", "fe80::/128"}, []string{"", "fd00::1", "fd00::1/129", "10.0.0.1/8"}},
	"host":         {[]string{"192.168.1.13", "ns1.example.org", "NS.", "fd00::53", "9ns"}, []string{"", "300.1.1.1", "1.2.3", ":::", "-a", "a b", "a..b", "ns_1"}},
	"zone":         {[]string{"home.example.org", "home.example.org.", "_tcp.a"}, []string{"", ".", "a..b", "Home", "a..", "-a"}},
	"record":       {[]string{"www", "*.apps", "@", "*", "_acme.www"}, []string{"", "a.*", "WWW", "www.", "**"}},
	"keyname":      {[]string{"ddnskey.", "a.b-c."}, []string{"", "ddnskey", ".", "a b."}},
	"url":          {[]string{"https://pve.example.org:8006/", "http://10.0.0.1:9000", "https://a/b?c", "https://[fd00::1]:8006", "https://a:1", "https://a:65535"}, []string{"", "ftp://a", "https://", "https://user@a/", "https://a b", "https://a/\x7f", "https://a\u202e/", "https://a/\t", "https://a/\v", "https://a/ ", "https://:8006", "https://a:0", "https://a:65536", "https://a:70000/", "https://a:x", "https://fd00::1", "https://a?b"}},
	"endpoint":     {[]string{"https://pve.example.org:8006/", "https://10.0.0.1"}, []string{"", "http://10.0.0.1:8006", "https://a:70000/"}},
	"constraint":   {[]string{">= 1.10", "0.111.1", ">= 3.4, < 4", "~> v1.2-rc1", " 1 "}, []string{"", ">=", ">= x", "1.2.3.4", ">= 1,", ">=\t1", "\u00a01"}},
	"bucket":       {[]string{"production-terragrunt-tfstates"}, []string{"", "a", "-ab", "a b", strings.Repeat("a", 64)}},
	"prefix":       {[]string{"team/prod", "a"}, []string{"", "/a", "a/", "a//b", "a b"}},
	"disk":         {[]string{"scsi0", "scsi30", "virtio15", "sata5", "ide3"}, []string{"", "scsi31", "virtio16", "sata6", "ide4", "scsi", "nvme0", "scsi01"}},
	"drive":        {[]string{"ide2", "sata5", "scsi30"}, []string{"", "virtio0", "ide4", "scsi31"}},
	"bootdev":      {[]string{"scsi0", "net31", "usb9", "hostpci0", "virtio1"}, []string{"", "net32", "cdrom", "usb10"}},
	"bridge":       {[]string{"vmbr0", "vnet.1", "br_a"}, []string{"", "0br", "a b", strings.Repeat("a", 16)}},
	"machine":      {[]string{"q35", "pc", "pc-i440fx-9.0", "pc-q35-8.1+pve0", "virt", "q35,viommu=intel"}, []string{"", "q36", "pc-i440fx", "pc-q35-9", "q35,viommu=x"}},
	"cpu":          {[]string{"x86-64-v2-AES", "host", "Haswell-noTSX-IBRS", "custom-lab", "EPYC-Rome-v4"}, []string{"", "-a", "Host", "i7", "EPYC-Turin", "custom-", "host,flags=+aes", "a b"}},
	"cpuflag":      {[]string{"+aes", "-pcid", "+hv-tlbflush"}, []string{"", "aes", "+", "+AES", "+aes;-pcid"}},
	"cpus":         {[]string{"0", "0-3,8", "1,2"}, []string{"", "a", "0-", "0, 1", ",1"}},
	"usb":          {[]string{"1a86:7523", "0x1a86:0x7523", "1-1.4", "3-2", "spice"}, []string{"", "1a86", "1a86:75233", "usb", "1-", "host=1-1"}},
	"duration":     {[]string{"15m", "3s", "1h30m", "1.5h"}, []string{"", "15", "15 m", "-3s", "3d"}},
	"wait":         {[]string{"1s", "30s", "10m", "9999h"}, []string{"", "0", "0s", "10", "1h30m", "99999h", "-1s", "1.5h", "soon"}},
	"wave":         {[]string{"1", "25", "9999", "1%", "25%", "100%"}, []string{"", "0", "0%", "101%", "10000", "25 %", "-1", "all"}},
	"serial":       {[]string{"socket", "/dev/ttyS0"}, []string{"", "ttyS0", "/dev/", "/dev/tty S0"}},
	"hotplug":      {[]string{"disk,network", "0", "1", "usb"}, []string{"", "2", "disk, network", "disk,", "cloudinit", "1,disk"}},
	"nic":          {[]string{"net1", "net7"}, []string{"", "net0", "net8", "net10", "eth1"}},
	"gateway6":     {[]string{"2001:db8::1", "fe80::1"}, []string{"", "192.0.2.1", "2001:db8::1/64"}},
	"snippet":      {[]string{"local:snippets/hook.pl", "nas-1:snippets/a_b+c.yaml"}, []string{"", "hook.pl", "local:hook.pl", "local:snippets/", "local:snippets/a/b", "local:iso/a.iso", "local:snippets/a,meta=b"}},
	"hostpci":      {[]string{"hostpci0", "hostpci15"}, []string{"", "hostpci", "hostpci16", "hostpci00"}},
	"numa":         {[]string{"numa0", "numa7"}, []string{"", "numa", "numa8", "numa00"}},
	"numacpus":     {[]string{"0", "0-3", "0;4-5"}, []string{"", "a", "0-", "0,1", "0;", "-1", "10000"}},
	"pci":          {[]string{"0000:01:00.0", "01:00", "0000:01:00.0;0000:01:00.1"}, []string{"", "1:0", "0000:01:00.8", "01:00;", "01:00,pcie=1"}},
	"romfile":      {[]string{"vbios.bin", "a/b.rom"}, []string{"", "/etc/passwd", "../a", "a//b", "a,b"}},
	"diskserial":   {[]string{"abc-1_2"}, []string{"", "a b", strings.Repeat("a", 21)}},
	"vlans":        {[]string{"10", "20-30", "4094"}, []string{"", "0", "4095", "20-", "020", "10;20", "1-4095"}},
	"user":         {[]string{"admin", "_a", "Ad.min-1"}, []string{"", "1a", "a b", strings.Repeat("a", 33)}},
	"pattern":      {[]string{"{stack}-{key}", "vm.{n}"}, []string{"", "a b", "a/b"}},
	"groupkey":     {[]string{"web{n}", "cp{10+n}", "{n}"}, []string{"", "web", "Web{n}", "web{m}", "web{ }", "web_{n}"}},
	"memberkey":    {[]string{"student{n}", "{name}", "s{100+n}"}, []string{"", "student", "S{n}", "{names}"}},
	"registration": {[]string{"registration/class.json", "registration/2026/a b.json", "./registration/a.json"}, []string{"", "a.json", "registration/.json", "registration/../a.json", "registration/a/../b.json", "registration/a.txt", "/registration/a.json", "registration\\a.json", "registration/a\n.json", "registration/\u202ea.json"}},
	"line":         {[]string{"", "a\tb", "specs/Förderkurs 1.csv"}, []string{"a\nb", "a\rb", "\x7f", "\u202e"}},
	"text":         {[]string{"", "anything at all\tand\nmore", "ä 日本 🙂", "\u200d", "\ufeff"}, []string{"\x00", "\x1b[31m", "\x07", "\x7f", "\u0080", "\u009b", "\u009f", "\u061c", "\u200e", "\u200f", "\u2028", "\u202a", "\u202e", "\u2066", "\u2069"}},
}

// TestIPFormats: the patterns of addresses accept what the provider's parser accepts.
func TestIPFormats(t *testing.T) {
	groups := []string{"", ":", "::", "0", "1", "ffff", "12345", "g", "1.2.3.4", "1.2.3"}
	var try func(text string, depth int)
	try = func(text string, depth int) {
		if _, err := netip.ParseAddr(text); (err == nil) != matches("ip", text) {
			t.Errorf("%q: the parser says %v, the format %v", text, err, matches("ip", text))
		}
		if depth == 0 {
			return
		}
		for _, g := range groups[1:] {
			try(text+g, depth-1)
		}
	}
	try("", 5)
	for n := range 10 {
		for m := range 10 {
			for _, end := range []string{"", "1.2.3.4", "a"} {
				try(strings.Repeat("a:", n)+":"+strings.Repeat(":a", m)+end, 0)
				try(strings.Repeat("a:", n)+end, 0)
				try(strings.Repeat("a:", n)+":"+end, 0)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	names := slices.Sorted(maps.Keys(formats))
	if tested := slices.Sorted(maps.Keys(formatCases)); !slices.Equal(names, tested[1:]) || tested[0] != "" {
		t.Fatalf("formats %v, tested %v", names, tested)
	}
	// What RE2 has and ECMA-262 lacks, or means otherwise.
	foreign := regexp.MustCompile(`\(\?|\\[aACdDpPQsSvwWzZbB]|\\x\{|\[\[:`)
	for _, name := range names {
		if at := foreign.FindString(formats[name].pattern().String()); at != "" {
			t.Errorf("format %s: %s means something else to an editor", name, at)
		}
		for _, text := range formatCases[name].good {
			if !matches(name, text) {
				t.Errorf("format %s refuses %q", name, text)
			}
		}
		for _, text := range formatCases[name].bad {
			if matches(name, text) {
				t.Errorf("format %s takes %q", name, text)
			}
		}
	}
}
