package schema

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
)

// A measurement is what a change did to a running VM, with and without permission to
// restart it.
type measurement struct{ without, with string }

// measuredRow is a row of docs/dev/effects.md: the change, and what happened at the server.
var measuredRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| .* \\| .* \\| (.*) \\|$")

// measurements are the rows of docs/dev/effects.md by the change.
func measurements(t *testing.T) map[string]*measurement {
	t.Helper()
	body, err := os.ReadFile("../docs/dev/effects.md")
	if err != nil {
		t.Fatal(err)
	}
	without, with, ok := strings.Cut(string(body), "## With `restart: true`")
	if !ok {
		t.Fatal("docs/dev/effects.md has no section of VMs with restart: true")
	}
	out := map[string]*measurement{}
	for _, m := range measuredRow.FindAllStringSubmatch(without, -1) {
		out[m[1]] = &measurement{without: m[2]}
	}
	for _, m := range measuredRow.FindAllStringSubmatch(with, -1) {
		if out[m[1]] == nil {
			t.Fatalf("docs/dev/effects.md: %s is in one section only", m[1])
		}
		out[m[1]].with = m[2]
	}
	return out
}

// allows are the effects that agree with a measurement.
func (m *measurement) allows() []Effect {
	waits, fails := strings.Contains(m.without, "waits for a restart"), strings.Contains(m.without, "**fails**: cannot ")
	restarted := strings.Contains(m.with, "**restarted**")
	switch {
	case strings.Contains(m.with, "`qmdestroy`"):
		return []Effect{Replace}
	case strings.Contains(m.with, "unused0: none"):
		return []Effect{Detach} // whatever else the provider does for that
	case fails && restarted:
		return []Effect{Move, PowerOff}
	case waits && restarted:
		return []Effect{Restart}
	case waits:
		return []Effect{Pending, Replug, Unplug, Detach}
	case restarted:
		return []Effect{NeedlessRestart, Restart} // a change of cloud-init is in the configuration at once, and in the guest after a restart
	}
	return []Effect{Live, Grow, ProviderOnly, Creation, Power, Move, Replug}
}

// changes are the changes of docs/dev/effects.md whose name is not their property.
var changes = map[string]string{
	"cloud_init: another datastore": "initialization.datastore_id",
	"disks: one more":               "disk",
	"disks: one less":               "disk",
	"disks: larger":                 "disk.size",
	"disks: another datastore":      "disk.datastore_id",
	"disks: another interface":      "disk.interface",
	"networks: one more":            "network_device",
	"networks: one less":            "network_device",
	"efi: added":                    "efi_disk",
	"efi: pre_enrolled_keys":        "efi_disk.pre_enrolled_keys",
	"tpm: added":                    "tpm_state",
	"tpm: removed":                  "tpm_state",
	"serial: removed":               "serial_device",
	"usb: [{host: spice}]":          "usb",
}

// TestEffectsAreMeasured: the effect of an attribute is what a change of its property did
// in real runs.
func TestEffectsAreMeasured(t *testing.T) {
	all := measurements(t)
	if len(all) < 60 {
		t.Fatalf("docs/dev/effects.md has only %d changes", len(all))
	}
	for change, m := range all {
		if strings.Contains(m.without+m.with, "**fails**: All attempts fail: #1: received an HTTP 500") || strings.Contains(m.with, "not owned by this VM") {
			continue // refused by the server, or by the provider for a linked clone: no effect was measured
		}
		row := measuredAttribute(change)
		if row == nil {
			t.Errorf("%s: no row", change)
			continue
		}
		effect := row.Change
		if strings.HasSuffix(change, "one less") || strings.HasSuffix(change, "removed") {
			effect = row.Removal
		}
		switch change {
		case "efi: added":
			effect = Restart // a disk of the firmware that is added detaches nothing
		case "hotplug: 'disk,network,cpu'":
			effect = Pending // as the note says
		}
		if want := m.allows(); !slices.Contains(want, effect) {
			t.Errorf("%s: %s has the effect %s, measured was one of %v:\n%s\n%s", change, row.HCL, effect, want, m.without, m.with)
		}
	}
}

// measuredAttribute is the row of the property that a change names: "cores: 3",
// "disks: cache: none", "agent: {trim: true}".
func measuredAttribute(change string) *Attribute {
	if path := changes[change]; path != "" {
		return ResourceAttribute(guest.VMResource, path)
	}
	words := regexp.MustCompile(`[a-z_]+`).FindAllString(change, -1)
	rows := Attributes(guest.VMResource)
	for _, name := range []string{strings.Join(words[:min(2, len(words))], "."), words[0], words[0] + ".type"} {
		if i := slices.IndexFunc(rows, func(a Attribute) bool { return a.Name == name }); i >= 0 {
			return &rows[i]
		}
	}
	return nil
}
