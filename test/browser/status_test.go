package browser

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/report"
)

// statusPage writes the page of `stackgen status --html` about VMs in all states.
func statusPage(t *testing.T, vms []report.Now) string {
	t.Helper()
	r := &report.Status{Endpoint: "https://pve.example:8006", Taken: "2026-11-25T09:41:07Z", VMs: vms, Notes: []string{"a note"}}
	var out bytes.Buffer
	check(t, r.Print(&out, report.Options{Format: "html"}))
	file := filepath.Join(t.TempDir(), "status.html")
	check(t, os.WriteFile(file, out.Bytes(), 0o666))
	return file
}

// aClass is a class of n VMs in all states.
func aClass(n int) []report.Now {
	var out []report.Now
	for i := range n {
		v := report.Now{Stack: "math", Key: fmt.Sprintf("student-with-a-long-name-%d", i), Member: "Žofia Ångström-Öz", Name: "math-student", VMID: 2300 + i,
			Node: "pve1", Power: []string{"running", "stopped", "paused", "hibernated"}[i%4], Address: "10.20.0.101", Uptime: int64(i * 3600),
			Pending: []string{"memory", "cores"}[:i%3], Template: "debian-12", Checkpoint: "baseline", CheckpointTime: "2026-11-25T08:00:00Z",
			Console: "https://pve.example:8006/?console=kvm&novnc=1&vmid=2300&vmname=a&node=pve1"}
		if i%7 == 6 {
			v.Power, v.Console, v.Problem, v.Fix = "conflict", "", "its VMID belongs to another guest", "stackgen preflight"
		}
		out = append(out, v)
	}
	return out
}

// TestStatusPage: the page of status loads nothing, logs nothing, and is not wider than a
// window of three widths, in light and dark. Its text can be read, each VM has its link, and
// names that are markup do nothing.
func TestStatusPage(t *testing.T) {
	var hostile []report.Now
	for _, name := range []string{`<script>pwned=1</script>`, `"><img src=x onerror=pwned=1>`, "\u202eeman\x1b[31m", strings.Repeat("long", 60), `' onmouseover='pwned=1`} {
		hostile = append(hostile, report.Now{Stack: name, Key: name, Member: name, Name: name, Node: name, Power: name, Address: name, Checkpoint: name,
			Console: "javascript:pwned=1", Template: name, Lock: name, Pending: []string{name}})
	}
	for name, vms := range map[string][]report.Now{"60 VMs": aClass(60), "none": nil, "hostile": hostile} {
		file, pages := statusPage(t, vms), map[string]bool{}
		for _, width := range []int64{360, 800, 1600} {
			for _, dark := range []bool{false, true} {
				tab := open(t, file, How{Width: width, Height: 800, Phone: width == 360, Dark: dark})
				if wide := eval[int64](t, tab, "document.documentElement.scrollWidth"); wide > width {
					t.Errorf("%s at %d pixels: the page is %d wide", name, width, wide)
				}
				got := eval[struct {
					Low  []string
					Seen int
					Page string
				}](t, tab, contrasts)
				if len(got.Low) > 0 || got.Seen < 3*len(vms) {
					t.Errorf("%s, dark %v: of %d texts, these have too little contrast: %s", name, dark, got.Seen, strings.Join(got.Low, "\n"))
				}
				pages[got.Page] = true
				rows := eval[int](t, tab, "[...document.querySelectorAll('tbody tr')].filter((r) => r.checkVisibility()).length")
				links := eval[int](t, tab, "document.querySelectorAll('a[href^=\"https://pve.example:8006/?console=\"]').length")
				if want := len(vms) - len(vms)/7; rows != len(vms) || name == "60 VMs" && links != want {
					t.Errorf("%s: %d rows and %d links", name, rows, links)
				}
				if eval[bool](t, tab, "'pwned' in window || document.querySelectorAll('a[href^=javascript]').length > 0") {
					t.Errorf("%s: text of the cluster is a script", name)
				}
				quiet(t, tab)
				tab.Close()
			}
		}
		if len(pages) != 2 {
			t.Errorf("%s: light and dark have the same background: %v", name, pages)
		}
	}
}
