package cluster

import (
	"strings"
	"testing"
)

// TestMayChange checks which tasks are named beside a change of an attribute.
func TestMayChange(t *testing.T) {
	all := strings.Fields("hamigrate hastart hastop qmclone qmconfig qmcreate qmdestroy qmigrate qmmove qmreboot qmrestore " +
		"qmrollback qmshutdown qmstart qmstop qmtemplate resize vncproxy vzdump")
	for attribute, want := range map[string]string{
		"":                         "qmcreate qmdestroy qmrestore qmtemplate",
		"node_name":                "hamigrate qmcreate qmigrate qmrestore",
		"memory.dedicated":         "qmconfig qmcreate qmrestore qmrollback",
		"disk.scsi0.size":          "qmconfig qmcreate qmmove qmrestore qmrollback resize",
		"disk":                     "qmconfig qmcreate qmmove qmrestore qmrollback resize",
		"disk_controller":          "qmconfig qmcreate qmrestore qmrollback",
		"efi_disk.datastore_id":    "qmconfig qmcreate qmmove qmrestore qmrollback",
		"started":                  "hamigrate hastart hastop qmigrate qmreboot qmshutdown qmstart qmstop",
		"ipv4_addresses":           "hastart hastop qmreboot qmshutdown qmstart qmstop",
		"template":                 "qmconfig qmcreate qmrestore qmrollback qmtemplate",
		"network_device.net1.vlan": "qmconfig qmcreate qmrestore qmrollback",
	} {
		var got []string
		for _, task := range all {
			if (Act{Task: task}).MayChange(attribute) {
				got = append(got, task)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s, want %s", attribute, got, want)
		}
	}
	for task, want := range map[string]bool{"qmconfig": true, "vzdump": false, "qmclone": false, "vncproxy": false, "": false} {
		if IsDeed(task) != want {
			t.Errorf("IsDeed(%q) is not %v", task, want)
		}
	}
}
