package hardware

import (
	"cmp"
	"maps"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/schema"
)

// Rollback says which properties of its spec a VM loses by a rollback to a snapshot with the
// configuration then: repairs are those that the next apply sets again, and leaves those that
// its profile ignores, or that no plan shows when the VM has lost them. What differs from the
// spec already is in neither, except for a description, which a rollback keeps although the
// configuration then has the one of the spec.
func Rollback(now *cluster.Guest, then *cluster.Config, v *schema.VM, p *schema.Profile) (repairs, leaves []string) {
	restored, config := *now, *then
	config.Raw = maps.Clone(then.Raw)
	delete(config.Raw, guest.Description)
	if text, has := now.Config.Raw[guest.Description]; has {
		config.Raw[guest.Description] = text // a rollback keeps it
	}
	restored.Config = &config
	before, after := differing(now, v), differing(&restored, v)
	for field, text := range after {
		f := schema.FieldOf(v.Kind, field)
		switch {
		case before[field] == text && field != guest.Description:
		case f != nil && (p != nil && p.For(v.Kind).Ignores(f.Attribute()) || f.Sticky && then.Raw[f.Entry()] == ""):
			leaves = append(leaves, field)
		default:
			repairs = append(repairs, field)
		}
	}
	slices.Sort(repairs)
	slices.Sort(leaves)
	return repairs, leaves
}

// differing are the properties, or entries, in which a VM differs from its spec, and how. A
// rollback does not decide whether the VM runs.
func differing(g *cluster.Guest, v *schema.VM) map[string]string {
	out := map[string]string{}
	for _, d := range Read(g).Differences(v, func(attribute string) bool { return attribute == "started" }) {
		out[cmp.Or(d.Field, d.Config)] = d.String()
	}
	return out
}
