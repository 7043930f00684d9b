package hardware

import (
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/natural"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// refuse notes an entry that a spec cannot express, with the commands that change
// the VM so that a spec can.
func (r *Reading) refuse(property, config, reason string, commands ...string) {
	r.skip[property] = true
	d := finding.Difference{Field: property, Config: config, Reason: reason, Commands: commands}
	r.unsupported = append(r.unsupported, Difference{Difference: d})
}

// explicit is refuse where the settings write what Proxmox VE uses without the entry.
func (r *Reading) explicit(property, config, reason string, settings ...cluster.Setting) {
	r.refuse(property, config, reason, r.SetAll(settings))
	if r.kind == guest.Container {
		return // stackgen writes into no container that it does not manage: a person runs the command
	}
	last := &r.unsupported[len(r.unsupported)-1]
	last.Neutral, last.Settings = true, settings
}

// unset is explicit for an entry that the configuration does not have.
func (r *Reading) unset(property, entry, reason string, settings ...cluster.Setting) {
	r.explicit(property, "no "+entry, reason, settings...)
	r.unsupported[len(r.unsupported)-1].Absent = true
}

// doubt notes what the provider does not read: an import leaves it as it is, and
// a later change may or may not.
func (r *Reading) doubt(config, reason string) {
	r.unsupported = append(r.unsupported, Difference{Difference: finding.Difference{Config: config, Reason: reason}, uncertain: true})
}

// secrets refuses entries whose text the inventory left out, because it looks
// like a secret.
func (r *Reading) secrets() {
	for _, key := range slices.SortedFunc(maps.Keys(r.raw), natural.Compare) {
		if hidden(r.raw[key]) {
			// A shell refuses the placeholder, which Proxmox VE would take for the text.
			r.refuse(key, key, "its text looks like a secret, which a spec must not contain", r.Set("--"+key, "<NEW-TEXT>"))
		}
	}
}

func hidden(text string) bool { return strings.Contains(text, "(secret)") }

// limits removes what the provider reads as absent, because it equals its own
// defaults, and refuses values that a spec does not accept.
func (r *Reading) limits() {
	is := func(name, key, value string) bool { return r.values[name].Get(key).Str() == value }
	if is(guest.EFI, guest.Datastore, "local-lvm") && is(guest.EFI, guest.Type, "2m") &&
		is(guest.EFI, guest.PreEnrolledKeys, "false") && pve.Parse(r.raw["efidisk0"]).Option("format") == "raw" {
		delete(r.values, guest.EFI)
	}
	r.devices()
	for _, name := range []string{guest.TPM, guest.VGA, guest.Watchdog} {
		if schema.VMField(name).IsDefault(r.values[name]) {
			delete(r.values, name)
		}
	}
	r.numa()
	r.notes()
	if agent := schema.VMField(guest.Agent); is(guest.Agent, guest.Enabled, "false") && !agent.IsDefault(r.values[guest.Agent]) {
		r.refuse(guest.Agent, "agent="+r.raw["agent"], "a spec has no options of an agent that is off", r.Set("--agent 0"))
	}
	if u := FindUnreadable(r.raw); u != nil {
		var command []string
		if u.Options != "" {
			command = append(command, r.Set(u.Options))
		}
		r.refuse(u.Property, u.Key+": "+r.raw[u.Key], "the provider cannot read "+u.Cannot+", and every plan of the stack fails", command...)
		r.unsupported[len(r.unsupported)-1].Neutral = u.Neutral
	}
	if f := r.values[guest.EFI]; f != nil && r.values[guest.BIOS].Str() != "ovmf" {
		r.refuse(guest.EFI, "efidisk0="+r.raw["efidisk0"], "a spec has an EFI disk only with bios: ovmf")
	}
}

// notes refuses texts and an order that a spec cannot say as the guest has them.
func (r *Reading) notes() {
	if r.values[guest.Startup].Get(guest.Order).Str() == "-1" {
		r.refuse(guest.Startup, "startup="+r.raw["startup"], "a spec always has an order in startup")
	}
	if text := r.raw["description"]; text != strings.TrimSpace(text) || strings.Contains(text, "\r") {
		r.refuse(guest.Description, "description", "it begins or ends with blanks, or has Windows line endings, which the provider removes")
	}
	for _, tag := range r.values[guest.Tags].Strings() {
		if tag != strings.ToLower(tag) {
			r.refuse(guest.Tags, "tags="+r.raw["tags"], "a spec has tags in lower case",
				r.Set("--tags", shell.Quote(strings.ToLower(r.raw["tags"]))))
			break
		}
	}
}

// numa refuses NUMA and affinity where all else of the CPU has its default: the
// provider then reads no CPU at all.
func (r *Reading) numa() {
	cpu := schema.VMField(guest.Cores).Attribute()
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		if f.Attribute() == cpu && f.Key != guest.NUMA && f.Key != guest.CPUAffinity && !f.IsDefault(r.values[f.Key]) {
			return
		}
	}
	if r.values[guest.NUMA].Str() != "true" && r.raw["affinity"] == "" {
		return
	}
	r.explicit(guest.CPUType, "numa or affinity alone",
		"the provider does not read them while all else of the CPU has its default; "+
			"setting the type to kvm64, which Proxmox VE uses now, does not change the VM",
		cluster.Setting{Key: "cpu", Value: "kvm64"})
}

// others notes every entry that no row of the table reads.
func (r *Reading) others() {
	known := entries(schema.Fields(r.kind))
	for _, key := range slices.SortedFunc(maps.Keys(r.raw), natural.Compare) {
		text := r.raw[key]
		name := strings.TrimRight(key, "0123456789")
		e, listed := schema.EntryOf(r.kind, name, text)
		switch {
		case slices.Contains(known, key), name != key && slices.Contains(known, name+"*"), strings.HasPrefix(key, "ipconfig"):
		case e.Kept, hidden(text): // the guest keeps it
		case !listed:
			r.doubt(key+"="+text, "stackgen does not know this entry")
		case strings.TrimSpace(text) == "":
		default:
			r.refuse("", key+"="+text, "a spec has no property for "+e.Name)
			r.unsupported[len(r.unsupported)-1].Changes = []tf.Change{{Path: e.HCL, Was: text, Whole: true}}
		}
	}
}

// OmittedBlocks are the blocks of the resource that a spec with this hardware
// leaves out, because they equal the provider's defaults. A state that has one of
// them keeps it.
func (r *Reading) OmittedBlocks() []string {
	var out []string
	fields := schema.Fields(r.kind)
	for _, b := range schema.DefaultBlocksOf(r.kind) {
		omitted := !b.Keeps && !schema.IsAlwaysIgnoredOf(r.kind, b.Name)
		for i := range fields {
			f := &fields[i]
			if f.Attribute() == b.Name {
				omitted = omitted && !r.skip[f.Key] && f.IsDefault(r.values[f.Key]) && (f.Type != schema.Object || len(r.shows[f.Key]) > 0)
			}
		}
		if omitted {
			out = append(out, b.Name)
		}
	}
	return out
}
