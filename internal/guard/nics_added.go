package guard

import (
	"reflect"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// nicsAdded refuses an update of the network devices of a guest to which somebody has added one since the plan was made, or
// since the state was written if the plan did not refresh it. With any change of these devices, the provider removes what
// the plan does not have, or writes another one over it.
func (p *planJudge) nicsAdded(c *tf.ResourceChange, g *cluster.Guest) bool {
	if c.Action != tf.Update || g == nil || g.Config == nil || !writesNICs(c) {
		return false
	}
	planned := append(macsOf(c.Before), macsOf(c.After)...)
	added := slices.DeleteFunc(slices.Clone(g.Config.MACs), func(mac string) bool { return contains(planned, mac) })
	if len(added) == 0 {
		return false
	}
	p.add(c).Is(finding.WouldHarm, finding.Why("nics-since-plan")).Because("%s", Describe(g)).
		Because("the plan does not have the MAC %s", strings.Join(added, " ")).
		Next("run the same command again, for a saved plan after another plan, and without -refresh=false: that knows of it")
	return true
}

// reads refuses a plan that only reads a guest into its state, such as that of `apply -refresh-only`, if the state then has a
// device that somebody has added. Only that the state lacks it tells it from one that the spec has removed, which the next apply
// removes.
func (p *planJudge) reads(d *tf.ResourceChange) {
	entry, v := p.entries[d.Key], p.spec(d)
	if d.Action != tf.Update || !p.unit.Manages(d.Type) || entry == nil || v == nil {
		return
	}
	var added []string
	profile := p.index.profile(entry)
	manages := func(key string) bool {
		field := schema.FieldOf(v.Kind, key)
		return field != nil && (profile == nil || !profile.Ignores(field.HCL))
	}
	before, after := macsOf(d.Before), macsOf(d.After)
	if n := len(v.Values.Get(guest.Networks).List()); n > 0 && len(after) > n && manages(guest.Networks) {
		for _, mac := range after {
			if !contains(before, mac) {
				added = append(added, "the network device with the MAC "+mac)
			}
		}
	}
	if v.Values.Get(guest.TPM) == nil && len(tpmOf(d.Before)) == 0 && len(tpmOf(d.After)) > 0 && manages(guest.TPM) {
		added = append(added, "the TPM state disk")
	}
	if len(added) == 0 {
		return
	}
	f := p.add(d).Is(finding.WouldHarm, finding.Why("reads-added"))
	f.Because("it writes %s into the state, and %s does not have it", strings.Join(added, " and "), p.lock.Spec)
	f.Next("keep it or remove it first: this prints the lines for both", "stackgen preflight "+shell.Path(p.lock.Spec))
}

// tpmOf is the TPM state disk in a plan's values.
func tpmOf(values map[string]any) []any {
	list, _ := values[schema.VMField(guest.TPM).HCL].([]any)
	return list
}

// writesNICs reports whether the provider writes all network devices of a guest with an update.
func writesNICs(c *tf.ResourceChange) bool {
	differs := func(of func(values map[string]any) any) bool { return !reflect.DeepEqual(of(c.Before), of(c.After)) }
	return differs(nicsOf) || c.Type == guest.ContainerResource && differs(ipConfigs)
}

// nicsOf are the network devices in a plan's values.
func nicsOf(values map[string]any) any {
	for _, kind := range []guest.Kind{guest.VM, guest.Container} {
		if list, ok := values[schema.FieldOf(kind, guest.Networks).HCL].([]any); ok && len(list) > 0 {
			return list
		}
	}
	return nil
}

// ipConfigs are the addresses of network devices in a plan's values.
func ipConfigs(values map[string]any) any {
	list, _ := values["initialization"].([]any)
	for _, of := range list {
		if block, ok := of.(map[string]any); ok {
			return block["ip_config"]
		}
	}
	return nil
}

// macsOf are the MAC addresses of the network devices in a plan's values.
func macsOf(values map[string]any) (out []string) {
	list, _ := nicsOf(values).([]any)
	for _, of := range list {
		if nic, ok := of.(map[string]any); ok {
			if mac, ok := nic["mac_address"].(string); ok {
				out = append(out, mac)
			}
		}
	}
	return out
}
