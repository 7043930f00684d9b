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
	if in.missing(e) {
		if !t.exists && rest != "" && !in.onOtherNode(vmid, node) {
			t.decided = true
		}
		return
	}
	if e.ok() && (rest == "/status/start" || rest == "/status/stop" || rest == "/status/shutdown") && !t.decided && in.exitStatus(e) == "OK" {
		// Only an existing guest can be started or stopped.
		t.see(node, kind)
	}
	if !e.reached() || t.decided {
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

// missing reports whether a node does not have the guest of a call, as the response or the
// task of the call says.
func (in *inferred) missing(e *Exchange) bool {
	why := e.Reason
	switch {
	case e.ok():
		why = in.exitStatus(e)
	case e.Status != 500:
		return false
	}
	return strings.Contains(why, "does not exist") && strings.Contains(why, "onfiguration file") ||
		strings.Contains(why, "unable to find configuration file")
}

// reached reports whether a response proves that the node has the guest of the call.
func (e *Exchange) reached() bool {
	_, _, _, rest := e.guest()
	switch e.Status {
	case 200:
		return rest != "/status/start" && rest != "/status/stop"
	case 500:
		return !strings.Contains(e.Reason, "hostname lookup") && !strings.Contains(e.Reason, "quorum")
	case 595:
		return e.Method == http.MethodGet
	}
	return false
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

var alreadyOn = regexp.MustCompile(`(VM|CT) \d+ already exists on node '([^']+)'`)

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
		get(vmid).sawAgent(e.Reason)
	}
	if m := volidText.FindStringSubmatch(e.Reason); m != nil && vmid != 0 && m[2] == strconv.Itoa(vmid) {
		get(vmid).volid = m[1]
	}
	in.volumes(e, get)
	if m, ok := e.data().(map[string]any); ok && rest == "/migrate" && e.Method == http.MethodGet {
		get(vmid).sawMigrateCheck(m)
	}
	in.byMigration(e, get)
	in.byClone(e, get)
}

// sawAgent reads the state of the agent from the refusal of a call to it.
func (t *trace) sawAgent(reason string) {
	on := true
	switch reason {
	case agentText:
		t.agent, t.running = "1", &on
	case noAgent:
		t.agent, t.running = "0", &on
	}
}

// sawMigrateCheck reads the power and the local disks of a guest from what a migration
// needs.
func (t *trace) sawMigrateCheck(m map[string]any) {
	on := number(m["running"]) == 1
	t.running = &on
	for _, d := range asMaps(m["local_disks"]) {
		if id := fmt.Sprint(d["volid"]); d["drivename"] == "scsi0" && t.volid == "" {
			t.volid = id
		} else if d["drivename"] == "ide2" {
			t.cloud = id
		}
	}
}

// byClone reads the disk of a guest from the log of a task that cloned it.
func (in *inferred) byClone(e *Exchange, get func(int) *trace) {
	u := e.task()
	if u == nil {
		return
	}
	for _, line := range e.list() {
		text, _ := line["t"].(string)
		m := driveText.FindStringSubmatch(text)
		if m == nil || strings.Contains(m[3], "cloudinit") {
			continue
		}
		if t := get(number(u[6])); t.volid == "" {
			t.volid = m[3]
		}
	}
}

// byMigration reads from the log of a migration that all disks were shared.
func (in *inferred) byMigration(e *Exchange, get func(int) *trace) {
	u := e.task()
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
