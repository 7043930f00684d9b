package progress

import (
	"strconv"
	"strings"
	"testing"

	"stackgen/guest"
)

// Messages of the provider with genuine servers, with the simulator, and from the
// provider's and the server's sources.
func TestExplain(t *testing.T) {
	db := Item{Target: Target{Kind: VM, Stack: "lab", Key: "db", VMID: 206, Node: "pve1"}, Action: Create}
	gone := db
	gone.Action = Destroy
	dns := Item{Target: Target{Kind: Record, Stack: "lab", Key: "db"}, Action: Create}
	tests := []struct {
		item Item
		text string
		why  string
		line string // of the steps; empty for none
	}{
		{db, "VM clone\nAll attempts fail:\n#1: error cloning VM: received an HTTP 500 response - Reason: got no worker upid - start worker failed", "too many ran at the same time", ""},
		{db, "VM clone\ntask \"UPID:pve1:1:2:3:qmclone:9000:root@pam!t:\" failed to complete with exit code: clone failed: cfs-lock 'storage-shared' error: got lock request timeout", "the lock storage-shared of the cluster was busy", ""},
		{db, "TASK ERROR: can't lock file '/var/lock/qemu-server/lock-238.conf' - got timeout", "held the lock of VM 238", "pvesh get /nodes/pve1/tasks --source active"},
		{db, "VM clone\nAll attempts fail:\n#1: error cloning VM: received an HTTP 500 response - Reason: cluster not\nready - no quorum?", "no quorum", "pvecm status"},
		{db, "error: received an HTTP 500 response - Reason: VM is locked (backup)", "locked by another task (backup)", "stackgen preflight"},
		{db, "clone failed: unable to create image: No space left on device", "a storage is full", "pvesm status"},
		{db, `clone failed: lvcreate 'pve/vm-206-disk-0' error: Volume group "pve" has insufficient free space (10 extents): 25600 required.`, "a storage is full", "pvesm status"},
		{db, "VM clone\nAll attempts fail:\n#1: error cloning VM: the requested resource does not exist\nreceived an HTTP 500 response - Reason: storage 'nosuch' does not exist", "there is no storage nosuch", "pvesm status"},
		{db, "storage 'nfs' is not available on node 'pve1'", "cannot be used on node pve1", "stackgen preflight"},
		{db, "VM clone\n\nAll attempts fail:\n#1: error cloning VM: received an HTTP 403 response - Reason: Permission\ncheck failed (/vms/9000, VM.Clone)", "no privilege VM.Clone on /vms/9000", "stackgen preflight"},
		{db, "failed to get resources list of type (\"vm\") for cluster: received an HTTP 401 response - Reason: Authentication failed!", "rejects the credentials", "stackgen preflight"},
		{db, "error cloning VM: the requested resource already exists\nreceived an HTTP 500 response - Reason: unable to create VM 206: config file\nalready exists", "has VMID 206 already", "stackgen resolve --again lab/db"},
		{db, "failed to complete with exit code: close (rename) atomic file\n'/etc/pve/nodes/pve1/qemu-server/206.conf' failed: File exists", "has VMID 206 already", "stackgen preflight"},
		{db, "Reason: unable to find configuration file for VM 9000 on node 'pve1'", "template 9000 is gone", "stackgen resolve"},
		{db, "Reason: Configuration file 'nodes/pve1/qemu-server/9000.conf' does not exist", "template 9000 is gone", "stackgen preflight"},
		{gone, "Reason: Configuration file 'nodes/pve1/qemu-server/206.conf' does not exist", "not on that node any more", "stackgen preflight"},
		{db, "VM start\ntask failed: volume 'local:snippets/base.yaml' does not exist", "node pve1 has no snippet local:snippets/base.yaml", "pvesm list local --content snippets"},
		{Item{Target: Target{Kind: VM, Guest: guest.Container, Stack: "lab", Key: "ns", VMID: 701, Node: "pve1"}, Action: Destroy},
			"can't remove CT 701 - protection mode enabled", "it is protected in Proxmox VE against removal", "pct set 701 --protection 0"},
		{db, "task failed: volume 'local:vztmpl/debian.tar.zst' does not exist", "node pve1 has no archive local:vztmpl/debian.tar.zst",
			"pvesm list local --content vztmpl"},
		{db, "VM start\ntask failed: volume 'nas:iso/setup.iso' does not exist", "node pve1 has no ISO image nas:iso/setup.iso", "pvesm list nas --content iso"},
		{db, "volume 'local:257/nosuch.qcow2' does not exist", "a disk is missing", "pvesm status"},
		{Item{Target: Target{Kind: VM, Guest: guest.Container, Stack: "lab", Key: "ns", VMID: 701, Node: "pve1"}, Action: Create},
			"Container start\ntask failed to complete with exit code: command 'systemctl start pve-container@701' failed: exit code 1\n" +
				"task log:\n  failed to connect to monitor socket: Connection refused", "the container could not be started", "pct start 701 --debug"},
		{db, "timeout while waiting for the QEMU agent on VM \"206\" to publish the network interfaces", "its guest agent did not answer", ""},
		{db, "VM start\ntask failed: MAX 8 vcpus allowed per VM on this node", "only 8 CPUs", ""},
		{db, "start failed: QEMU exited with code 1", "could not start it", "qm start 206"},
		{db, "start failed: command '/usr/bin/kvm -id 206 -name db' failed: exit code 1", "could not start it", "qm start 206"},
		{db, "bridge 'vmbr7' does not exist", "no bridge vmbr7", ""},
		{gone, "VM shutdown\n\ntimeout while waiting for task\n\"UPID:pve:000052C4:0007441C:6B00EC1C:qmshutdown:216:root@pam!test:\" to\ncomplete", "did not shut down", "qm stop 206"},
		{gone, "VM 206 is running - destroy failed", "started while", "qm shutdown 206"},
		{gone, "can't remove VM 206 - protection mode enabled", "protected", "qm set 206 --protection 0"},
		{gone, "unable to remove VM 206 - used in HA resources and purge parameter not set.", "HA manager", "ha-manager remove vm:206"},
		{db, "Cannot shrink local:217/vm-217-disk-0.qcow2 in VM 217, it is not supported!", "cannot become smaller", ""},
		{db, "400 error on hot-unplugging device 'net1'", "did not release a device", "qm reboot 206"},
		{db, "tls: failed to verify certificate: x509: certificate signed by unknown authority", "not from an authority that this computer trusts", ""},
		{db, "tls: failed to verify certificate: x509: certificate is valid for pve1, not pve", "not valid for its endpoint", ""},
		{db, "error retrieving VM 349: received an HTTP 595 response - Reason: No route to host", "node pve1 did not answer", "stackgen preflight"},
		{db, "failed to get status of the node \"nosuch\": received an HTTP 500 response - Reason: hostname lookup 'nosuch' failed - failed to get address info for: nosuch", "no such node", "stackgen preflight"},
		{db, "Get \"https://127.0.0.1:9/api2/json/cluster/resources?type=vm\": dial tcp 127.0.0.1:9: connect: connection refused", "the cluster cannot be reached", "stackgen preflight"},
		{db, "Error: Saved plan is stale\n\nThe given plan file can no longer be applied because the state was changed by\nanother operation after the plan was created.", "another run changed the state", ""},
		{db, "execution halted", "interrupted", "stackgen preflight"},
		{dns, "update server is not set", "no server", "stackgen render"},
		{dns, "Error updating DNS record: illegal base64 data at input byte 0", "not base64", ""},
		{dns, "Error updating DNS record: dns: bad authentication", "rejects the key", ""},
		{dns, "Error updating DNS record: 5 (REFUSED)", "takes no update", ""},
		{dns, "Error updating DNS record: read udp 127.0.0.1:46002->127.0.0.1:9: read: connection refused", "the DNS server cannot be reached", ""},
	}
	for _, test := range tests {
		got := Explain(test.item, test.text, "stackgen apply")
		if !strings.Contains(got.Why, test.why) {
			t.Errorf("%s: why is %q, without %q", test.text, got.Why, test.why)
		}
		if got.Text != test.text || !strings.HasPrefix(got.What, test.item.Name()+" was not ") {
			t.Errorf("%s: %+v", test.text, got)
		}
		if len(got.Next) != 1 || got.Next[0].What == "" {
			t.Errorf("%s: steps %+v", test.text, got.Next)
			continue
		}
		found := test.line == ""
		for _, l := range got.Next[0].Lines {
			found = found || l.String() == test.line
		}
		if !found {
			t.Errorf("%s: lines are %v, without %s", test.text, got.Next[0].Lines, test.line)
		}
	}
}

func TestExplainUnknown(t *testing.T) {
	item := Item{Target: Target{Kind: VM, Key: "db"}, Action: Change}
	got := Explain(item, "VM update\n"+strings.Repeat("x", 300), "stackgen apply")
	if got.Why != "" || len(got.Next) != 0 || !strings.HasPrefix(got.String(), "VM db was not changed as planned: VM update xxx") || len(got.String()) > 300 {
		t.Errorf("%+v", got)
	}
	if got := Explain(item, "no space left on device", ""); !strings.HasPrefix(got.Next[0].What, "on its node, find") {
		t.Errorf("without a node: %+v", got.Next)
	}
	for _, log := range []string{"connect: Connection refused", "open: Permission denied", "tls: handshake failure"} {
		if got := Explain(item, "VM start\ntask failed\ntask log:\n  "+log, ""); got.Why != "" {
			t.Errorf("%s, in the log of a task: %q", log, got.Why)
		}
	}
	if got := Explain(item, "", ""); got.String() != "VM db was not changed as planned" {
		t.Errorf("%q", got)
	}
}

// TestExplainIsQuoted: a message may have anything in it, and lines are pasted.
func TestExplainIsQuoted(t *testing.T) {
	item := Item{Target: Target{Kind: VM, Stack: "lab", Key: "$(reboot)", VMID: 7, Node: "a; reboot"}, Action: Create}
	for _, text := range []string{"config file already exists", "can't lock file '/x/lock-9.conf' - got timeout"} {
		for _, s := range Explain(item, text, "").Next {
			for _, l := range s.Lines {
				if strings.Contains(l.String(), "reboot") && !strings.Contains(l.String(), "'$(reboot)'") && !strings.Contains(l.String(), "'a; reboot'") {
					t.Errorf("%s: %s", text, l)
				}
			}
		}
	}
}

// TestCauses: what is printed of each cause has no word left to replace, and names
// commands that exist.
func TestCauses(t *testing.T) {
	commands := []string{"preflight", "resolve", "render"}
	item := Item{Target: Target{Kind: VM, Stack: "lab", Key: "db", VMID: 7, Node: "pve1"}, Action: Create}
	for _, c := range causes {
		m := make([]string, c.pattern.NumSubexp()+1)
		for i := range m {
			m[i] = "x"
		}
		for _, text := range append([]string{c.why, c.what}, c.lines...) {
			out, ok := filled(text, item, m, func(s string) string { return s })
			if !ok || strings.ContainsAny(out, "{}$?") {
				t.Errorf("%s: %s", c.pattern, out)
			}
			if rest, ours := strings.CutPrefix(out, "stackgen "); ours {
				name, _, _ := strings.Cut(rest, " ")
				if !strings.Contains(strings.Join(commands, " "), name) {
					t.Errorf("%s: there is no command %s", c.pattern, name)
				}
			}
		}
	}
}

func TestGroup(t *testing.T) {
	fails := func(key string, vmid int, text string) Trouble {
		return Explain(Item{Target: Target{Kind: VM, Stack: "lab", Key: key, VMID: vmid, Node: "pve1"}, Action: Destroy}, text, "")
	}
	groups := Group([]Trouble{fails("a", 1, "VM quit/powerdown failed"), fails("b", 2, "other"), fails("c", 3, "VM quit/powerdown failed"), fails("d", 4, "other")})
	if len(groups) != 2 || groups[0].What() != "2 VMs were not destroyed: the guest did not shut down when it was asked to" || groups[1].What() != "2 VMs were not destroyed: other" {
		t.Fatalf("%+v", groups)
	}
	next := groups[0].Next()
	if len(next) != 1 || len(next[0].Lines) != 2 || next[0].Lines[1].String() != "qm stop 3" {
		t.Errorf("%+v", next)
	}
}

// TestUnwrittenState: a full disk under the state is not a full storage of the cluster. OpenTofu says it twice.
func TestUnwrittenState(t *testing.T) {
	unit := Item{Target: Target{Kind: Unit, Stack: "lab", Unit: "proxmox-vm"}}
	var all []Trouble
	for _, text := range []string{
		"Failed to save state\nError saving state: write .state/lab/proxmox-vm/tofu.tfstate: no space left on device",
		"Failed to persist state to backend\nThe error shown above has prevented OpenTofu from writing the updated state",
		"Error acquiring the state lock\nError message: failed to write backup file: 2 problems:\n- Unsupported state file format",
	} {
		all = append(all, Explain(unit, text, "stackgen apply"))
	}
	groups := Group(all)
	if len(groups) != 1 || groups[0].What() != "unit lab/proxmox-vm failed: OpenTofu could not write its state" {
		t.Errorf("%+v", groups)
	}
}

// TestTroubleRead: what was read decides what is said, and not the error.
func TestTroubleRead(t *testing.T) {
	for _, c := range []struct {
		action Action
		read   *Reading
		want   string
	}{
		{Change, nil, "was not changed as planned"},
		{Change, &Reading{Exists: true, Left: []string{"memory"}}, "was not changed"},
		{Change, &Reading{Exists: true, Taken: []string{"memory 1 -> 2"}}, "was changed in part"},
		{Change, &Reading{Exists: true, Off: true}, "was not changed and is off now"},
		{Change, &Reading{Exists: true, Works: true, Off: true}, "is still being changed by a task of Proxmox VE and is off now"},
		{Create, &Reading{}, "was not created"},
		{Create, &Reading{Exists: true}, "was created, but not completed"},
	} {
		target := Target{Kind: VM, Stack: "lab", Key: "db"}
		b := NewBoard(Plan{Items: []Item{{Target: target, Action: c.action}}})
		b.Add(Event{Type: Problem, Target: target, Text: "out of luck"})
		b.Add(Event{Type: Read, Target: target, Reading: c.read})
		if got := b.Trouble(b.Row(target)).What; got != "VM db "+c.want {
			t.Errorf("%s, %+v: %s", c.action, c.read, got)
		}
	}
}

// TestTroubleStart: the error of a start is explained where a plan does it. Of an action on a VM, it is in words already.
func TestTroubleStart(t *testing.T) {
	for _, planned := range []bool{true, false} {
		target := Target{Kind: VM, Stack: "lab", Key: "db", VMID: 7, Node: "pve1"}
		b := NewBoard(Plan{Items: []Item{{Target: target, Action: Start, Planned: planned}}})
		b.Add(Event{Type: Problem, Target: Target{Kind: VM, Stack: "lab", Key: "db"}, Text: "start failed: QEMU exited with code 1"})
		got := b.Trouble(b.Row(target))
		if got.What != "VM db (VMID 7, node pve1) was not started" || (got.Why != "") != planned || (len(got.Next) == 1) != planned {
			t.Errorf("planned %v: %+v", planned, got)
		}
		if planned && (len(got.Next[0].Lines) != 1 || got.Next[0].Lines[0].String() != "qm start 7") {
			t.Errorf("it says %+v", got.Next)
		}
	}
}

// TestTroubleUnread: before a guest whose creation failed is read, tasks say whether it exists. Without one, nothing is said of it.
func TestTroubleUnread(t *testing.T) {
	for tasks, want := range map[string]string{
		"":                           "was not completed",
		"qmclone":                    "was not completed",
		"qmclone OK":                 "was created, but not completed",
		"qmclone WARNINGS: 1":        "was created, but not completed",
		"qmclone failed":             "was not created",
		"qmclone failed, qmclone OK": "was created, but not completed",
		"vzcreate OK":                "was created, but not completed",
		"vzcreate failed":            "was not created",
		"qmclone OK, qmstart failed": "was created, but not completed",
		"qmstart failed":             "was created, but not completed",
	} {
		target := Target{Kind: VM, Stack: "lab", Key: "db", VMID: 7}
		b := NewBoard(Plan{Items: []Item{{Target: target, Action: Create}}})
		for i, task := range strings.Split(tasks, ", ") {
			kind, exit, _ := strings.Cut(task, " ")
			b.Add(Event{Type: Worked, Target: Target{Kind: VM, VMID: 7}, Task: Task{UPID: strconv.Itoa(i), Type: kind, Exit: exit}})
		}
		b.Add(Event{Type: Problem, Target: target, Text: "out of luck"})
		if got := b.Trouble(b.Row(target)).Not; got != want {
			t.Errorf("%s: %s", tasks, got)
		}
		for exists, want := range map[bool]string{true: "was created, but not completed", false: "was not created"} {
			b.Add(Event{Type: Read, Target: target, Reading: &Reading{Exists: exists}})
			if got := b.Trouble(b.Row(target)).Not; got != want {
				t.Errorf("%s, and it exists: %v: %s", tasks, exists, got)
			}
		}
	}
}

// TestTroubleReplaced: what was seen of the guest of before says nothing of its successor.
func TestTroubleReplaced(t *testing.T) {
	target := Target{Kind: VM, Stack: "lab", Key: "db", VMID: 7}
	b := NewBoard(Plan{Items: []Item{{Target: target, Action: Create, Rebuilt: true}}})
	b.Add(Event{Type: Worked, Target: Target{Kind: VM, VMID: 7}, Task: Task{UPID: "1", Type: "resize", Exit: "OK"}})
	b.Add(Event{Type: Ended, Target: target, Action: Destroy})
	b.Add(Event{Type: Problem, Target: target, Text: "out of luck"})
	if got := b.Trouble(b.Row(target)).Not; got != "was not completed" {
		t.Error(got)
	}
}

// TestOtherTemplate: a message about a VM that is neither the VM nor its template blames none.
func TestOtherTemplate(t *testing.T) {
	db := Item{Target: Target{Kind: VM, Stack: "lab", Key: "db", VMID: 206, Node: "pve1"}, Action: Create, Template: 9002}
	for vmid, want := range map[string]string{"9000": "", "9002": "template 9002 is gone, or on another node than the lock says", "206": "the VM is not on that node any more"} {
		if got := Explain(db, "unable to find configuration file for VM "+vmid+" on node 'pve1'", "").Why; got != want {
			t.Errorf("VM %s: %q, want %q", vmid, got, want)
		}
	}
}
