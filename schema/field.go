package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Type is the type of a field's value.
type Type string

// The types of fields. A Map has keys of the author's choice, an Object has the
// keys of its Fields.
const (
	Bool   Type = "bool"
	Int    Type = "int"
	Float  Type = "number"
	String Type = "string"
	List   Type = "list"
	Map    Type = "map"
	Object Type = "object"
	Any    Type = "any"
)

// A Field is one row of the tables that define a spec.
type Field struct {
	Key     string
	Type    Type
	HCL     string   // where the value goes in the VM resource: "cpu.cores"; the path of an Object prefixes its Fields
	Default string   // as YAML; "" is none
	Min     int      // bounds of an Int, a Float or a Number,
	Max     int      // where Max is not 0
	Unit    string   // of an Int or a Float
	Enum    []string // the only values of a String
	Format  string   // name of an entry in formats
	Fields  []Field  // of an Object
	Elem    *Field   // of a List or Map
	KeyIs   string   // format of a Map's keys

	Required bool
	Off      bool   // `false` may stand for "none"
	On       string // a bool may stand for {On: bool}
	Short    string // text may stand for {Short: text}
	ShortInt string // a whole number may stand for {ShortInt: n}
	Number   bool   // a whole number may stand for its text
	Wrap     bool   // one element may stand for a list of it
	Sum      bool   // a List that adds up when defaults, group and VM are merged
	Whole    bool   // an Object that merging replaces instead of mixing
	As       string // how the HCL differs: "on|ignore" for a Bool, "join ;" for a List
	Creation bool   // takes part in creating a VM only; changing it later changes nothing
	Ordinals bool   // text in it may hold {n} arithmetic

	// How Proxmox VE and the provider have the property. Empty in rows that are
	// no property of a VM.
	PVE         string   // the entry of the configuration; see below
	Bare        bool     // the option whose name an entry may leave out, as in `agent: 1`
	Sep         string   // what separates the items of a List; ";" if empty
	Unread      []string // options of the entry that the provider does not read; "" is one without a name
	Unset       string   // the value that the provider uses where the spec has none, or Keep
	Absent      string   // the value that the provider reads where the configuration has none, or None; Unset if empty
	Implied     string   // the value that Proxmox VE uses where the configuration has none, if no spec can say "none"
	OmitDefault bool     // the provider reads an Object as absent while it has only defaults, so it is not rendered
	Change      Effect   // on an existing VM

	Doc string
}

// PVE names an entry of a VM's configuration: "cores". "cpu/flags" is an option of
// the entry cpu, "net*" are the entries net0, net1, ... In the Fields of an
// Object that has an entry, PVE names an option of that entry.

// Values of Unset and Absent.
const (
	Keep = "*" // the provider keeps what the VM has
	None = "-" // no value
)

// An Effect is what a change of a property does to a VM.
type Effect string

// Replace destroys the VM and creates another one.
const Replace Effect = "replace"

// A format is a pattern for text, in the syntax that RE2 and JSON Schema share
// and mean alike (so no \s, which they do not), with the words a problem uses
// for it.
type format struct {
	pattern *regexp.Regexp
	want    string
}

const (
	label = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`
	octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	ipv4  = octet + `(\.` + octet + `){3}`
	ipv6  = `([0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)`
	// control and direction are the characters that no text may contain: some
	// terminals obey them, and text with them does not mean what it looks like.
	// The syntaxes of RE2 and JSON Schema agree on no escape for the latter.
	control   = `\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f`
	direction = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
	vlan      = `([1-9][0-9]{0,2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-4])`
)

// formats are the named patterns of the tables.
var formats = map[string]format{
	"label":      {regexp.MustCompile(`^` + label + `$`), "a DNS label: lower-case letters, digits and inner hyphens, at most 63 characters"},
	"key":        {regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`), "a key: lower-case letters, digits and inner hyphens, at most 40 characters"},
	"profile":    {regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`), "a profile name: lower-case letters, digits, hyphens and underscores, beginning with a letter"},
	"id":         {regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`), "a Proxmox VE identifier: letters, digits, dots, hyphens and underscores"},
	"pool":       {regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,2}$`), "a pool id: letters, digits, dots, hyphens and underscores"},
	"node":       {regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`), "a node name: letters, digits and inner hyphens"},
	"range":      {regexp.MustCompile(`^[0-9]+-[0-9]+$`), "a range such as 2100-2199"},
	"tag":        {regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`), "a tag: letters, digits and _ . + -, beginning with a letter, digit or _"},
	"mac":        {regexp.MustCompile(`^[0-9A-Fa-f][02468aceACE](:[0-9A-Fa-f]{2}){5}$`), "a unicast MAC address such as BC:24:11:00:00:01"},
	"ip":         {regexp.MustCompile(`^(` + ipv4 + `|` + ipv6 + `)$`), "an IP address"},
	"ipv4":       {regexp.MustCompile(`^(dhcp|` + ipv4 + `/(3[0-2]|[12]?[0-9]))$`), "dhcp, or an IPv4 address with its prefix length such as 192.168.1.10/24"},
	"gateway":    {regexp.MustCompile(`^` + ipv4 + `$`), "an IPv4 address such as 192.168.1.1"},
	"ipv6":       {regexp.MustCompile(`^(dhcp|auto|` + ipv6 + `/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))$`), "dhcp, auto, or an IPv6 address with its prefix length"},
	"host":       {regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?|` + ipv6 + `)$`), "a host name or IP address"},
	"zone":       {regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*\.?$`), "a DNS zone such as home.example.org, with at most one trailing dot"},
	"record":     {regexp.MustCompile(`^(@|(\*|[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*)$`), "a name relative to the zone, such as www, *.apps or @"},
	"keyname":    {regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?\.$`), "a TSIG key name with its final dot, such as ddnskey."},
	"url":        {regexp.MustCompile(`^https?://[^\x00-\x20\x7f-\x9f` + direction + `"'@/]+(/[^\x00-\x20\x7f-\x9f` + direction + `"'@]*)?$`), "a URL such as https://pve.example.org:8006/, without credentials"},
	"constraint": {regexp.MustCompile(`^ *(=|!=|>=|<=|>|<|~>)? *v?[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?( *, *(=|!=|>=|<=|>|<|~>)? *v?[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?)* *$`), `a version constraint such as ">= 1.10"`},
	"bucket":     {regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$`), "a bucket name"},
	"prefix":     {regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`), "a path such as team/prod, without leading or trailing slash"},
	"disk":       {regexp.MustCompile(`^(scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|sata[0-5]|ide[0-3])$`), "a disk interface: scsi0-30, virtio0-15, sata0-5 or ide0-3"},
	"drive":      {regexp.MustCompile(`^(scsi([0-9]|[12][0-9]|30)|sata[0-5]|ide[0-3])$`), "a drive interface: ide0-3, sata0-5 or scsi0-30"},
	"bootdev":    {regexp.MustCompile(`^(scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|sata[0-5]|ide[0-3]|net([0-9]|[12][0-9]|3[01])|usb[0-9]|hostpci[0-9])$`), "a device such as scsi0 or net0"},
	"bridge":     {regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,14}$`), "a bridge or virtual network such as vmbr0"},
	"machine":    {regexp.MustCompile(`^(pc(-i440fx-[0-9]+(\.[0-9]+)+(\+pve[0-9]+)?)?|q35(,viommu=(intel|virtio))?|pc-q35-[0-9]+(\.[0-9]+)+(\+pve[0-9]+)?|virt(-[0-9]+(\.[0-9]+)+(\+pve[0-9]+)?)?)$`), "a machine type such as q35 or pc-i440fx-9.0"},
	"cpu":        {regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`), "a CPU type such as x86-64-v2-AES or host"},
	"cpuflag":    {regexp.MustCompile(`^[+-][a-z0-9_.-]+$`), "a CPU flag with its sign, such as +aes"},
	"cpus":       {regexp.MustCompile(`^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`), "CPUs such as 0-3,8"},
	"usb":        {regexp.MustCompile(`^((0x)?[0-9A-Fa-f]{4}:(0x)?[0-9A-Fa-f]{4}|[0-9]+-[0-9]+(\.[0-9]+)*|spice)$`), "vendor and product such as 1a86:7523, a port such as 1-1.4, or spice"},
	"duration":   {regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(s|m|h))+$`), "a duration such as 15m or 3s"},
	"serial":     {regexp.MustCompile(`^(socket|/dev/[A-Za-z0-9._/-]+)$`), "socket, or a device such as /dev/ttyS0"},
	"diskserial": {regexp.MustCompile(`^[A-Za-z0-9_-]{1,20}$`), "at most 20 letters, digits, _ and -"},
	"vlans":      {regexp.MustCompile(`^` + vlan + `(-` + vlan + `)?$`), "a VLAN or a range of VLANs such as 10 or 20-30"},
	"attribute":  {regexp.MustCompile(`^[a-z][a-z0-9_]*$`), "the name of a VM resource attribute such as tags, or all"},
	"user":       {regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`), "a user name"},
	"pattern":    {regexp.MustCompile(`^[A-Za-z0-9{}_.+-]+$`), "a naming pattern such as {stack}-{key}"},
	"groupkey":   {regexp.MustCompile(`^[a-z0-9{}+n -]*\{[0-9+n -]*n[0-9+n -]*\}[a-z0-9{}+n -]*$`), "a key pattern with the ordinal in it, such as web{n}"},
	"memberkey":  {regexp.MustCompile(`^[a-z0-9{}+ -]*\{([0-9+ -]*n[0-9+ -]*|name)\}[a-z0-9{}+ -]*$`), "a key pattern with {n} or {name} in it, such as student{n}"},
	"line":       {regexp.MustCompile(`^[^\n\r` + control + direction + `]*$`), "one line of text without control characters"},
	"text":       {regexp.MustCompile(`^[^` + control + direction + `]*$`), "text without control characters"},
}

// matches reports whether text has a named format. An empty name fits anything.
func matches(name, text string) bool {
	f, ok := formats[name]
	return !ok || f.pattern.MatchString(text)
}

// want says in words what a field takes.
func (f *Field) want() string {
	var ways []string
	switch f.Type {
	case Bool:
		ways = append(ways, "true or false")
	case Int, Float:
		w := map[Type]string{Int: "a whole number", Float: "a number"}[f.Type]
		if f.Max != 0 {
			w += fmt.Sprintf(" from %d to %d", f.Min, f.Max)
		}
		ways = append(ways, w)
	case String:
		switch {
		case len(f.Enum) > 0:
			ways = append(ways, "one of "+strings.Join(f.Enum, ", "))
		case f.Format != "":
			ways = append(ways, formats[f.Format].want)
		default:
			ways = append(ways, "text")
		}
	case List:
		if f.Wrap {
			ways = append(ways, f.Elem.want())
		}
		ways = append(ways, "a list")
	case Map:
		ways = append(ways, "a map")
	case Object:
		if f.On != "" {
			ways = append(ways, "true, false")
		} else if f.Off {
			ways = append(ways, "false")
		}
		if f.ShortInt != "" {
			ways = append(ways, "a whole number")
		}
		if f.Short != "" {
			ways = append(ways, "text")
		}
		keys := make([]string, 0, len(f.Fields))
		for _, sub := range f.Fields {
			keys = append(keys, sub.Key)
		}
		ways = append(ways, "a map of "+strings.Join(keys, ", "))
	case Any:
		ways = append(ways, "anything")
	}
	return strings.Join(ways, ", or ")
}

// VMField returns the row of a VM's property, or nil.
func VMField(key string) *Field { return find(VMFields, key) }

// AbsentValue is what the provider reads where the configuration has no value.
func (f *Field) AbsentValue() string {
	switch {
	case f.Absent == None, f.Absent == "" && f.Unset == Keep:
		return ""
	case f.Absent != "":
		return f.Absent
	}
	return f.Unset
}

// Attribute is the attribute or block of the VM resource that the value is in.
func (f *Field) Attribute() string {
	name, _, _ := strings.Cut(f.HCL, ".")
	return name
}

// IsDefault reports whether a value is what the provider uses without it.
func (f *Field) IsDefault(n *Node) bool {
	for i := range f.Fields {
		if sub := &f.Fields[i]; !sub.IsDefault(n.Get(sub.Key)) {
			return false
		}
	}
	return n == nil || len(f.Fields) > 0 || len(n.Items) == 0 && n.Text == f.Unset || f.Unset == Keep && n.Text == f.AbsentValue()
}

// StickyBlocks are the blocks of the VM resource that the provider reads as
// absent while they have only its defaults, so they are not rendered then. But a
// state that has such a block keeps it.
func StickyBlocks() []string {
	var out []string
	for i := range VMFields {
		f := &VMFields[i]
		block := strings.Contains(f.HCL, ".") || f.OmitDefault
		if name := f.Attribute(); block && f.Unset != Keep && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// find returns the row of a key.
func find(fields []Field, key string) *Field {
	for i := range fields {
		if fields[i].Key == key {
			return &fields[i]
		}
	}
	return nil
}

func keysOf(fields []Field) []string {
	out := make([]string, 0, len(fields))
	for _, f := range fields {
		out = append(out, f.Key)
	}
	return out
}
