package cluster

import "testing"

// TestDefaultsOnlyAdd refuses every setting that is not an addition.
func TestDefaultsOnlyAdd(t *testing.T) {
	raw := map[string]string{"scsi0": "local:vm-1-disk-0,cache=none,size=4G", "memory": "512", "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0", "smbios1": "uuid=1"}
	for _, c := range []struct {
		key, value string
		adds       bool
	}{
		{"balloon", "512", true},
		{"scsihw", "lsi", true},
		{"scsi0", "local:vm-1-disk-0,aio=native,cache=none,size=4G", true},
		{"scsi0", "local:vm-1-disk-0,cache=none,size=4G", true},
		{"scsi0", "local:vm-1-disk-1,cache=none,size=4G", false},
		{"scsi0", "local:vm-1-disk-0,cache=writeback,size=4G", false},
		{"scsi0", "local:vm-1-disk-0,cache=none,cache=writeback,size=4G", false},
		{"scsi0", "local:vm-1-disk-0,size=4G", false},
		{"scsi0", "local:vm-1-disk-0,cache=none,size=5G", false},
		{"scsi1", "local:4", false},
		{"memory", "1024", false},
		{"net0", "virtio=BC:24:11:00:00:01,bridge=vmbr0,firewall=1", false},
		{"smbios1", "uuid=2", false},
		{"vmgenid", "1", false},
		{"name", "other", false},
		{"delete", "net0", false},
	} {
		d := &Defaults{Guest: &Guest{Config: &Config{Raw: raw}}, Settings: []Setting{{c.key, c.value}}}
		if err := d.Check(); (err == nil) != c.adds {
			t.Errorf("%s=%s: %v, want it accepted: %t", c.key, c.value, err, c.adds)
		}
	}
}
