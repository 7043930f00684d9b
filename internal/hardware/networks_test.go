package hardware

import (
	"strings"
	"testing"

	"stackgen/schema"
)

// TestIdentifiedNetworks gives the networks of an entry the MAC addresses of a container.
func TestIdentifiedNetworks(t *testing.T) {
	macs := []string{"BC:24:11:00:00:01", "BC:24:11:00:00:02"}
	for name, c := range map[string]struct{ own, want, refused string }{
		"none":         {"", `networks: [{mac: "BC:24:11:00:00:01"}, {mac: "BC:24:11:00:00:02"}]`, ""},
		"empty":        {"networks: []", `networks: [{mac: "BC:24:11:00:00:01"}, {mac: "BC:24:11:00:00:02"}]`, ""},
		"without":      {"networks: [{bridge: vmbr0}, {vlan: 30}]", `networks: [{bridge: vmbr0, mac: "BC:24:11:00:00:01"}, {vlan: 30, mac: "BC:24:11:00:00:02"}]`, ""},
		"one of two":   {`networks: [{mac: "bc:24:11:00:00:01"}, {}]`, `networks: [{mac: "bc:24:11:00:00:01"}, {mac: "BC:24:11:00:00:02"}]`, ""},
		"has them":     {`networks: [{mac: "BC:24:11:00:00:01"}, {mac: "BC:24:11:00:00:02"}]`, "", ""},
		"other order":  {`networks: [{mac: "BC:24:11:00:00:02"}, {mac: "BC:24:11:00:00:01"}]`, "", "in networks[0]"},
		"other number": {"networks: [{bridge: vmbr0}]", "", "1 networks, and the container 2"},
	} {
		n, _ := schema.ParseYAML("", []byte(c.own))
		got, err := IdentifiedNetworks(n.Get("networks"), macs)
		if got != c.want || (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
