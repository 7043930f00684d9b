package replay

import (
	"fmt"
	"strconv"
	"strings"
)

// byCreate reads calls that make a guest, or find its number taken.
func (in *inferred) byCreate(e *Exchange, get func(int) *trace) {
	if e.Method != "POST" {
		return
	}
	newid := 0
	node, _, src, rest := e.guest()
	switch {
	case rest == "/clone":
		newid = number(fmt.Sprint(e.str("newid")))
		if e.ok() {
			get(src).see(node, "qemu")
		}
	case strings.HasSuffix(e.api(), "/qemu"), strings.HasSuffix(e.api(), "/lxc"):
		newid = number(fmt.Sprint(e.str("vmid")))
		node = strings.Split(e.api(), "/")[2]
	}
	if newid == 0 {
		return
	}
	t := get(newid)
	if m := alreadyOn.FindStringSubmatch(e.Reason); m != nil && !t.decided {
		t.see(m[1], "qemu")
		return
	}
	if strings.Contains(e.Reason, "config file already exists") && !t.decided {
		t.see(node, "qemu")
		return
	}
	if !e.ok() || t.exists {
		return
	}
	switch exit := in.exit(e); {
	case (strings.Contains(exit, "File exists") || strings.Contains(exit, "already exists")) && !in.madeOtherwise(e, newid):
		t.exists, t.kind = true, "qemu"
	default:
		t.decided = true
	}
}

// madeOtherwise says that another request of the scenario makes the guest.
func (in *inferred) madeOtherwise(e *Exchange, vmid int) bool {
	for _, x := range in.s.Exchanges {
		if x == e || x.Method != "POST" || !x.ok() || x.str("newid") != strconv.Itoa(vmid) {
			continue
		}
		if exit := in.exit(x); exit == "" || exit == "OK" {
			return true
		}
	}
	return false
}

// exit is how the task a call started ended, "" when nobody asked.
func (in *inferred) exit(e *Exchange) string {
	upid, _ := e.data().(string)
	for _, x := range in.s.Exchanges {
		if upid == "" || !strings.Contains(strings.ReplaceAll(x.Path, "%21", "!"), upid) || !strings.HasSuffix(x.Path, "/status") {
			continue
		}
		if m, ok := x.data().(map[string]any); ok && m["exitstatus"] != nil {
			return fmt.Sprint(m["exitstatus"])
		}
	}
	return ""
}

func copyKeys(m map[string]bool) map[string]bool {
	out := map[string]bool{}
	for k := range m {
		out[k] = true
	}
	return out
}
