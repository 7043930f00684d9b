package replay

import "slices"

// isForeign reports whether a guest belongs to other work on the recorded server. On the node with
// containers, that is one of its recorders' guests that no request of the scenario names.
func (s *Scenario) isForeign(one bool, vmid int) bool {
	if !one {
		return false
	}
	return vmid >= 300 && vmid < 400 || vmid >= 7000 && vmid < 8000 && baseOf(s).narrow && !s.names(vmid)
}

// names reports whether a request is about a guest.
func (s *Scenario) names(vmid int) bool {
	return slices.ContainsFunc(s.Exchanges, func(e *Exchange) bool {
		_, _, id, _ := e.guest()
		return id == vmid || number(e.str("vmid")) == vmid || number(e.str("newid")) == vmid
	})
}
