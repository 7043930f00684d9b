package guard

import (
	"strings"
	"testing"

	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// TestRenumber: the lines give devices numbers without a gap, each with its own addresses.
func TestRenumber(t *testing.T) {
	g := newGuest(100, "web1")
	for name, c := range map[string]struct {
		device string
		raw    map[string]string
		want   string
	}{
		"no gap":         {"net", map[string]string{"net0": "a", "net1": "b"}, ""},
		"one":            {"net", map[string]string{"net0": "a", "net2": "b"}, "--net1 b --delete net2"},
		"two":            {"net", map[string]string{"net1": "a", "net3": "b"}, "--net0 a --delete net1; --net1 b --delete net3"},
		"addresses":      {"net", map[string]string{"net0": "a", "net2": "b", "ipconfig2": "ip=dhcp"}, "--net1 b --ipconfig1 ip=dhcp --delete net2,ipconfig2"},
		"other's":        {"net", map[string]string{"net0": "a", "net2": "b", "ipconfig1": "ip=dhcp"}, "--net1 b --delete net2,ipconfig1"},
		"serial":         {"serial", map[string]string{"serial1": "socket"}, "--serial0 socket --delete serial1"},
		"more than nine": {"net", map[string]string{"net0": "a", "net10": "c", "net9": "b"}, "--net1 b --delete net9; --net2 c --delete net10"},
	} {
		g.Config.Raw = c.raw
		f := &finding.Finding{}
		renumber(f, "renumber", &g, c.device)
		var got []string
		for _, l := range f.Steps[0].Lines {
			got = append(got, strings.TrimPrefix(l.String(), "pvesh set /nodes/"+g.Node+"/qemu/100/config "))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestWithoutGaps: a network device that only the provider reads is no change; one that somebody
// removed from the spec is.
func TestWithoutGaps(t *testing.T) {
	g := newGuest(100, "web1")
	g.Config.Raw = map[string]string{"net0": "a", "net1": "b", "net3": "c"}
	var all []effect.Update
	for _, device := range []string{"net1", "net2", "net3", "net4"} {
		all = append(all, effect.Update{Change: tf.Change{Path: effect.NICs, Device: device, Was: "bridge=vmbr0", Whole: true}})
	}
	var got []string
	for _, u := range withoutGaps(&g, all) {
		got = append(got, u.Device)
	}
	if text := strings.Join(got, " "); text != "net1 net3 net4" {
		t.Error(text)
	}
}
