package progress

import (
	"math"
	"strings"
	"testing"
)

func TestPercent(t *testing.T) {
	tests := []struct {
		line string
		want float64 // -1 for none
	}{
		{"transferred 0.0 B of 1.0 GiB (0.00%)", 0},
		{"transferred 15.8 MiB of 1.0 GiB (1.54%)", 1.54},
		{"transferred 1.0 GiB of 1.0 GiB (100.00%)", 100},
		{"drive-scsi0: transferred 1.0 GiB of 32.0 GiB (3.13%) in 5s", 3.13},
		{"drive-scsi0: transferred 32.0 GiB of 32.0 GiB (100.00%) in 2m 5s, ready", 100},
		{"drive-scsi0: transferred: 1048576 bytes remaining: 3145728 bytes total: 4194304 bytes progression: 25.00 % busy: 1 ready: 0", 25},
		{"2026-11-21 02:07:31 migration active, transferred 1.0 GiB of 4.0 GiB VM-state, 110.2 MiB/s", 25},
		{"migration active, transferred 512.0 MiB of 4.0 GiB VM-state, 110.2 MiB/s", 12.5},
		{"2026-11-21 02:07:32 migration completed, transferred 2.5 MiB VM-state", -1},
		{"2026-11-21 02:06:56 425984 bytes (426 kB, 416 KiB) copied, 3 s, 140 kB/s", -1},
		{"create full clone of drive scsi0 (local:236/vm-236-disk-0.qcow2)", -1},
		{"TASK OK", -1}, {"", -1},
		{"transferred 1 of 2 (900%)", 100},
		{"migration active, transferred 1.0 GiB of 0.0 B VM-state", -1},
	}
	for _, test := range tests {
		got, ok := Percent(test.line)
		if ok != (test.want >= 0) || ok && math.Abs(got-test.want) > 0.01 {
			t.Errorf("%s: %v, %v", test.line, got, ok)
		}
	}
}

// TestWithoutCopies: a message has no lines that only say how far a copy is, and all others.
func TestWithoutCopies(t *testing.T) {
	const copies = `  transferred 0.0 B of 1.0 GiB (0.00%)
  transferred 1.0 GiB of 1.0 GiB (100.00%)
  drive-scsi0: transferred 1.0 GiB of 32.0 GiB (3.13%) in 5s
  drive-scsi0: transferred 32.0 GiB of 32.0 GiB (100.00%) in 2m 5s, ready
  drive-scsi0: transferred: 1048576 bytes remaining: 3145728 bytes total: 4194304 bytes progression: 25.00 % busy: 1 ready: 0
  2026-11-21 02:07:31 migration active, transferred 1.0 GiB of 4.0 GiB VM-state, 110.2 MiB/s
  2026-11-21 02:06:56 425984 bytes (426 kB, 416 KiB) copied, 3 s, 140 kB/s
  2026-11-21 02:06:56 13+0 records in
  13+0 records out
       0K                                                    100%  474M=0.001s
     100K .......... .......... 50% 1.2M
  progress 7% (read 751632384 bytes, duration 3 sec)
  INFO:  12% (1.2 GiB of 10.0 GiB) in 3s, read: 409.6 MiB/s, write: 401.1 MiB/s
      1,234,567  45%   12.34MB/s    0:00:12
      1,234,567 100%   12.34MB/s    0:00:12 (xfr#1, to-chk=0/1)
  02:07:32   1.23G   rpool/data/vm-100-disk-0@__migration__`
	for line := range strings.SplitSeq(copies, "\n") {
		if got := withoutCopies("VM clone\n" + line + "\nfailed"); got != "VM clone\nfailed" {
			t.Errorf("it keeps %s", got)
		}
	}
	const rest = `VM clone
error cloning VM: task "UPID:pve1:1:2:3:qmclone:9000:root@pam:" failed to complete with exit code: clone failed
task log:
  create full clone of drive scsi0 (local:9000/base-9000-disk-0.qcow2)
    Logical volume "vm-300-disk-0" created.
  drive mirror is starting for drive-scsi0
  transferred 1.0 GiB of 3.0 GiB (33.33%): write failed: No space left on device
  qemu-img: error while writing at byte 1073741824: No space left on device
  2026-11-21 02:07:32 migration completed, transferred 2.5 MiB VM-state
  2026-11-21 02:06:56 425984 bytes (426 kB, 416 KiB) copied, 3 s, 140 kB/s: Connection reset by peer
  TASK ERROR: clone failed: 100% of nothing`
	if got := withoutCopies(rest); got != rest {
		t.Errorf("it leaves out lines that say more:\n%s", got)
	}
	item := Item{Target: Target{Kind: VM, Key: "db"}, Action: Create}
	if got := Explain(item, copies+"\n"+rest, ""); got.Text != rest {
		t.Errorf("the message is\n%s", got.Text)
	}
}

// TestCloneTarget has lines of genuine servers: a clone of 9000 (or 236, 9004).
func TestCloneTarget(t *testing.T) {
	tests := []struct {
		line   string
		source int
		want   int
	}{
		{"create full clone of drive ide2 (local:236/vm-236-cloudinit.qcow2)", 236, 0},
		{"Formatting '/var/lib/vz/images/238/vm-238-cloudinit.qcow2', fmt=qcow2 cluster_size=65536 size=4194304", 236, 238},
		{`  Logical volume "vm-4100-disk-0" created.`, 9000, 4100},
		{"create linked clone of drive scsi0 (local-lvm:base-9000-disk-0)", 9000, 0},
		{"clone 9004/base-9004-disk-0.raw: images, vm-314-disk-0.qcow2, 314 to vm-314-disk-0.qcow2 (base=../9004/base-9004-disk-0.raw)", 9004, 314},
		{"TASK ERROR: close (rename) atomic file '/etc/pve/nodes/pve1/qemu-server/346.conf' failed: File exists", 9001, 346},
		{"TASK ERROR: can't lock file '/var/lock/qemu-server/lock-238.conf' - got timeout", 236, 238},
		{"transferred 0.0 B of 1.0 GiB (0.00%)", 9000, 0},
		{"TASK OK", 9000, 0},
	}
	for _, test := range tests {
		if got := CloneTarget(test.line, test.source); got != test.want {
			t.Errorf("%s: %d, want %d", test.line, got, test.want)
		}
	}
}
