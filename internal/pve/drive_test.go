package pve

import (
	"fmt"
	"strings"
	"testing"
)

func TestDrive(t *testing.T) {
	for text, want := range map[string]string{
		"local-lvm:vm-100-disk-0,size=32G":                 "local-lvm vm-100-disk-0 . 34359738368",
		"local:100/vm-100-disk-0.qcow2,size=2252M":         "local 100/vm-100-disk-0.qcow2 qcow2 2361393152",
		"size=1G,file=local:100/vm-100-disk-0.raw":         "local 100/vm-100-disk-0.raw raw 1073741824",
		"volume=tank:vm-100-disk-0,format=raw":             "tank vm-100-disk-0 raw 0",
		"size=512,local:a.vmdk":                            "local a.vmdk vmdk 512",
		"local:100/vm-100-disk-0.raw,format=qcow2":         "local 100/vm-100-disk-0.raw qcow2 0",
		"my.store:vm-100-disk-0":                           "my.store vm-100-disk-0 . 0",
		"/dev/disk/by-id/usb-a:0,size=1T":                  ". . . 1099511627776",
		"none,media=cdrom":                                 ". . . 0 cdrom",
		"cdrom,media=cdrom":                                ". . . 0 cdrom",
		"local:iso/cloudinit.iso,media=cdrom":              "local iso/cloudinit.iso iso 0 cdrom cloud-init",
		"local:iso/my-cloudinit.iso,media=cdrom":           "local iso/my-cloudinit.iso iso 0 cdrom",
		"local:100/vm-100-cloudinit.qcow2,media=cdrom":     "local 100/vm-100-cloudinit.qcow2 qcow2 0 cdrom cloud-init of",
		"local-lvm:vm-100-cloudinit,media=cdrom,size=4M":   "local-lvm vm-100-cloudinit . 4194304 cdrom cloud-init of",
		"local-lvm:vm-1000-cloudinit,media=cdrom":          "local-lvm vm-1000-cloudinit . 0 cdrom cloud-init",
		"local:cloudinit":                                  "local cloudinit . 0 cloud-init",
		"":                                                 ". . . 0",
		"local-lvm:base-9000-disk-0/vm-100-disk-0,size=0":  "local-lvm base-9000-disk-0/vm-100-disk-0 . 0",
		"local:9000/base-9000-disk-0.qcow2/100/vm-100-a.1": "local 9000/base-9000-disk-0.qcow2/100/vm-100-a.1 1 0",
	} {
		d := ParseDrive("scsi0", text)
		dot := func(s string) string {
			if s == "" {
				return "."
			}
			return s
		}
		got := fmt.Sprintf("%s %s %s %d", dot(d.Storage), dot(d.Name), dot(d.Format()), d.Size())
		for _, is := range []struct {
			it   bool
			word string
		}{{d.CDROM(), " cdrom"}, {d.CloudInit(), " cloud-init"}, {d.CloudInitOf(100), " of"}} {
			if is.it {
				got += is.word
			}
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestDrives: neither a drive without a disc nor another entry is a drive, and the order is
// that of the keys.
func TestDrives(t *testing.T) {
	var got []string
	for _, d := range Drives(map[string]string{
		"scsi10": "a:1", "scsi2": "a:2,size=1G", "ide2": "none,media=cdrom", "ide0": "cdrom,media=cdrom", "efidisk0": "a:3", "tpmstate0": "a:4",
		"unused0": "a:5", "scsihw": "virtio-scsi-pci", "scsi": "a:6", "virtiofs0": "media", "net0": "virtio", "sata0": "", "virtio0": "file=a:7",
	}) {
		got = append(got, d.Key+"="+d.File)
	}
	if want := "efidisk0=a:3 ide0=cdrom scsi10=a:1 scsi2=a:2 tpmstate0=a:4 unused0=a:5 virtio0=a:7"; strings.Join(got, " ") != want {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestSplitKey(t *testing.T) {
	for key, want := range map[string]string{"net0": "net 0", "scsi10": "scsi 10", "scsihw": "scsihw -1", "smbios1": "smbios 1", "7": "7 -1", "": " -1"} {
		if name, n := SplitKey(key); fmt.Sprint(name, " ", n) != want {
			t.Errorf("%q: %q %d", key, name, n)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "512": 512, "1K": 1 << 10, "2252M": 2252 << 20, "32G": 32 << 30, "1.5T": 3 << 39,
		"": -1, "G": -1, "1GG": -1, "1P": -1, "-1G": -1, "1e3": -1, "inf": -1, "0x1p4": -1, "1 G": -1, "99999999999999T": -1,
	} {
		got, ok := ParseSize(text)
		if ok != (want >= 0) || got != max(0, want) {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
}
