package drift

import (
	"path"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/hardware"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// waits reports the entries of a configuration that wait for a restart of the VM. A plan
// says nothing of that: to the provider they look as if they were applied.
func (x *explainer) waits(f *finding.Finding) {
	r := x.unplannedVM(f)
	for _, entry := range f.Pending {
		change := attributeOf(guest.KindOfUnit(f.Unit), entry)
		own := x.changeOf(f, change.Attribute())
		switch {
		case own == nil:
			x.out = append(x.out, finding.Finding{Address: f.Address, Kind: finding.Pending, Severity: finding.Outdated,
				Reason: finding.Why("pending-unplanned")})
			own = &x.out[len(x.out)-1]
			own.VMID, own.Node, own.Name, own.Steps = f.VMID, f.Node, f.Name, f.Steps
			own.Change = &finding.Change{
				Attribute: change.Attribute(),
				Property:  change.Name(),
				Cause:     finding.NotKnown,
				Effect:    string(schema.Pending),
				Does:      "after a restart",
			}
			own.Change.At, own.Change.Unit = r.place(change)
		case own.Kind == finding.Noise && own.Change.Spec != own.Change.Real: // no plan changes it
			own.Kind, own.Severity = finding.Pending, finding.Outdated
			own.Reason = own.Reason.And(finding.Why("at-next-start"))
		case own.Kind == finding.Noise:
			own.Kind, own.Severity, own.Steps = finding.Pending, finding.Outdated, f.Steps
			own.Reason = finding.Why("changed-as-spec-pending")
		}
		if g := x.Inventory.Guest(f.VMID); g != nil && g.Config != nil {
			for _, p := range g.Config.Pending {
				if p.Key == entry {
					own.Because("%s", guard.PendingChange(p))
				}
			}
		}
	}
}

// changeOf is the finding about an attribute of a VM, the block that it is in, or what is
// in it, or nil. What is only read waits for nothing.
func (x *explainer) changeOf(vm *finding.Finding, attribute string) *finding.Finding {
	i := slices.IndexFunc(x.out, func(f finding.Finding) bool {
		if f.Address != vm.Address || f.Change == nil || f.Change.Attribute == "" ||
			f.Kind == finding.Noise && f.Change.Cause == finding.ByNobody {
			return false
		}
		own := f.Change.Attribute + "."
		return strings.HasPrefix(attribute+".", own) || strings.HasPrefix(own, attribute+".")
	})
	if i < 0 {
		return nil
	}
	return &x.out[i]
}

// attributeOf is the attribute of an entry of the configuration of a guest of a kind, by its table of
// properties; of one without a row, the entry.
func attributeOf(kind guest.Kind, entry string) tf.Change {
	fields := schema.Fields(kind)
	for i := range fields {
		row := &fields[i]
		for _, pattern := range strings.Fields(row.PVE) {
			name, _, _ := strings.Cut(pattern, "/")
			if match, err := path.Match(name, entry); err != nil || !match || row.HCL == "" {
				continue
			}
			if name == entry {
				return tf.Change{Of: kind.Resource(), Path: row.HCL}
			}
			return tf.Change{Of: kind.Resource(), Path: row.HCL, Device: entry, Whole: true}
		}
	}
	if e, _ := schema.EntryOf(kind, strings.TrimRight(entry, "0123456789"), ""); e.HCL != "" {
		return tf.Change{Of: kind.Resource(), Path: e.HCL}
	}
	return tf.Change{Of: kind.Resource(), Path: entry}
}

// MayBeBy reports whether an act may be what a finding is about. Of what differs from what the
// last apply left, it is not earlier than that apply: applied is its time, RFC 3339, or "".
func MayBeBy(f *finding.Finding, a cluster.Act, applied string) bool {
	c := f.Change
	if !a.MayChange(c.Attribute) || (c.Cause == finding.ByHand || c.Cause == finding.ByBoth) && a.Time < applied {
		return false
	}
	return a.Entries == nil || slices.ContainsFunc(a.Entries, func(entry string) bool {
		change := attributeOf(guest.KindOfUnit(f.Unit), entry)
		return hardware.Overlap(change.Attribute(), c.Attribute) || entry == c.Property
	})
}
