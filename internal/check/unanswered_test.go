package check

import (
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/templates"
)

// TestUnanswered: a failure in which a request had no answer says so, and a rendered plan with
// timeouts, or an answer of Proxmox VE, does not. root.hcl has the same pattern, in parts.
func TestUnanswered(t *testing.T) {
	is := regexp.MustCompile(Unanswered)
	for text, want := range map[string]bool{
		`error cloning VM: received an HTTP 596 response - Reason: Connection timed out`: true,
		`received an HTTP 502 response - Reason: Bad Gateway`:                            true,
		`Post "https://pve:8006/api2/json/nodes/pve1/qemu/9000/clone": EOF`:              true,
		`read tcp 10.0.0.1:40000->10.0.0.2:8006: read: connection reset by peer`:         true,
		`dial tcp 10.0.0.2:8006: i/o timeout`:                                            true,
		`timeout while waiting for task "UPID:pve1:000003F2:qmclone:9000:root@pam:"`:     false,
		`Error: Plugin did not respond`:                                                  true,
		"received an HTTP\n596 response":                                                 true,
		`http: server closed idle connection`:                                            true,
		`the server did not include a data object in the response`:                       true,
		`unexpected EOF`: true,
		`proxmox_virtual_environment_vm.this["geoffrey"]: Creating...`: false,
		"ssh-rsa AAAAeofEOF+x":                                                                      false,
		`Client.Timeout exceeded while awaiting headers`:                                            true,
		`received an HTTP 500 response - Reason: storage 'nosuch' does not exist`:                   false,
		`received an HTTP 403 response - Reason: Permission check failed (/vms/303, VM.Clone)`:      false,
		"  + timeout_clone = 1800\n  + timeout_start_vm = 300\n":                                    false,
		`task "UPID:pve1:qmclone:9000:root@pam!t:" failed to complete with exit code: out of space`: false,
	} {
		if is.MatchString(text) != want {
			t.Errorf("%s: %v, want %v", text, !want, want)
		}
	}
	root, err := templates.FS.ReadFile("root.hcl")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(root), `unanswered = join("|", [`)
	list, _, _ = strings.Cut(list, "])\n")
	var parts []string
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(list, -1) {
		parts = append(parts, strings.ReplaceAll(m[1], `\\`, `\`))
	}
	if got := strings.Join(parts, "|"); got != Unanswered {
		t.Errorf("root.hcl has %q", got)
	}
}

// TestNotMade: a VM that a request without an answer may still make is kept; its record ends
// with another run.
func TestNotMade(t *testing.T) {
	inv := &cluster.Inventory{Guests: []cluster.Guest{{VMID: 301}}}
	b := Begun{"a": {VMID: 300}, "b": {VMID: 301}}
	b.Keep()
	b["c"] = BegunVM{VMID: 302}
	b.Begin("a", BegunVM{VMID: 300, Start: true}, nil) // a second run, while the first one's clone waits for a lock
	b.NotMade(inv)
	if len(b) != 2 || !b["a"].Unanswered {
		t.Errorf("kept are %v", b)
	}
}

// TestTaken: a guest that had the VMID of a VM when a run asked for it is not that VM, unless an earlier run may have made it.
func TestTaken(t *testing.T) {
	const clone = "error cloning VM: received an HTTP 500 response - Reason: unable to create VM 300: config file already exists"
	for name, c := range map[string]struct {
		vm   BegunVM
		log  string
		ends bool
	}{
		"a clone":                     {BegunVM{VMID: 300, Start: true}, clone, true},
		"broken into lines":           {BegunVM{VMID: 300}, strings.ReplaceAll(clone, " ", "\n"), true},
		"a creation":                  {BegunVM{VMID: 300}, "Reason: unable to create VM 300 - VM 300 already exists on node 'pve1'", true},
		"a clone to another node":     {BegunVM{VMID: 300}, "close (rename) atomic file '/etc/pve/nodes/pve2/qemu-server/300.conf' failed: File exists", true},
		"another VM":                  {BegunVM{VMID: 30}, clone, false},
		"another failure":             {BegunVM{VMID: 300}, "storage 'nosuch' does not exist", false},
		"a killed run asked for it":   {BegunVM{VMID: 300, Again: true}, clone, false},
		"a request without an answer": {BegunVM{VMID: 300, Unanswered: true}, clone, false},
		"a rebuild of it":             {BegunVM{VMID: 300, Replaces: true}, clone, false},
	} {
		b := Begun{"a": c.vm}
		if b.Taken(c.log); (len(b) == 0) != c.ends {
			t.Errorf("%s: the record is %v, want its end: %v", name, b, c.ends)
		}
	}
	b := Begun{"a": {VMID: 300}}
	if b.Begin("a", BegunVM{VMID: 300}, nil); !b["a"].Again {
		t.Error("a second run does not record that there was a first one")
	}
}
