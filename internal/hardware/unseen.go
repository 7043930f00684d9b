package hardware

import (
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// An Unseen is a value of a clone that neither its spec nor its template says.
type Unseen struct {
	tf.Change        // Was is what the clone has, and Is what its spec says
	Entry     string // of the configuration
	Template  string // what its template has; "" if it does not have it
	Reason    string // why a spec cannot say it
	Undo      string // the command that makes the clone like its template; "" if there is none
}

// Unseen are the values of a clone that differ from its spec and from its template. Which of
// them a plan shows depends on the state.
//
// It says nothing of disks, which a clone may have on another datastore, and of what the
// clone does not have: the spec does not ask for it.
func (r *Reading) Unseen(v *schema.VM, template *Reading, ignores func(attribute string) bool) []Unseen {
	brought := map[string]string{}
	for _, d := range template.withAddresses().compare(v, ignores, true) {
		for _, c := range d.Changes {
			brought[c.Attribute()] = c.Was
		}
	}
	var out []Unseen
	for _, d := range r.withAddresses().compare(v, ignores, true) {
		if d.uncertain || d.Absent || !template.comparable(d.Field) {
			continue
		}
		for _, c := range d.Changes {
			key, was := entryOf(c), brought[c.Attribute()]
			if c.Was == "" || key == entryDrive || r.brought(template, c, key, was) {
				continue
			}
			u := r.notLike(template, c, key)
			u.Template = was
			if d.Line == "" {
				u.Reason = d.Reason
			}
			out = append(out, u)
		}
	}
	return append(out, r.withoutProperty(template)...)
}

// brought reports whether a clone has a value by its template, of which was is the value, and key the entry.
func (r *Reading) brought(template *Reading, c tf.Change, key, was string) bool {
	return c.Was == was || r.raw[key] != "" && r.raw[key] == template.raw[key] || c.Is == "" && r.Pinned(c, was)
}

// Pinned reports whether a VM has a machine type that differs from another one by a version only, which Proxmox VE adds when it
// creates a Windows, or changes the operating system to it. Source: qemu-server 8.4,
// PVE::QemuServer::Machine::check_and_pin_machine_string.
func (r *Reading) Pinned(c tf.Change, machine string) bool {
	if c.Path != schema.VMField(guest.Machine).HCL || !schema.IsWindows(r.raw[schema.VMField(guest.OSType).Entry()]) {
		return false
	}
	is, options, _ := strings.Cut(c.Was, ",")
	base, others, _ := strings.Cut(machine, ",")
	kinds := map[string]string{"": "pc-i440fx", "pc": "pc-i440fx", "q35": "pc-q35", "virt": "virt"}
	return options == others && pve.MachineVersion(is) != "" && pve.MachineKind(pve.MachineVersion(is)) == kinds[base]
}

// Has is what a VM has of an attribute that its spec says in another way; "" if it has what
// the spec says, or nothing. known is false for what cannot be compared, and for nothing.
func (r *Reading) Has(v *schema.VM, attribute string) (was string, known bool) {
	all := r.withAddresses()
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		if f.HCL == "" || !Overlap(f.HCL, attribute) || all.skip[f.Key] || len(entries(schema.VMFields[i:i+1])) == 0 {
			continue
		}
		was, is := all.both(f, v)
		for _, p := range (&comparison{full: true}).parts(f, was, is) {
			if Overlap(p.Attribute(), attribute) {
				return p.Was, p.Was != ""
			}
		}
		known = true
	}
	return "", known
}

// withAddresses is the same VM, with the cloud-init settings that a spec cannot say in this
// form: others of them can be compared.
func (r *Reading) withAddresses() *Reading {
	out := *r
	out.skip = maps.Clone(r.skip)
	delete(out.skip, guest.CloudInit)
	return &out
}

// withoutProperty are the entries that no property of a spec sets.
func (r *Reading) withoutProperty(template *Reading) []Unseen {
	var out []Unseen
	for _, key := range slices.SortedFunc(maps.Keys(r.raw), natural.Compare) {
		name := strings.TrimRight(key, "0123456789")
		i := slices.IndexFunc(schema.Unsupported, func(p schema.Part) bool { return p.PVE == name && p.Ignored() })
		if i < 0 || schema.Unsupported[i].Unique || r.raw[key] == template.raw[key] {
			continue
		}
		part := &schema.Unsupported[i]
		u := r.notLike(template, tf.Change{Path: part.HCL, Was: r.raw[key], Whole: true}, key)
		u.Template, u.Reason = template.raw[key], "a spec has no property for "+part.Name
		if key == "args" { // passwords may be among the arguments of QEMU
			u.Was = Secret
			if u.Template != "" {
				u.Template, u.Undo = Secret, ""
			}
		}
		out = append(out, u)
	}
	if r.password && !template.password {
		out = append(out, Unseen{
			Change: tf.Change{Path: Password, Was: Secret},
			Entry:  "cipassword",
			Reason: NoPasswords,
			Undo:   r.Set("--delete cipassword"),
		})
	}
	return out
}

// Secret takes the place of a value that is not shown.
const Secret = "(secret)"

// Password is where the provider has the password of cloud-init.
const Password = "initialization.user_account.password"

// NoPasswords is why a spec cannot say it.
const NoPasswords = "a spec has no passwords"

// comparable reports whether a property of a template says something about its clones. They
// have their volumes on another datastore, and MAC addresses of their own.
func (r *Reading) comparable(key string) bool {
	switch key {
	case "", guest.Disks, guest.Networks:
		return false
	case guest.EFI, guest.TPM:
		return r.values[key] == nil && !r.skip[key]
	case guest.CloudInit:
		return true
	}
	return !r.skip[key]
}

// notLike is a change with the command that makes its entry like that of another VM. There is
// none for several lines, which a terminal would indent, and for drives with keys of the guest.
func (r *Reading) notLike(other *Reading, c tf.Change, key string) Unseen {
	u := Unseen{Change: c, Entry: key}
	switch is, has := other.raw[key]; {
	case r.raw[key] == "" || r.raw[key] == is || hidden(is) || strings.ContainsAny(is, "\r\n"):
	case strings.HasPrefix(key, "efidisk") || strings.HasPrefix(key, "tpmstate"):
	case has:
		u.Undo = r.Set("--"+key, shell.Quote(is))
	default:
		u.Undo = r.Set("--delete", shell.Word(key))
	}
	return u
}

// entryOf is the entry of a configuration that has what changes, or "".
func entryOf(c tf.Change) string {
	row := schema.ResourceAttribute(guest.VMResource, c.Path)
	if row == nil || row.Key == "" {
		return ""
	}
	f := schema.FieldAt(guest.VM, row.Name)
	if f == nil {
		return ""
	}
	key := f.Entry()
	if name, list := strings.CutSuffix(key, "*"); list {
		return name + strings.TrimLeft(c.Device, "abcdefghijklmnopqrstuvwxyz")
	}
	return key
}
