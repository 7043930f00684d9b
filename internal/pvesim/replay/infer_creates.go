package replay

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// byCreate reads calls that create a guest or fail because its VMID exists.
func (in *inferred) byCreate(e *Exchange, get func(int) *trace) {
	if e.Method != http.MethodPost {
		return
	}
	newid := 0
	node, kind, src, rest := e.guest()
	if kind == "" {
		kind = "qemu"
	}
	switch {
	case rest == "/clone":
		newid = number(fmt.Sprint(e.str("newid")))
		if t := get(src); e.ok() && !t.decided {
			t.see(node, kind)
		}
	case createsGuest(e.api()):
		newid = number(fmt.Sprint(e.str("vmid")))
		node = strings.Split(e.api(), "/")[2]
	}
	if newid == 0 {
		return
	}
	t := get(newid)
	if m := alreadyOn.FindStringSubmatch(e.Reason); m != nil && !t.decided {
		t.see(m[2], map[string]string{"VM": "qemu", "CT": "lxc"}[m[1]])
		return
	}
	if strings.Contains(e.Reason, "config file already exists") && !t.decided {
		t.see(node, "qemu")
		return
	}
	if !e.ok() || t.exists {
		return
	}
	switch exit := in.exitStatus(e); {
	case (strings.Contains(exit, "File exists") || strings.Contains(exit, "already exists")) && !in.createdByOther(e, newid):
		t.exists, t.kind = true, "qemu"
	default:
		t.decided = true
	}
}

// createdByOther reports whether another request of the scenario creates the
// guest.
func (in *inferred) createdByOther(e *Exchange, vmid int) bool {
	for _, x := range in.s.Exchanges {
		if x == e || x.Method != http.MethodPost || !x.ok() || x.str("newid") != strconv.Itoa(vmid) {
			continue
		}
		if exit := in.exitStatus(x); exit == "" || exit == "OK" {
			return true
		}
	}
	return false
}

// exitStatus returns the exit status of the task that a call started, or "" if
// no request shows it.
func (in *inferred) exitStatus(e *Exchange) string {
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
