package schema

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
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
//
// PVE is an entry of a VM's configuration in Proxmox VE: "cores". "cpu/flags" is an
// option of the entry cpu, "net*" are the entries net0, net1, ... In the Fields of
// an Object that has an entry, PVE is an option of that entry. If the key that On
// names has no option, it is true while the entry exists.
type Field struct {
	Key     string
	Type    Type
	HCL     string   // where the value goes in the VM resource: "cpu.cores"; the path of an Object prefixes its Fields
	Default string   // as YAML; "" is none
	Min     int      // bounds of an Int, a Float or a Number,
	Max     int      // where Max is not 0
	Most    int      // items of a List or characters of a String; 0 is no limit
	Unit    string   // of an Int or a Float
	Enum    []string // the only values of a String
	Format  string   // name of an entry in formats
	Fields  []Field  // of an Object
	// Containers are the Fields of an Object that says kind: container; Fields are those of others.
	Containers []Field
	Elem       *Field   // of a List or Map
	KeyIs      string   // format of a Map's keys
	OneOf      []string // keys of an Object, exactly one of which is given

	Required bool
	Off      bool   // `false` is accepted and means none
	On       string // a bool is accepted for {On: bool}
	Short    string // text is accepted for {Short: text}
	ShortInt string // a whole number is accepted for {ShortInt: n}
	Number   bool   // a whole number is accepted for its text
	Wrap     bool   // one element is accepted for a list of it
	Sum      bool   // a List: merging adds the items of defaults, group and VM
	Own      bool   // a VM has it for itself: a value in the defaults is not for all VMs
	Whole    bool   // an Object: merging replaces it instead of its keys
	// As is how the HCL differs: "on|ignore" for a Bool, "vlans" for a List of VLANs and ranges;
	// "set" is a String of words whose order means nothing;
	// "GiB" is an Int that is written with its unit.
	As       string
	Creation bool // takes part in creating a VM only; changing it later changes nothing
	Ordinals bool // text in it may hold {n} arithmetic
	Fixed    bool // a String without {n} arithmetic, wherever it is
	Rest     bool // a List: the keys beside it with the same HCL are its first element

	// How Proxmox VE and the provider have the property. Empty in rows that are
	// no property of a VM.
	PVE        string   // the entry of the configuration
	Bare       bool     // the option whose name an entry may leave out, as in `agent: 1`
	Sep        string   // what separates the items of a List; ";" if empty
	Unread     []string // options of the entry that the provider does not read; "" is one without a name
	Unset      string   // the value that the provider uses where the spec has none, or Keep
	Absent     string   // the value that the provider reads where the configuration has none, or None; Unset if empty
	Implied    string   // the value that Proxmox VE uses where the configuration has none, if no spec can say "none"
	Varies     bool     // the value that Proxmox VE uses where the configuration has none depends on other settings
	ReadAbsent bool     // in a block that an import reads as absent while it has only defaults
	Inherits   bool     // a clone keeps the value of its template where the spec has none, or the provider's default
	Settles    bool     // Proxmox VE does not have it: an import reads Unset, and the apply after it sets it
	Sticky     bool     // no plan shows that a guest lacks it: it stays in the state, or with ReadAbsent, the provider reads Unset
	Sent       bool     // of a disk: the provider sends it with any change of the disk, also where the configuration has none
	Maps       string   // a List whose items have a mapping: the kind of resource mappings that it names
	Right      Right    // of an update
	Change     Effect   // of a change on an existing VM; of an Object or List, also that of its Fields without one
	Removal    Effect   // of the removal of the value, if it is another one

	Doc string
}

// Slot as PVE is the key of the entry itself: hostpci0.
const Slot = "#"

// Values of Unset and Absent.
const (
	Keep = "*" // the provider keeps what the VM has
	None = "-" // no value
)

// want says in words which values a field accepts.
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
		case len(f.Enum) == 1:
			ways = append(ways, f.Enum[0])
		case len(f.Enum) > 0:
			ways = append(ways, "one of "+strings.Join(f.Enum, ", "))
		case f.Format != "":
			ways = append(ways, formats[f.Format].want)
		default:
			ways = append(ways, "text")
		}
		if f.Most > 0 {
			ways[0] += fmt.Sprintf(", at most %d characters", f.Most)
		}
	case List:
		if f.Wrap {
			ways = append(ways, f.Elem.want())
		}
		w := "a list"
		if f.Most > 0 {
			w += fmt.Sprintf(" of at most %d", f.Most)
		}
		ways = append(ways, w)
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
		w := "a map"
		if len(f.Fields) <= maxListed {
			w += " of " + strings.Join(keysOf(f.Fields), ", ")
		}
		ways = append(ways, w)
	case Any:
		ways = append(ways, "anything")
	}
	return strings.Join(ways, ", or ")
}

// VMField returns the row of a VM's property, or nil.
func VMField(key string) *Field { return find(VMFields, key) }

// FieldOf returns the row of a property of guests of a kind, or nil.
func FieldOf(kind guest.Kind, key string) *Field { return find(Fields(kind), key) }

// CreationRows are the properties with one value that act when a VM is created: a change in
// the spec of a VM that exists changes nothing of it.
func CreationRows() []Field {
	return slices.DeleteFunc(slices.Clone(VMFields), func(f Field) bool { return !f.Creation || f.Own || len(f.Fields) > 0 })
}

// ActsAtCreation reports whether the property acts at the creation of a VM only, under a
// profile of it: an apply sets an attribute that the profile does not ignore.
func (f *Field) ActsAtCreation(p *Profile) bool {
	return f.Creation && (f.HCL == "" || p != nil && p.Ignores(f.Attribute()))
}

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

// Entry is the entry of the configuration that has a property.
func (f *Field) Entry() string {
	entry, _, _ := strings.Cut(f.PVE, "/")
	return entry
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

// FieldAt returns the row of a property of guests of a kind or of a key in it, such as disks.size, or nil.
func FieldAt(kind guest.Kind, name string) *Field {
	var f *Field
	fields := Fields(kind)
	for _, key := range strings.Split(name, ".") {
		if f = find(fields, key); f == nil {
			return nil
		}
		fields = f.Fields
		if f.Type == List {
			fields = f.Elem.Fields
		}
	}
	return f
}
