package hardware

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// implied notes what Proxmox VE does without an entry, and the provider reads as
// something else: an import changes nothing, but the next change of the memory or CPU
// would set that, too. Only the entry itself prevents it.
func (r *Reading) implied() {
	memory, hasMemory := r.raw["memory"]
	if _, has := r.raw["balloon"]; !has && hasMemory {
		r.later(guest.Balloon, "ballooning is on, and the next change of `memory` or `balloon` would turn it off; "+
			"setting it to the memory does not change the VM", cluster.Setting{Key: "balloon", Value: memory})
	}
	if _, has := r.raw["cpu"]; !has && !r.skip[guest.CPUType] {
		settings := []cluster.Setting{{Key: "cpu", Value: "kvm64"}}
		for _, other := range []cluster.Setting{{Key: "sockets", Value: "1"}, {Key: "numa", Value: "0"}} {
			if _, has := r.raw[other.Key]; !has {
				settings = append(settings, other)
			}
		}
		r.later(guest.CPU, "its type is kvm64, and the next change of the CPU would make it qemu64; "+
			"setting it to kvm64 does not change the VM", settings...)
	}
}

// later notes an entry that is not there and that only a later change would set, too, with the settings that prevent it.
func (r *Reading) later(entry, reason string, settings ...cluster.Setting) {
	r.unsupported = append(r.unsupported, Difference{
		Difference: finding.Difference{Config: "no " + entry, Reason: reason, Commands: []string{r.SetAll(settings)}},
		Absent:     true,
		Neutral:    true,
		Later:      true,
		uncertain:  true,
		Settings:   settings,
	})
}

// A SideEffect is a value that an update changes together with others, although the spec
// does not change it.
type SideEffect struct {
	tf.Change
	What, Line string // the step that leaves it as it is, with the line of the spec; or ""
}

// SideEffects is what changes of the memory or the CPU change in addition: the provider sends
// all of either, with its own default for what the configuration does not have, and
// Proxmox VE does something else without the entry. v may be nil.
func (r *Reading) SideEffects(v *schema.VM, changes []tf.Change) []SideEffect {
	var out []SideEffect
	sends := func(entry, path string) bool {
		block, _, _ := strings.Cut(path, ".")
		at := func(c tf.Change) bool { return c.Path == path }
		of := func(c tf.Change) bool { return strings.HasPrefix(c.Path+".", block+".") }
		return r.raw[entry] == "" && slices.ContainsFunc(changes, of) && !slices.ContainsFunc(changes, at)
	}
	if sends("balloon", "memory.floating") {
		a := SideEffect{Change: tf.Change{Path: "memory.floating", Was: "on", Is: "0"}}
		if v != nil && v.Values.Get(guest.Balloon) == nil {
			a.SideEffect, a.What, a.Line = true, "to leave ballooning on with the new memory", "balloon: "+v.Values.Get(guest.Memory).Str()
		}
		out = append(out, a)
	}
	if sends("cpu", "cpu.type") {
		out = append(out, SideEffect{
			Change: tf.Change{Path: "cpu.type", Was: "kvm64", Is: "qemu64", SideEffect: true},
			What:   "to leave the type of its CPU as it is",
			Line:   "cpu_type: kvm64",
		})
	}
	return out
}
