//go:build unix

package real

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"stackgen/internal/pvesim"
)

// An updateCase is something that an update of a VM needs and that is missing.
type updateCase struct {
	what   string                            // the update
	edits  []string                          // of the spec: pairs of old and new text
	seed   func(*pvesim.Seed)                // changes the cluster
	rights func(*pvesim.Seed) []pvesim.Grant // of the token
	server string                            // part of the error without the check
	want   string                            // part of the finding
	words  map[string]string                 // values of placeholders in the steps
}

// updateCases are the rows of the table.
func updateCases() []updateCase {
	with := func(text string) []string { return []string{"serial: socket", text + "\n    serial: socket"} }
	less := func(privilege, update string, edits ...string) updateCase {
		return updateCase{update, edits, nil, lacking(privilege), privilege, privilege + " on /", nil}
	}
	root := func(update, server, want string, edits ...string) updateCase {
		return updateCase{update, edits, nil, lacking(), server, want, map[string]string{"NAME": "stick"}}
	}
	cases := []updateCase{
		less("VM.Config.CPU", "cores", with("cores: 3")...),
		less("VM.Config.Memory", "memory", with("memory: 3072")...),
		less("VM.Config.Network", "a second network device", with("networks: [{bridge: vmbr0}, {bridge: vmbr0}]")...),
		less("SDN.Use", "bridge of a network device", with("networks: [{bridge: vmbr1}]")...),
		less("VM.Config.Options", "description", with("description: text")...),
		less("VM.Config.Options", "restart, which only the provider knows", with("restart: true")...),
		less("VM.Config.HWType", "tablet", with("tablet: false")...),
		less("VM.Config.Disk", "boot order", with("boot_order: [scsi0, net0]")...),
		less("VM.Config.Disk", "size of a disk", "size: 8", "size: 9"),
		less("Datastore.AllocateSpace", "size of a disk", "size: 8", "size: 9"),
		less("Datastore.AllocateSpace", "another disk", "datastore: shared}]", "datastore: shared}, {interface: scsi1, size: 1, datastore: local-lvm}]"),
		less("Datastore.AllocateSpace", "datastore of a disk", "datastore: shared}]", "datastore: local-lvm}]", "serial: socket", "restart: true\n    serial: socket"),
		less("VM.Config.Cloudinit", "DNS servers of cloud-init", "cloud_init: {", "cloud_init: {nameservers: [192.0.2.53], "),
		less("VM.Config.CDROM", "datastore of the cloud-init drive", "cloud_init: {datastore: shared", "cloud_init: {datastore: local-lvm", "serial: socket", "restart: true\n    serial: socket"),
		less("Mapping.Use", "a mapped USB device", with("usb: [{mapping: stick}]")...),
		less("VM.PowerMgmt", "memory, with a restart", with("memory: 3072\n    restart: true")...),
		less("VM.Migrate", "node", "node: pve1\n    profile", "node: pve2\n    profile"),
		less("Pool.Allocate", "pool", with("pool: other")...),
		root("starting order", "/, Sys.Modify", "Sys.Modify on /", with("startup: {order: 1}")...),
		{"tag that is in no list", with("tags: [other]"), func(s *pvesim.Seed) {
			s.Options = map[string]string{"user-tag-access": "user-allow=list,user-allow-list=web"}
		}, lacking(), "/, Sys.Modify for modifying tag 'other'", "Sys.Modify on /", nil},
		root("CPU affinity", "only root can set 'affinity' config", "only root@pam may set cpu_affinity", with("cpu_affinity: 0-3")...),
		root("a USB device of the node", "only root can set 'usb0' config for real devices", "only root@pam may set usb with a device of the node", with(`usb: [{host: "1-1"}]`)...),
		root("a serial device of the node", "only root can modify 'serial1' config for real devices", "only root@pam may set serial with a device of the node", "serial: socket", "serial: [socket, /dev/ttyS0]"),
	}
	return append(cases, updateCase{"cores, of a VM without a pool", []string{"pool: {id: live}\n", "", "serial: socket", "cores: 3\n    serial: socket"}, func(s *pvesim.Seed) { s.Pools[0].Guests = nil },
		lacking("VM.Config.CPU"), "VM.Config.CPU", "VM.Config.CPU on /vms", nil})
}

// TestFeasibilityOfUpdates lets the real provider make updates of a VM with a token that
// lacks what each needs, for each row of the table in docs/feasibility.md: the apply fails.
// preflight names it before that; after each way out, preflight is 0 and the apply succeeds.
func TestFeasibilityOfUpdates(t *testing.T) {
	tools := findFaultTools(t)
	world := &faultWorld{tools: tools, build: func(w *faultCase) {
		w.sim.Change(func(s *pvesim.Seed) {
			s.Pools = []*pvesim.Pool{{ID: "live"}, {ID: "other"}}
			for _, n := range s.Nodes {
				n.Bridges = []string{"vmbr0", "vmbr1"}
			}
		})
		w.guard = "off"
		w.settings("")
		w.spec(updateSpec, true)
		w.must(w.apply())
	}}
	var lock sync.Mutex
	rows := make([]string, len(updateCases()))
	t.Run("cases", func(all *testing.T) {
		for i, c := range updateCases() {
			all.Run(strings.NewReplacer(" ", "-", ",", "").Replace(c.what)+"-"+strings.Fields(c.server)[0], func(t *testing.T) {
				t.Parallel()
				row := c.run(all, t, world)
				lock.Lock()
				rows[i] = row
				lock.Unlock()
			})
		}
	})
	feasibleTable(t, "updates", "| update | the server says, without the check | preflight says | ways out |\n|---|---|---|---|\n", rows)
}

// updateSpec is the stack of which every case changes one thing.
var updateSpec = strings.Replace(feasibleSpec, "node: pve1\n", "node: pve1\n    profile: nodes\n", 1) + "profiles: {nodes: {ignore_changes: [started]}}\n"

// enter makes the state of the case in a copy of the world.
func (c *updateCase) enter(all, t *testing.T, world *faultWorld, guard string) *faultCase {
	t.Helper()
	w := world.copy(all, t, func(s *pvesim.Seed) {
		s.Roles = []*pvesim.Role{{ID: "all", Privileges: strings.Split(feasibleRights, ",")}}
		s.Users = append(s.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: feasibleSecret}}})
		for _, grant := range c.rights(s) {
			s.ACL = append(s.ACL, &grant)
		}
		if c.seed != nil {
			c.seed(s)
		}
	})
	w.world, w.guard = world, guard
	w.tools = w.tools.With("PROXMOX_VE_API_TOKEN=ci@pve!t=" + feasibleSecret)
	w.settings("")
	spec := updateSpec
	for i := 0; i+1 < len(c.edits); i += 2 {
		if !strings.Contains(spec, c.edits[i]) {
			t.Fatalf("the spec has no %q", c.edits[i])
		}
		spec = strings.Replace(spec, c.edits[i], c.edits[i+1], 1)
	}
	w.spec(spec, true)
	return w
}

var refused = regexp.MustCompile(`Permission check failed \([^)]*\)|only root can \w+ '\w+' config( for real devices)?`)

// refusal is what the server refused first of an apply.
func refusal(output string) string {
	return refused.FindString(strings.Join(strings.Fields(output), " "))
}

// run tests one case, and returns its row.
func (c *updateCase) run(all, t *testing.T, world *faultWorld) string {
	w := c.enter(all, t, world, "off")
	r := w.apply()
	said := refusal(r.output)
	if r.code == 0 || !strings.Contains(said, c.server) {
		t.Errorf("without the check: exit %d, %q, want %q\n%s", r.code, said, c.server, r.output)
	}
	r = c.enter(all, t, world, "full").preflight(t, 3)
	if !strings.Contains(r.output, c.want) {
		t.Errorf("preflight does not say %q:\n%s", c.want, r.output)
	}
	ways := waysIn(r.output)
	if len(ways) == 0 {
		t.Fatalf("no way out is printed:\n%s", r.output)
	}
	var steps []string
	for i := range ways {
		w := c.enter(all, t, world, "full")
		h := w.startHost()
		way := waysIn(w.preflight(t, 3).output)[i]
		steps = append(steps, cellOf(&way))
		if reason := (&wayState{words: c.words}).take(w, h, &way); reason != "" {
			t.Fatalf("%s\n%s", way.text(), reason)
		}
		w.must(w.stackgen("render"))
		if r := w.preflight(t, 0); r.code != 0 {
			t.Fatalf("after %s", way.text())
		}
		if r := w.apply(); r.code != 0 {
			t.Errorf("preflight is 0 after\n%s\nand the apply fails: exit %d\n%s", way.text(), r.code, r.output)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", c.what, faultText.Replace(volatile.ReplaceAllString(said, "")), faultText.Replace(ways[0].reason), strings.Join(slices.Compact(steps), "<br>"))
}
