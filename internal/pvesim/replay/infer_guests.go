package replay

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// trace is what the recording shows about one guest before the scenario changed
// it.
type trace struct {
	vmid        int
	node        string
	kind        string
	exists      bool
	decided     bool // created by the scenario, or missing: later requests do not show the initial state
	conf        map[string]any
	touched     map[string]bool // keys written before the configuration was read
	before      map[string]bool // keys written before the list was read
	reported    map[string]any  // what its node last reported, before any write
	status      map[string]any  // its current status, before any write
	list        map[string]any
	running     *bool
	agent       string
	listed      bool
	current     bool // the list is that of the node
	silent      bool
	confTouched map[string]bool
	volid       string
	moved       bool // a migration corrected the sizes in its configuration
	shared      bool // a migration copied none of its disks
	written     bool // the scenario has changed it
	cloud       string
}

func (in *inferred) guests() {
	traces := map[int]*trace{}
	get := func(vmid int) *trace {
		if traces[vmid] == nil {
			traces[vmid] = &trace{vmid: vmid, touched: map[string]bool{}}
		}
		return traces[vmid]
	}
	for _, e := range in.s.Exchanges {
		in.byPath(e, get)
		in.byCreate(e, get)
		in.byList(e, get)
		in.byText(e, get)
	}
	ids := make([]int, 0, len(traces))
	for id := range traces {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		in.addGuest(traces[id])
	}
	in.dropMissing(traces)
}

// byPath reads calls about the guest itself.
func (in *inferred) byPath(e *Exchange, get func(int) *trace) {
	node, kind, vmid, rest := e.guest()
	if vmid == 0 {
		return
	}
	t := get(vmid)
	why := e.Reason
	if e.ok() {
		why = in.exitStatus(e)
	}
	missing := strings.Contains(why, "does not exist") && strings.Contains(why, "onfiguration file") ||
		strings.Contains(why, "unable to find configuration file")
	if missing && (e.Status == 500 || e.ok()) {
		if !t.exists && rest != "" && !in.onOtherNode(vmid, node) {
			t.decided = true
		}
		return
	}
	if e.ok() && (rest == "/status/start" || rest == "/status/stop" || rest == "/status/shutdown") && !t.decided && in.exitStatus(e) == "OK" {
		// Only an existing guest can be started or stopped.
		t.see(node, kind)
	}
	reached := e.ok() && rest != "/status/start" && rest != "/status/stop" || e.Status == 500 && !strings.Contains(e.Reason, "hostname lookup") && !strings.Contains(e.Reason, "quorum")
	if e.Status == 595 {
		reached = e.Method == http.MethodGet
	}
	if !reached || t.decided {
		return
	}
	t.see(node, kind)
	switch {
	case e.Method == http.MethodGet && rest == "/config" && e.ok() && t.conf == nil && len(e.Query) == 0:
		t.conf, _ = e.data().(map[string]any)
		t.confTouched = maps.Clone(t.touched)
	case e.Method == http.MethodGet && rest == "/status/current" && e.ok():
		m, _ := e.data().(map[string]any)
		t.sawStatus(m)
	case e.Method != http.MethodGet && e.ok():
		t.note(e, rest)
	}
}

// onOtherNode reports whether another call finds the guest on another node.
func (in *inferred) onOtherNode(vmid int, node string) bool {
	for _, e := range in.s.Exchanges {
		n, _, v, _ := e.guest()
		if v == vmid && n != node && e.ok() {
			return true
		}
	}
	return false
}

func (t *trace) see(node, kind string) {
	t.exists = true
	if t.node == "" {
		t.node, t.kind = node, kind
	}
}

func (t *trace) sawStatus(m map[string]any) {
	if t.running == nil {
		on := m["status"] == "running"
		t.running = &on
	}
	if t.list == nil && t.conf == nil {
		t.list, t.before = m, maps.Clone(t.touched)
	}
	if len(t.touched) == 0 && t.status == nil {
		t.status = m
		on := m["status"] == "running"
		t.running = &on
	}
}

// note stores the keys that a write changes, because a later read of them does
// not show the initial state.
func (t *trace) note(e *Exchange, rest string) {
	switch rest {
	case "/status/start", "/status/stop", "/status/shutdown":
		if t.running == nil {
			on := rest != "/status/start"
			t.running = &on
		}
	case "/migrate":
		t.decided, t.moved = t.conf != nil, true
	}
	t.written = true
	if t.conf != nil {
		return
	}
	t.touched["lock"], t.touched["parent"] = true, true
	if rest == "/clone" {
		return
	}
	for k := range e.form {
		t.touched[k] = true
	}
	for _, k := range strings.Split(e.str("delete"), ",") {
		t.touched[k] = true
	}
	if d := e.str("disk"); d != "" {
		t.touched[d] = true
	}
}

var alreadyOn = regexp.MustCompile(`already exists on node '([^']+)'`)

var (
	volidText = regexp.MustCompile(`'([a-z][a-z0-9-]*:[^']*vm-(\d+)-disk-\d+[^']*)'`)
	driveText = regexp.MustCompile(`create (full|linked) clone of drive (\w+) \(([^)]+)\)`)
	agentText = "QEMU guest agent is not running"
	noAgent   = "No QEMU guest agent configured"
)

// byText reads volume names from messages and logs, and the state of the agent.
func (in *inferred) byText(e *Exchange, get func(int) *trace) {
	_, _, vmid, rest := e.guest()
	if vmid != 0 && strings.HasPrefix(rest, "/agent/") {
		t := get(vmid)
		on := true
		switch e.Reason {
		case agentText:
			t.agent, t.running = "1", &on
		case noAgent:
			t.agent, t.running = "0", &on
		}
	}
	if m := volidText.FindStringSubmatch(e.Reason); m != nil && vmid != 0 && m[2] == strconv.Itoa(vmid) {
		get(vmid).volid = m[1]
	}
	in.volumes(e, get)
	if m, ok := e.data().(map[string]any); ok && rest == "/migrate" && e.Method == http.MethodGet {
		on := number(m["running"]) == 1
		get(vmid).running = &on
		for _, d := range asMaps(m["local_disks"]) {
			if id := fmt.Sprint(d["volid"]); d["drivename"] == "scsi0" && get(vmid).volid == "" {
				get(vmid).volid = id
			} else if d["drivename"] == "ide2" {
				get(vmid).cloud = id
			}
		}
	}
	in.byMigration(e, get)
	for _, line := range e.list() {
		text, _ := line["t"].(string)
		if m := driveText.FindStringSubmatch(text); m != nil && !strings.Contains(m[3], "cloudinit") {
			if u := upidPattern.FindStringSubmatch(strings.ReplaceAll(e.Path, "%21", "!")); u != nil {
				if t := get(number(u[6])); t.volid == "" {
					t.volid = m[3]
				}
			}
		}
	}
}

// byMigration reads from the log of a migration that all disks were shared.
func (in *inferred) byMigration(e *Exchange, get func(int) *trace) {
	u := upidPattern.FindStringSubmatch(strings.ReplaceAll(e.Path, "%21", "!"))
	if u == nil || u[5] != "qmigrate" || !strings.HasSuffix(e.Path, "/log") {
		return
	}
	text := ""
	for _, line := range e.list() {
		text += fmt.Sprintln(line["t"])
	}
	if strings.Contains(text, "finished successfully") && !strings.Contains(text, "found ") {
		get(number(u[6])).shared = true
	}
}
