package pve

import "testing"

func TestMachineVersion(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"q35":                        "",
		"pc":                         "",
		"pc-q35-9.2":                 "pc-q35-9.2",
		"pc-q35-9.2+pve1":            "pc-q35-9.2",
		"pc-i440fx-4.0.1":            "pc-i440fx-4.0.1",
		"virt-9.0":                   "virt-9.0",
		"type=pc-q35-9.2":            "pc-q35-9.2",
		"q35,viommu=intel":           "",
		"viommu=intel,type=pc-q35-8": "pc-q35-8",
	} {
		if got := MachineVersion(MachineType(map[string]string{"machine": text})); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
