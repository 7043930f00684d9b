package guard

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// moving is web1 on pve1, where the state has it, and a spec that says pve2 since its
// last change, with a profile that manages the node.
func moving() Input {
	g := newGuest(100, "web1")
	g.Config.Raw = map[string]string{"scsi0": "shared:100/vm-100-disk-0.qcow2,size=8G", "ide2": "shared:100/vm-100-cloudinit.qcow2,media=cdrom", "scsihw": "virtio-scsi-single", "net0": "virtio=BC:24:11:00:00:01"}
	in := input([]tf.Resource{inState("web1", 100)}, g)
	in.Inventory.Nodes = append(in.Inventory.Nodes, cluster.Node{Name: "pve2", Online: true}, cluster.Node{Name: "pve3", Online: true})
	for _, node := range []string{"pve1", "pve2", "pve3"} {
		in.Inventory.Storages = append(in.Inventory.Storages,
			cluster.Storage{ID: "local", Node: node, Content: "images,iso", Active: true},
			cluster.Storage{ID: "lvm", Node: node, Content: "images", Active: true},
			cluster.Storage{ID: "shared", Node: node, Content: "images,iso", Shared: true, Active: true})
	}
	in.Inventory.Storages = append(in.Inventory.Storages, cluster.Storage{ID: "zfs", Node: "pve1", Content: "images", Active: true})
	in.Project.Profiles[0].IgnoreChanges = []string{"started", "clone"}
	e := in.Lock.Stacks[0].Value.VMs.Get("web1")
	e.Node, e.FormerNodes = "pve2", []string{"pve1"}
	return in
}

// TestMigrateOrMoved: an apply may move a VM only if its spec asked for that after the VM
// was seen where it is now.
func TestMigrateOrMoved(t *testing.T) {
	vm := func(in *Input) *lock.VM { return in.Lock.Stacks[0].Value.VMs.Get("web1") }
	state := func(in *Input) *tf.Resource { return &in.State[tf.VMUnit("lab")].Resources[0] }
	for _, c := range []struct {
		name   string
		change func(*Input)
		kind   finding.Kind
		exit   finding.Severity
		says   string
	}{
		{"the spec changed", func(*Input) {}, finding.Migrate, 0, "migrates it there, while it is off"},
		{"the spec changed, running", func(in *Input) { in.Inventory.Guests[0].Status = "running" }, finding.Migrate, 0, "migrates it there, live"},
		{"migrated", func(in *Input) { in.Inventory.Guests[0].Node = "pve2" }, finding.Managed, 0, ""},
		{"migrated by hand", func(in *Input) { vm(in).Node, vm(in).FormerNodes, in.Inventory.Guests[0].Node = "pve1", nil, "pve3" }, finding.Moved, 3, "it would be moved back"},
		{"migrated by hand, state refreshed since", func(in *Input) {
			vm(in).Node, vm(in).FormerNodes, in.Inventory.Guests[0].Node, state(in).Node = "pve1", nil, "pve3", "pve3"
		}, finding.Moved, 3, "it would be moved back"},
		{"the profile managed nothing before", func(in *Input) { vm(in).FormerNodes = nil }, finding.Moved, 3, "it would be moved back"},
		{"migrated by hand after the spec changed", func(in *Input) { in.Inventory.Guests[0].Node = "pve3" }, finding.Moved, 3, "it would be moved back"},
		{"migrated by the spec, and back by hand", func(in *Input) { state(in).Node = "pve2" }, finding.Moved, 3, "somebody migrated it back to pve1, or an apply could not migrate it"},
		{"the profile ignores the node", func(in *Input) { in.Project.Profiles[0].IgnoreChanges = []string{"node_name"} }, finding.Moved, 0, "its profile ignores that"},
		{"in no state", func(in *Input) { in.State[tf.VMUnit("lab")] = tf.State{} }, finding.Moved, 3, "would replace it"},
		{"the stack is destroyed", func(in *Input) { in.Destroy = true }, finding.Moved, 0, "it is destroyed there"},
		{"a backup is running", func(in *Input) { in.Inventory.Guests[0].Lock = "backup" }, finding.Busy, 3, "and an apply would migrate it"},
		{"the node does not exist", func(in *Input) { vm(in).Node = "pve9" }, finding.Migrate, 3, "a node that the cluster does not have"},
		{"the node is offline", func(in *Input) { in.Inventory.Nodes[1].Online = false }, finding.Migrate, 3, "a node that is offline"},
		{"its import file is still there", func(in *Input) {
			in.Imports = map[tf.Unit]Imports{tf.VMUnit("lab"): {state(in).Address: "pve1/100"}}
		}, finding.Migrate, 3, "the import file still has the VM"},
		{"an old module", func(in *Input) {
			in.Project.Stacks[0].Catalog, in.Project.Stacks[0].Guard = &schema.Catalog{}, "fast"
		}, finding.Migrate, 3, "guard: fast judges no plan"},
		{"a module that the plan shows", func(in *Input) {
			in.Project.Stacks[0].Catalog, in.Project.Stacks[0].Guard = &schema.Catalog{}, "full"
		}, finding.Migrate, 0, ""},
	} {
		in := moving()
		c.change(&in)
		f := Judge(in)[0]
		if f.Kind != c.kind || f.Severity != c.exit || !strings.Contains(said(&f), c.says) || f.Stops() && len(f.Steps) == 0 {
			t.Errorf("%s: %s, exit %d, %q, %q, %d steps; want %s, exit %d, %q", c.name, f.Kind, f.Severity, f.Reason, f.Evidence, len(f.Steps), c.kind, c.exit, c.says)
		}
	}
}

// TestMigrationRefusedBefore: a migration that Proxmox VE refuses is refused before the
// apply, and one that it does is not.
func TestMigrationRefusedBefore(t *testing.T) {
	for _, c := range []struct {
		name   string
		config map[string]string
		points []string // the snapshots of a VM that comes from none of them
		both   string   // the reason for a stopped VM, too
		live   string   // the reason for a running VM only
		says   string
		lent   string // a volume that another guest has
	}{
		{name: "local disk", config: map[string]string{"scsi1": "lvm:vm-100-disk-1,size=1G"}, says: "its local disks are copied: scsi1 on lvm"},
		{name: "local disk that another guest has", config: map[string]string{"scsi1": "lvm:vm-100-disk-1,size=1G"}, lent: "lvm:vm-100-disk-1", both: "delete the volume of a local disk, which another guest has, too"},
		{name: "local disk, and another guest has one that the VM does not have", config: map[string]string{"scsi1": "lvm:vm-100-disk-1,size=1G"}, lent: "lvm:vm-100-disk-2"},
		{name: "shared disk that another guest has", config: map[string]string{"scsi1": "shared:100/vm-100-disk-1.qcow2,size=1G"}, lent: "shared:100/vm-100-disk-1.qcow2"},
		{name: "storage missing", config: map[string]string{"scsi1": "zfs:vm-100-disk-1,size=1G"}, both: "the target lacks a storage", says: "scsi1 is on storage zfs, which pve2 does not have"},
		{name: "unused disk on a missing storage", config: map[string]string{"unused0": "zfs:vm-100-disk-1"}, both: "the target lacks a storage"},
		{name: "storage that the token does not see", config: map[string]string{"scsi1": "hidden:vm-100-disk-1,size=1G"}},
		{name: "linked clone in a local file", config: map[string]string{"scsi1": "local:9000/base-9000-disk-0.qcow2/100/vm-100-disk-1.qcow2"}, both: "a linked clone on a local storage"},
		{name: "linked clone on a local dataset", config: map[string]string{"scsi1": "lvm:base-9000-disk-0/vm-100-disk-1"}, both: "a linked clone on a local storage"},
		{name: "linked clone on a shared storage", config: map[string]string{"scsi1": "shared:9000/base-9000-disk-0.qcow2/100/vm-100-disk-1.qcow2"}},
		{name: "PCI device", config: map[string]string{"hostpci0": "0000:01:00.0"}, both: "devices of its node"},
		{name: "mapped PCI device", config: map[string]string{"hostpci0": "mapping=gpu"}},
		{name: "USB device", config: map[string]string{"usb0": "host=0951:1666"}, both: "devices of its node"},
		{name: "mapped USB device", config: map[string]string{"usb0": "mapping=stick"}, live: "only while it is off"},
		{name: "shared directory", config: map[string]string{"virtiofs0": "dirid=media"}, live: "only while it is off"},
		{name: "USB of the client", config: map[string]string{"usb0": "spice", "usb1": "host=spice"}},
		{name: "serial port", config: map[string]string{"serial0": "/dev/ttyS0"}, both: "devices of its node"},
		{name: "serial socket", config: map[string]string{"serial0": "socket"}},
		{name: "CD-ROM image", config: map[string]string{"ide0": "local:iso/a.iso,media=cdrom"}, both: "devices of its node"},
		{name: "CD-ROM image on a shared storage", config: map[string]string{"ide0": "shared:iso/a.iso,media=cdrom"}},
		{name: "physical CD-ROM", config: map[string]string{"ide0": "cdrom,media=cdrom"}, both: "devices of its node"},
		{name: "empty CD-ROM", config: map[string]string{"ide0": "none,media=cdrom"}},
		{name: "local cloud-init drive", config: map[string]string{"ide2": "lvm:vm-100-cloudinit,media=cdrom"}},
		{name: "snapshot and local disk", config: map[string]string{"scsi1": "local:100/vm-100-disk-1.qcow2,size=1G", "parent": "s"}, live: "only while it is off"},
		{name: "snapshot", config: map[string]string{"parent": "s"}},
		{name: "snapshot that it does not come from, and local disk", config: map[string]string{"scsi1": "local:100/vm-100-disk-1.qcow2,size=1G"}, points: []string{"s"}, live: "only while it is off"},
	} {
		for status, want := range map[string]string{"stopped": c.both, "running": c.both + c.live} {
			in := moving()
			in.Inventory.Guests[0].Status = status
			for k, v := range c.config {
				in.Inventory.Guests[0].Config.Raw[k] = v
			}
			in.Inventory.Guests[0].Config.Snapshots = c.points
			if c.lent != "" {
				other := newGuest(400, "other")
				other.Config.Raw = map[string]string{"scsi1": c.lent}
				in.Inventory.Guests = append(in.Inventory.Guests, other)
			}
			f := Judge(in)[0]
			refused := want != ""
			if f.Kind != finding.Migrate || f.Stops() != refused || !strings.Contains(said(&f), want) || refused && len(f.Steps) == 0 || !strings.Contains(said(&f), c.says) {
				t.Errorf("%s, %s: %s, exit %d, %q, %q; want %q", c.name, status, f.Kind, f.Severity, f.Reason, f.Evidence, want)
			}
		}
	}
}

// TestPlanMovesVM: a plan that moves a VM is refused, unless its spec asked for that.
func TestPlanMovesVM(t *testing.T) {
	for asked, want := range map[bool]finding.Kind{true: finding.Migrate, false: finding.Moved} {
		in := moving()
		if !asked {
			in.Project.Profiles[0].IgnoreChanges = []string{"node_name"} // as in another module
		}
		body := `{"format_version":"1.2","resource_changes":[{"address":"` + strings.ReplaceAll(inState("web1", 100).Address, `"`, `\"`) + `","mode":"managed","type":"` + guest.VMResource +
			`","index":"web1","change":{"actions":["update"],"before":{"vm_id":100,"node_name":"pve1"},"after":{"vm_id":100,"node_name":"pve2"}}}]}`
		if f := judgePlanOf(t, in, body); f.Kind != want || f.Stops() == asked {
			t.Errorf("asked for: %v; %s, exit %d, %s", asked, f.Kind, f.Severity, f.Reason)
		}
	}
}

// TestPlanOfOtherPower: the update of a VM that was started or stopped since its plan was made is refused where it is about
// to be applied, if the plan would undo that.
func TestPlanOfOtherPower(t *testing.T) {
	for _, c := range []struct {
		hook           bool
		status         string
		planned, after bool // started
		change         string
		want           finding.Severity
	}{
		{true, "stopped", true, true, "", finding.Blocked},
		{false, "stopped", true, true, "", finding.OK}, // it was planned a moment ago, and the lists are late
		{true, "running", true, true, "", finding.OK},
		{true, "stopped", false, false, "", finding.OK},
		{true, "stopped", false, true, "", finding.OK}, // the plan says so
		{true, "stopped", true, false, "", finding.OK},
		{true, "running", false, false, "", finding.OK},
		{true, "running", false, false, `,"machine":"q35"`, finding.Blocked},
		{true, "running", true, true, `,"machine":"q35"`, finding.OK}, // its spec permits a restart
	} {
		g := newGuest(100, "web1")
		g.Status = c.status
		in := input([]tf.Resource{inState("web1", 100)}, g)
		in.Running = c.hook
		vm := in.Project.Stacks[0].VMs[0]
		vm.Values = (&schema.Node{Shape: schema.ShapeMap}).With(schema.Scalar(schema.Pos{}, schema.ShapeString, guest.Restart), schema.Scalar(schema.Pos{}, schema.ShapeBool, "true"))
		body := fmt.Sprintf(`{"format_version":"1.2","resource_changes":[{"address":%q,"mode":"managed","type":%q,"index":"web1","change":`+
			`{"actions":["update"],"before":{"vm_id":100,"started":%t,"machine":"pc"},"after":{"vm_id":100,"started":%t%s}}}]}`,
			inState("web1", 100).Address, guest.VMResource, c.planned, c.after, cmp.Or(c.change, `,"machine":"pc"`))
		if f := judgePlanOf(t, in, body); f.Severity != c.want {
			t.Errorf("%+v: %s, exit %d, %s", c, f.Kind, f.Severity, said(&f))
		}
	}
}

// TestMigrationToNodeThatDoesNotFit: a target without the bridge, with too few CPUs or too
// little memory, and a token that may not migrate, are reported before the apply.
func TestMigrationToNodeThatDoesNotFit(t *testing.T) {
	rights := func(privileges ...string) *cluster.Access {
		own := map[string]bool{}
		for _, p := range append(privileges, "SDN.Use", "VM.Config.Options") {
			own[p] = true
		}
		return &cluster.Access{User: "ops@pve", Rights: cluster.Rights{"/": own, "/vms": own, "/sdn": own}}
	}
	bridges := func(names ...string) []cluster.Network {
		out := []cluster.Network{}
		for _, n := range names {
			out = append(out, cluster.Network{Name: n, Type: "bridge"})
		}
		return out
	}
	for _, c := range []struct {
		name string
		node cluster.Node
		may  *cluster.Access
		want string
		step string
	}{
		{"fits", cluster.Node{CPUs: 4, Memory: 4 << 30, Networks: bridges("vmbr0", "vmbr1")}, rights("VM.Migrate"), "", ""},
		{"nothing is known", cluster.Node{}, nil, "", ""},
		{"no bridge", cluster.Node{Networks: bridges("vmbr0")}, rights("VM.Migrate"), "node pve2 has no bridge or virtual network vmbr1", "pvesh create /nodes/pve2/network --iface vmbr1"},
		{"inactive bridge", cluster.Node{Networks: append(bridges("vmbr0"), cluster.Network{Name: "vmbr1", Type: "bridge", Inactive: true})}, nil,
			"bridge vmbr1 of node pve2 is configured, but not active", "pvesh set /nodes/pve2/network"},
		{"bridges not visible", cluster.Node{Networks: bridges("vmbr0")}, nil, "", ""},
		{"too few CPUs", cluster.Node{CPUs: 1}, nil, "more vCPUs than node pve2", "node: pve1"},
		{"too little memory", cluster.Node{Memory: 1 << 30}, nil, "more memory than node pve2", "node: pve1"},
		{"no privilege", cluster.Node{}, rights("VM.Audit"), "the token lacks privileges that it needs", "pveum role add"},
	} {
		in := moving()
		in.Inventory.Guests[0].Config.Raw["net1"] = "virtio=BC:24:11:00:00:02,bridge=vmbr1"
		values := &schema.Node{Shape: schema.ShapeMap}
		for key, value := range map[string]string{"cores": "2", "memory": "2048"} {
			values = values.With(schema.Scalar(schema.Pos{}, schema.ShapeString, key), schema.Scalar(schema.Pos{}, schema.ShapeInt, value))
		}
		in.Project.Stacks[0].VMs[0].Values = values
		c.node.Name, c.node.Online = "pve2", true
		in.Inventory.Nodes[1], in.Inventory.Access = c.node, c.may
		f := Judge(in)[0]
		var steps string
		for _, s := range f.Steps {
			for _, l := range s.Lines {
				steps += l.String() + "\n"
			}
		}
		if f.Kind != finding.Migrate || f.Stops() != (c.want != "") || !strings.Contains(said(&f), c.want) || !strings.Contains(steps, c.step) {
			t.Errorf("%s: %s, exit %d, %q, steps\n%s", c.name, f.Kind, f.Severity, f.Reason, steps)
		}
	}
}

func migrateCases() []ruleCase {
	changed := func(s *scene) { s.Input = moving(); s.Project.Stacks[0].VMs = s.Project.Stacks[0].VMs[:1] }
	return []ruleCase{
		{"migrate", both, changed, ""},
		{"migrate: refused", both, func(s *scene) { changed(s); s.Inventory.Nodes[1].Online = false }, "node: pve1"},
	}
}
