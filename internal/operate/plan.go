package operate

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/power"
	"stackgen/internal/selection"
)

// Waiting are the VMs with changes that wait for a restart, and those of which that is not
// known: another guest has their VMID, or they could not be read.
func (v *View) Waiting() []selection.VM {
	return slices.DeleteFunc(slices.Clone(v.VMs), func(vm selection.VM) bool {
		switch {
		case vm.Guest == nil:
			return vm.Holder == nil && len(vm.Gaps) == 0
		case vm.Guest.Config == nil:
			return false
		}
		return len(Waits(vm.Guest)) == 0
	})
}

// Plan says what a request would do, by the cluster as it was read. Run acts on the VMs that
// it plans only, if their state allows that when their turn comes.
func (v *View) Plan(r Request) []One {
	out := make([]One, len(r.VMs))
	for i := range r.VMs {
		vm := &r.VMs[i]
		o := One{VM: vm, Result: power.Planned, Text: "would be " + r.Action.Done}
		text, fix := vm.Problem()
		switch {
		case r.Action.OnlyVMs && vm.IsContainer():
			o.Result, o.Text = power.Refused, "it is a container, and Proxmox VE pauses only VMs"
		case text != "":
			o.Result, o.Text, o.Fix = power.Refused, text, lines(fix)
		case r.Action.To == power.Running && vm.Entry != nil && v.Inventory.HalfExchanged(vm.Entry, vm.Guest):
			o.Result, o.Text = power.Refused, "a rebuild exchanges its disks, and has not ended: it has only some of them"
			o.Fix = lines("stackgen rebuild " + vm.String())
		case r.Action.Reboots() && v.staysOff(vm.Guest) != "":
			o.Result, o.Text = power.Refused, "it would not start again: "+v.staysOff(vm.Guest)
		case r.hardStop(vm, vm.Guest.HA != "" && vm.Guest.HA != "ignored"):
			o.Result, o.Text = power.Refused, hardStop
		case len(v.lacks(r.Action, vm)) > 0:
			o.Result, o.Text = power.Refused, "the token may not do that: it lacks "+strings.Join(v.lacks(r.Action, vm), ", ")
		default:
			o.Was = StateOf(vm.Guest)
			need, why := r.Action.In(o.Was)
			switch {
			case need == power.Already:
				o.Result, o.Text = power.InState, why
			case need == power.Unusable:
				o.Result, o.Text, o.Fix = power.Refused, why, wakes(vm, o.Was)
			case vm.Guest.Lock != "" && o.Was != power.Hibernated:
				o.Text += fmt.Sprintf(", after its lock (%s)", vm.Guest.Lock)
			}
		}
		out[i] = o
	}
	return out
}

// staysOff is what makes the start of a running guest fail once it is stopped; "" for one that does not run.
func (v *View) staysOff(g *cluster.Guest) string {
	if StateOf(g) != power.Running {
		return ""
	}
	return v.startFails(g)
}

// startFails is what makes the next start of a guest fail as it is configured, or "".
func (v *View) startFails(g *cluster.Guest) string {
	var reasons []string
	for _, o := range feasible.Start(v.Inventory, g) {
		reasons = append(reasons, o.Reason)
	}
	return strings.Join(reasons, "; ")
}

// wakes is the command for a paused VM, which takes few actions.
func wakes(vm *selection.VM, s power.State) []string {
	if s != power.Paused {
		return nil
	}
	return []string{"stackgen power resume " + vm.String()}
}

// StateOf is the state of a guest as it was read; unknown for what is none of package power.
func StateOf(g *cluster.Guest) power.State {
	switch s := power.State(g.Status); {
	case g.Lock == "suspended":
		return power.Hibernated
	case s == power.Running || s == power.Paused || s == power.Stopped:
		return s
	}
	return cluster.StatusUnknown
}

// Count is how many VMs have a result.
func Count(all []One, result power.Result) (n int) {
	for i := range all {
		if all[i].Result == result {
			n++
		}
	}
	return n
}

// privileges are those on a VM of which an action needs one, the narrowest first.
func privileges(a *power.Action) []string {
	switch a.Name {
	case power.Snapshot:
		return []string{cluster.VMSnapshot}
	case power.Rollback:
		return []string{cluster.VMRollback, cluster.VMSnapshot}
	case power.Backup:
		return []string{cluster.VMBackup}
	}
	return []string{cluster.VMPowerMgmt}
}

// lacks are the privileges that the credentials lack for an action on a VM, as far as was read.
func (v *View) lacks(action *power.Action, vm *selection.VM) (out []string) {
	a := v.Inventory.Access
	if a == nil {
		return nil
	}
	has := func(p string) bool { return a.Rights.Has(aclPath(vm.Guest), p) }
	if anyOf := privileges(action); !slices.ContainsFunc(anyOf, has) {
		out = append(out, anyOf[0])
	}
	if v.startChecked(action, vm.Guest) && !has(cluster.VMPowerMgmt) {
		out = append(out, cluster.VMPowerMgmt)
	}
	return out
}

// startChecked reports whether Proxmox VE asks for the privilege to start a VM that a reset starts again. It does since
// qemu-server 9.1.10, and not for a container. With an earlier release than 9.2, the call is sent, and says it.
func (v *View) startChecked(action *power.Action, g *cluster.Guest) bool {
	was := StateOf(g)
	starts := was == power.Running || was == power.Paused
	return action.Name == power.Rollback && g.Kind != guest.Container && starts && v.Inventory.Since(9, 2)
}

func aclPath(g *cluster.Guest) string { return fmt.Sprintf("/vms/%d", g.VMID) }

// Grants are the lines that grant what the refused VMs lack for an action.
func (v *View) Grants(action *power.Action, all []One) []string {
	var missing []cluster.Missing
	for i := range all {
		g := all[i].Guest
		if g == nil || all[i].Result != power.Refused {
			continue
		}
		for _, privilege := range v.lacks(action, all[i].VM) {
			missing = append(missing, cluster.Missing{Path: aclPath(g), Privilege: privilege})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return v.Inventory.Access.Grants(missing)
}
