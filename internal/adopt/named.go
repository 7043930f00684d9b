package adopt

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
)

// A named finds VMs of the cluster by their names.
type named struct {
	guests map[string][]*cluster.Guest // by name in lower case; without those that certainly are VMs of the project
	vms    map[VM]string               // the name of each VM of the project
}

func newNamed(s *check.Session) *named {
	out := &named{map[string][]*cluster.Guest{}, map[VM]string{}}
	certain := map[int]bool{}
	for _, m := range s.Matches() {
		if m.VM != nil && !m.VM.IsContainer() {
			out.vms[VM{m.Stack, m.Key}] = m.VM.Name
		}
		if m.Guest != nil {
			certain[m.Guest.VMID] = true
		}
	}
	for i := range s.Inventory.Guests {
		if g := &s.Inventory.Guests[i]; g.Kind == guest.VM && !g.Template && g.Name != "" && !certain[g.VMID] {
			name := strings.ToLower(g.Name)
			out.guests[name] = append(out.guests[name], g)
		}
	}
	return out
}

// names are the names that a VM may have in the cluster: that of the spec, and its key.
func (n *named) names(vm VM) []string {
	out := []string{strings.ToLower(n.vms[vm]), vm.Key}
	return slices.Compact(slices.DeleteFunc(out, func(name string) bool { return name == "" }))
}

// find returns the VMs of the cluster that have one of the names of a VM.
func (n *named) find(vm VM) []*cluster.Guest {
	var out []*cluster.Guest
	for _, name := range n.names(vm) {
		out = append(out, n.guests[name]...)
	}
	return out
}

// absent is what adopt --by-name says about a VM that it finds nothing for.
func (n *named) absent(f finding.Finding) finding.Finding {
	vm := VM{f.Stack, f.Key}
	own := finding.Finding{Address: f.Address}
	own.Is(finding.Create, finding.Why("no-vm-created"))
	own.Name = n.vms[vm]
	if guests := n.find(vm); len(guests) > 0 { // with its key as their name
		own.Reason = own.Reason.And(finding.Why("adopt-other-name", guests[0].VMID, guests[0].Name, vm, guests[0].VMID))
	}
	return own
}
