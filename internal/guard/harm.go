package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// plugsUSB are the types of guests into which Proxmox VE plugs USB devices while they run.
var plugsUSB = []string{"l26", "win8", "win10", "win11"}

// vmEffects is what is known of a guest that decides what an update does to it.
func vmEffects(g *cluster.Guest, permits bool) *effect.VM {
	vm := &effect.VM{
		Disks:   Disks(g),
		Unused:  unusedVolumes(g),
		Linked:  linkedDisks(g),
		Foreign: foreignDisks(g),
		Running: g.Status == "running",
		Answers: g.Config != nil && (g.Config.Agent == cluster.AgentAnswers || g.Config.Agent == cluster.AgentNoAddress),
		NoDrive: g.Config != nil && !slices.ContainsFunc(drivesOf(g), func(d pve.Drive) bool { return d.CloudInitOf(g.VMID) }),
		Permits: permits,
		HA:      inHA(g),
	}
	if g.Config != nil {
		vm.Runs = g.Config.Now()
		vm.Hotplug, vm.Plugs = vm.Runs["hotplug"], g.Config.Raw["hotplug"]
		vm.NoUSB = !slices.Contains(plugsUSB, vm.Runs["ostype"])
		for _, at := range []string{"efidisk0", "tpmstate0"} {
			if g.Config.Raw[at] != "" {
				vm.Firmware = append(vm.Firmware, at)
			}
		}
		vm.Snapshots = g.Config.Snapshot() != ""
		vm.Protected = protected(g)
	}
	return vm
}

// begun reports whether a run from here began to create a VM, and no run has completed it.
func (in *Input) begun(stack, key string, g *cluster.Guest) bool {
	b := in.Begun[stack+"/"+key]
	return g != nil && b.VMID == g.VMID && !b.Done
}

// permitsRestart reports whether the spec of a VM permits an apply to restart or stop it.
func permitsRestart(v *schema.VM) bool {
	return v != nil && v.Values.Get(guest.Restart).Bool()
}

// configuredDisks are the interfaces of a guest's disks, without drives for CDs and
// cloud-init: what the provider would detach.
func configuredDisks(g *cluster.Guest) []string {
	if g.Config == nil {
		return nil
	}
	var out []string
	for _, bus := range pve.Buses {
		for n := range 31 {
			at := fmt.Sprintf("%s%d", bus, n)
			d := pve.ParseDrive(at, g.Config.Raw[at])
			if d.File != "" && !d.CDROM() && !d.CloudInitOf(g.VMID) {
				out = append(out, at)
			}
		}
	}
	return out
}

// Disks are the volumes of a guest's disks, with their options, by interface; nil if
// its configuration is not known.
func Disks(g *cluster.Guest) map[string]string {
	if g.Config == nil || len(g.Config.Raw) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, at := range configuredDisks(g) {
		out[at] = g.Config.Raw[at]
	}
	return out
}

// waitsForAgent reports whether the provider would wait minutes for the agent of a guest
// after an update enables it. timeout is the agent.timeout, or "".
func waitsForAgent(g *cluster.Guest, enabled bool, timeout string) bool {
	return enabled && g.Config != nil && !pve.AgentEnabled(g.Config.Raw["agent"]) && !short(cmp.Or(timeout, tf.DefaultWait))
}

// movableDisks are the entries of disks that an update may move: those of the firmware, too.
func movableDisks(g *cluster.Guest) []string {
	return append(configuredDisks(g), "efidisk0", "tpmstate0")
}

// linkedDisks are the entries of disks whose volume has the name of the template's in it, as on file storage, ZFS and Ceph.
func linkedDisks(g *cluster.Guest) []string {
	if g.Config == nil {
		return nil
	}
	return slices.DeleteFunc(movableDisks(g), func(at string) bool {
		d := pve.ParseDrive(at, g.Config.Raw[at])
		return !d.IsLinked() || !strings.Contains(d.Name, fmt.Sprintf("/vm-%d-", g.VMID))
	})
}

// foreignDisks are the entries of disks whose volume the provider does not take for one of the guest: its name begins with
// another VMID.
func foreignDisks(g *cluster.Guest) []string {
	if g.Config == nil {
		return nil
	}
	linked, own := linkedDisks(g), fmt.Sprintf("vm-%d-", g.VMID)
	return slices.DeleteFunc(movableDisks(g), func(at string) bool {
		d := pve.ParseDrive(at, g.Config.Raw[at])
		name := strings.TrimPrefix(cmp.Or(d.Name, d.File), fmt.Sprintf("%d/", g.VMID))
		return name == "" || slices.Contains(linked, at) || strings.HasPrefix(name, own)
	})
}

// harmsOf are the harms of updates, each once.
func harmsOf(updates []effect.Update) []effect.Harm {
	var out []effect.Harm
	for _, u := range updates {
		if u.Harm != "" && !slices.Contains(out, u.Harm) {
			out = append(out, u.Harm)
		}
	}
	return out
}

// harmReason is the reason of harms.
func harmReason(harms []effect.Harm) finding.Reason {
	var out finding.Reason
	for i, h := range harms {
		text := string(h)
		if i > 0 {
			text = strings.Replace(text, "an apply ", "the apply ", 1)
		}
		out = out.And(finding.Why("harm", text))
	}
	return out
}

// harmSteps are the ways out of harms other than to keep the VM as it is. unread is what
// an import could not read.
func harmSteps(g *cluster.Guest, updates []effect.Update, unread []string, spec string, line func(string) string) []finding.Step {
	f := &finding.Finding{}
	harms := harmsOf(updates)
	permit := func(what string) {
		if slices.Contains(harms, effect.Repeats) {
			return // it would not help: no apply after it is without changes
		}
		if slices.Contains(harms, effect.Stops) && slices.Contains(harms, effect.Restarts) {
			what = "or permit to restart and to stop it" // one line permits both
		}
		f.Next(what+": write into "+spec, line("restart: true"))
	}
	for _, u := range updates {
		switch u.Harm {
		case effect.Detaches:
			f.Next("or, if you do not need the disk, detach it; it remains as unused", set(g, "--delete "+shell.Word(u.Device)))
		case effect.Unplugs:
			f.Next("or, if you do not need the network device, remove it", set(g, "--delete "+shell.Word(u.Device)))
		case effect.Fails, effect.FailsForeign:
			if u.Effect == schema.Grow {
				f.Next("resize it yourself, then run preflight again", resizeDisk(g, u))
			} else {
				f.Next("move it yourself, then run preflight again", moveDisk(g, u))
			}
		case effect.Snapshots:
			name := g.Config.Snapshot()
			f.Next("or, if you do not need its snapshot "+name+" any more, delete it, then run preflight again",
				pve.Pvesh("delete", g.Path("snapshot", name)))
		case effect.Forgets, effect.ForgetsKeys:
			keepFirmware(f, u, spec)
		case effect.Protected:
			f.Next("to remove it, remove the protection first, then run preflight again", set(g, "--protection 0"))
		case effect.MovesBack:
			f.Next("or move it back yourself", moveDisk(g, u))
		case effect.Moves:
			permit("or permit it, as a restart")
			f.Next("or shut it down before the apply", shutdown(g))
		case effect.Restarts:
			permit("or permit the restart")
		case effect.Waits:
			f.Next("or enable the agent yourself, restart the VM, then run preflight again", set(g, "--agent 1"), restart(g))
			permit("or permit the restart")
			f.Next("or shut it down before the apply", shutdown(g))
		case effect.Stops, effect.Together:
			if u.Harm == effect.Together {
				f.Next("or resize the disk yourself, then run preflight again", resizeDisk(g, u))
			}
			if u.Harm == effect.Stops || !effect.OnlySettles(updates, unread) {
				permit("or permit to stop it")
			}
			f.Next("or shut it down before the apply", shutdown(g))
		case effect.TooManyCPUs:
			f.Next("or shut it down before the apply", shutdown(g))
		case effect.Repeats:
			removeRepeated(f, g, u)
		}
	}
	return f.Steps
}

// keepFirmware adds the way out where the spec gets a disk of the firmware that the VM has.
func keepFirmware(f *finding.Finding, u effect.Update, spec string) {
	if u.Adds() {
		f.Next("remove " + u.Name() + " from " + spec + ": the VM keeps the one that it has")
	}
}

// removeRepeated adds the steps that remove from a VM what every apply would change again.
func removeRepeated(f *finding.Finding, g *cluster.Guest, u effect.Update) {
	if n, of := strings.CutPrefix(u.Device, "net"); of && u.Whole {
		f.Next("or remove the addresses of "+u.Device+" yourself, then run preflight again", set(g, "--delete ipconfig"+n))
	}
	if entry := partOf(g, u.Path); entry != "" {
		f.Next("or remove what the spec has no property for", set(g, "--delete "+shell.Word(entry)))
	}
}

// oneStepEach are steps without those that print the same lines as an earlier one.
func oneStepEach(steps []finding.Step) []finding.Step {
	var out []finding.Step
	for _, s := range steps {
		same := func(t finding.Step) bool {
			return slices.EqualFunc(s.Lines, t.Lines, func(a, b finding.Line) bool { return a.String() == b.String() })
		}
		if len(s.Lines) == 0 || !slices.ContainsFunc(out, same) {
			out = append(out, s)
		}
	}
	return out
}

// moveDisk is the line that moves a disk to where an update would.
func moveDisk(g *cluster.Guest, u effect.Update) string {
	return moveTo(g, u.Entry(), shell.Word(u.Is))
}

// moveTo is the line that moves a disk of a VM to a storage.
func moveTo(g *cluster.Guest, device, storage string) string {
	return pve.Pvesh("create", g.Path("move_disk"), "--disk "+shell.Word(device), "--storage "+storage, "--delete 1")
}

// resizeDisk is the line that grows a disk to the size that it has after an update.
func resizeDisk(g *cluster.Guest, u effect.Update) string {
	return pve.Pvesh("set", g.Path("resize"), "--disk "+shell.Word(u.Device), "--size "+shell.Word(u.Is)+"G")
}

// isUnused reports whether a VM has a volume as an unused one. The state says which disk it
// was: any other unused volume is that of another disk.
func isUnused(g *cluster.Guest, volume string) bool {
	return volume != "" && slices.Contains(unusedVolumes(g), volume)
}

// unusedVolumes are the volumes that were detached from a VM, by number.
func unusedVolumes(g *cluster.Guest) []string {
	var out []string
	if g.Config == nil {
		return nil
	}
	for n := range 256 {
		if volume := g.Config.Raw[fmt.Sprintf("unused%d", n)]; volume != "" {
			out = append(out, volume)
		}
	}
	return out
}

// partOf is the entry of a VM's configuration that an attribute without a property is
// in, or "".
func partOf(g *cluster.Guest, path string) string {
	top, _, _ := strings.Cut(path, ".")
	for _, p := range schema.Unsupported {
		if p.HCL != top || p.PVE == "" {
			continue
		}
		for _, entry := range []string{p.PVE, p.PVE + "0"} {
			if g.Config.Raw[entry] != "" {
				return entry
			}
		}
	}
	return ""
}

// shutdown is the line that shuts a VM down, on any node.
func shutdown(g *cluster.Guest) string {
	return pve.Pvesh("create", g.Path("status", "shutdown"))
}
