package tf

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// flattened are the values of a VM.
func flattened(t *testing.T) Values {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(`{"name": "a", "bios": "seabios", "rng": [], "cpu": [{"cores": 2, "type": "host"}],
		"disk": [{"interface": "scsi0", "size": 8, "datastore_id": "ssd"}, {"interface": "scsi1", "size": 20, "datastore_id": "ssd"}],
		"network_device": [{"mac_address": "BC:24:11:00:00:01", "bridge": "vmbr0"}, {"mac_address": "BC:24:11:00:00:02", "bridge": "vmbr0"}],
		"initialization": [{"datastore_id": "ssd", "user_account": [{"username": "debian", "password": "tr0ub4dor"}]}]}`), &v); err != nil {
		t.Fatal(err)
	}
	return Flatten(v)
}

// TestSecretsAreNotKept: a state is written to a file that the units of a run share.
func TestSecretsAreNotKept(t *testing.T) {
	v := flattened(t)
	if strings.Contains(fmt.Sprint(v), "tr0ub4dor") || v["initialization.user_account.username"] != "debian" {
		t.Errorf("got %v", v)
	}
}

// TestReadByClone: of a VM that was cloned, the provider reads what its state has.
func TestReadByClone(t *testing.T) {
	state := flattened(t)
	for _, c := range []struct {
		change Change
		want   bool
	}{
		{Change{Path: "rng", Was: "source=/dev/urandom", Whole: true}, false},
		{Change{Path: "vga", Was: "qxl", Whole: true}, false}, // the state does not know it
		{Change{Path: "cpu.cores", Was: "4", Is: "2"}, true},
		{Change{Path: "bios", Was: "ovmf", Is: "seabios"}, false},
		{Change{Path: "bios", Was: "seabios", Is: "ovmf"}, true},
		{Change{Path: "disk", Device: "scsi1", Was: "x", Whole: true}, true},
		{Change{Path: "disk", Device: "scsi2", Was: "x", Whole: true}, false},
		{Change{Path: "disk", Device: "scsi2", Is: "x", Whole: true}, true},
		{Change{Path: "network_device", Device: "net2", Was: "x", Whole: true}, true},
		{Change{Path: "initialization.user_account.username", Was: "debian"}, true},
		{Change{Path: "initialization.dns.servers", Was: "192.0.2.1"}, false},
		{Change{Path: "initialization.dns.servers", Is: "192.0.2.1"}, true},
	} {
		if got := state.Read([]Change{c.change}, true); (len(got) == 1) != c.want {
			t.Errorf("%v: got %v", c.change, got)
		}
	}
}
