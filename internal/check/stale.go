package check

import (
	"archive/zip"
	"encoding/json"
	"io"

	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// stale is the finding about a saved plan that was made from another state than that of
// its unit now, or nil. OpenTofu refuses such a plan, too, but what would be found about
// it before is about a plan that nobody can apply.
func (h *Hook) stale() *finding.Finding {
	file, now := h.command.SavedPlan(), h.State[h.Unit]
	if file == "" || now.Unreadable != "" || len(h.sources.States) > 0 {
		return nil
	}
	before, ok := stateInPlan(file)
	first := before.Lineage == "" && before.Serial == 0 // nothing was applied yet
	if !ok || now.Serial == before.Serial && (first || now.Lineage == before.Lineage) {
		return nil
	}
	f := &finding.Finding{Address: finding.Address{Stack: h.Unit.Stack, Unit: h.Unit.Unit, Type: finding.Unit}}
	f.Is(finding.Unknown, finding.Why("plan-stale"))
	f.Severity = finding.Blocked
	f.Because("the plan was made from serial %d of the state, and the state has serial %d now", before.Serial, now.Serial)
	return f.Next("run the same command again: it plans again, and shows what is left to do")
}

// stateInPlan is which state a plan file of OpenTofu was made from. ok is false if the
// file does not tell: an encrypted one does not.
func stateInPlan(file string) (state tf.State, ok bool) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return tf.State{}, false
	}
	defer func() { _ = z.Close() }() // it was read
	part, err := z.Open("tfstate")
	if err != nil {
		return tf.State{}, false
	}
	defer func() { _ = part.Close() }() // it was read
	var doc struct {
		Serial  uint64
		Lineage string
	}
	if json.NewDecoder(io.LimitReader(part, maxState)).Decode(&doc) != nil {
		return tf.State{}, false
	}
	return tf.State{Serial: doc.Serial, Lineage: doc.Lineage}, true
}
