package hardware

import (
	"strings"
	"testing"
)

// TestFindUnreadable: each entry that the provider cannot decode is found, with options
// that write what it can, and no other entry is.
func TestFindUnreadable(t *testing.T) {
	for _, c := range []struct{ lines, has, options string }{
		{"smbios1: uuid=x", "", ""},
		{"smbios1: uuid=x,manufacturer=QUNNRQ==,base64=1", "", ""},
		{"smbios1: manufacturer=Dell", "", ""},
		{"smbios1: uuid=x,manufacturer=ACME1,serial=7", "smbios1 has values that are not in base64", "--smbios1 base64=1,uuid=x,manufacturer=QUNNRTE=,serial=Nw=="},
		{"net0: virtio=BC:24:11:00:00:01,bridge=vmbr0,rate=0.5,trunks=2;3", "", ""},
		{"net1: virtio=BC:24:11:00:00:01,trunks=2;5-7", "trunks of net1 has a range of VLANs", "--net1 'virtio=BC:24:11:00:00:01,trunks=2;5;6;7'"},
		{"net1: virtio=BC:24:11:00:00:01,trunks=2;1-3000000", "trunks of net1 has a range of VLANs", ""},
		{"net1: virtio=BC:24:11:00:00:01,trunks=7-5", "trunks of net1 has a range of VLANs", ""},
		{"net1: virtio=BC:24:11:00:00:01,trunks=0-99999999999999999999", "trunks of net1 has a range of VLANs", ""},
		{"scsi2: tank:100/vm-100-disk-0.raw,iops_rd=500,mbps_rd=200,size=10G", "", ""},
		{"scsi2: tank:100/vm-100-disk-0.raw,mbps_rd=200,mbps_wr=100.5,size=10G", "mbps_wr of scsi2 is a decimal number", "--scsi2 'tank:100/vm-100-disk-0.raw,mbps_rd=200,mbps_wr=101,size=10G'"},
		{"virtio0: a:b,mbps_rd=1.000,mbps_rd_max=2.000", "mbps_rd and mbps_rd_max of virtio0 are decimal numbers", "--virtio0 'a:b,mbps_rd=1,mbps_rd_max=2' neutral"},
		{"scsi0: a:b,mbps=1.5", "", ""}, // the provider does not read it
		{"mp0: /srv/media,mp=/media", "", ""},
		{`mp3: /srv/a"b,mp=/media`, "mp3 has a quote, a backslash or a control character", ""},
		{`mp3: /srv/media,mp=/a\\b`, "mp3 has a quote, a backslash or a control character", ""},
		{"scsihw: virtio-scsi-single", "", ""},
		{"memory: 2048", "", ""},
		{"memory: current=2048", "memory is written as current=2048", "--memory 2048 neutral"},
		{"migrate_downtime: 0.5", "migrate_downtime is set", "--delete migrate_downtime"},
		{"migrate_downtime: 0.1", "migrate_downtime is set", "--delete migrate_downtime neutral"},
		{"migrate_speed: 10", "", ""},
		{"numa0: cpus=0-1,memory=512.5", "memory of numa0 is a decimal number", "--numa0 'cpus=0-1,memory=513'"},
		{"numa: 1", "", ""},
		{"virtiofs0: media,expose-acl=1", "", ""},
		{"virtiofs1: media,expose-acl=1,expose-xattr=0", "virtiofs1 has expose-acl=1 and expose-xattr=0", "--virtiofs1 'media,expose-acl=1' neutral"},
		{"scsi0: (secret),mbps_rd=1.5", "", ""},
	} {
		key, text, _ := strings.Cut(c.lines, ": ")
		u := FindUnreadable(map[string]string{key: text})
		switch {
		case u == nil && c.has != "":
			t.Errorf("%s: not found", c.lines)
		case u == nil:
		case u.Has != c.has:
			t.Errorf("%s:\n got %s\nwant %s", c.lines, u.Has, c.has)
		case u.Options != strings.TrimSuffix(c.options, " neutral") && u.Options+" neutral" != c.options, u.Neutral != (strings.HasSuffix(c.options, " neutral") || strings.Contains(c.lines, "trunks") && c.options != "" || key == "smbios1"):
			t.Errorf("%s:\n got %s (neutral %v)\nwant %s", c.lines, u.Options, u.Neutral, c.options)
		}
	}
}
