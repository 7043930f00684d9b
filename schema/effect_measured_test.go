package schema

import (
	"cmp"
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

// measurements are the rows of docs/dev/effects.md about a kind of guest by the change.
func measurements(t *testing.T, kind guest.Kind) map[string]*measurement {
	t.Helper()
	body, err := os.ReadFile("../docs/dev/effects.md")
	if err != nil {
		t.Fatal(err)
	}
	vms, containers, ok := strings.Cut(string(body), "## Containers, with `restart: false`")
	without, with, both := strings.Cut(vms, "## With `restart: true`")
	if kind == guest.Container {
		without, with, both = strings.Cut(containers, "## Containers, with `restart: true`")
	}
	if !ok || !both {
		t.Fatal("docs/dev/effects.md lacks a section")
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

// ofVM are the effects of an attribute of a VM that agree with a measurement; none if no effect was measured, because
// the server refused the change, or the provider for a linked clone.
func (m *measurement) ofVM() []Effect {
	waits, fails := strings.Contains(m.without, "waits for a restart"), strings.Contains(m.without, "**fails**: cannot ")
	restarted := strings.Contains(m.with, "**restarted**")
	switch {
	case strings.Contains(m.without+m.with, "**fails**: All attempts fail: #1: received an HTTP 500"), strings.Contains(m.with, "not owned by this VM"):
		return nil
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

// ofContainer is ofVM for a container: the provider has no switch for a restart.
func (m *measurement) ofContainer() []Effect {
	switch {
	case strings.Contains(m.without, "`vzdestroy`"):
		return []Effect{Replace}
	case strings.Contains(m.without, "**restarted**"):
		return []Effect{Restart}
	}
	return []Effect{Live, Grow, Creation, Power}
}

// measured are the kinds of guests with the changes of docs/dev/effects.md whose name is not their property, or whose
// effect is not that of their property; "" is none of an attribute.
var measured = []struct {
	kind    guest.Kind
	least   int // changes that are measured
	allows  func(*measurement) []Effect
	changes map[string]string
	effects map[string]Effect
}{
	{guest.VM, 60, (*measurement).ofVM, map[string]string{
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
	}, map[string]Effect{
		"efi: added":                  Restart, // a disk of the firmware that is added detaches nothing
		"hotplug: 'disk,network,cpu'": Pending, // as the note says
	}},
	{guest.Container, 30, (*measurement).ofContainer, map[string]string{
		"mounts: one more":            "mount_point",
		"mounts: one less":            "mount_point",
		"mounts: larger":              "mount_point.size",
		"networks: one more":          "network_interface",
		"networks: one less":          "network_interface",
		"rootfs: smaller":             "disk.size",
		"rootfs: {size: 5}":           "disk.size",
		"rootfs: {datastore: shared}": "disk.datastore_id",
		"restart: true":               "",

		"template: 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'": "operating_system.template_file_id",
	}, nil},
}

// TestEffectsAreMeasured: the effect of an attribute is what a change of its property did
// in real runs.
func TestEffectsAreMeasured(t *testing.T) {
	for _, c := range measured {
		all := measurements(t, c.kind)
		if len(all) < c.least {
			t.Fatalf("docs/dev/effects.md has only %d changes of a %s", len(all), c.kind.Name())
		}
		for change, m := range all {
			path, named := c.changes[change]
			want := c.allows(m)
			if named && path == "" || want == nil {
				continue
			}
			row := ResourceAttribute(c.kind.Resource(), path)
			if !named {
				row = measuredAttribute(c.kind, change)
			}
			if row == nil {
				t.Errorf("%s of a %s: no row", change, c.kind.Name())
				continue
			}
			effect := row.Change
			if strings.HasSuffix(change, "one less") || strings.HasSuffix(change, "removed") {
				effect = row.Removal
			}
			if effect = cmp.Or(c.effects[change], effect); !slices.Contains(want, effect) {
				t.Errorf("%s: %s has the effect %s, measured was one of %v:\n%s\n%s", change, row.HCL, effect, want, m.without, m.with)
			}
		}
	}
}

// measuredAttribute is the row of the property that a change names: "cores: 3",
// "disks: cache: none", "agent: {trim: true}".
func measuredAttribute(kind guest.Kind, change string) *Attribute {
	words := regexp.MustCompile(`[a-z_]+`).FindAllString(change, -1)
	rows := Attributes(kind.Resource())
	for _, name := range []string{strings.Join(words[:min(2, len(words))], "."), words[0], words[0] + ".type"} {
		if i := slices.IndexFunc(rows, func(a Attribute) bool { return a.Name == name }); i >= 0 {
			return &rows[i]
		}
	}
	return nil
}
