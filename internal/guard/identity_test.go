package guard

import "testing"

// TestWithUUID keeps all else of the SMBIOS values.
func TestWithUUID(t *testing.T) {
	for smbios, want := range map[string]string{
		"":                             "uuid=u1",
		"uuid=u2":                      "uuid=u1",
		"base64=1,serial=QQ==,uuid=u2": "uuid=u1,base64=1,serial=QQ==",
	} {
		if got := withUUID(smbios, "u1"); got != want {
			t.Errorf("%s becomes %s, want %s", smbios, got, want)
		}
	}
}

// TestWithMAC keeps all else of a NIC.
func TestWithMAC(t *testing.T) {
	for nic, want := range map[string]string{
		"virtio=BC:24:11:00:08:34,bridge=vmbr1,tag=30,firewall=1": "virtio=BC:24:11:00:00:01,bridge=vmbr1,tag=30,firewall=1",
		"e1000=BC:24:11:00:08:34":                                 "e1000=BC:24:11:00:00:01",
		"virtio,bridge=vmbr0":                                     "virtio=BC:24:11:00:00:01,bridge=vmbr0",
	} {
		if got := withMAC(nic, "BC:24:11:00:00:01"); got != want {
			t.Errorf("%s becomes %s, want %s", nic, got, want)
		}
	}
}
