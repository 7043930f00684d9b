package guard

import (
	"reflect"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
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
