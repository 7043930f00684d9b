package adopt

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
)

// A named finds VMs of the cluster by their names.
type named struct {
	guests map[kindName][]*cluster.Guest // without those that certainly are VMs or containers of the project
	vms    map[VM]kindName               // each VM and container of the project
}

// A kindName is the kind of a guest, and its name in lower case.
type kindName struct {
	kind guest.Kind
	name string
}

func newNamed(s *check.Session) *named {
	out := &named{map[kindName][]*cluster.Guest{}, map[VM]kindName{}}
	certain := map[int]bool{}
	for _, m := range s.Matches() {
		if m.VM != nil {
			out.vms[VM{m.Stack, m.Key}] = kindName{cmp.Or(m.VM.Kind, guest.VM), m.VM.Name}
		}
		if m.Guest != nil {
			certain[m.Guest.VMID] = true
		}
	}
	for i := range s.Inventory.Guests {
		if g := &s.Inventory.Guests[i]; !g.Template && g.Name != "" && !certain[g.VMID] {
			name := kindName{g.Kind, strings.ToLower(g.Name)}
			out.guests[name] = append(out.guests[name], g)
		}
	}
	return out
}

// names are the names that a VM may have in the cluster: that of the spec, and its key.
func (n *named) names(vm VM) []string {
	out := []string{strings.ToLower(n.vms[vm].name), vm.Key}
	return slices.Compact(slices.DeleteFunc(out, func(name string) bool { return name == "" }))
}

// find returns the VMs of the cluster that have one of the names of a VM.
func (n *named) find(vm VM) []*cluster.Guest {
	var out []*cluster.Guest
	for _, name := range n.names(vm) {
		out = append(out, n.guests[kindName{n.vms[vm].kind, name}]...)
	}
	return out
}

// absent is what adopt --by-name says about a VM that it finds nothing for.
func (n *named) absent(f finding.Finding) finding.Finding {
	vm := VM{f.Stack, f.Key}
	own := finding.Finding{Address: f.Address}
	own.Is(finding.Create, finding.Why("no-guest-created", n.vms[vm].kind.Name()))
	own.Name = n.vms[vm].name
	if guests := n.find(vm); len(guests) > 0 { // with its key as their name
		own.Reason = own.Reason.And(finding.Why("adopt-other-name", n.vms[vm].kind.Name(), guests[0].VMID, guests[0].Name, vm, guests[0].VMID))
	}
	return own
}
