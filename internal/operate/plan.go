package operate

import (
	"fmt"
	"slices"

	"stackgen/internal/cluster"
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
		case r.hardStop(vm, vm.Guest.HA != "" && vm.Guest.HA != "ignored"):
			o.Result, o.Text = power.Refused, hardStop
		case v.denied(r.Action, vm):
			o.Result, o.Text = power.Refused, "the token may not do that: it lacks "+privileges(r.Action)[0]
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

// denied reports whether the credentials may not act on a VM, as far as was read.
func (v *View) denied(action *power.Action, vm *selection.VM) bool {
	a := v.Inventory.Access
	return a != nil && !slices.ContainsFunc(privileges(action), func(p string) bool { return a.Rights.Has(aclPath(vm.Guest), p) })
}

func aclPath(g *cluster.Guest) string { return fmt.Sprintf("/vms/%d", g.VMID) }

// Grants are the lines that grant what the refused VMs lack for an action.
func (v *View) Grants(action *power.Action, all []One) []string {
	var missing []cluster.Missing
	for i := range all {
		if g := all[i].Guest; g != nil && all[i].Result == power.Refused && v.denied(action, all[i].VM) {
			missing = append(missing, cluster.Missing{Path: aclPath(g), Privilege: privileges(action)[0]})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return v.Inventory.Access.Grants(missing)
}
