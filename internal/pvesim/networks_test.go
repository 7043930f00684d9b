package pvesim_test

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestNewBridge: a bridge that was defined is listed, and is active after the network was reloaded.
func TestNewBridge(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	listed := func() string {
		var out []string
		for _, e := range b.data("GET", "/nodes/pve1/network", "type", "any_bridge").([]any) {
			o := e.(map[string]any)
			out = append(out, fmt.Sprint(o["iface"], " ", o["active"] != nil))
		}
		return strings.Join(out, ", ")
	}
	before := listed()
	b.data("POST", "/nodes/pve1/network", "iface", "vmbr9", "type", "bridge", "autostart", "1")
	if got := listed(); got != before+", vmbr9 false" {
		t.Errorf("after its definition: %s", got)
	}
	if r := b.do("POST", "/nodes/pve1/network", "iface", "vmbr9", "type", "bridge"); r.Status != 400 {
		t.Errorf("a second definition: %+v", r)
	}
	b.data("PUT", "/nodes/pve1/network")
	b.clk.Advance(1e9)
	if got := listed(); got != before+", vmbr9 true" {
		t.Errorf("after a reload: %s", got)
	}
}
