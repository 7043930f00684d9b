package guard

import (
	"net/netip"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// withoutAddress is a record whose VM reports no address: its unit excludes it from
// every plan, so it stays as it is.
func (j *judge) withoutAddress(at *place, f *finding.Finding, vm *schema.VM) {
	why := j.silence(at, vm)
	if why == "" || f.Stops() || j.Destroy {
		return
	}
	f.NoAddress = true
	switch f.Kind {
	case finding.Managed:
		f.Reason = finding.Why("no-address")
	case finding.Adopt:
		f.Reason = finding.Why("no-address-yet-import")
	default:
		f.Reason = finding.Why("no-address-yet-publish")
	}
	f.Because("VM %s: %s", vm.Key, why)
	if last := lastIPv4(at.entries[vm.Key].Addresses); last != "" {
		f.Because("the last address that the lock saw is %s", last)
	}
}

// silence says why a VM that exists reports no IPv4 address to the provider. It is empty
// if the VM has a static address or reports one, and if that is not known.
func (j *judge) silence(at *place, vm *schema.VM) string {
	m := j.matches[at.Name+"/"+vm.Key]
	if vm.Address.IsValid() || m == nil || m.Guest == nil || m.Guest.Config == nil || !j.exists(at, vm) {
		return ""
	}
	if vm.IsContainer() && m.Guest.Status == "running" { // no agent reports its address: the provider asks the node
		return ""
	}
	c := m.Guest.Config
	switch {
	case m.Guest.Status != "running":
		return m.Guest.Status
	case c.Agent == cluster.AgentSilent:
		return "its guest agent does not answer"
	case c.Agent == cluster.AgentNoAddress:
		return "its guest agent reports no address"
	case c.Agent == cluster.AgentRefuses:
		return "its guest agent may not report addresses"
	case len(c.Address) > 0 && lastIPv4(c.Address) == "":
		return "its guest agent has no IPv4 address"
	case c.Agent == "" && !pve.AgentEnabled(c.Raw["agent"]):
		return "its guest agent is disabled"
	}
	return ""
}

// exists reports whether a VM exists before the apply, and is certainly the spec's.
func (j *judge) exists(at *place, vm *schema.VM) bool {
	kind := j.kinds[at.Name+"/"+vm.Key]
	return kind.Exists() || kind == finding.Adopt || kind == finding.Busy
}

// lastIPv4 is the first IPv4 address of a list, or empty.
func lastIPv4(addresses []string) string {
	for _, a := range addresses {
		if ip, err := netip.ParseAddr(a); err == nil && ip.Is4() {
			return a
		}
	}
	return ""
}
