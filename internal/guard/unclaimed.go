package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// deletesUnreferenced is the attribute that makes the provider ask for the deletion of all volumes with the VMID of a VM that
// it destroys. It is on unless a spec turns it off.
const deletesUnreferenced = "delete_unreferenced_disks_on_destroy"

// unclaimed are the volumes that the destroy of a VM would delete and that the VM does not have, where a guest that could not
// be read may have them. values are those of the VM in its state: the provider destroys it by these.
func unclaimed(inv *cluster.Inventory, vmid int, values tf.Values) *cluster.Unclaimed {
	if values[deletesUnreferenced] == "false" {
		return nil
	}
	return inv.UnclaimedBy(vmid)
}

// mayLend reports whether guests that could not be read may have volumes of the VM that it does not have itself.
func (s *subject) mayLend() bool {
	return len(s.states) > 0 && unclaimed(s.Inventory, s.VMID, s.states[0].Values) != nil
}

func (s *subject) destroysUnclaimed() bool { return s.Destroy && !s.notInState() && s.mayLend() }

func (s *subject) unknownLent() {
	refuseUnclaimed(s.Finding, s.Inventory, s.guest, s.match.VM, s.at.Spec)
}

// destroysKnown reports whether all is known of what the destroy of a VM deletes. Otherwise the finding says why not.
func (r *rebuilder) destroysKnown(g *cluster.Guest, state *tf.Resource) bool {
	if unclaimed(r.Inventory, g.VMID, state.Values) == nil {
		return true
	}
	refuseUnclaimed(r.f, r.Inventory, g, r.vm, r.spec)
	return false
}

// refuseUnclaimed refuses to destroy a VM before it is known who has its volumes. v is nil if no spec has the VM.
func refuseUnclaimed(f *finding.Finding, inv *cluster.Inventory, g *cluster.Guest, v *schema.VM, spec string) {
	u := inv.UnclaimedBy(g.VMID)
	f.Is(finding.Unknown, finding.Why("may-lend-volumes"))
	for _, volume := range u.Volumes {
		f.Because("%s has its VMID, and it does not have it", volume)
	}
	for _, gap := range u.Gaps {
		f.Because("%s: %s", gap.Path, gap.Reason)
	}
	hidden := hiddenGuests(inv)
	for _, gap := range hidden {
		f.Because("%s: %s", gap.Path, gap.Reason)
	}
	if len(u.Volumes) > 0 {
		var look, remove []string
		for _, volume := range u.Volumes {
			storage, name, _ := strings.Cut(volume, ":")
			look = append(look, "grep -l "+shell.Word(name[strings.LastIndexByte(name, '/')+1:])+" /etc/pve/nodes/*/*/*.conf")
			remove = append(remove, pve.Pvesh("delete", "/nodes/"+g.Node+"/storage/"+storage+"/content/"+volume))
		}
		f.Next("find out which guest has the volume: as root, on a node", look...)
		f.Next("if none has it, delete it, then run the same command again", remove...)
	}
	for _, gap := range hidden {
		if gap.Fix != "" {
			f.Next("or grant this permission, so that the guests say what they have", gap.Fix)
		}
	}
	if v != nil {
		f.Next("or keep volumes that the VM does not have: write into "+spec+", render and apply, then run the same command again",
			specLine(v, "delete_unreferenced_disks: false"))
	}
}

// hiddenGuests say which guests could not be read.
func hiddenGuests(inv *cluster.Inventory) []cluster.Gap {
	out := slices.DeleteFunc(slices.Clone(inv.Gaps), func(g cluster.Gap) bool { return !g.AnyGuest() })
	for i := range inv.Guests {
		if g := &inv.Guests[i]; !g.Template && g.Config == nil && g.Identity == nil {
			out = append(out, cluster.Gap{Path: fmt.Sprintf("/vms/%d", g.VMID), Reason: "the configuration of " + g.Brief() + ", could not be read"})
		}
	}
	const few = 5
	if more := len(out) - few; more > 1 {
		out = append(out[:few], cluster.Gap{Path: "/vms", Reason: fmt.Sprintf("nor those of %d others", more)})
	}
	return out
}

// mayLend refuses to destroy by a grant what may delete volumes of guests that could not be read.
func (p *planJudge) mayLend(c *tf.ResourceChange, vmid int) bool {
	g := p.in.Inventory.Guest(vmid)
	if c.Type != guest.VMResource || g == nil || unclaimed(p.in.Inventory, vmid, tf.Flatten(c.Before)) == nil {
		return false
	}
	refuseUnclaimed(p.add(c), p.in.Inventory, g, p.spec(c), p.lock.Spec)
	return true
}
