package check

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/tf"
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
	if got := hclList(t, "unanswered"); got != Unanswered {
		t.Errorf("root.hcl has %q", got)
	}
}

// hclList is the list of patterns of a name in root.hcl, as one pattern.
func hclList(t *testing.T, name string) string {
	t.Helper()
	_, list, _ := strings.Cut(rootHCL(t), name+` = replace(join("|", [`)
	list, _, _ = strings.Cut(list, "\n  ]), ")
	var parts []string
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(list, -1) {
		parts = append(parts, strings.ReplaceAll(m[1], `\\`, `\`))
	}
	return strings.Join(parts, "|")
}

func rootHCL(t *testing.T) string {
	t.Helper()
	root, err := templates.FS.ReadFile("root.hcl")
	if err != nil {
		t.Fatal(err)
	}
	return string(root)
}

// TestBrokenLines: the hooks find what OpenTofu prints with colors, and breaks into lines with a rule before each.
func TestBrokenLines(t *testing.T) {
	if got := hclList(t, "taken"); got != taken.String() {
		t.Errorf("root.hcl has %q", got)
	}
	_, space, _ := strings.Cut(rootHCL(t), `space = "`)
	space, _, _ = strings.Cut(space, "\"\n")
	space = strings.ReplaceAll(space, `\\`, `\`)
	for text, pattern := range map[string]string{
		"error cloning VM: received an HTTP 500 response - Reason: unable to create VM 300: config file already exists": taken.String(),
		"Reason: unable to create VM 300 - VM 300 already exists on node 'pve1'":                                        taken.String(),
		"read tcp 10.0.0.1:40000->10.0.0.2:8006: read: connection reset by peer":                                        Unanswered,
	} {
		is := regexp.MustCompile(strings.ReplaceAll(pattern, `\s+`, space))
		for _, gap := range []string{" ", "\n", "\n│ ", "\n\x1b[31m│\x1b[0m \x1b[0m"} {
			if !is.MatchString(strings.ReplaceAll(text, " ", gap)) {
				t.Errorf("%q is not found with %q between words", text, gap)
			}
		}
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

// TestInNoState: where a run does not say which VMID was taken, only what the state has is ours, or what an earlier run may have made.
func TestInNoState(t *testing.T) {
	states := tf.States{tf.VMUnit("live"): {Resources: []tf.Resource{
		{Type: guest.VMResource, Key: "half", VMID: 301, Tainted: true}, {Type: guest.VMResource, Key: "moved", VMID: 399},
	}}}
	b := Begun{
		"taken": {VMID: 300}, "half": {VMID: 301}, "moved": {VMID: 302}, "asked": {VMID: 303, Unanswered: true},
		"again": {VMID: 304, Again: true}, "rebuilt": {VMID: 305, Replaces: true},
	}
	b.InNoState(states, "live")
	if got := slices.Sorted(maps.Keys(b)); !slices.Equal(got, []string{"again", "asked", "half", "rebuilt"}) {
		t.Errorf("kept are %v", got)
	}
}
