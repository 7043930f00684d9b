package tf

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestRestore: after an update that failed, the state has the devices that the guest has: those of before, in their
// order, and those that the update has added.
func TestRestore(t *testing.T) {
	for name, c := range map[string]struct{ before, planned, has, want string }{
		"disk not added":                       {"scsi0", "scsi0 scsi1", "SCSI0", "scsi0"},
		"disk added":                           {"scsi0", "scsi0 scsi1", "SCSI0 SCSI1", ""},
		"one disk added of two":                {"scsi0", "scsi0 scsi1 scsi2", "SCSI0 SCSI2", "scsi0 scsi2"},
		"disk not removed":                     {"scsi0 scsi1", "scsi0", "SCSI0 SCSI1", "scsi0 scsi1"},
		"disk removed":                         {"scsi0 scsi1", "scsi0", "SCSI0", ""},
		"disk neither removed nor added":       {"scsi0 scsi1", "scsi0 scsi2", "SCSI0 SCSI1", "scsi0 scsi1"},
		"disk removed, and another not added":  {"scsi0 scsi1", "scsi0 scsi2", "SCSI0", "scsi0"},
		"disk by hand":                         {"scsi0", "scsi0", "SCSI0 SCSI9", ""},
		"disk detached by hand since the plan": {"scsi0 scsi1", "scsi0 scsi1 scsi2", "SCSI0", "scsi0 scsi1"},
		"first disk not removed":               {"scsi0 scsi1", "scsi1", "SCSI0 SCSI1", "scsi0 scsi1"},
	} {
		t.Run(name, func(t *testing.T) {
			list := func(text string) []any {
				var out []any
				for _, at := range strings.Fields(text) {
					out = append(out, map[string]any{"interface": at})
				}
				return out
			}
			instance := map[string]any{"index_key": "a", "attributes": map[string]any{"disk": list(c.planned), "vm_id": json.Number("12345678901234567")}}
			state := map[string]any{"version": 4, "serial": 7, "lineage": "l", "resources": []any{
				map[string]any{"mode": "managed", "type": "some_vm", "name": "this", "instances": []any{instance}},
				map[string]any{"mode": "managed", "type": "some_vm", "name": "other", "instances": []any{instance}},
			}}
			body, err := json.Marshal(state)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Restore(body, map[string]Restored{`some_vm.this["a"]`: {
				Before: map[string]any{"disk": list(c.before)},
				Lists:  []DeviceList{{Name: "disk", Key: "interface", Has: strings.Fields(c.has)}, {Name: "tpm_state"}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if got != nil {
					t.Errorf("it changes the state to %s", got)
				}
				return
			}
			want := strings.Replace(string(body), mustJSON(t, list(c.planned)), mustJSON(t, list(c.want)), 1)
			want = strings.Replace(want, `"serial":7`, `"serial":8`, 1)
			if !sameJSON(t, string(got), want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestRestoreWithoutKeys: a refresh corrects the blocks of a list whose devices are not told apart, if the state has one, and
// does not add the first one. Two network devices with one MAC address, or without any, are two.
func TestRestoreWithoutKeys(t *testing.T) {
	for name, c := range map[string]struct {
		key             string
		any             bool
		before, planned []any
		want            []any // nil: the state is right
	}{
		"USB devices not removed":  {"", true, []any{"a", "b"}, nil, []any{"a", "b"}},
		"USB devices removed":      {"", false, []any{"a", "b"}, nil, nil},
		"EFI disk not added":       {"", false, nil, []any{"a"}, []any{}},
		"EFI disk added":           {"", true, nil, []any{"a"}, nil},
		"of one, another planned":  {"", true, []any{"a"}, []any{"b"}, nil},
		"NICs of one MAC":          {"mac_address", false, []any{"a", "a"}, []any{"a", "a"}, nil},
		"one of two not removed":   {"mac_address", false, []any{"a", "b"}, []any{"a"}, []any{"a", "b"}},
		"NIC without MAC, planned": {"mac_address", false, []any{"a"}, []any{"a", ""}, []any{"a"}},
		"NICs without MACs":        {"mac_address", false, []any{"", ""}, []any{"", ""}, nil},
	} {
		blocks := func(list []any) []any {
			out := []any{}
			for _, mac := range list {
				out = append(out, map[string]any{"mac_address": mac})
			}
			return out
		}
		values := map[string]any{"list": blocks(c.planned)}
		of := Restored{Before: map[string]any{"list": blocks(c.before)}, Lists: []DeviceList{{Name: "list", Key: c.key, Has: []string{"A", "B"}, Any: c.any}}}
		want, changes := blocks(c.want), c.want != nil
		if !changes {
			want = blocks(c.planned)
		}
		if got := of.restore(values); got != changes || !reflect.DeepEqual(values["list"], want) {
			t.Errorf("%s: %t, %v", name, got, values["list"])
		}
	}
}

// TestRestoreOfNoState: what is no state is an error, and nothing is written for it.
func TestRestoreOfNoState(t *testing.T) {
	for _, body := range []string{"", "[]", "{}", `{"serial": "x"}`, `{"serial": 1.5}`, `{"serial": 1`} {
		if got, err := Restore([]byte(body), nil); err == nil || got != nil {
			t.Errorf("%q: %s, %v", body, got, err)
		}
	}
	for _, body := range []string{`{"serial": 1}`, `{"serial": 1, "resources": [null, 1, {"instances": [null, {"attributes": 3}]}]}`} {
		if got, err := Restore([]byte(body), map[string]Restored{"x": {}}); err != nil || got != nil {
			t.Errorf("%q: %s, %v", body, got, err)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	for text, into := range map[string]*any{a: &x, b: &y} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(x, y)
}
