package guard

import (
	"fmt"
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
)

// The provider reads network devices and serial devices by their numbers, and a number that the
// VM lacks as a device without values. HCL cannot express such a gap: lines of a spec that keep
// all devices give them other numbers. The VM must have them without a gap.

// nics is the entry of a network device in a configuration, without its number.
const nics = "net"

// missingDevice is the first missing number of a numbered device, such as net1 beside net0 and
// net2; "" if there is no gap.
func missingDevice(raw map[string]string, device string) string {
	for i := range numbersOf(raw, device) {
		if key := fmt.Sprintf("%s%d", device, i); raw[key] == "" {
			return key
		}
	}
	return ""
}

// numbersOf are the numbers of the devices of a kind, in order.
func numbersOf(raw map[string]string, device string) []int {
	var out []int
	for key := range raw {
		if name, n := pve.SplitKey(key); name == device && n >= 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// renumber adds the step that gives the devices of a kind numbers without a gap. The addresses of
// a network device move with it.
func renumber(f *finding.Finding, what string, g *cluster.Guest, device string) {
	var lines []string
	for i, n := range numbersOf(g.Config.Raw, device) {
		if i == n {
			continue
		}
		options, remove := "", ""
		move := func(kind string) {
			from, to := fmt.Sprintf("%s%d", kind, n), fmt.Sprintf("%s%d", kind, i)
			if entry := g.Config.Raw[from]; entry != "" {
				options += fmt.Sprintf("--%s %s ", to, shell.Word(entry))
				remove += "," + from
			} else if g.Config.Raw[to] != "" {
				remove += "," + to
			}
		}
		move(device)
		if device == nics {
			move("ipconfig")
		}
		lines = append(lines, set(g, options+"--delete "+remove[1:]))
	}
	f.Next(what+", then run preflight again", lines...)
}

// withoutGaps are updates without those that would remove a network device which the VM does not
// have: the provider reads a gap as one.
func withoutGaps(g *cluster.Guest, updates []effect.Update) []effect.Update {
	return slices.DeleteFunc(updates, func(u effect.Update) bool {
		_, number := pve.SplitKey(u.Device)
		later := slices.ContainsFunc(numbersOf(g.Config.Raw, nics), func(n int) bool { return n > number })
		return u.Path == effect.NICs && u.Removes() && g.Config.Raw[u.Device] == "" && later
	})
}

// unplugged are the ways out where an apply would remove network devices, and the VM has a gap
// before one.
func (k *keeper) unplugged(updates []effect.Update) []finding.Step {
	f := &finding.Finding{}
	if slices.Contains(harmsOf(updates), effect.Unplugs) && missingDevice(k.guest.Config.Raw, nics) != "" {
		renumber(f, "to keep the network devices, give them numbers without a gap", k.guest, nics)
	}
	return f.Steps
}
