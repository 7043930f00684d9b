//go:build unix

package cmd

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"stackgen/internal/pvesim"
)

// lab makes a project with VMs 301 to 30n, which exist, stopped.
func lab(t *testing.T, n int) {
	t.Helper()
	s := simulated(t)
	spec := "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 300-399\ndefaults: {node: pve1}\nvms:\n"
	for i := 1; i <= n; i++ {
		if err := s.Add(&pvesim.Guest{VMID: 300 + i, Node: "pve1", Agent: pvesim.Agent{Mode: "present"}, Config: map[string]string{
			"name": fmt.Sprintf("vm%d", i), "memory": "512", "net0": fmt.Sprintf("virtio=BC:24:11:00:03:%02X,bridge=vmbr0", i),
			"smbios1": fmt.Sprintf("uuid=4c1f3a52-0000-4d1a-9c54-%012d", i)}}); err != nil {
			t.Fatal(err)
		}
		spec += fmt.Sprintf("  vm%d: {adopt: {vmid: %d}}\n", i, 300+i)
	}
	file(t, "specs/lab.yaml", spec)
	var out bytes.Buffer
	if code := Main([]string{"stackgen", "render"}, strings.NewReader("random bytes"), strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("exit %d\n%s", code, out.String())
	}
}

// TestActing: an action is shown as a run is: lines in a log, or objects, and then the table.
func TestActing(t *testing.T) {
	lab(t, 2)
	code, out, errOut := run(t, "power", "start", "lab")
	if code != 0 || !strings.Contains(out, "2 VMs: 2 started") || !strings.Contains(errOut, "power start: start 2 VMs") ||
		!strings.Contains(errOut, "vm1: starting (VMID 301, node pve1)") || !strings.Contains(errOut, "power start done after") {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
	code, out, errOut = run(t, "power", "stop", "lab", "--yes", "--progress", "json", "--format", "json")
	if code != 0 || !strings.Contains(out, `"result": "done"`) || !strings.Contains(errOut, `"command":"power stop"`) ||
		!strings.Contains(errOut, `"phase":"stopping"`) || !strings.Contains(errOut, `"event":"end"`) {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
	if code, out, errOut = run(t, "power", "stop", "lab", "--yes"); code != 0 || strings.Contains(errOut, "power stop") {
		t.Errorf("nothing to do, exit %d\n%s%s", code, out, errOut)
	}
}

// An interrupter sends this process an interrupt when a text is written.
type interrupter struct {
	text bytes.Buffer
	at   string
	sent bool
	t    *testing.T
}

func (i *interrupter) Write(text []byte) (int, error) {
	if !i.sent && strings.Contains(string(text), i.at) {
		i.sent = true
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			i.t.Error(err)
		}
	}
	return i.text.Write(text)
}

// TestActingInterrupted: an interrupt says what goes on in Proxmox VE, and the command for what was
// not begun. A reboot names these VMs: the others are not rebooted twice.
func TestActingInterrupted(t *testing.T) {
	for _, a := range []struct{ action, again string }{
		{"shutdown", "> stackgen power shutdown lab --parallelism 1 --yes\n"},
		{"reboot", "> stackgen power reboot lab/vm2 lab/vm3 --parallelism 1 --yes\n"},
	} {
		t.Run(a.action, func(t *testing.T) {
			lab(t, 3)
			if code, out, errOut := run(t, "power", "start", "lab"); code != 0 {
				t.Fatalf("exit %d\n%s%s", code, out, errOut)
			}
			var out bytes.Buffer
			log := &interrupter{at: "vm1: ", t: t}
			code := Main([]string{"stackgen", "power", a.action, "lab", "--parallelism", "1", "--yes"}, strings.NewReader(""), strings.NewReader(""), &out, log)
			got := log.text.String() + out.String()
			for _, text := range []string{
				"interrupted: no further guest is begun, and what was sent goes on in Proxmox VE", "vm1: goes on in Proxmox VE",
				"power " + a.action + " interrupted after", "interrupted; its task goes on", a.again,
			} {
				if code != 1 || !strings.Contains(got, text) {
					t.Errorf("exit %d, no %q in\n%s", code, text, got)
				}
			}
		})
	}
}
