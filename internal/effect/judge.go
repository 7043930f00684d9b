package effect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/tf"
	"stackgen/schema"
)

// A VM is what must be known of a VM to judge its update.
type VM struct {
	State       tf.Values         // that the last apply left; nil if no state has the VM
	Disks       map[string]string // its disks in the configuration, by interface; nil if that is not known
	Unused      []string          // its unused volumes
	Keeps       []string          // interfaces of its disks after the update
	Linked      []string          // entries of its disks that the provider takes for those of the template
	Foreign     []string          // entries of its disks that have the volume of another guest
	Lent        []string          // entries of its volumes that other guests have, too, as far as those were read
	BootDevices []string          // devices that no update detaches: it boots from them
	Firmware    []string          // entries of the disks of its firmware: efidisk0, tpmstate0
	Snapshots   bool              // it has some
	Protected   bool              // it has Proxmox VE's own protection
	Running     bool
	Answers     bool // its agent does
	Restarts    bool // the provider restarts or stops it where an update needs that
	Permits     bool // the spec permits that
	NoDrive     bool // it has no cloud-init drive
	NewAgent    bool // the update enables its agent, and the provider waits minutes for that
	Migrates    bool // the update migrates it
	HA          bool // the HA manager has it

	IgnoresDisks bool // the profile ignores changes of its disks
	Begun        bool // the run that created it did not complete it: a disk that only the state has was never there

	Runs    map[string]string  // the entries with which it runs, without what waits for its next start
	Hotplug string             // the one of that name
	Plugs   string             // what the provider takes for that entry: the value in the plan, after the update
	NoUSB   bool               // Proxmox VE plugs no USB devices into a running guest of its type
	devices map[string]Devices // those that may get other numbers, by list
}

// An Update is one change, with what it does to the VM.
type Update struct {
	tf.Change
	Effect schema.Effect
	Does   string // in words, such as "after a restart"
	Harm   Harm   // "" if it does none
	Alone  bool   // a disk grows, and the provider restarts the VM for nothing but that
}

// Settles is what an update does that Proxmox VE does not notice.
const Settles = "in the state only"

// Dropped is what an update does to an option that the provider does not know.
const Dropped = "removed with the rest: the provider does not know it"

// Beside is what an update does to an option that the provider always writes with it.
const Beside = "written with the rest: the provider always writes it"

// What an update does, in words.
const (
	atOnce       = "at once"
	released     = "at once, or after a restart if the guest does not let it go"
	afterRestart = "after a restart"
	restarts     = "restarts the VM"
	hardStop     = "stops the VM hard and starts it again: no agent answers"
	stops        = "stops the VM and starts it again"
	startsVM     = "starts the VM"
	stopsVM      = "stops the VM"
	stopsVMHard  = "stops the VM hard: no agent answers"
	nextStart    = "when it starts"
	second       = "with a second apply"
	again        = "with every apply again"
	unknown      = "effect not known"
)

// Updates are the changes that do something, each with its effect and harm.
func (v *VM) Updates(changes []tf.Change) []Update {
	var out []Update
	if slices.ContainsFunc(changes, disablesAgent) {
		silent := *v // the provider disables the agent first, and then does not ask it
		silent.Answers = false
		v = &silent
	}
	changes = v.withMoves(v.withHidden(changes))
	restarting := slices.ContainsFunc(changes, func(c tf.Change) bool { return NeedsRestart(c) && !v.plugsOnly(c, changes) })
	for _, c := range changes {
		u := Update{Change: c, Effect: v.effect(c)}
		if u.Effect == schema.Noise || u.Effect == schema.Creation || u.Effect == schema.Migrate {
			continue
		}
		if u.Does, u.Harm = v.plugged(c, changes); u.Does == "" {
			u.Does, u.Harm = v.Does(c)
		}
		u.Alone = u.Effect == schema.Grow && u.Does == atOnce && v.restartsToGrow()
		switch {
		case u.Harm == "" && u.Effect == schema.Grow && v.Running && restarting:
			u.Does, u.Harm = v.resize()
		case u.Alone:
			u.Does, u.Harm = v.restarting(c)
		case u.Does == atOnce && u.Effect == schema.Live && v.driveWaits(c, changes):
			u.Does = afterRestart
			if restarting {
				u.Does = v.restart()
			}
		}
		out = append(out, u)
	}
	return out
}

// disablesAgent reports whether a change disables the agent: without a block, it is off.
func disablesAgent(c tf.Change) bool {
	return c.Path == "agent.enabled" && c.Is == "false" || c.Path == "agent" && c.Whole && c.Removes()
}

// effect is the effect of a change. For a cloud-init drive that the VM does not have, the
// provider stops it, and for devices that it removes before a migration.
func (v *VM) effect(c tf.Change) schema.Effect {
	effect := c.Effect()
	block, _, _ := strings.Cut(c.Path, ".")
	if v.removedFirst(c) || block == "initialization" && v.NoDrive && !c.Removes() && effect == schema.Restart {
		return schema.PowerOff
	}
	return effect
}

// removedFirst reports whether the provider removes a device before it migrates the VM, because the update changes or
// removes it.
func (v *VM) removedFirst(c tf.Change) bool {
	block, _, _ := strings.Cut(c.Path, ".")
	return v.Migrates && !c.Adds() && slices.Contains([]string{"hostpci", USBs, tf.NUMANodes}, block)
}

// NeedsRestart reports whether the provider restarts a running VM for a change, if it may.
func NeedsRestart(c tf.Change) bool {
	return c.Effect() == schema.Restart || c.Effect() == schema.NeedlessRestart
}

// resize is the growth of a disk together with a change that needs a restart. The
// provider resizes the disk after it has stopped the VM, and not at all if it may not.
func (v *VM) resize() (string, Harm) {
	if v.Restarts {
		return v.restart(), ""
	}
	return "fails while the VM runs", Together
}

// Does says what a change does to the VM.
func (v *VM) Does(u tf.Change) (string, Harm) {
	effect := v.effect(u)
	switch {
	case u.Former != "":
		return "adds an empty one", Abandons
	case u.Volume != "":
		return "attaches " + u.Volume + ", which is the volume of another disk", Shares
	case u.Later && u.Path == "disk":
		return second, ""
	case v.hasFirmware(u):
		return "replaces it by a new one", forgets[u.Path]
	case u.Present && (!v.Running || !v.Restarts || effect != schema.Restart && effect != schema.NeedlessRestart):
		return Settles, ""
	case v.Permits && v.Restarts && effect == schema.NeedlessRestart:
		return v.restarting(u)
	}
	if does, harm := v.refuses(u, effect); does != "" {
		return does, harm
	}
	if does, harm := v.moves(u); does != "" {
		return does, harm
	}
	switch effect {
	case "":
		return unknown, NotKnown
	case schema.Replace:
		return "replaces the VM", Replaces
	case schema.Never:
		return again, Repeats
	case schema.Detach:
		return v.detach(u)
	case schema.Unplug:
		if v.had(u) {
			return v.unplug(u), ""
		}
		return "removes it", Unplugs
	case schema.Replug:
		return v.unplug(u), ""
	case schema.Move, schema.PowerOff:
		return v.powerOff(u)
	case schema.Power:
		return v.power(u)
	case schema.Restart, schema.NeedlessRestart:
		return v.restarting(u)
	case schema.Pending:
		if !v.Running {
			return nextStart, ""
		}
		return afterRestart, ""
	case schema.ProviderOnly:
		return Settles, ""
	case schema.Live:
		if u.Path == "disk" && u.Adds() {
			return v.attach(u)
		}
		if u.Path == NICs && u.Adds() {
			return v.plug(u), ""
		}
	}
	return atOnce, ""
}

// forgets are what a new disk of the firmware lacks, by its block.
var forgets = map[string]Harm{"efi_disk": Forgets, "tpm_state": ForgetsKeys}

// hasFirmware reports whether a change adds a disk of the firmware that the VM has. The provider does not read that of a
// clone whose state lacks it, or one that is like its defaults, and has Proxmox VE make another one. One that no run has
// completed has nothing in it.
func (v *VM) hasFirmware(u tf.Change) bool {
	return !v.Begun && u.Adds() && forgets[u.Path] != "" && slices.Contains(v.Firmware, entryOf(u))
}

// refuses says what harm the growth or the move of a disk does; "" if it does none.
func (v *VM) refuses(u tf.Change, effect schema.Effect) (string, Harm) {
	moves := effect == schema.Move
	switch {
	case !moves && effect != schema.Grow:
	case !moves && shrinks(u):
		return "fails", Shrinks
	case slices.Contains(v.Linked, entryOf(u)):
		return "fails", Fails
	case slices.Contains(v.Foreign, entryOf(u)):
		return "fails", FailsForeign
	case moves && slices.Contains(v.Lent, entryOf(u)):
		return "deletes a volume that another guest has, too", Lends
	case moves && v.Snapshots:
		return v.failedStop(true), Snapshots
	}
	return "", ""
}

// Entry is the entry in the configuration of the VM of a disk that the update moves, such as scsi1 or efidisk0.
func (u Update) Entry() string { return entryOf(u.Change) }

func entryOf(c tf.Change) string {
	if f := schema.VMField(c.Key()); c.Device == "" && f != nil {
		return f.PVE
	}
	return c.Device
}

// failedStop is what a change does that fails, for some of them after the provider has stopped the VM.
func (v *VM) failedStop(stops bool) string {
	if stops && v.Running && v.Permits {
		return "stops the VM and fails"
	}
	return "fails"
}

// detach is a change that takes a disk from the VM.
func (v *VM) detach(u tf.Change) (string, Harm) {
	switch {
	case v.lost(u):
		return "fails", Lost
	case u.Path == "disk" && u.Removes() && slices.Contains(v.BootDevices, u.Device) && v.had(u):
		return "fails", BootsFrom
	case v.Protected && u.Removes() && v.had(u):
		return v.failedStop(u.Path == "tpm_state"), Protected
	case u.Path == "tpm_state" && v.had(u):
		return v.powerOff(u)
	case u.Removes() && v.had(u):
		return v.unplug(u), ""
	case strings.HasPrefix(u.Path, "efi_disk."):
		return "replaces it by a new one", Forgets
	}
	return "detaches it", Detaches
}

// attach is a change that adds a disk.
func (v *VM) attach(u tf.Change) (string, Harm) {
	_, attached := v.Disks[u.Device]
	switch {
	case attached:
		return Settles, ""
	case !v.State.Has("disk." + u.Device):
		return v.plug(u), ""
	case v.NeverAdded(u.Device):
		return "fails", Unadded
	}
	return "attaches an empty one", Empties
}

// shrinks reports whether a size gets less.
func shrinks(c tf.Change) bool {
	was, errWas := strconv.ParseFloat(c.Was, 64)
	is, errIs := strconv.ParseFloat(c.Is, 64)
	return errWas == nil && errIs == nil && is < was
}

// plug says when a device is there that an update adds.
func (v *VM) plug(u tf.Change) string {
	if v.Running && !v.hotplugs(u.Path, u.Device) {
		return afterRestart
	}
	return atOnce
}

// unplug says when a device is gone: a guest without a working agent may
// not let it go.
func (v *VM) unplug(u tf.Change) string {
	if does := v.plug(u); does != atOnce || !v.Running || v.Answers {
		return does
	}
	return released
}

// had reports whether the state has a device that an update removes: then the spec had
// it, too. A network device is the same one if it has the same MAC address.
func (v *VM) had(c tf.Change) bool {
	if c.Path != "network_device" {
		return v.State.Has(strings.TrimSuffix(c.Path+"."+c.Device, "."))
	}
	for _, device := range v.State.Devices("network_device") {
		if mac := v.State["network_device."+device+".mac_address"]; mac != "" && strings.Contains(strings.ToUpper(c.Was), strings.ToUpper(mac)) {
			return true
		}
	}
	return false
}

// powerOff is a change that needs the VM off.
func (v *VM) powerOff(u tf.Change) (string, Harm) {
	was, known := v.State[u.Attribute()]
	block, _, _ := strings.Cut(u.Path, ".")
	switch {
	case v.Protected && block == "initialization" && !v.NoDrive: // the provider deletes the drive that the VM has
		return v.failedStop(true), Protected
	case v.removedFirst(u) && v.Running && v.HA:
		return "fails", Apart
	case u.Effect() == schema.Move && known && was == u.Is:
		return "moves it back", MovesBack
	case !v.Running:
		return atOnce, ""
	case v.Permits && v.Answers:
		return stops, ""
	case v.Permits:
		return hardStop, ""
	}
	return "needs the VM off", Stops
}

// power is a change of whether the VM runs. The provider does not ask for that whether it may restart the VM.
func (v *VM) power(u tf.Change) (string, Harm) {
	does := stopsVM
	if !v.Answers {
		does = stopsVMHard
	}
	switch starts := u.Is == "true"; {
	case starts == v.Running:
		return atOnce, ""
	case starts:
		return startsVM, ""
	case v.Permits:
		return does, ""
	}
	return does, Stops
}

// restarting is a change that the provider restarts a running VM for, if it may.
func (v *VM) restarting(u tf.Change) (string, Harm) {
	switch {
	case v.Running && v.Restarts && !v.Permits:
		return v.restart(), Restarts
	case v.Running && !v.Restarts && v.NewAgent && (u.Path == "agent" || u.Path == "agent.enabled"):
		return "waits for the agent", Waits
	case v.Running && !v.Restarts && u.Effect() == schema.NeedlessRestart:
		return v.plug(u), ""
	}
	return v.restart(), ""
}

// restart says how a running VM gets a value that it has after a restart only.
func (v *VM) restart() string {
	switch {
	case !v.Running:
		return nextStart
	case !v.Restarts:
		return afterRestart
	case v.Answers:
		return restarts
	}
	return hardStop
}

// Summary says in a few words what updates do; the same for VMs that are alike.
func Summary(updates []Update) string {
	var order []string
	names := map[string][]string{}
	for _, u := range updates {
		if _, ok := names[u.Does]; !ok {
			order = append(order, u.Does)
		}
		if name := u.Name(); !slices.Contains(names[u.Does], name) {
			names[u.Does] = append(names[u.Does], name)
		}
	}
	parts := make([]string, 0, len(order))
	for _, does := range order {
		parts = append(parts, fmt.Sprintf("%s (%s)", strings.Join(names[does], ", "), does))
	}
	return strings.Join(parts, ", ")
}

// String says what changes, and what that does.
func (u Update) String() string {
	was, is := cmp.Or(brief(u.Was), "none"), cmp.Or(brief(u.Is), "none")
	return fmt.Sprintf("%s: %s -> %s, %s", u.Name(), was, is, u.Does)
}

// brief is the beginning of a long text, on one line.
func brief(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > 80 {
		return string(runes[:80]) + "..."
	}
	return string(runes)
}
