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

// rebuildable is a VM that exists, is in state, and may be rebuilt.
func rebuildable() Input {
	template := newGuest(9000, "debian")
	template.Template = true
	in := input([]tf.Resource{inState("web1", 100)}, newGuest(100, "web1"), template)
	in.Lock.Stacks[0].Value.VMs.Get("web1").Template = &lock.Template{VMID: 9000, Node: "pve1"}
	in.Inventory.Datastores = []cluster.Datastore{}
	return in
}

// decided is what a rebuild of web1 does.
func decided(in Input, named ...string) string {
	var again []string
	if slices.Contains(named, "again") {
		again = []string{"web1"}
	}
	r := JudgeRebuild(in, Judge(in), "lab", []string{"web1"}, named, again)
	var out []string
	for _, vm := range r.Replaced {
		out = append(out, fmt.Sprintf("replaces %s %d from %d", vm.Key, vm.VMID, vm.Template))
	}
	for what, keys := range map[string][]string{"done": r.Done, "left": r.Left, "lost": r.Lost} {
		if len(keys) > 0 {
			out = append(out, what)
		}
	}
	for i := range r.Refused {
		out = append(out, string(r.Refused[i].Kind)+" "+string(r.Refused[i].Reason.Code))
	}
	return strings.Join(out, ", ")
}

// feasibleRights are the privileges that the creation of the VM needs.
var feasibleRights = []string{
	cluster.VMAudit, cluster.VMClone, cluster.VMAllocate, cluster.VMPowerMgmt, cluster.VMMonitor, cluster.AgentAudit, "VM.Config.CPU", "VM.Config.Memory",
	"VM.Config.Options",
}

func rights(privileges ...string) map[string]bool {
	out := map[string]bool{}
	for _, p := range privileges {
		out[p] = true
	}
	return out
}

// TestJudgeRebuild: a rebuild replaces a VM that is certainly ours, in its state, and protected by
// nothing; it goes on with one that a run has begun, and leaves one alone that is done.
func TestJudgeRebuild(t *testing.T) {
	entry := func(in Input) *lock.VM { return in.Lock.Stacks[0].Value.VMs.Get("web1") }
	for name, c := range map[string]struct {
		change func(*Input)
		want   string
		named  bool
	}{
		"a VM":                {func(*Input) {}, "replaces web1 100 from 9000", false},
		"its agent is silent": {func(in *Input) { silent(in) }, "replaces web1 100 from 9000", false},
		"another guest":       {func(in *Input) { in.Inventory.Guests[0].Config.UUID = "stranger" }, "conflict name-with-other-mac", false},
		"no template":         {func(in *Input) { entry(*in).Template = nil }, "would-destroy rebuild-no-template", false},
		"locked":              {func(in *Input) { in.Inventory.Guests[0].Lock = "backup" }, "busy held", false},
		"HA":                  {func(in *Input) { in.Inventory.Guests[0].HA = "started" }, "would-destroy rebuild-ha", false},
		"protection":          {func(in *Input) { in.Inventory.Guests[0].Config.Raw = map[string]string{"protection": "1"} }, "would-destroy rebuild-protection", true},
		"no UUID":             {func(in *Input) { in.Inventory.Guests[0].Config.UUID, entry(*in).Fingerprint = "", nil }, "would-destroy rebuild-no-uuid", false},
		"in no state":         {func(in *Input) { in.State[tf.VMUnit("lab")] = tf.State{} }, "would-destroy rebuild-apply-first", false},
		"not there yet": {func(in *Input) {
			in.State[tf.VMUnit("lab")] = tf.State{}
			in.Inventory.Guests = in.Inventory.Guests[1:]
			entry(*in).Fingerprint = nil
		}, "would-destroy rebuild-apply-first", false},
		"template locked": {func(in *Input) { in.Inventory.Guests[1].Lock = "backup" }, "busy template-locked", false},
		"template not read": {func(in *Input) {
			in.Inventory.Gaps = []cluster.Gap{{Path: "/vms/9000", Reason: "timeout"}}
		}, "would-destroy rebuild-creation-unknown", true},
		"template on a node that is down": {func(in *Input) {
			in.Inventory.Guests[1].Node = "pve2"
			in.Inventory.Gaps = []cluster.Gap{{Path: "/nodes/pve2", Reason: "node pve2 is offline"}}
		}, "would-destroy rebuild-creation-unknown", true},
		"migrated by hand, and the node of its spec is down": {func(in *Input) {
			in.Inventory.Nodes = []cluster.Node{{Name: "pve1"}, {Name: "pve2", Online: true}}
			in.Inventory.Guests[0].Node, in.Inventory.Guests[1].Node = "pve2", "pve2"
			entry(*in).Template.Node = "pve2"
			in.Inventory.Gaps = []cluster.Gap{{Path: "/nodes/pve1", Reason: "node pve1 is offline"}}
		}, "would-destroy rebuild-creation-unknown", true},
		"storages not read": {func(in *Input) {
			in.Inventory.Datastores = nil
			all := rights(append(feasibleRights, cluster.VMClone, cluster.AllocateSpace, cluster.SDNUse)...)
			in.Inventory.Access = &cluster.Access{Rights: cluster.Rights{"/": all, "/vms": all, "/storage": all, "/sdn": all}}
		}, "would-destroy rebuild-creation-unknown", true},
		"template hidden": {func(in *Input) {
			in.Inventory.Guests = in.Inventory.Guests[:1]
			in.Inventory.Access = &cluster.Access{Rights: cluster.Rights{"/vms": rights(feasibleRights...), "/vms/9000": rights(cluster.VMClone)}}
		}, "would-destroy rebuild-creation-unknown", true},
		"another guest has a volume of it": {func(in *Input) { lend(&scene{Input: *in}, true) }, "would-destroy lends-volumes", true},
		"another guest may have one":       {func(in *Input) { unclaimed100(&scene{Input: *in}) }, "unknown may-lend-volumes", true},
		"adopted":                          {func(in *Input) { in.Project.Stacks[0].VMs[0].Adopt = true }, "would-destroy rebuild-adopted", true},
		"adopted, deleted": {func(in *Input) {
			in.Project.Stacks[0].VMs[0].Adopt, in.Inventory.Guests = true, in.Inventory.Guests[1:]
		}, "would-destroy rebuild-adopted", true},
		"protected":        {func(in *Input) { protect(in) }, "would-destroy rebuild-protected", false},
		"protected, named": {func(in *Input) { protect(in) }, "replaces web1 100 from 9000", true},
		"deleted":          {func(in *Input) { in.Inventory.Guests = in.Inventory.Guests[1:] }, "gone gone", false},
		"deleted, named":   {func(in *Input) { in.Inventory.Guests = in.Inventory.Guests[1:] }, "lost", true},
		"begun":            {func(in *Input) { entry(*in).Rebuild = &lock.Rebuild{UUID: "u-web1"} }, "replaces web1 100 from 9000", false},
		"begun, and gone": {func(in *Input) {
			entry(*in).Rebuild, in.Inventory.Guests = &lock.Rebuild{UUID: "u-web1"}, in.Inventory.Guests[1:]
		}, "left", false},
		"begun, and a stranger": {func(in *Input) {
			entry(*in).Rebuild, in.Inventory.Guests[0].Config.UUID = &lock.Rebuild{UUID: "u-web1"}, "x"
			in.Inventory.Guests[0].Name = "x"
		}, "conflict other-name-and-mac", false},
		"done":                      {func(in *Input) { entry(*in).Rebuild = &lock.Rebuild{UUID: "before"} }, "done", false},
		"done, its agent is silent": {func(in *Input) { silent(in); entry(*in).Rebuild = &lock.Rebuild{UUID: "before"} }, "done", false},
		"of a later wave":           {func(in *Input) { entry(*in).Rebuild = &lock.Rebuild{UUID: "u-web1", Waits: true} }, "replaces web1 100 from 9000", false},
		"of a later wave, and replaced elsewhere": {func(in *Input) { entry(*in).Rebuild = &lock.Rebuild{UUID: "before", Waits: true} }, "would-destroy rebuild-elsewhere", false},
		"of a later wave, and deleted": {func(in *Input) {
			entry(*in).Rebuild, in.Inventory.Guests = &lock.Rebuild{UUID: "u-web1", Waits: true}, in.Inventory.Guests[1:]
		}, "gone gone", false},
		"done, and deleted then": {func(in *Input) {
			entry(*in).Rebuild, in.Inventory.Guests = &lock.Rebuild{UUID: "before"}, in.Inventory.Guests[1:]
		}, "gone gone", false},
	} {
		in := rebuildable()
		c.change(&in)
		var named []string
		if c.named {
			named = []string{"web1"}
		}
		if got := decided(in, named...); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestJudgeRebuildProtection: the step is a change of the spec only if the spec has the protection on. A clone has that of its
// template, and the provider does not read it: no apply removes it.
func TestJudgeRebuildProtection(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		want   string
	}{
		"spec": {func(in *Input) {
			key := schema.Scalar(schema.Pos{}, schema.ShapeString, guest.Protection)
			on := schema.Scalar(schema.Pos{}, schema.ShapeBool, "true")
			in.Project.Stacks[0].VMs[0].Values = (&schema.Node{Shape: schema.ShapeMap}).With(key, on)
		}, "protection: false"},
		"cluster": {func(*Input) {}, "pvesh set /nodes/pve1/qemu/100/config --protection 0"},
	} {
		in := rebuildable()
		in.Inventory.Guests[0].Config.Raw = map[string]string{"protection": "1"}
		c.change(&in)
		refused := JudgeRebuild(in, Judge(in), "lab", []string{"web1"}, nil, nil).Refused
		if len(refused) != 1 || !strings.Contains(fmt.Sprint(refused[0].Steps), c.want) {
			t.Errorf("%s: %+v, want the step %s", name, refused, c.want)
		}
	}
}

// TestJudgeRebuildAgain: a VM that a rollout has replaced, and that is not healthy, is replaced once
// more where that is asked for. Everything else is as for another VM.
func TestJudgeRebuildAgain(t *testing.T) {
	in := rebuildable()
	entry := in.Lock.Stacks[0].Value.VMs.Get("web1")
	entry.Rebuild = &lock.Rebuild{UUID: "before", Unhealthy: true}
	if got := decided(in); got != "done" {
		t.Error(got)
	}
	silent(&in)
	if got := decided(in, "again"); got != "replaces web1 100 from 9000" {
		t.Error(got)
	}
	in.Inventory.Guests[0].Config.UUID, in.Inventory.Guests[0].Name = "x", "x"
	if got := decided(in, "again"); !strings.HasPrefix(got, "conflict ") {
		t.Errorf("a stranger: %s", got)
	}
}

// protect gives web1 the profile that prevents its destroy.
func protect(in *Input) {
	in.Lock.Stacks[0].Value.VMs.Get("web1").Profile = "protected"
	r := &in.State[tf.VMUnit("lab")].Resources[0]
	r.Address = strings.Replace(r.Address, ".this[", ".protected[", 1)
}

// silent makes web1 a VM that runs, and whose agent does not answer.
func silent(in *Input) {
	g := &in.Inventory.Guests[0]
	g.Status, g.Config.Agent, g.Config.Raw = "running", cluster.AgentSilent, map[string]string{"agent": "1"}
	in.Project.Stacks[0].VMs[0].Values = nil
}

// TestRebuildPlan: the plan that creates a VM whose rebuild has begun is right; without the mark,
// its guest was deleted by hand. A plan that replaces it needs a grant.
func TestRebuildPlan(t *testing.T) {
	const gone = `"create"`
	after := `{"vm_id":100,"clone":[{"vm_id":9000}]}`
	judge := func(in Input, change string) string {
		plan := planWith(t, change)
		if strings.Contains(change, gone) && !strings.Contains(change, "delete") {
			plan.Drift = []*tf.ResourceChange{{Address: inState("web1", 100).Address, Action: tf.Delete}}
		}
		found, _, err := JudgePlan(in, Judge(in), tf.VMUnit("lab"), plan)
		if err != nil {
			t.Fatal(err)
		}
		return words(found)
	}
	create := changeOf("web1", 100, gone, after, "")
	replace := changeOf("web1", 100, `"delete","create"`, after, `,"action_reason":"replace_by_request"`)
	in := rebuildable()
	if got := judge(in, replace); got != "web1 would-destroy" {
		t.Errorf("a replacement without a grant: %s", got)
	}
	in.Grant = &Grant{Unit: tf.VMUnit("lab"), Kind: GrantReplace, Parts: []Granted{granted("web1", 100, 9000)}}
	if got := judge(in, replace); got != "" {
		t.Errorf("a replacement with its grant: %s", got)
	}
	in.Inventory.Guests[1].Lock = "backup"
	if got := judge(in, replace); got != "web1 busy" {
		t.Errorf("a replacement with its grant, and its template cannot be cloned any more: %s", got)
	}
	in.Inventory.Guests[1].Lock = ""
	lend(&scene{Input: in}, true)
	if got := judge(in, replace); got != "web1 would-destroy" {
		t.Errorf("a replacement with its grant, and another guest has a volume: %s", got)
	}
	in.Inventory.Guests = in.Inventory.Guests[:2]
	unclaimed100(&scene{Input: in})
	if got := judge(in, replace); got != "web1 unknown" {
		t.Errorf("a replacement with its grant, and another guest may have a volume: %s", got)
	}
	in.Grant, in.Inventory.Guests = nil, in.Inventory.Guests[1:2]
	if got := judge(in, create); got != "web1 gone" {
		t.Errorf("a VM that was deleted: %s", got)
	}
	in.Lock.Stacks[0].Value.VMs.Get("web1").Rebuild = &lock.Rebuild{UUID: "u-web1"}
	if got := judge(in, create); got != "" || finding.Exit(Judge(in)) != finding.OK {
		t.Errorf("a VM whose rebuild has begun: %s", got)
	}
}

// TestRebuildOfLocked: a lock that no task has is removed by a step, after one that lists the tasks.
func TestRebuildOfLocked(t *testing.T) {
	in := rebuildable()
	in.Inventory.Guests[0].Lock = "snapshot"
	r := JudgeRebuild(in, Judge(in), "lab", []string{"web1"}, nil, nil)
	if len(r.Refused) != 1 || !r.Refused[0].Stops() {
		t.Fatalf("refused: %+v", r.Refused)
	}
	text := fmt.Sprintf("%+v", r.Refused[0].Steps)
	look, unlock := strings.Index(text, "--source active"), strings.Index(text, "qm unlock 100")
	if look < 0 || unlock < look || strings.Count(text, "qm unlock") != 1 {
		t.Errorf("steps: %s", text)
	}
}

// TestJudgeExchange: a VM that keeps a disk is not replaced, and gets the disks of its template. If they are not its
// other disks, that is refused before anything is done.
func TestJudgeExchange(t *testing.T) {
	const own, template = "scsi0: local-lvm:vm-100-disk-0 scsi1: local-lvm:vm-100-disk-1", "scsi0: local-lvm:base-9000-disk-0"
	for name, c := range map[string]struct {
		own, template, clone string
		mark                 *lock.Rebuild
		want                 string
	}{
		"one kept": {own, template, "full", nil, "[scsi0] loses [local-lvm:vm-100-disk-0] on local-lvm"},
		"linked":   {own, template, "linked", nil, "[scsi0] loses [local-lvm:vm-100-disk-0] on "},
		"with drives, an EFI disk and unused volumes": {own + " efidisk0: local-lvm:vm-100-disk-2 ide2: local-lvm:vm-100-cloudinit,media=cdrom unused0: local-lvm:vm-100-disk-7",
			template, "full", nil, "[scsi0] loses [local-lvm:vm-100-disk-0] on local-lvm"},
		"the EFI disk of the template": {own + " efidisk0: local-lvm:vm-100-disk-2", template + " efidisk0: local-lvm:base-9000-disk-1", "full", nil,
			"[efidisk0 scsi0] loses [local-lvm:vm-100-disk-2 local-lvm:vm-100-disk-0] on local-lvm"},
		"begun": {own, template, "full", &lock.Rebuild{UUID: "u-web1", Holder: 199, Volumes: []string{"local-lvm:vm-100-disk-9"}},
			"[scsi0] loses [local-lvm:vm-100-disk-0 local-lvm:vm-100-disk-9] on local-lvm from 199"},
		"begun by one that replaces": {own, template, "full", &lock.Rebuild{UUID: "u-web1"}, "[scsi0] loses [local-lvm:vm-100-disk-0] on local-lvm"},

		"it would not start again": {own + " ide3: files:iso/gone.iso,media=cdrom", template, "full", nil, "rebuild-start-fails"},
		"begun, and it would not start again": {own + " ide3: files:iso/gone.iso,media=cdrom unused0: local-lvm:vm-100-disk-9", template, "full",
			&lock.Rebuild{UUID: "u-web1", Holder: 199, Volumes: []string{"local-lvm:vm-100-disk-9"}},
			"[scsi0] loses [local-lvm:vm-100-disk-0 local-lvm:vm-100-disk-9] on local-lvm from 199"},

		"no disk of the template":     {"scsi1: local-lvm:vm-100-disk-1", template, "full", nil, "rebuild-disk-missing"},
		"the template has the kept":   {own, template + " scsi1: local-lvm:base-9000-disk-1", "full", nil, "rebuild-keeps-template-disk"},
		"a third disk":                {own + " scsi2: local-lvm:vm-100-disk-2", template, "full", nil, "rebuild-disk-not-kept"},
		"two storages":                {own + " scsi2: other:vm-100-disk-2", template + " scsi2: local-lvm:base-9000-disk-1", "full", nil, "rebuild-disk-storages"},
		"linked, on another storage":  {"scsi0: other:vm-100-disk-0 scsi1: local-lvm:vm-100-disk-1", template, "linked", nil, "rebuild-disk-storages"},
		"a template that is not read": {own, "", "full", nil, "rebuild-template-unread"},
	} {
		in := rebuildable()
		in.Project.Stacks[0].VMs[0].Values = keepsSCSI1().Values
		in.Inventory.Guests[0].Status, in.Inventory.ISOs = "running", []cluster.Files{{Storage: "files", Node: "pve1"}}
		e := in.Lock.Stacks[0].Value.VMs.Get("web1")
		e.Clone, e.Rebuild = c.clone, c.mark
		in.Inventory.Guests[0].Config.Raw = entries(c.own)
		if in.Inventory.Guest(9000).Config.Raw = entries(c.template); c.template == "" {
			in.Inventory.Guest(9000).Config = nil
		}
		r := JudgeRebuild(in, Judge(in), "lab", []string{"web1"}, nil, nil)
		got := ""
		for _, f := range r.Refused {
			got += string(f.Reason.Code)
		}
		for _, vm := range r.Replaced {
			got += fmt.Sprintf("%v loses %v on %s", vm.Exchange.Disks, vm.Exchange.Volumes, vm.Exchange.Storage)
			if vm.Exchange.Holder != 0 {
				got += fmt.Sprintf(" from %d", vm.Exchange.Holder)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestHalfExchangedNamesClone: whoever wants to give the rebuild up has to know which VM it has made.
func TestHalfExchangedNamesClone(t *testing.T) {
	in := rebuildable()
	clone := newGuest(199, cluster.HolderName(100, 9000))
	in.Inventory.Guests = append(in.Inventory.Guests, clone)
	in.Lock.Stacks[0].Value.VMs.Get("web1").Rebuild = &lock.Rebuild{UUID: "u-web1", Holder: 199, Volumes: []string{"local-lvm:vm-100-disk-8"}}
	in.Inventory.Guests[0].Config.Raw = entries("unused0: local-lvm:vm-100-disk-8")
	of := func() string {
		found := Judge(in)
		i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Reason.Code == halfExchanged })
		if i < 0 {
			t.Fatalf("no VM is half exchanged: %+v", found)
		}
		return fmt.Sprint(found[i].Evidence)
	}
	if got := of(); !strings.Contains(got, "VM 199 (rebuild-100-from-9000) on pve1") {
		t.Error(got)
	}
	in.Inventory.Guests[2].Name = "stranger"
	if got := of(); strings.Contains(got, "199") {
		t.Errorf("another VM has its VMID: %s", got)
	}
}

// keepsSCSI1 is a VM of a spec with the disks scsi0 and scsi1, of which it keeps the second.
func keepsSCSI1() *schema.VM {
	text := func(s string) *schema.Node { return schema.Scalar(schema.Pos{}, schema.ShapeString, s) }
	disk := func(at string) *schema.Node {
		return (&schema.Node{Shape: schema.ShapeMap}).With(text("interface"), text(at))
	}
	list := &schema.Node{Shape: schema.ShapeList}
	list.Items = []*schema.Node{disk("scsi0"), disk("scsi1").With(text("keep"), schema.Scalar(schema.Pos{}, schema.ShapeBool, "true"))}
	return &schema.VM{Key: "web1", Values: (&schema.Node{Shape: schema.ShapeMap}).With(text("disks"), list)}
}

// entries reads "scsi0: VOLUME scsi1: VOLUME".
func entries(text string) map[string]string {
	out, words := map[string]string{}, strings.Fields(text)
	for i := 0; i+1 < len(words); i += 2 {
		out[strings.TrimSuffix(words[i], ":")] = words[i+1]
	}
	return out
}

// TestRebuildLeavesHA: the VM comes back, so that the rules of the HA manager keep it.
func TestRebuildLeavesHA(t *testing.T) {
	for release, want := range map[string]string{"8.4.21": "ha-manager remove vm:100", "9.2.11": "ha-manager remove vm:100 --purge 0"} {
		in := rebuildable()
		in.Inventory.Release, in.Inventory.Guest(100).HA = release, "started"
		if r := JudgeRebuild(in, Judge(in), "lab", []string{"web1"}, nil, nil).Refused; len(r) != 1 || r[0].Steps[0].Lines[0].String() != want {
			t.Errorf("%s: %+v", release, r)
		}
	}
}
