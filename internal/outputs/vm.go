package outputs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// A Registration is what the files of a stack say.
type Registration struct {
	Stack    string
	Class    string // its name, if it is a class
	VMs      []VM   // in natural order of their keys
	Warnings []string

	spec, base string
}

// Containers is how many of the VMs are containers.
func (r *Registration) Containers() int {
	n := 0
	for i := range r.VMs {
		if r.VMs[i].kind == guest.Container {
			n++
		}
	}
	return n
}

// The roles of VMs.
const (
	roleTeacher = "teacher"
	roleStudent = "student"
	roleVM      = "vm"
)

// A VM is one VM of a registration. Its JSON keys are stable.
type VM struct {
	Key     string            `json:"key"`
	Name    string            `json:"name"`
	Member  string            `json:"member"`
	Ordinal int               `json:"ordinal"`
	Role    string            `json:"role"`
	VMID    int               `json:"vmid"`
	Node    string            `json:"node"`
	IPv4    optional          `json:"ipv4"`
	MAC     optional          `json:"mac"`
	DNS     string            `json:"dns"`
	User    string            `json:"user"`
	Extra   map[string]string `json:"extra"`
	Meta    json.RawMessage   `json:"meta"`
	Console optional          `json:"console"`

	kind   guest.Kind
	group  string   // of the spec: teacher, students, or a group's name
	names  []string // of its DNS records, without wildcards
	static bool     // the spec has its address
}

// An optional is a text that is not known if it is empty.
type optional string

// MarshalJSON writes null for what is not known.
func (o optional) MarshalJSON() ([]byte, error) {
	if o == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(o))
}

// newVM joins what the spec and the outputs say of a VM.
func newVM(s *schema.Stack, v *schema.VM, m machine, meta json.RawMessage) (VM, error) {
	out := VM{kind: cmp.Or(v.Kind, guest.VM), Key: v.Key, Member: v.Member, Ordinal: v.N, Role: roleVM,
		User:  v.Values.Get(guest.CloudInit, guest.User).Str(),
		Extra: map[string]string{}, Meta: meta, static: v.Address.IsValid()}
	switch group, isGroup := strings.CutPrefix(v.Path, "groups."); {
	case v.Seat > 0:
		out.Role, out.group = roleStudent, "students"
	case s.Kind == schema.KindClass && v.Path == roleTeacher:
		out.Role, out.group = roleTeacher, roleTeacher
	case isGroup:
		out.group, _, _ = strings.Cut(group, ".") // "worker.overrides.worker2" has properties of its own
	}
	for _, e := range v.Extra {
		out.Extra[e.Name] = e.Value
	}
	for _, r := range v.Records {
		name := strings.TrimSuffix(s.DNS.FQDN(r.Name), ".")
		if out.DNS == "" {
			out.DNS = name
		}
		if !strings.HasPrefix(name, "*") {
			out.names = append(out.names, name)
		}
	}
	out.VMID = *m.ID
	out.Name, out.Node, out.IPv4, out.MAC = text(m.Name), text(m.Node), optional(text(m.IPv4)), optional(text(m.MAC))
	return out, out.check()
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

var (
	nameShape = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
	macShape  = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}$`)
	userShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// check says which values of a VM may not be in the files. Those that pass are in every
// file as they are; all others are quoted where they are written. Only name and node
// must not be empty.
func (v *VM) check() error {
	var wrong []string
	must := func(what, value string, ok bool) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf("its %s is %q", what, value))
		}
	}
	ipv4, mac := string(v.IPv4), string(v.MAC)
	node, _ := schema.Matches("node", v.Node)
	must("name", v.Name, nameShape.MatchString(v.Name))
	must("node", v.Node, node)
	must("ipv4", ipv4, ipv4 == "" || firstIPv4([]string{ipv4}) == ipv4)
	must("mac", mac, mac == "" || macShape.MatchString(mac))
	must("user", v.User, v.User == "" || userShape.MatchString(v.User))
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s: no file may contain such a value; correct it where it comes from, then apply", strings.Join(wrong, ", "))
}

// firstIPv4 is the first IPv4 address of a list, or empty.
func firstIPv4(addresses []string) string {
	for _, a := range addresses {
		if ip, err := netip.ParseAddr(a); err == nil && ip.Is4() {
			return ip.String()
		}
	}
	return ""
}

// warn warns about addresses that are missing, or not the VM's alone.
func (r *Registration) warn(live bool) {
	var without, shared []string
	first := map[optional]string{}
	for _, v := range r.VMs {
		switch other := first[v.IPv4]; {
		case v.IPv4 == "":
			without = append(without, v.Key)
		case other != "":
			shared = append(shared, fmt.Sprintf("%s (%s and %s)", v.IPv4, other, v.Key))
		default:
			first[v.IPv4] = v.Key
		}
	}
	if len(without) > 0 {
		why := "no guest agent had reported one at the last apply; `stackgen outputs --live` asks again"
		if live {
			why = "no guest agent reports one"
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: no address of %s: %s", r.Stack, list(without), why))
	}
	if len(shared) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: two guests have one address: %s; `stackgen outputs --live` asks the guest agents",
			r.Stack, list(shared)))
	}
}

// twins refuses two VMs of one name: the files find VMs by name.
func (r *Registration) twins() error {
	first := map[string]string{}
	var errs []error
	for _, v := range r.VMs {
		name := strings.ToLower(v.Name)
		if other := first[name]; other != "" {
			errs = append(errs, fmt.Errorf("%s: %s and %s both have the name %s in the state; "+
				"apply the names of the spec, then run the same command again", r.Stack, other, v.Key, v.Name))
			continue
		}
		first[name] = v.Key
	}
	return errors.Join(errs...)
}
