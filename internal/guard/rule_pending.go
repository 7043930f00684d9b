package guard

import (
	"fmt"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/pve"
)

// A guest is `pending` if it is managed, and a change of its configuration waits for a restart.

// waits reports the changes of a running guest that wait for a restart. They block
// nothing: the provider reads the configuration as if they were applied.
func (s *subject) waits() {
	c := s.guest.Config
	if s.Destroy || s.Stops() || s.guest.Status != "running" || c == nil {
		return
	}
	waiting := hardware.Waiting(s.guest.Kind, c.Pending)
	if len(waiting) == 0 {
		return
	}
	if s.Kind == finding.Managed {
		s.Is(finding.Pending, finding.Why("waits-for-restart")).Evidence = nil
	}
	s.Pending = cluster.PendingKeys(waiting)
	for _, p := range waiting {
		s.Because("%s", PendingChange(p))
	}
	if s.Kind == finding.Adopt { // a restart is no way to import it; once it is imported, it is pending
		return
	}
	const what = "restart it when that suits its users"
	// stackgen restart takes VMs of the specs that the lock identifies
	if s.match.VM == nil || s.match.Why != cluster.ByIdentity {
		s.Next(what, restart(s.guest))
		return
	}
	s.Add(finding.DoAll(what, finding.Line{Text: "stackgen restart --pending {}", Items: []string{s.Stack + "/" + s.Key}, Sep: " "}))
}

// waitingNICs adds the NICs whose change waits for a restart: the configuration does not
// have their MAC addresses, and the running VM does.
func (s *subject) waitingNICs() {
	if s.guest.Status != "running" || s.guest.Config == nil {
		return
	}
	for _, p := range s.guest.Config.Pending {
		if strings.HasPrefix(p.Key, "net") {
			s.Because("%s", PendingChange(p))
		}
	}
}

// PendingChange says what waits: memory 2048 -> 3072 waits for a restart.
func PendingChange(p cluster.Pending) string {
	switch {
	case p.Delete && p.Value != "":
		return fmt.Sprintf("the removal of %s (%s) waits for a restart", p.Key, p.Value)
	case p.Delete:
		return fmt.Sprintf("the removal of %s waits for a restart", p.Key)
	case p.Value != "":
		return fmt.Sprintf("%s %s -> %s waits for a restart", p.Key, p.Value, p.New)
	case p.New != "":
		return fmt.Sprintf("the new %s (%s) waits for a restart", p.Key, p.New)
	}
	return fmt.Sprintf("a change of the %s waits for a restart", p.Key)
}

// restart is the line that restarts a VM with its pending changes, on any node.
func restart(g *cluster.Guest) string {
	return pve.Pvesh("create", g.Path("status", "reboot"))
}
