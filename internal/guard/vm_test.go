package guard

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A scene is web1 (VMID 100) on pve1, and what a case changes of it.
type scene struct {
	Input
	spec  *schema.VM
	entry *lock.VM
}

func (s *scene) state() *tf.Resource {
	unit := s.State[tf.VMUnit("lab")]
	return &unit.Resources[0]
}

func (s *scene) guest() *cluster.Guest { return &s.Inventory.Guests[0] }

func (s *scene) retire() {
	s.entry.Status = lock.Retired
	s.Project.Stacks[0].VMs = s.Project.Stacks[0].VMs[1:]
}

// mayNotDestroy makes the token one that may stop guests, and not delete them.
func (s *scene) mayNotDestroy() {
	s.Inventory.Access = &cluster.Access{User: "ci@pve", Rights: cluster.Rights{"/vms": {cluster.VMPowerMgmt: true}}}
}

// running makes the VM one that runs, and whose agent the provider waits for.
func (s *scene) running(agent string) {
	s.guest().Status, s.guest().Config.Agent, s.guest().Config.Raw = "running", agent, map[string]string{"agent": "1"}
	if len(s.State[tf.VMUnit("lab")].Resources) > 0 {
		s.state().Wait = "15m"
	}
}

// addGuest adds guest 300 with the identity of web1.
func (s *scene) addGuest(uuid string, macs ...string) {
	g := newGuest(300, "copy")
	g.Config.UUID, g.Config.MACs = uuid, macs
	s.Inventory.Guests = append(s.Inventory.Guests, g)
}

// begun makes the VM one that a run from here began to create, and that nobody has started.
func (s *scene) begun() {
	s.Begun = map[string]cluster.Begun{"lab/web1": {VMID: 100}}
	s.guest().Status = "stopped"
}

// unlocked makes the guest what an interrupted creation leaves once its lock is removed: Proxmox VE makes its name.
func (s *scene) unlocked(name string) {
	s.guest().Name, s.guest().Status, s.guest().Config = name, "stopped", &cluster.Config{Raw: map[string]string{}}
	s.entry.Fingerprint = nil
}

// fromTemplate makes the VM, which has the disk scsi0, a clone of a template with some disks.
func (s *scene) fromTemplate(disks ...string) {
	template := newGuest(9000, "template")
	template.Template, template.Config.Raw = true, map[string]string{}
	for _, at := range disks {
		template.Config.Raw[at] = "local-lvm:base-9000-disk-0,size=2G"
	}
	s.Inventory.Guests = append(s.Inventory.Guests, template)
	s.guest().Config.Raw = map[string]string{"scsi0": "local-lvm:vm-100-disk-0,size=2G", "ide2": "local-lvm:vm-100-cloudinit,media=cdrom"}
	s.entry.Template = &lock.Template{VMID: 9000, Node: "pve1"}
}

// hide adds a part of the cluster that the token does not see.
func (s *scene) hide(path, privilege string) {
	s.Inventory.Gaps = append(s.Inventory.Gaps, cluster.Gap{Path: path, Privilege: privilege, Reason: "not visible", Fix: "pveum acl modify"})
}

// Where web1 is, before a case changes something.
const (
	nowhere   = iota
	onlyState // it was deleted
	onlyGuest // its state is lost
	both
)

// A ruleCase is a scene and the rule that judges web1 in it.
type ruleCase struct {
	rule   string
	from   int
	change func(*scene)
	step   string // a part of a line that is printed; empty if the rule prints none
}

func (c *ruleCase) scene() *scene {
	var state []tf.Resource
	var guests []cluster.Guest
	if c.from == onlyState || c.from == both {
		state = append(state, inState("web1", 100))
	}
	if c.from == onlyGuest || c.from == both {
		guests = append(guests, newGuest(100, "web1"))
	}
	in := input(state, guests...)
	in.Project.Stacks[0].VMs = in.Project.Stacks[0].VMs[:1]
	s := &scene{Input: in, spec: in.Project.Stacks[0].VMs[0], entry: in.Lock.Stacks[0].Value.VMs.Get("web1")}
	if c.change != nil {
		c.change(s)
	}
	return s
}

// TestVMRules: which rule judges a VM, and what it prints. No condition changes anything, and
// every rule has a case.
func TestVMRules(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range slices.Concat(unknownCases(), destroyCases(), conflictCases(), goneCases(), notFoundCases(), createCases(),
		busyCases(), retiringCases(), movedCases(), migrateCases(), managedCases(), templateCases()) {
		tested[c.rule] = true
		t.Run(c.rule, func(t *testing.T) { c.check(t) })
	}
	for _, r := range slices.Concat(stateRules, retiredRules, liveRules) {
		if r.only != guest.Container && !tested[r.name] {
			t.Errorf("no case has the rule %q", r.name)
		}
	}
}

// checkPlace requires that no line which destroys a guest is pasted together with one that removes it from the state:
// the first is for a node, and is not found where the second works.
func checkPlace(t *testing.T, step finding.Step) {
	t.Helper()
	destroys, removes := false, false
	for _, l := range step.Lines {
		destroys = destroys || strings.Contains(l.String(), "pvesh delete ")
		removes = removes || strings.Contains(l.String(), "terragrunt state rm ")
	}
	if destroys && removes {
		t.Errorf("one step has lines for two places: %+v", step)
	}
}

func (c *ruleCase) check(t *testing.T) {
	j := newJudge(c.scene().Input)
	at := j.places["lab"]
	s := j.subject(at, &j.all[0])
	before, listed := *s.Finding, maps.Clone(j.listed)
	rule := s.rule()
	if rule.name != c.rule {
		t.Fatalf("judged by %q", rule.name)
	}
	if !reflect.DeepEqual(*s.Finding, before) || !maps.Equal(j.listed, listed) {
		t.Errorf("a condition changed the finding: %+v", s.Finding)
	}
	if found := s.decide(); found != (rule.judge != nil) {
		t.Fatalf("a finding: %v", found)
	}
	if kind, _, _ := strings.Cut(rule.name, ":"); rule.judge != nil && s.Kind != finding.Kind(kind) {
		t.Errorf("the verdict is %s", s.Kind)
	}
	var lines []string
	for _, step := range s.Steps {
		for _, l := range step.Lines {
			lines = append(lines, l.String())
		}
		checkPlace(t, step)
	}
	if printed := strings.Join(lines, "\n"); !strings.Contains(printed, c.step) || c.step == "" && printed != "" {
		t.Errorf("printed\n%s\nwant %q", printed, c.step)
	}
}
