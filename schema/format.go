package schema

import (
	"regexp"
	"strings"
	"sync"
)

// A format is a pattern for text, in the syntax that RE2 and JSON Schema share
// and mean alike (so no \s, which they do not), with the words a problem uses
// for it.
type format struct {
	pattern func() *regexp.Regexp
	want    string
}

// compiled is a pattern that is compiled at its first use: a run uses few of them, and all
// together take longer than the rest of its start.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// Snippet is the format of the name of a snippet, such as local:snippets/hook.pl.
const Snippet = "snippet"

const (
	label = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`
	octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	ipv4  = octet + `(\.` + octet + `){3}`
	// ipv6 is that of RFC 3986: eight groups, or fewer around one ::, the last two of which may be an IPv4 address.
	h16  = `[0-9A-Fa-f]{1,4}`
	ls32 = `(` + h16 + `:` + h16 + `|` + ipv4 + `)`
	ipv6 = `((` + h16 + `:){6}` + ls32 +
		`|::(` + h16 + `:){5}` + ls32 +
		`|(` + h16 + `)?::(` + h16 + `:){4}` + ls32 +
		`|((` + h16 + `:)?` + h16 + `)?::(` + h16 + `:){3}` + ls32 +
		`|((` + h16 + `:){0,2}` + h16 + `)?::(` + h16 + `:){2}` + ls32 +
		`|((` + h16 + `:){0,3}` + h16 + `)?::` + h16 + `:` + ls32 +
		`|((` + h16 + `:){0,4}` + h16 + `)?::` + ls32 +
		`|((` + h16 + `:){0,5}` + h16 + `)?::` + h16 +
		`|((` + h16 + `:){0,6}` + h16 + `)?::)`
	port      = `([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])`
	hostLabel = `[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?`
	// control and direction are the characters that no text may contain: some
	// terminals obey them, and text with them does not mean what it looks like.
	// The syntaxes of RE2 and JSON Schema agree on no escape for the latter.
	control   = `\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f`
	direction = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
	// urlSpace has what a URL has to write as %XX, and characters that look like others.
	urlSpace = `\x00-\x20\x7f-\x9f` + "\u00a0\u061c\u2000-\u206f" + `"'@`
	// afterScheme is the rest of a URL: a host, a port from 1 to 65535, a path.
	afterScheme = `([^` + urlSpace + `/?#:\[\]]+|\[` + ipv6 + `\])(:` + port + `)?(/[^` + urlSpace + `]*)?$`
	// cpuTypes are those of bpg/proxmox 0.111.1 (proxmoxtf/resource/vm/validators.go), and custom ones of the cluster.
	cpuTypes = `(486|Broadwell(-IBRS|-noTSX|-noTSX-IBRS)?|Cascadelake-Server(-noTSX|-v2|-v4|-v5)?|Conroe|Cooperlake(-v2)?|` +
		`EPYC(-Genoa|-IBPB|-Milan|-Rome|-Rome-v2|-Rome-v3|-Rome-v4|-v3|-v4)?|Haswell(-IBRS|-noTSX|-noTSX-IBRS)?|Icelake-Client(-noTSX)?|` +
		`Icelake-Server(-noTSX|-v3|-v4|-v5|-v6)?|IvyBridge(-IBRS)?|KnightsMill|Nehalem(-IBRS)?|Opteron_G[1-5]|Penryn|SandyBridge(-IBRS)?|` +
		`SapphireRapids|Skylake-Client(-IBRS|-noTSX-IBRS|-v4)?|Skylake-Server(-IBRS|-noTSX-IBRS|-v4|-v5)?|Westmere(-IBRS)?|` +
		`athlon|core2duo|coreduo|host|kvm32|kvm64|max|pentium|pentium2|pentium3|phenom|qemu32|qemu64|` +
		`x86-64-v2|x86-64-v2-AES|x86-64-v3|x86-64-v4|custom-[A-Za-z0-9_.-]+)`
	// cpuFlags are those that Proxmox VE permits to a VM, nested-virt since 9.1; custom models may have others.
	cpuFlags = `aes|amd-no-ssb|amd-ssbd|hv-evmcs|hv-tlbflush|ibpb|md-clear|nested-virt|pcid|pdpe1gb|spec-ctrl|ssbd|virt-ssbd`

	pci  = `([0-9A-Fa-f]{4}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(\.[0-7])?`
	vlan = `([1-9][0-9]{0,2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-4])`
	// versionBound is a part of a version constraint, such as >= 1.10.
	versionBound = `(=|!=|>=|<=|>|<|~>)? *v?[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?`
	// machineVersion is the end of a machine type, such as -9.0+pve1.
	machineVersion = `-[0-9]+(\.[0-9]+)+(\+pve[0-9]+)?`
	// fileName is that of a visible file or folder.
	fileName = `[^./\\\n\r` + control + direction + `][^/\\\n\r` + control + direction + `]*`
)

// formats are the named patterns of the tables.
var formats = map[string]format{
	"label": {compiled(`^` + label + `$`),
		"a DNS label: lower-case letters, digits and inner hyphens, at most 63 characters"},
	"vmname": {compiled(`^` + hostLabel + `(\.` + hostLabel + `)*$`),
		"a DNS name: letters, digits and inner hyphens, and dots between them"},
	"stackname": {compiled(`^` + label + `(\.` + label + `)*$`),
		"a name of lower-case letters, digits, inner hyphens, and dots between them"},
	"release": {compiled(`^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$`),
		"a release: lower-case letters, digits and inner hyphens, at most 20 characters"},
	"checksum": {compiled(`^(md5:[0-9a-f]{32}|sha1:[0-9a-f]{40}|sha224:[0-9a-f]{56}|sha256:[0-9a-f]{64}|` +
		`sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$`),
		"a checksum such as sha256:HEX, in lower case; the algorithm is md5, sha1, sha224, sha256, sha384 or sha512"},
	"imagefile": {compiled(`^[A-Za-z0-9_][A-Za-z0-9._-]*\.(qcow2|raw|vmdk)$`),
		"a file name that ends in .qcow2, .raw or .vmdk: letters, digits, dots, hyphens and underscores"},
	"key": {compiled(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`),
		"a key: lower-case letters, digits and inner hyphens, at most 40 characters"},
	"profile": {compiled(`^[a-z][a-z0-9_-]{0,39}$`),
		"a profile name: lower-case letters, digits, hyphens and underscores, beginning with a letter"},
	"id": {compiled(`^[A-Za-z0-9][A-Za-z0-9._-]*$`),
		"a Proxmox VE identifier: letters, digits, dots, hyphens and underscores"},
	"storage": {compiled(`^[A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]$`),
		"a datastore such as local-lvm: letters, digits, dots, hyphens and underscores, beginning with a letter"},
	"mapping": {compiled(`^[A-Za-z][A-Za-z0-9_-]+$`),
		"the name of a resource mapping: letters, digits, hyphens and underscores, beginning with a letter"},
	"pool": {compiled(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,2}$`),
		"a pool id: letters, digits, dots, hyphens and underscores"},
	"node":  {compiled(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`), "a node name: letters, digits and inner hyphens"},
	"range": {compiled(`^[0-9]+-[0-9]+$`), "a range such as 2100-2199"},
	"tag": {compiled(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`),
		"a tag: letters, digits and _ . + -, beginning with a letter, digit or _"},
	"mac": {compiled(`^([0-9A-Fa-f][02468aceACE](:[0-9A-Fa-f]{2}){5}|auto)$`),
		"a unicast MAC address such as BC:24:11:00:00:01, or auto"},
	"chosenmac": {compiled(`^[0-9A-Fa-f][02468aceACE](:[0-9A-Fa-f]{2}){5}$`), "a unicast MAC address such as BC:24:11:00:00:01"},
	"archive": {compiled(`^[A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]:vztmpl/[A-Za-z0-9_][A-Za-z0-9._+@~-]*$`),
		"the volume of an archive, such as local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst"},
	"mountpath": {compiled(`^(/[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*)+$`),
		"an absolute path such as /srv/data: letters, digits and . _ @ + -, and no part that begins with a dot"},
	"ifname": {compiled(`^[A-Za-z][A-Za-z0-9_.-]{1,14}$`), "a name of a network interface, such as eth0"},
	"ip":     {compiled(`^(` + ipv4 + `|` + ipv6 + `)$`), "an IP address"},
	"ipv4": {compiled(`^(dhcp|` + ipv4 + `/(3[0-2]|[12]?[0-9]))$`),
		"dhcp, or an IPv4 address with its prefix length such as 192.168.1.10/24"},
	"gateway":  {compiled(`^` + ipv4 + `$`), "an IPv4 address such as 192.168.1.1"},
	"nic":      {compiled(`^net[1-7]$`), "a network device from net1 to net7"},
	"gateway6": {compiled(`^` + ipv6 + `$`), "an IPv6 address such as 2001:db8::1"},
	"ipv6": {compiled(`^(dhcp|auto|` + ipv6 + `/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))$`),
		"dhcp, auto, or an IPv6 address with its prefix length"},
	"host": {compiled(`^((` + hostLabel + `\.)*[0-9]*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?\.?|` + ipv4 + `|` + ipv6 + `)$`),
		"a host name or IP address"},
	"zone": {compiled(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*\.?$`),
		"a DNS zone such as home.example.org, with at most one trailing dot"},
	"record": {compiled(`^(@|(\*|[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*)$`),
		"a name relative to the zone, such as www, *.apps or @"},
	"keyname": {compiled(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?\.$`),
		"a TSIG key name with its final dot, such as ddnskey."},
	"url": {compiled(`^https?://` + afterScheme), "a URL such as https://s3.example.org:9000/, without credentials"},
	"endpoint": {compiled(`^https://` + afterScheme),
		"a URL such as https://pve.example.org:8006/, with https and without credentials"},
	"constraint": {compiled(`^ *` + versionBound + `( *, *` + versionBound + `)* *$`), `a version constraint such as ">= 1.10"`},
	"bucket":     {compiled(`^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$`), "a bucket name"},
	"prefix": {compiled(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`),
		"a path such as team/prod, without leading or trailing slash"},
	"disk": {compiled(`^(scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|sata[0-5]|ide[0-3])$`),
		"a disk interface: scsi0-30, virtio0-15, sata0-5 or ide0-3"},
	"drive": {compiled(`^(scsi([0-9]|[12][0-9]|30)|sata[0-5]|ide[0-3])$`), "a drive interface: ide0-3, sata0-5 or scsi0-30"},
	"bootdev": {compiled(`^(scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|sata[0-5]|ide[0-3]|` +
		`net([0-9]|[12][0-9]|3[01])|usb[0-9]|hostpci[0-9])$`),
		"a device such as scsi0 or net0"},
	"bridge": {compiled(`^[A-Za-z][A-Za-z0-9_.-]{0,14}$`), "a bridge or virtual network such as vmbr0"},
	"machine": {compiled(`^(pc(-i440fx` + machineVersion + `)?|q35(,viommu=(intel|virtio))?|` +
		`pc-q35` + machineVersion + `|virt(` + machineVersion + `)?)$`),
		"a machine type such as q35 or pc-i440fx-9.0"},
	"cpu": {compiled(`^` + cpuTypes + `$`), "a CPU type such as x86-64-v2-AES, host or custom-NAME"},
	"cpuflag": {compiled(`^[+-](` + cpuFlags + `)$`),
		"a CPU flag with its sign, such as +aes; Proxmox VE permits " + strings.ReplaceAll(cpuFlags, "|", ", ")},
	"cpus": {compiled(`^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`), "CPUs such as 0-3,8"},
	"usb": {compiled(`^((0x)?[0-9A-Fa-f]{4}:(0x)?[0-9A-Fa-f]{4}|[0-9]+-[0-9]+(\.[0-9]+)*|spice)$`),
		"vendor and product such as 1a86:7523, a port such as 1-1.4, or spice"},
	"duration":   {compiled(`^([0-9]+(\.[0-9]+)?(s|m|h))+$`), "a duration such as 15m or 3s"},
	"wait":       {compiled(`^[1-9][0-9]{0,3}(s|m|h)$`), "a duration such as 30s, 10m or 2h"},
	"wave":       {compiled(`^([1-9][0-9]{0,3}|([1-9][0-9]?|100)%)$`), "a number such as 5, or a percentage such as 25%"},
	"serial":     {compiled(`^(socket|/dev/[A-Za-z0-9._/-]+)$`), "socket, or a device such as /dev/ttyS0"},
	"diskserial": {compiled(`^[A-Za-z0-9_-]{1,20}$`), "at most 20 letters, digits, _ and -"},
	"vlans":      {compiled(`^` + vlan + `(-` + vlan + `)?$`), "a VLAN or a range of VLANs such as 10 or 20-30"},
	"hotplug": {compiled(`^(0|1|(cpu|disk|memory|network|usb)(,(cpu|disk|memory|network|usb)){0,4})$`),
		"0, 1, or a list such as disk,network,usb"},
	Snippet: {compiled(`^[A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]:snippets/[A-Za-z0-9_][A-Za-z0-9._+@~-]*$`),
		"a snippet such as local:snippets/hook.pl"},
	"hostpci":  {compiled(`^hostpci([0-9]|1[0-5])$`), "hostpci0 to hostpci15"},
	"numa":     {compiled(`^numa[0-7]$`), "numa0 to numa7"},
	"numacpus": {compiled(`^[0-9]{1,4}(-[0-9]{1,4})?(;[0-9]{1,4}(-[0-9]{1,4})?)*$`), "numbers and ranges such as 0-3 or 0;4-5"},
	"pci":      {compiled(`^` + pci + `(;` + pci + `)*$`), "a PCI address such as 0000:01:00.0 or 01:00"},
	"romfile":  {compiled(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$`), "a relative path such as vbios.bin"},
	"user":     {compiled(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`), "a user name"},
	"pattern":  {compiled(`^[A-Za-z0-9{}_.:+-]+$`), "a naming pattern such as {stack}-{key}"},
	"groupkey": {compiled(`^[a-z0-9{}+:n -]*\{` + arithmetic + `\}[a-z0-9{}+:n -]*$`),
		"a key pattern with the ordinal in it, such as web{n} or web{n:02}"},
	"memberkey": {compiled(`^[a-z0-9{}+: -]*\{(` + arithmetic + `|name)\}[a-z0-9{}+: -]*$`),
		"a key pattern with {n} or {name} in it, such as student{n} or student{n:02}"},
	"line": {compiled(`^[^\n\r` + control + direction + `]*$`), "one line of text without control characters"},
	"registration": {compiled(`^(\./)?registration/(` + fileName + `/)*` + fileName + `\.json$`),
		"a JSON file below registration/, such as registration/class.json"},
	"text": {compiled(`^[^` + control + direction + `]*$`), "text without control characters"},
}

// matches reports whether text has a named format. An empty name fits anything.
func matches(name, text string) bool {
	f, ok := formats[name]
	return !ok || f.pattern().MatchString(text)
}

// Matches reports whether text has a named format of the tables, and what the format is
// in words.
func Matches(name, text string) (fits bool, want string) {
	return matches(name, text), formats[name].want
}
