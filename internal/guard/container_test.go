package guard

import (
	"fmt"
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

const ctMAC = "BC:24:11:00:00:01"

var ctUnit = tf.Unit{Stack: "lab", Unit: lock.UnitContainer}

// containerScene is the container dns (VMID 110) on pve1, where a case says, and what the case
// changes of it.
func containerScene(from int, change func(*scene)) *scene {
	in := input(nil)
	s := in.Project.Stacks[0]
	s.VMs = []*schema.VM{{Kind: guest.Container, Key: "dns", Path: "containers.dns", Name: "dns", Profile: "default", MACs: []string{""},
		Values: &schema.Node{Shape: schema.ShapeMap}}}
	l := &in.Lock.Stacks[0].Value
	l.Units = append(l.Units, lock.Entry[lock.Unit]{Key: lock.UnitContainer})
	l.VMs = lock.Ordered[lock.VM]{{Key: "dns", Value: lock.VM{Kind: guest.Container, VMID: 110, Node: "pve1", MACs: []string{ctMAC}}}}
	var state tf.State
	if from == onlyState || from == both {
		state.Resources = []tf.Resource{{Address: schema.GuestAddress(guest.Container, "", "dns"), Type: guest.ContainerResource, Key: "dns",
			ID: "110", VMID: 110, Node: "pve1", Name: "dns", MACs: []string{ctMAC}}}
	}
	if from == onlyGuest || from == both {
		g := newGuest(110, "dns")
		g.Kind, g.Config.MACs = guest.Container, []string{ctMAC}
		in.Inventory.Guests = append(in.Inventory.Guests, g)
	}
	in.State[ctUnit] = state
	out := &scene{Input: in, spec: s.VMs[0], entry: l.VMs.Get("dns")}
	if change != nil {
		change(out)
	}
	return out
}

// ct is the container in the state of the scene.
func (s *scene) ct() *tf.Resource { return &s.State[ctUnit].Resources[0] }

// beganContainer makes the container one that a run from here began to create.
func (s *scene) beganContainer() { s.Begun = map[string]cluster.Begun{"lab/dns": {VMID: 110}} }

func containerCases() []ruleCase {
	stranger := func(s *scene) { s.guest().Config.MACs = []string{"BC:24:11:FF:FF:FF"} }
	copied := func(s *scene) {
		g := newGuest(300, "copy")
		g.Kind, g.Config.MACs = guest.Container, []string{ctMAC}
		s.Inventory.Guests = append(s.Inventory.Guests, g)
	}
	adopts := func(s *scene) { s.spec.Adopt, s.spec.VMID = true, 110 }
	retired := func(change func(*scene)) func(*scene) {
		return func(s *scene) {
			s.retire()
			if change != nil {
				change(s)
			}
		}
	}
	return []ruleCase{
		{"create", nowhere, nil, ""},
		{"managed", both, nil, ""},
		{"adopt", onlyGuest, nil, ""},
		{"gone", onlyState, nil, "pct restore 110 BACKUP"},
		{"gone: it has another VMID now", onlyState, copied, "stackgen adopt lab/dns=300"},
		{"retiring: in no state", onlyGuest, retired(func(s *scene) { s.guest().Lock = "mounted" }), "pct unlock 110"},
		{"moved", both, func(s *scene) { s.guest().Node, s.ct().Node = "pve2", "pve2" }, ""},
		{"moved: the state has another node", both, func(s *scene) { s.guest().Node = "pve2" }, "state rm"},
		{"moved: the state has another node", both, func(s *scene) { s.guest().Node, s.Destroy = "pve2", true }, "/nodes/pve2/lxc/110/migrate --target pve1"},
		{"moved: the state has another node", both, func(s *scene) { s.guest().Node, s.Destroy = "pve2", true }, "stackgen apply specs/lab.yaml"},
		{"conflict: another guest has its VMID", both, stranger, "state rm"},
		{"conflict: another guest has its VMID", both, stranger, `mac: "BC:24:11:FF:FF:FF"`},
		{"conflict: another guest has its VMID", onlyGuest, stranger, "/nodes/pve1/lxc/110/config"},
		// The provider has written the addresses of the stranger into the state.
		{"conflict: another guest has its VMID", both, func(s *scene) { stranger(s); s.ct().MACs = s.guest().Config.MACs }, "state rm"},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { s.guest().Kind = guest.VM }, "/nodes/pve1/qemu/110/config"},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { s.guest().Config.MACs = nil }, ""},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { s.unlocked("CT110"); s.beganContainer() }, "pvesh delete /nodes/pve1/lxc/110"},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { s.unlocked("CT110") }, "pvesh get /nodes/pve1/lxc/110/config"},
		{"conflict: another guest has its MAC", nowhere, copied, ""},
		{"conflict: another guest has its MAC, too", both, copied, ""},
		{"conflict: another guest has its address", nowhere, func(s *scene) {
			s.spec.Values, _ = schema.ParseYAML("", []byte("{started: true, networks: [{bridge: vmbr0, ipv4: 10.0.0.5/24}]}"))
			g := newGuest(300, "other")
			g.Status, g.Config.Raw = "running", map[string]string{"net1": "name=eth1,bridge=vmbr0,hwaddr=BC:24:11:00:00:77,ip=10.0.0.5/16,type=veth"}
			s.Inventory.Guests = append(s.Inventory.Guests, g)
		}, "pvesh get /nodes/pve1/qemu/300/config"},
		{"conflict: other MACs in the lock", both, func(s *scene) {
			s.ct().MACs = []string{"BC:24:11:00:00:02"}
			s.guest().Config.MACs = []string{ctMAC, "BC:24:11:00:00:02"}
			s.entry.MACs = []string{"BC:24:11:00:00:03"}
			s.entry.Fingerprint = &lock.Fingerprint{MACs: []string{ctMAC}}
		}, "git stash push"},
		{"conflict: in the state of another VM", both, func(s *scene) {
			unit := s.State[tf.VMUnit("lab")]
			unit.Resources = []tf.Resource{inState("web1", 110)}
			s.State[tf.VMUnit("lab")] = unit
		}, "state rm"},
		{"ambiguous", nowhere, func(s *scene) {
			g := newGuest(300, "DNS")
			g.Kind = guest.Container
			s.Inventory.Guests = append(s.Inventory.Guests, g)
		}, "stackgen adopt lab/dns=300"},
		{"unknown: the provider cannot read it", both, func(s *scene) { s.guest().Config.Raw = map[string]string{"mp0": `/srv/a"b,mp=/media`} }, "/lxc/110/config"},
		{"cannot-create", nowhere, func(s *scene) { s.entry.Node = "pve9" }, "node: NAME"},
		{"not-found: the spec adopts it", nowhere, adopts, "adopt: {vmid: N}"},
		// Nothing else lets one be created that existed before: not an archive that it inherits, not a node that is wrong.
		{"not-found: the spec adopts it", nowhere, func(s *scene) { adopts(s); s.entry.Node = "pve9" }, "adopt: {vmid: N}"},
		{"gone", onlyState, adopts, "pct restore 110 BACKUP"},
		{"adopt", onlyGuest, adopts, ""},
		{"managed", both, adopts, ""},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { adopts(s); stranger(s) }, `mac: "BC:24:11:FF:FF:FF"`},
		{"not-found: the import file imports it", nowhere, func(s *scene) {
			s.Imports = map[tf.Unit]Imports{ctUnit: {schema.GuestAddress(guest.Container, "", "dns"): "pve1/110"}}
		}, "stackgen import-blocks"},
		{"busy: not complete", onlyGuest, func(s *scene) { s.guest().Lock = "create" }, "pvesh get /nodes/pve1/lxc/110/config"},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { s.guest().Kind, s.guest().Lock = guest.VM, "create" }, ""},
		{"busy: an apply would meet a task", both, func(s *scene) { s.guest().Lock, s.Destroy = "backup", true }, "pct unlock 110"},
		{"cannot-create: the token may not destroy it", both, func(s *scene) { s.mayNotDestroy(); s.Destroy = true }, "pveum acl modify"},
		{"busy: its protection is on", both, func(s *scene) {
			s.Destroy, s.guest().Config.Raw = true, map[string]string{"protection": "1"}
		}, "--protection 0"},
		{"busy: the HA manager has it", both, func(s *scene) { s.Destroy, s.guest().HA = true, "started" }, "ha-manager remove ct:110"},
		{"busy: the HA manager has it", both, retired(func(s *scene) { s.guest().HA = "started" }), "ha-manager remove ct:110"},
		{"managed", both, func(s *scene) { s.guest().HA = "started" }, ""},
		{"managed", both, func(s *scene) { s.guest().Lock = "snapshot" }, "pct unlock 110"}, // that a killed task left
		{"unknown: its node does not answer", both, func(s *scene) { s.Inventory.Nodes[0].Online = false }, ""},
		{"unknown: the token does not see it", nowhere, func(s *scene) { s.hide("/vms/110", cluster.VMAudit) }, "pveum acl modify"},
		{"unknown: another guest may have its name", nowhere, func(s *scene) { s.hide("/vms", cluster.VMAudit); s.Inventory.Free = []int{110} }, "pveum acl modify"},
		{"unknown: not read yet", both, func(s *scene) { s.guest().Config = nil }, ""},
		{"unknown: no configuration", onlyGuest, nil, ""},
		{"would-destroy: another VMID in state", both, func(s *scene) { s.ct().VMID, s.ct().ID = 111, "111" }, "state rm"},
		{"would-destroy: tainted", both, func(s *scene) { s.ct().Tainted = true }, "untaint"},
		{"would-destroy: tainted", both, func(s *scene) {
			s.ct().Tainted, s.guest().Status = true, "stopped"
			s.spec.Values = s.spec.Values.With(schema.Scalar(schema.Pos{}, schema.ShapeString, guest.Started),
				schema.Scalar(schema.Pos{}, schema.ShapeBool, "true"))
		}, "/nodes/pve1/lxc/110/status/start"},
		{"would-destroy: its profile prevents that", both, func(s *scene) {
			s.Destroy, s.entry.Profile = true, "protected"
			s.ct().Address = schema.GuestAddress(guest.Container, "protected", "dns")
		}, "retired: [dns]"},
		{"would-destroy: another guest has a volume of it", both, func(s *scene) { s.Destroy = true; lendContainer(s, "mp0") }, "/lxc/300/move_volume --volume mp0 --storage STORAGE"},
		{"would-destroy: another guest has a volume of it", both, retired(func(s *scene) { lendContainer(s, "unused0") }), "/lxc/300/move_volume --volume mp0 --storage STORAGE"},
		{"would-destroy: another guest has a volume of it", both, func(s *scene) {
			s.Destroy = true
			lendContainer(s, "")
			s.guest().Config.Pending = []cluster.Pending{{Key: "mp0", Delete: true}}
		}, "--storage STORAGE --delete 1"}, // which volume the container has until its next start is not known
		{"managed", both, func(s *scene) { s.Destroy = true; lendContainer(s, "") }, ""},
		{"retiring", both, retired(func(s *scene) { lendContainer(s, "") }), ""},
		{"busy: its template", nowhere, func(s *scene) { templateContainer(s).Lock = "disk" }, "pct unlock 9100"},
		{"create", nowhere, func(s *scene) {
			g := templateContainer(s)
			g.Lock = "disk"
			s.Inventory.Tasks = append(s.Inventory.Tasks, cluster.Task{Type: "vzclone", VMID: 9100, Node: g.Node})
		}, ""},
		{"busy: a clone that a destroy leaves", onlyGuest, func(s *scene) { stranger(s); s.guest().Lock, s.Destroy = "create", true }, "/nodes/pve1/tasks"},
		{"busy: a clone without its MAC addresses", onlyGuest, func(s *scene) { stranger(s); clonedAs(s, "mine", "mine\n"); s.spec.ClonedFrom = 9100 }, "stackgen apply specs/lab.yaml"},
		{"busy: a clone without its MAC addresses", onlyGuest, func(s *scene) { stranger(s); clonedAs(s, "mine", "mine") }, "pvesh delete /nodes/pve1/lxc/110"},
		{"busy: a clone without its MAC addresses", onlyGuest, func(s *scene) {
			stranger(s)
			clonedAs(s, "mine", "mine")
			s.spec.ClonedFrom, s.guest().Status = 9100, "running"
		}, "/nodes/pve1/lxc/110/status/shutdown"},
		{"busy: not complete", onlyGuest, func(s *scene) { stranger(s); clonedAs(s, "mine", "mine"); s.guest().Lock = "create" }, "pct unlock 110"},
		{"busy: not complete", onlyGuest, func(s *scene) {
			stranger(s)
			clonedAs(s, "mine", "mine")
			s.guest().Lock, s.guest().Config.Raw["protection"] = "create", "1"
		}, "pct unlock 110 && pvesh set /nodes/pve1/lxc/110/config --protection 0 && pvesh delete /nodes/pve1/lxc/110"},
		{"busy: not complete", onlyGuest, func(s *scene) { stranger(s); clonedAs(s, "mine", "a restore"); s.guest().Lock = "create" }, "/nodes/pve1/lxc/110/config"},
		{"busy: a clone without its MAC addresses", onlyGuest, func(s *scene) { stranger(s); clonedAs(s, "mine", "mine"); s.Destroy = true }, "pvesh delete /nodes/pve1/lxc/110"},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { stranger(s); clonedAs(s, "mine", "yours") }, ""},
		{"conflict: another guest has its VMID", onlyGuest, func(s *scene) { stranger(s); clonedAs(s, "", "") }, ""},
		{"none: nothing to destroy", nowhere, func(s *scene) { s.Destroy = true }, ""},
		{"retiring: destroyed already", onlyState, func(s *scene) { s.Destroy = true }, ""},
		{"retiring", both, retired(nil), ""},
		{"retiring: not in the cluster", onlyState, retired(nil), ""},
		{"retiring: in no state", onlyGuest, retired(nil), "/nodes/pve1/lxc/110"},
	}
}

// templateContainer is the template that the container is cloned from.
func templateContainer(s *scene) *cluster.Guest {
	s.spec.ClonedFrom = 9100
	s.Inventory.Guests = append(s.Inventory.Guests, cluster.Guest{VMID: 9100, Node: s.entry.Node, Kind: guest.Container, Template: true})
	return &s.Inventory.Guests[len(s.Inventory.Guests)-1]
}

// clonedAs is a container with a description, where a run was about to make a clone with one.
func clonedAs(s *scene, token, description string) {
	s.Begun = map[string]cluster.Begun{"lab/dns": {VMID: 110, Clone: &cluster.CloneRecord{Token: token, Template: 9100, Volumes: []string{"rootfs"}}}}
	s.guest().Config.Raw = map[string]string{"description": description, "rootfs": "local-lvm:vm-110-disk-0,size=4G"}
	s.guest().Status = "stopped"
}

// TestCloneByApply: OpenTofu never creates a container that is cloned; its creation is announced all the same.
func TestCloneByApply(t *testing.T) {
	for _, running := range []bool{false, true} {
		s := containerScene(nowhere, func(s *scene) { s.spec.ClonedFrom = 9100 })
		s.Running = running
		s.Inventory.Guests = append(s.Inventory.Guests, cluster.Guest{VMID: 9100, Node: s.entry.Node, Kind: guest.Container, Template: true})
		change := &tf.ResourceChange{Action: tf.Create, After: map[string]any{"vm_id": 110.0, "node_name": "pve1"},
			Address: schema.GuestAddress(guest.Container, "", "dns"), Type: guest.ContainerResource, Key: "dns", Managed: true}
		verdicts := Judge(s.Input)
		found, _, err := JudgePlan(s.Input, verdicts, ctUnit, &tf.Plan{Changes: []*tf.ResourceChange{change}})
		i := slices.IndexFunc(verdicts, func(f finding.Finding) bool { return f.Key == "dns" && f.Type == finding.VM })
		if err != nil || verdicts[i].Kind != finding.Create || (len(found) > 0) != running || running && found[0].Kind != finding.CannotCreate {
			t.Errorf("running %t: %v, %v: %v", running, verdicts[i], found, err)
		}
	}
}

// lendContainer gives another container a volume of the container.
func lendContainer(s *scene, own string) {
	if own != "" {
		s.guest().Config.Raw = map[string]string{own: "local-lvm:vm-110-disk-1"}
	}
	g := newGuest(300, "other")
	g.Kind, g.Config.Raw = guest.Container, map[string]string{"mp0": "local-lvm:vm-110-disk-1,mp=/data"}
	s.Inventory.Guests = append(s.Inventory.Guests, g)
}

// TestCopyOfLentVolume: a volume that both have is copied. Proxmox VE deletes the source of a move also if another
// container still has it.
func TestCopyOfLentVolume(t *testing.T) {
	for own, want := range map[string]string{
		"mp0": "pvesh create /nodes/pve1/lxc/300/move_volume --volume mp0 --storage STORAGE",
		"":    "pvesh create /nodes/pve1/lxc/300/move_volume --volume mp0 --storage STORAGE --delete 1",
	} {
		s := containerScene(both, func(s *scene) { s.Destroy = true; lendContainer(s, own) })
		s.guest().Config.Pending = []cluster.Pending{{Key: "mp1", New: "local-lvm:1"}}
		found := Judge(s.Input)
		i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Key == "dns" && f.Type == finding.VM })
		if got := found[i].Steps[0].Lines[0].String(); got != want {
			t.Errorf("%q: %s, want %s", own, got, want)
		}
	}
}

// TestContainerRules: which rule judges a container, and what it prints.
func TestContainerRules(t *testing.T) {
	for _, c := range containerCases() {
		if c.rule == "unknown: no configuration" {
			continue // Unseen comes first: kept as the last guard
		}
		t.Run(c.rule, func(t *testing.T) {
			s := containerScene(c.from, c.change)
			j := newJudge(s.Input)
			of := j.subject(j.places["lab"], &j.all[0])
			if rule := of.rule(); rule.name != c.rule {
				t.Fatalf("judged by %q: %v", rule.name, j.all[0].Why)
			}
			of.decide()
			var lines []string
			for _, step := range of.Steps {
				checkPlace(t, step)
				for _, l := range step.Lines {
					lines = append(lines, l.String())
				}
			}
			if printed := strings.Join(lines, "\n"); !strings.Contains(printed, c.step) {
				t.Errorf("printed\n%s\nwant %q", printed, c.step)
			}
		})
	}
}

// TestMountsMissing: a mount point of the spec that a container lacks is named, with a line that adds it once.
func TestMountsMissing(t *testing.T) {
	text := func(s string) *schema.Node { return schema.Scalar(schema.Pos{}, schema.ShapeString, s) }
	mount := func(path string) *schema.Node {
		return (&schema.Node{Shape: schema.ShapeMap}).With(text(guest.Path), text(path)).With(text(guest.Datastore), text("local-lvm")).
			With(text(guest.Size), text("20")).With(text(guest.Backup), schema.Scalar(schema.Pos{}, schema.ShapeBool, "true"))
	}
	const line = "pvesh set /nodes/pve1/lxc/110/config --%s local-lvm:20,mp=%s,backup=1 --digest d1"
	for _, c := range []struct{ raw, digest, pending, kind, line string }{
		{"mp0: local-lvm:vm-110-disk-1,mp=/data mp3: /mnt/nas,mp=./srv//", "d1", "", "managed", ""},
		{"mp0: local-lvm:vm-110-disk-1,mp=/data", "d1", "", "creation-only", fmt.Sprintf(line, "mp1", "/srv")},
		{"mp1: local-lvm:vm-110-disk-1,mp=/else", "d1", "", "creation-only", fmt.Sprintf(line, "mp0", "/data")}, // one after the other
		{"mp0: local-lvm:vm-110-disk-1,mp=/data/old", "d1", "", "creation-only", ""},                            // it would hide that
		{"", "d1", "mp0", "pending", "stackgen restart --pending lab/dns"},                                      // mp0 is still mounted
		{"", "", "", "creation-only", "stackgen preflight specs/lab.yaml"},                                      // a snapshot: without a digest, a line could be run twice
	} {
		s := containerScene(both, nil)
		s.spec.Values = s.spec.Values.With(text(guest.Mounts), &schema.Node{Shape: schema.ShapeList, Items: []*schema.Node{mount("/data"), mount("/srv")}})
		s.guest().Config.Raw, s.guest().Config.Digest = entries(c.raw), c.digest
		if s.guest().Status = "running"; c.pending != "" {
			s.guest().Config.Pending = []cluster.Pending{{Key: c.pending, Value: "local-lvm:vm-110-disk-1,mp=/data", Delete: true}}
		}
		found := Judge(s.Input)
		i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Key == "dns" && f.Type == finding.VM })
		if i < 0 || string(found[i].Kind) != c.kind || found[i].Severity != finding.OK {
			t.Fatalf("%s: %+v", c.raw, found)
		}
		var lines []string
		for _, step := range found[i].Steps {
			for _, l := range step.Lines {
				lines = append(lines, l.String())
			}
		}
		if got := strings.Join(lines, "\n"); got != c.line {
			t.Errorf("%s: printed %q, want %q", c.raw, got, c.line)
		}
	}
}

// TestReadOtherwise: what acts at the creation of a container only, and differs from its spec, is named, with the
// line that sets it.
func TestReadOtherwise(t *testing.T) {
	text := func(s string) *schema.Node { return schema.Scalar(schema.Pos{}, schema.ShapeString, s) }
	nesting := (&schema.Node{Shape: schema.ShapeMap}).With(text(guest.Nesting), schema.Scalar(schema.Pos{}, schema.ShapeBool, "true"))
	for name, c := range map[string]struct {
		pool, raw   string
		change      func(s *scene)
		made, lines string
	}{
		"as the spec":        {"lab", "ostype: debian features: nesting=1", nil, "", ""},
		"in no pool":         {"", "ostype: debian features: nesting=1", nil, "pool none", "pvesh set /pools/lab --vms 110"},
		"in another pool":    {"old", "ostype: debian features: nesting=1", nil, "pool old", "pvesh set /pools/lab --vms 110 --allow-move 1"},
		"pool not visible":   {"", "ostype: debian features: nesting=1", func(s *scene) { s.Inventory.Pools = nil }, "", ""},
		"another system":     {"lab", "ostype: alpine features: nesting=1", nil, "os_type alpine", "os_type: alpine  # containers.dns"},
		"no features":        {"lab", "ostype: debian", nil, "features none", "pvesh set /nodes/pve1/lxc/110/config --features nesting=1"},
		"other features":     {"lab", "ostype: debian features: keyctl=1", nil, "features keyctl=1", "pvesh set /nodes/pve1/lxc/110/config --features keyctl=1,nesting=1"},
		"nesting turned off": {"lab", "ostype: debian features: nesting=0", nil, "features nesting=0", ""},
		"a profile without the pool": {"", "ostype: alpine features: nesting=1", func(s *scene) {
			s.Project.Profiles = []schema.Profile{{Name: "default", IgnoreChanges: []string{"pool_id", "operating_system"}}}
		}, "", ""},
		"destroyed": {"", "ostype: debian", func(s *scene) { s.Destroy = true }, "", ""},
		"pools not visible": {"", "ostype: debian features: nesting=1", func(s *scene) {
			s.Inventory.Access = &cluster.Access{Rights: cluster.Rights{"/pool/lab": {cluster.PoolAudit: true}}}
		}, "", ""},
		"a profile of its own": {"", "ostype: alpine", func(s *scene) { s.Project.Profiles = []schema.Profile{{Name: "default", IgnoreAll: true}} }, "", ""},
	} {
		s := containerScene(both, nil)
		s.spec.PoolID = "lab"
		s.spec.Values = s.spec.Values.With(text(guest.OSType), text("debian")).With(text(guest.Features), nesting)
		s.guest().Pool, s.guest().Config.Raw, s.Inventory.Pools = c.pool, entries(c.raw), []cluster.Pool{{ID: "lab"}}
		if c.change != nil {
			c.change(s)
		}
		f := Judge(s.Input)
		i := slices.IndexFunc(f, func(f finding.Finding) bool { return f.Key == "dns" && f.Type == finding.VM })
		var made, lines []string
		for _, m := range f[i].MadeWith {
			made = append(made, m.Property+" "+m.Was)
		}
		for _, step := range f[i].Steps {
			for _, l := range step.Lines {
				lines = append(lines, l.String())
			}
		}
		if got := strings.Join(made, ", "); got != c.made || strings.Join(lines, "; ") != c.lines || (f[i].Kind == finding.CreationOnly) != (c.made != "") {
			t.Errorf("%s: %s %q, %q", name, f[i].Kind, got, lines)
		}
	}
}

// TestContainerMayFail: what probably fails because containers start is a warning of their unit.
func TestContainerMayFail(t *testing.T) {
	s := containerScene(nowhere, func(s *scene) {
		s.spec.Values = s.spec.Values.With(schema.Scalar(schema.Pos{}, schema.ShapeString, guest.Memory), schema.Scalar(schema.Pos{}, schema.ShapeInt, "4096"))
		for i := range s.Inventory.Nodes {
			s.Inventory.Nodes[i].Memory, s.Inventory.Nodes[i].Used = 8<<30, 6<<30
		}
	})
	found := Judge(s.Input)
	i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Kind == finding.CannotCreate })
	if i < 0 || found[i].Unit != lock.UnitContainer || !strings.Contains(said(&found[i]), "1 container start with 4.0 GiB") {
		t.Errorf("%+v", found)
	}
}

// TestMountPointFails: no line is printed that would fail, but what is in its way.
func TestMountPointFails(t *testing.T) {
	text := func(s string) *schema.Node { return schema.Scalar(schema.Pos{}, schema.ShapeString, s) }
	mount := (&schema.Node{Shape: schema.ShapeMap}).With(text(guest.Path), text("/data")).With(text(guest.Datastore), text("tank")).
		With(text(guest.Size), schema.Scalar(schema.Pos{}, schema.ShapeInt, "20"))
	on := func(node, content string, active bool, free int64) cluster.Storage {
		return cluster.Storage{ID: "tank", Node: node, Content: content, Active: active, Total: 100 << 30, Avail: &free}
	}
	for _, c := range []struct{ name, says, line string }{
		{"as it should be", "", "pvesh set /nodes/pve1/lxc/110/config --mp0 tank:20,mp=/data --digest d1"},
		{"not seen", "", "pvesh set /nodes/pve1/lxc/110/config --mp0 tank:20,mp=/data --digest d1"},
		{"missing", "storage tank does not exist", ""},
		{"elsewhere", "storage tank is not available on node pve1", "pvesh get /storage/tank"},
		{"inactive", "storage tank is not available on node pve1", "pvesh get /storage/tank"},
		{"images only", "storage tank does not have the content rootdir", "pvesm set tank --content images,rootdir"},
		{"full", "1 new volume of 20.0 GiB; 19.0 GiB of 100.0 GiB are free", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := containerScene(both, nil)
			s.spec.Values = s.spec.Values.With(text(guest.Mounts), &schema.Node{Shape: schema.ShapeList, Items: []*schema.Node{mount}})
			s.guest().Config.Raw, s.guest().Config.Digest = entries(""), "d1"
			s.Inventory.Access = &cluster.Access{Rights: cluster.Rights{"/storage": {cluster.DatastoreAudit: c.name != "not seen"}}}
			s.Inventory.Datastores = []cluster.Datastore{{ID: "tank"}}
			s.Inventory.Storages = []cluster.Storage{on("pve1", "images,rootdir", true, 20<<30)}
			switch c.name {
			case "not seen", "missing":
				s.Inventory.Datastores, s.Inventory.Storages = []cluster.Datastore{}, nil
			case "elsewhere":
				s.Inventory.Datastores[0].Nodes = []string{"pve2"}
				s.Inventory.Storages = []cluster.Storage{on("pve2", "rootdir", true, 20<<30)}
			case "inactive":
				s.Inventory.Storages[0].Active = false
			case "images only":
				s.Inventory.Storages[0].Content = "images"
			case "full":
				s.Inventory.Storages[0] = on("pve1", "rootdir", true, 19<<30)
			}
			found := Judge(s.Input)
			i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Key == "dns" && f.Type == finding.VM })
			if i < 0 || found[i].Kind != finding.CreationOnly || found[i].Severity != finding.OK || !strings.Contains(said(&found[i]), c.says) {
				t.Fatalf("%+v", found)
			}
			var lines []string
			for _, step := range found[i].Steps {
				for _, l := range step.Lines {
					lines = append(lines, l.String())
				}
			}
			if got := strings.Join(lines, "\n"); got != c.line {
				t.Errorf("printed %q, want %q", got, c.line)
			}
		})
	}
}

// TestTakenByContainer: a container that has the VMID of a VM is no VM, whatever agrees.
func TestTakenByContainer(t *testing.T) {
	in := input([]tf.Resource{inState("web1", 100)}, newGuest(100, "web1"))
	in.Inventory.Guests[0].Kind = guest.Container
	in.Lock.Stacks[0].Value.VMs[0].Value.MACs = []string{ctMAC}
	in.Inventory.Guests[0].Config.MACs = []string{ctMAC}
	if f := Judge(in)[0]; f.Kind != finding.Conflict || !strings.Contains(said(&f), "container") {
		t.Errorf("%s: %s", f.Kind, said(&f))
	}
}

// addressed is a block initialization with IPv4 addresses.
func addressed(ips ...string) []any {
	var list []any
	for _, ip := range ips {
		list = append(list, map[string]any{"ipv4": []any{map[string]any{"address": ip}}})
	}
	return []any{map[string]any{"hostname": "dns", "ip_config": list}}
}

// TestContainerPlan: what the plan of a container may do.
func TestContainerPlan(t *testing.T) {
	values := func(memory float64, more ...any) map[string]any {
		out := map[string]any{
			"id": "110", "vm_id": 110.0, "node_name": "pve1", "description": "",
			"memory":            []any{map[string]any{"dedicated": memory, "swap": 0.0}},
			"cpu":               []any{map[string]any{"cores": 1.0, "units": 0.0}},
			"network_interface": []any{map[string]any{"name": "eth0", "mac_address": ctMAC, "bridge": "vmbr0"}},
			"initialization":    []any{map[string]any{"hostname": "dns"}},
			"timeout_delete":    60.0,
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	running := func(s *scene) { s.guest().Status = "running" }
	permits := func(s *scene) {
		running(s)
		s.spec.Values = s.spec.Values.With(schema.Scalar(schema.Pos{}, schema.ShapeString, guest.Restart), schema.Scalar(schema.Pos{}, schema.ShapeBool, "true"))
	}
	cores := []any{map[string]any{"cores": 2.0, "units": 0.0}}
	for _, c := range []struct {
		name   string
		from   int
		change func(*scene)
		plan   tf.ResourceChange
		want   string // verdict, and whether it stops the apply
	}{
		{"memory of a stopped one", both, nil, tf.ResourceChange{Action: tf.Update, Before: values(512), After: values(1024)}, "managed ok"},
		{"memory of a running one", both, running, tf.ResourceChange{Action: tf.Update, Before: values(512), After: values(1024)}, "would-harm stops"},
		{"memory, permitted", both, permits, tf.ResourceChange{Action: tf.Update, Before: values(512), After: values(1024)}, "managed ok"},
		{"cores", both, running, tf.ResourceChange{Action: tf.Update, Before: values(512), After: values(512, "cpu", cores)}, "managed ok"},
		{"what no table has", both, running, tf.ResourceChange{Action: tf.Update, Before: values(512), After: values(512, "new", "x")}, "would-harm stops"},
		{"a network by hand", both, permits, tf.ResourceChange{Action: tf.Update, Before: values(512, "network_interface", []any{
			map[string]any{"name": "eth0", "mac_address": ctMAC, "bridge": "vmbr0"}, map[string]any{"name": "eth1", "mac_address": "BC:24:11:00:00:09"},
		}), After: values(512)}, "would-harm stops"},
		{"a network of one that is imported", onlyGuest, nil, tf.ResourceChange{Action: tf.Update, Imports: true, ImportID: "pve1/110", Before: values(512, "network_interface", []any{
			map[string]any{"name": "eth0", "mac_address": ctMAC, "bridge": "vmbr0"}, map[string]any{"name": "eth1", "mac_address": "BC:24:11:00:00:09"},
		}), After: values(512)}, "would-harm stops"},
		{"what an import leaves", onlyGuest, running, tf.ResourceChange{Action: tf.Update, Imports: true, ImportID: "pve1/110",
			Before: values(512, "vm_id", nil, "timeout_delete", nil), After: values(512)}, ""},
		{"shutdown", both, running, tf.ResourceChange{Action: tf.Update, Before: values(512, "started", true), After: values(512, "started", false)}, "would-harm stops"},
		{"shutdown, permitted", both, permits, tf.ResourceChange{Action: tf.Update, Before: values(512, "started", true), After: values(512, "started", false)}, "managed ok"},
		{"address removed from the spec", both, permits, tf.ResourceChange{Action: tf.Update,
			Before: values(512, "initialization", addressed("10.0.0.2/24", "dhcp")), After: values(512, "initialization", addressed("10.0.0.2/24"))}, "managed ok"},
		{"create", nowhere, nil, tf.ResourceChange{Action: tf.Create, After: values(512)}, ""},
		{"create of one that existed", nowhere, func(s *scene) { s.spec.Adopt, s.spec.VMID = true, 110 },
			tf.ResourceChange{Action: tf.Create, After: values(512)}, "not-found stops"},
		{"create of one that existed and was deleted", onlyState, func(s *scene) { s.spec.Adopt, s.spec.VMID = true, 110 },
			tf.ResourceChange{Action: tf.Create, After: values(512)}, "gone stops"},
		{"create with another VMID", nowhere, nil, tf.ResourceChange{Action: tf.Create, After: values(512, "vm_id", 111.0)}, "conflict stops"},
		{"create of a taken VMID", onlyGuest, func(s *scene) { s.guest().Config.MACs = nil }, tf.ResourceChange{Action: tf.Create, After: values(512)}, "conflict stops"},
		{"create of one that was moved", both, func(s *scene) { s.guest().Node = "pve2" }, tf.ResourceChange{Action: tf.Create, After: values(512)}, "conflict stops"},
		{"replace", both, nil, tf.ResourceChange{Action: tf.Replace, Words: "delete+create", Before: values(512), After: values(512), Forces: []string{"mount_point"}}, "would-destroy stops"},
		{"destroy", both, nil, tf.ResourceChange{Action: tf.Delete, Before: values(512)}, "would-destroy stops"},
		{"destroy of a retired one", both, (*scene).retire, tf.ResourceChange{Action: tf.Delete, Before: values(512)}, ""},
		{"forget", both, nil, tf.ResourceChange{Action: tf.Forget, Before: values(512)}, "would-destroy stops"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := containerScene(c.from, c.change)
			change := c.plan
			change.Address, change.Type, change.Key, change.Managed = schema.GuestAddress(guest.Container, "", "dns"), guest.ContainerResource, "dns", true
			found, _, err := JudgePlan(s.Input, Judge(s.Input), ctUnit, &tf.Plan{Changes: []*tf.ResourceChange{&change}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, string(f.Kind)+map[bool]string{true: " stops", false: " ok"}[f.Stops()])
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q: %v", got, found)
			}
		})
	}
}

// TestGrownContainer: the root file system of a container was grown by hand, which nothing undoes. The step is the line
// that keeps it.
func TestGrownContainer(t *testing.T) {
	s := containerScene(both, func(s *scene) {
		s.guest().Config.Raw = map[string]string{"rootfs": "local-lvm:vm-110-disk-0,size=12G", "hostname": "dns"}
	})
	disk := func(size float64) map[string]any {
		return map[string]any{"id": "110", "vm_id": 110.0, "node_name": "pve1", "disk": []any{map[string]any{"datastore_id": "local-lvm", "size": size}}}
	}
	change := tf.ResourceChange{Address: schema.GuestAddress(guest.Container, "", "dns"), Type: guest.ContainerResource, Key: "dns", Managed: true,
		Action: tf.Update, Before: disk(12), After: disk(8)}
	found, _, err := JudgePlan(s.Input, Judge(s.Input), ctUnit, &tf.Plan{Changes: []*tf.ResourceChange{&change}})
	if err != nil || len(found) != 1 || len(found[0].Steps) != 1 {
		t.Fatalf("%v: %v", err, found)
	}
	if got, want := found[0].Steps[0].Lines[0].Text, "rootfs: {datastore: local-lvm, size: 12}  # containers.dns"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPlanOfMoved: the refresh of a plan looks for a moved container on the node of its state, and does not find it. The
// verdict stays: it was moved, not deleted.
func TestPlanOfMoved(t *testing.T) {
	s := containerScene(both, func(s *scene) { s.guest().Node = "pve2" })
	change := func(a tf.Action) *tf.ResourceChange {
		return &tf.ResourceChange{Address: s.ct().Address, Type: guest.ContainerResource, Key: "dns", Managed: true, Action: a, After: map[string]any{"vm_id": 110.0}}
	}
	found := Judge(s.Input)
	plans, _, err := JudgePlan(s.Input, found, ctUnit, &tf.Plan{Changes: []*tf.ResourceChange{change(tf.Create)}, Drift: []*tf.ResourceChange{change(tf.Delete)}})
	if err != nil || len(plans) != 1 {
		t.Fatalf("%v: %v", err, plans)
	}
	merged := Merge(found, plans)
	i := slices.IndexFunc(merged, func(f finding.Finding) bool { return f.Key == "dns" })
	f := merged[i]
	if f.Kind != finding.Moved || f.Case != finding.StaleNode || !f.Stops() {
		t.Errorf("%+v", f)
	}
	for _, e := range f.Evidence {
		if e.Reason != nil {
			t.Errorf("it cites %v", e.Reason)
		}
	}
}

// TestSidecarPlan: a container that a module of VMs creates beside a VM is not what the spec asks for,
// also where both have one key and neither exists yet.
func TestSidecarPlan(t *testing.T) {
	in := input(nil)
	key := in.Project.Stacks[0].VMs[0].Key
	change := &tf.ResourceChange{Address: guest.ContainerResource + ".sidecar[\"" + key + "\"]", Type: guest.ContainerResource, Key: key, Managed: true,
		Action: tf.Create, After: map[string]any{"vm_id": 950.0, "node_name": "pve1"}}
	found, _, err := JudgePlan(in, Judge(in), tf.VMUnit("lab"), &tf.Plan{Changes: []*tf.ResourceChange{change}})
	if err != nil || len(found) != 1 || !found[0].Stops() || found[0].VMID != 0 {
		t.Errorf("%v: %v", err, found)
	}
	if s := change.Summary(tf.VMUnit("lab")); s.Type != "" {
		t.Errorf("it is shown as %s", s.Type)
	}
}

// TestContainerRulesNamed: no rule of containers is without a case. Those of both kinds that retired guests have
// have one with VMs.
func TestContainerRulesNamed(t *testing.T) {
	cases := containerCases()
	has := func(r rule) bool {
		return slices.ContainsFunc(cases, func(c ruleCase) bool { return c.rule == r.name })
	}
	for _, r := range liveRules {
		if r.only != guest.VM && !has(r) {
			t.Errorf("no case has the rule %q", r.name)
		}
	}
	for _, r := range retiredRules {
		if r.only == guest.Container && !has(r) {
			t.Errorf("no case has the rule %q", r.name)
		}
	}
}

// TestContainerOtherProject: a stack that has containers only is not applied with the lock of another
// project, or to the state of another checkout.
func TestContainerOtherProject(t *testing.T) {
	for _, c := range []struct {
		project, lineage string
		want             finding.Kind
	}{{"theirs", "", finding.OtherState}, {"ours", "l2", finding.OtherState}, {"ours", "l1", finding.Managed}} {
		s := containerScene(both, nil)
		s.Lock.Project = "ours"
		units := s.Lock.Stacks[0].Value.Units
		for i := range units {
			if units[i].Key == lock.UnitVM {
				units[i].Value.Lineage = "l1"
			}
		}
		state := s.State[ctUnit]
		state.Project = c.project
		s.State[ctUnit] = state
		s.State[tf.VMUnit("lab")] = tf.State{Lineage: c.lineage}
		if found := Judge(s.Input); !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Kind == c.want }) ||
			(c.want == finding.Managed) == slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Kind == finding.OtherState }) {
			t.Errorf("project %s, lineage %s: %v", c.project, c.lineage, found)
		}
	}
}

// TestContainerStateNotes: before an import of containers, a note says that another state is recorded.
func TestContainerStateNotes(t *testing.T) {
	for lineage, want := range map[string]int{"l1": 1, "": 0} {
		s := containerScene(onlyGuest, nil)
		s.Lock.Stacks[0].Value.Units.Get(lock.UnitContainer).Lineage = lineage
		if notes := StateNotes(s.Input, Judge(s.Input)); len(notes) != want {
			t.Errorf("with the lineage %q: %q", lineage, notes)
		}
	}
}

// TestLockLostOfClass: what a state has of the members of a class has no place in the spec.
func TestLockLostOfClass(t *testing.T) {
	at := &place{Stack: &schema.Stack{VMs: []*schema.VM{{Key: "ada", Path: "students.ada", Node: "pve1"}}}}
	if lines := identities(at, []tf.Resource{inState("ada", 100)}); lines != nil {
		t.Errorf("printed %q", lines)
	}
}
