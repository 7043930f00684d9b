package hardware

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/schema"
)

// cpu reads the type of the CPU and its flags.
func (r *Reading) cpu() {
	text, there := r.raw["cpu"]
	options := map[string]string{"cputype": "qemu64"} // what the provider reads where there is none
	if there {
		r.shows["cpu_type"], r.shows["cpu_flags"] = []string{"cpu=" + text}, []string{"cpu=" + text}
		found, order := (&family{First: "cputype"}).entry(text)
		options = found
		for _, name := range order {
			if name != "cputype" && name != "flags" {
				r.doubt("cpu="+text, fmt.Sprintf("no spec has its option %q", name))
			}
		}
	}
	flags := strings.FieldsFunc(options["flags"], func(c rune) bool { return c == ';' })
	r.values["cpu_type"] = scalar(field("cpu_type"), options["cputype"])
	r.values["cpu_flags"] = texts(flags)
	usual := options["cputype"] == "qemu64" && len(flags) == 0
	for _, key := range []string{"cores", "sockets"} {
		usual = usual && (r.raw[key] == "" || r.raw[key] == "1")
	}
	for _, key := range []string{"vcpus", "cpulimit", "cpuunits"} {
		usual = usual && (r.raw[key] == "" || r.raw[key] == "0")
	}
	if usual && (truth(r.raw["numa"]) == "true" || r.raw["affinity"] != "") {
		r.refuse("cpu_type", "numa or affinity alone", "the provider does not read them where all else of the CPU is the usual; kvm64 is the type that Proxmox VE takes then, and writing it changes nothing in the VM", fmt.Sprintf("qm set %d --cpu kvm64", r.vmid))
	}
}

// lists reads the tags and the boot order.
func (r *Reading) lists() {
	var tags []string
	for tag := range strings.SplitSeq(r.raw["tags"], ";") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	if len(tags) > 0 {
		r.shows["tags"] = []string{"tags=" + r.raw["tags"]}
	}
	slices.Sort(tags)
	r.values["tags"] = texts(tags)
	for _, tag := range tags {
		if tag != strings.ToLower(tag) {
			r.refuse("tags", "tags="+r.raw["tags"], "a spec's tags are in lower case", fmt.Sprintf("qm set %d --tags %s", r.vmid, schema.Quoted(strings.ToLower(r.raw["tags"]))))
			break
		}
	}
	if order, ok := strings.CutPrefix(strings.TrimSpace(r.raw["boot"]), "order="); ok {
		r.shows["boot_order"] = []string{"boot=" + r.raw["boot"]}
		r.values["boot_order"] = texts(strings.FieldsFunc(order, func(c rune) bool { return c == ';' }))
	}
}

// pool reads the pool, which is no part of the configuration.
func (r *Reading) pool(g *cluster.Guest) {
	if g.Pool != "" {
		r.shows["pool"] = []string{"pool=" + g.Pool}
	}
	r.values["pool"] = scalar(field("pool"), g.Pool)
}

// tidy takes away what the provider reads as nothing, since it equals its own
// defaults, and refuses what only looks like something.
func (r *Reading) tidy() {
	is := func(name, key, value string) bool { return r.values[name].Get(key).Str() == value }
	if is("efi", "datastore", "local-lvm") && is("efi", "type", "2m") && is("efi", "pre_enrolled_keys", "false") && strings.Contains(r.raw["efidisk0"], "format=raw") {
		delete(r.values, "efi")
	}
	if is("tpm", "datastore", "local-lvm") && is("tpm", "version", "v2.0") {
		delete(r.values, "tpm")
	}
	if is("vga", "type", "std") && is("vga", "memory", "16") && is("vga", "clipboard", "") {
		delete(r.values, "vga")
	}
	if is("startup", "order", "-1") {
		r.refuse("startup", "startup="+r.raw["startup"], "a spec's startup has an order")
	}
	if is("agent", "enabled", "false") && !(is("agent", "trim", "false") && is("agent", "type", "virtio")) {
		r.refuse("agent", "agent="+r.raw["agent"], "a spec has no options of an agent that is off", fmt.Sprintf("qm set %d --agent 0", r.vmid))
	}
	if text := r.raw["description"]; text != strings.TrimSpace(text) || strings.Contains(text, "\r") {
		r.refuse("description", "description", "it begins or ends with blanks, or has line ends of Windows, which the provider takes away")
	}
	for _, n := range r.values["networks"].List() {
		for _, vlans := range n.Get("trunks").Strings() {
			if strings.Contains(vlans, "-") {
				r.refuse("networks", "trunks="+vlans, "the provider cannot read ranges of VLANs, so it cannot import the VM at all: list them one by one")
			}
		}
	}
	if f := r.values["efi"]; f != nil && r.values["bios"].Str() != "ovmf" {
		r.refuse("efi", "efidisk0="+r.raw["efidisk0"], "a spec has an EFI disk with bios: ovmf only")
	}
}

// others refuses every entry that no table has a property for.
func (r *Reading) others() {
	said := map[string]bool{"status": true}
	for _, w := range single {
		said[w.Key] = true
	}
	numbered := map[string]bool{"ipconfig": true}
	for _, f := range families {
		for _, key := range f.Keys {
			said[key], numbered[key] = f.Many == 0, f.Many > 0
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(r.raw), schema.NaturalCompare) {
		name := strings.TrimRight(key, "0123456789")
		switch what := unsayableWhat(name); {
		case key == "acpi" && truth(r.raw[key]) == "false":
			r.refuse("", "acpi=0", "no spec has a VM without ACPI")
		case key == "smbios1":
			r.smbios()
		case said[key], name != key && numbered[name], slices.Contains(unread, name), strings.Contains(r.raw[key], "(secret)"):
		case what != "" && strings.TrimSpace(r.raw[key]) != "":
			r.refuse("", key+"="+r.raw[key], "no spec has "+what)
		case what == "":
			r.doubt(key+"="+r.raw[key], "stackgen does not know what it is")
		}
	}
}

func unsayableWhat(name string) string {
	for _, u := range unsayable {
		if u.Key == name {
			return u.What
		}
	}
	return ""
}

// smbios refuses values of the VM's board other than its UUID, which stays.
func (r *Reading) smbios() {
	for part := range strings.SplitSeq(r.raw["smbios1"], ",") {
		if name, _, _ := strings.Cut(part, "="); name != "uuid" && name != "base64" {
			r.refuse("", "smbios1="+r.raw["smbios1"], "no spec has values of the board")
			return
		}
	}
}

// Silent are the blocks of the resource that a spec leaves out where it says
// what this VM has: they would say the provider's own defaults, and an import
// reads nothing there. A state that has one of them keeps it.
func (r *Reading) Silent() []string {
	is := func(name, value string) bool { return r.values[name].Str() == value }
	var out []string
	if is("os_type", "other") {
		out = append(out, "operating_system")
	}
	if is("memory", "512") && is("balloon", "0") {
		out = append(out, "memory")
	}
	if is("cores", "1") && is("sockets", "1") && is("cpu_type", "qemu64") && len(r.values["cpu_flags"].List()) == 0 && is("numa", "false") && is("cpu_units", "0") && is("cpu_limit", "0") && is("cpu_affinity", "") {
		out = append(out, "cpu")
	}
	if r.raw["agent"] != "" && r.values["agent"].Get("enabled").Str() == "false" {
		out = append(out, "agent")
	}
	return out
}
