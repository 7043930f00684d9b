package guard

import (
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

// replica makes web1 a template of a Template.
func (s *scene) replica() {
	s.Project.Stacks[0].Kind = schema.KindTemplate
	s.entry.Release, s.entry.Image = "20261101", &lock.Image{URL: "https://images.example/a", Checksum: "md5:0", File: "a.qcow2", Datastore: "local"}
	s.spec.Replica = &schema.Replica{Release: s.entry.Release, Image: *s.entry.Image, Current: true}
	s.spec.Values, _ = schema.ParseYAML("", []byte("{memory: 1024, on_boot: false, started: false, agent: {enabled: false}, os_type: l26, scsi_hardware: virtio-scsi-pci}"))
	if len(s.Inventory.Guests) > 0 {
		s.guest().Template = true
		s.guest().Config.Raw = map[string]string{"name": s.spec.Name, "memory": "1024", "cores": "1", "ostype": "l26", "scsihw": "virtio-scsi-pci"}
	}
}

// shareImage gives another template of the project the same image file.
func (s *scene) shareImage() {
	other := lock.VM{VMID: 900, Node: s.entry.Node, Image: s.entry.Image, Status: lock.Live}
	s.Lock.Stacks = append(s.Lock.Stacks, lock.Entry[lock.Stack]{Key: "other", Value: lock.Stack{VMs: lock.Ordered[lock.VM]{{Key: "r", Value: other}}}})
}

// clone adds a linked clone of web1.
func (s *scene) clone() {
	g := newGuest(300, "clone")
	g.Config.Raw = map[string]string{"scsi0": "local-lvm:base-100-disk-0/vm-300-disk-0,size=4G"}
	s.Inventory.Guests = append(s.Inventory.Guests, g)
}

func templateCases() []ruleCase {
	const destroy = "pvesh delete /nodes/pve1/qemu/100"
	return []ruleCase{
		{"managed", both, func(s *scene) { s.replica() }, ""},
		{"adopt", onlyGuest, func(s *scene) { s.replica() }, ""},
		{"conflict: another guest has its VMID", both, func(s *scene) { s.guest().Template = true }, "state rm"},
		{"busy: a template with linked clones", both, func(s *scene) { s.replica(); s.clone(); s.retire() }, "stackgen render"},
		{"busy: a template with linked clones", both, func(s *scene) { s.replica(); s.clone(); s.Destroy = true }, ""},
		{"retiring", both, func(s *scene) { s.replica(); s.retire() }, ""},
		{"managed", both, func(s *scene) { s.replica(); s.clone() }, ""},
		{"busy: not a template yet", both, func(s *scene) { s.replica(); s.guest().Template = false }, destroy},
		{"busy: not a template yet", onlyGuest, func(s *scene) { s.replica(); s.guest().Template = false }, destroy},
		{"would-destroy: tainted", both, func(s *scene) { s.replica(); s.state().Tainted = true }, "untaint"},
	}
}

// TestDestroyOfClonesFirst: linked clones that the same destroy destroys do not keep their template, and
// all others do.
func TestDestroyOfClonesFirst(t *testing.T) {
	// linked makes a VM of another stack a linked clone of web1, by the UUID that the lock records.
	linked := func(s *scene) {
		s.replica()
		s.clone()
		s.Destroy, s.TemplatesLast = true, true
		s.Inventory.Guests[1].Config.UUID = "u-clone"
		vm := lock.VM{VMID: 300, Node: "pve1", Status: lock.Live, Fingerprint: &lock.Fingerprint{UUID: "u-clone"}}
		s.Project.Stacks = append(s.Project.Stacks, &schema.Stack{Name: "live", VMs: []*schema.VM{{Key: "a", Name: "clone", VMID: 300, Node: "pve1"}}})
		s.Lock.Stacks = append(s.Lock.Stacks, lock.Entry[lock.Stack]{Key: "live", Value: lock.Stack{
			VMs:   lock.Ordered[lock.VM]{{Key: "a", Value: vm}},
			Units: lock.Ordered[lock.Unit]{{Key: lock.UnitVM, Value: lock.Unit{Status: lock.Live}}},
		}})
		s.State[tf.VMUnit("live")] = tf.State{Resources: []tf.Resource{inState("a", 300)}}
	}
	entry := func(s *scene) *lock.VM { return s.Lock.Stacks.Get("live").VMs.Get("a") }
	// retired is an apply that destroys both.
	retired := func(s *scene) {
		s.Destroy = false
		s.retire()
		entry(s).Status, entry(s).Template = lock.Retired, &lock.Template{VMID: s.entry.VMID, Node: "pve1"}
		s.Project.Stacks[1].VMs = nil
	}
	for name, c := range map[string]struct {
		change func(*scene)
		busy   bool
	}{
		"of the run":                    {func(*scene) {}, false},
		"retired, of the run":           {func(s *scene) { entry(s).Status = lock.Retired; s.Project.Stacks[1].VMs = nil }, false},
		"both retired":                  {func(s *scene) { s.retire(); entry(s).Status = lock.Retired }, false},
		"Templates are first":           {func(s *scene) { s.TemplatesLast = false }, true},
		"an apply":                      {func(s *scene) { s.Destroy = false; s.retire() }, true},
		"an apply of both, retired":     {retired, false},
		"the same, Templates first":     {func(s *scene) { retired(s); s.TemplatesLast = false }, true},
		"the same, of one of the two":   {func(s *scene) { retired(s); s.Selected = func(stack string) bool { return stack == "lab" } }, true},
		"the same, in no state":         {func(s *scene) { retired(s); s.State[tf.VMUnit("live")] = tf.State{} }, true},
		"the same, another one by UUID": {func(s *scene) { retired(s); s.Inventory.Guests[1].Config.UUID = "u-other" }, true},
		"its stack is not":              {func(s *scene) { s.Selected = func(stack string) bool { return stack == "lab" } }, true},
		"in no state":                   {func(s *scene) { s.State[tf.VMUnit("live")] = tf.State{} }, true},
		"its state is unknown":          {func(s *scene) { s.State[tf.VMUnit("live")] = tf.State{Unreadable: "no access"} }, true},
		"another one by UUID":           {func(s *scene) { s.Inventory.Guests[1].Config.UUID = "u-other" }, true},
		"one more, of a person":         {func(s *scene) { s.clone(); s.Inventory.Guests[2].VMID = 301 }, true},
	} {
		rule := ruleCase{from: both, change: func(s *scene) { linked(s); c.change(s) }}
		in := rule.scene().Input
		found := Judge(in)
		i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Type == finding.VM && f.Stack == "lab" && f.Key == "web1" })
		if busy := i >= 0 && found[i].Reason.Code == "template-has-clones"; busy != c.busy {
			t.Errorf("%s: %s, refused: %v", name, words(found), busy)
		}
		if notes := strings.Join(CloneNotes(in), ""); strings.Contains(notes, "VM 300") != !c.busy && name != "one more, of a person" {
			t.Errorf("%s: %s", name, notes)
		}
		if c.busy && name == "one more, of a person" && strings.Contains(said(&found[i]), "300") {
			t.Errorf("a clone of the run is named as one that keeps the template: %s", said(&found[i]))
		}
	}
}

// TestConversionNeedsTheWholeDisk checks that the line which makes a template of a VM is printed only
// where its disk has the size of the spec.
func TestConversionNeedsTheWholeDisk(t *testing.T) {
	for size, want := range map[string]bool{"4G": true, "2G": false, "": false} {
		c := ruleCase{from: onlyGuest, change: func(s *scene) {
			s.replica()
			s.guest().Template = false
			s.guest().Config.Raw = map[string]string{"scsi0": "local-lvm:vm-100-disk-0,size=" + size}
			values, _ := schema.ParseYAML("", []byte("disks: [{interface: scsi0, datastore: local-lvm, size: 4}]"))
			s.spec.Values = values
		}}
		found := Judge(c.scene().Input)
		f := found[slices.IndexFunc(found, func(f finding.Finding) bool { return f.Type == finding.VM })]
		if got := strings.Contains(linesOf(&f), "pvesh create /nodes/pve1/qemu/100/template"); got != want {
			t.Errorf("a disk of %s: the line is printed: %v\n%s", size, got, linesOf(&f))
		}
	}
}

func linesOf(f *finding.Finding) string {
	var out []string
	for _, s := range f.Steps {
		for _, l := range s.Lines {
			out = append(out, l.String())
		}
	}
	return strings.Join(out, "\n")
}

// downloading adds a task of a type about a file.
func downloading(node, what string) func(*scene) {
	return func(s *scene) {
		of, _, _ := strings.Cut(what, ":")
		s.Inventory.Tasks = []cluster.Task{{UPID: "UPID:" + node + ":00003964:000C611B:6B03FA82:" + what + ":root@pam!lab:", Node: node, Type: of, User: "root@pam!lab"}}
	}
}

// downloadedFrom is a state of which the image was downloaded from a URL.
func downloadedFrom(url, checksum string) func(*scene) {
	return func(s *scene) {
		list := s.State[tf.VMUnit("lab")].Resources
		for i := range list {
			if list[i].Type == guest.FileResource {
				list[i].Image = schema.Image{URL: url, Checksum: checksum, File: "a.qcow2"}
			}
		}
	}
}

// TestImages: what is found out about the image of a template.
func TestImages(t *testing.T) {
	file := []cluster.File{{Name: "a.qcow2", Size: 1}}
	held := tf.Resource{Address: lock.ImageAddress("web1"), Type: guest.FileResource, Key: "web1", ID: "local:import/a.qcow2", Node: "pve1"}
	for name, c := range map[string]struct {
		from   int
		files  []cluster.File
		state  bool
		change func(*scene)
		want   finding.Kind
		says   string // a part of the lines, or the id of the import
	}{
		"nothing there":                {nowhere, nil, false, nil, finding.Create, ""},
		"all there":                    {both, file, true, nil, finding.Managed, ""},
		"state lost":                   {onlyGuest, file, false, nil, finding.Adopt, "pve1/local:import/a.qcow2"},
		"state lost, and the template": {nowhere, file, false, func(s *scene) { s.entry.ImageSeen = true }, finding.Adopt, "pve1/local:import/a.qcow2"},
		"state lost, and the file":     {onlyGuest, nil, false, nil, finding.Create, ""},
		"a file of somebody":           {nowhere, file, false, nil, finding.Conflict, "pvesh delete /nodes/pve1/storage/local/content/local:import/a.qcow2"},
		"left by a killed run":         {nowhere, file, false, func(s *scene) { s.Begun = map[string]cluster.Begun{"lab/web1": {VMID: 100}} }, finding.Create, ""},
		"left, without a checksum": {nowhere, file, false, func(s *scene) {
			s.Begun = map[string]cluster.Begun{"lab/web1": {VMID: 100}}
			s.entry.Image.Checksum = ""
		}, finding.Conflict, "file_name: a-1.qcow2"},
		"being downloaded": {nowhere, nil, false, downloading("pve1", "download:a.qcow2"), finding.Busy, "pvesh get '/nodes/pve1/tasks/UPID:pve1:"},
		"being downloaded to the shared storage, elsewhere": {nowhere, nil, false, func(s *scene) {
			s.Inventory.Storages = []cluster.Storage{{ID: "local", Node: "pve1", Content: "import", Active: true, Shared: true}}
			downloading("pve2", "download:a.qcow2")(s)
		}, finding.Busy, "pvesh delete '/nodes/pve2/tasks/UPID:pve2:"},
		"another download":                                {nowhere, nil, false, downloading("pve1", "download:b.qcow2"), finding.Create, ""},
		"a download elsewhere":                            {nowhere, nil, false, downloading("pve2", "download:a.qcow2"), finding.Create, ""},
		"another task of its name":                        {nowhere, nil, false, downloading("pve1", "imgcopy:a.qcow2"), finding.Create, ""},
		"downloaded, and complete":                        {both, file, true, downloading("pve1", "download:a.qcow2"), finding.Managed, ""},
		"the file is gone":                                {both, nil, true, nil, finding.Gone, "state rm"},
		"retired":                                         {both, file, true, (*scene).retire, finding.Retiring, ""},
		"the file of another template":                    {nowhere, nil, false, (*scene).shareImage, finding.Conflict, ""},
		"the same, and both have it":                      {both, file, true, (*scene).shareImage, finding.Managed, ""},
		"the same, retired":                               {both, file, true, func(s *scene) { s.shareImage(); s.retire() }, finding.Conflict, "state rm"},
		"of another one, on a storage that is not shared": {nowhere, nil, false, func(s *scene) { s.shareImage(); s.entry.Node = "pve2" }, finding.Create, ""},
		"downloaded, and no template yet":                 {nowhere, file, true, downloadedFrom("https://images.example/a", "md5:0"), finding.Managed, ""},
		"downloaded from another URL":                     {nowhere, file, true, downloadedFrom("https://images.example/b", "md5:0"), finding.Conflict, "pvesh delete /nodes/pve1/storage/local/content/local:import/a.qcow2"},
		"downloaded with another checksum":                {nowhere, file, true, downloadedFrom("https://images.example/a", "md5:1"), finding.Conflict, "pvesh delete /nodes/pve1/storage/local/content/local:import/a.qcow2"},
		"from another URL, and the template is made":      {both, file, true, downloadedFrom("https://images.example/b", "md5:0"), finding.Managed, ""},
		"from another URL, and recorded": {nowhere, file, true, func(s *scene) {
			downloadedFrom("https://images.example/b", "")(s)
			s.entry.ImageSeen = true
		}, finding.Managed, ""},
		"forgotten": {both, file, true, func(s *scene) { s.entry.Status = lock.Forgotten }, finding.WouldDestroy, "state rm"},
	} {
		rule := ruleCase{from: c.from, change: func(s *scene) {
			s.replica()
			s.Inventory.Images = []cluster.Files{{Storage: "local", Node: "pve1", Files: c.files}}
			if c.state {
				unit := s.State[tf.VMUnit("lab")]
				unit.Resources = append(unit.Resources, held)
				s.State[tf.VMUnit("lab")] = unit
			}
			if c.change != nil {
				c.change(s)
			}
		}}
		var found *finding.Finding
		all := Judge(rule.scene().Input)
		for i := range all {
			if all[i].Type == finding.Image {
				found = &all[i]
			}
		}
		switch {
		case found == nil:
			t.Errorf("%s: no finding", name)
		case found.Kind != c.want:
			t.Errorf("%s: %s, want %s", name, found.Kind, c.want)
		case found.Import+linesOf(found) != c.says && !strings.Contains(linesOf(found), c.says):
			t.Errorf("%s: %s%s, want %s", name, found.Import, linesOf(found), c.says)
		}
	}
}

// TestTemplateMadeOtherwise: what the spec says otherwise of the release that it makes is a finding,
// and of another release it is none.
func TestTemplateMadeOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene)
		kind   finding.Kind
		made   []finding.Made
	}{
		"as the spec says": {func(*scene) {}, finding.Managed, nil},
		"other memory": {func(s *scene) { s.guest().Config.Raw["memory"] = "512" }, finding.CreationOnly,
			[]finding.Made{{Property: "memory", Was: "512", Spec: "1024"}}},
		"a Windows with a version of its machine type": {func(s *scene) {
			s.guest().Config.Raw["ostype"], s.guest().Config.Raw["machine"] = "win11", "pc-i440fx-9.2+pve1"
			s.spec.Values = s.spec.Values.With(schema.Scalar(s.spec.Pos, schema.ShapeString, guest.OSType), schema.Scalar(s.spec.Pos, schema.ShapeString, "win11"))
		}, finding.Managed, nil},
		"another image": {func(s *scene) { s.spec.Replica.Image.File = "b.qcow2" }, finding.CreationOnly,
			[]finding.Made{{Property: "image", Was: "a.qcow2 (md5:0) from https://images.example/a", Spec: "b.qcow2 (md5:0) from https://images.example/a"}}},
		"of another release": {func(s *scene) { s.guest().Config.Raw["memory"] = "512"; s.spec.Replica.Current = false }, finding.Managed, nil},
		"retired":            {func(s *scene) { s.guest().Config.Raw["memory"] = "512"; s.retire() }, finding.Retiring, nil},
	} {
		rule := ruleCase{from: both, change: func(s *scene) {
			s.replica()
			c.change(s)
		}}
		found := Judge(rule.scene().Input)
		f := found[slices.IndexFunc(found, func(f finding.Finding) bool { return f.Type == finding.VM })]
		if f.Kind != c.kind || !reflect.DeepEqual(f.MadeWith, c.made) {
			t.Errorf("%s: %s with %v, want %s with %v", name, f.Kind, f.MadeWith, c.kind, c.made)
		}
	}
}

// TestOneTemplateOnSharedStorage: a second template of a release on one shared storage is not made.
func TestOneTemplateOnSharedStorage(t *testing.T) {
	for name, c := range map[string]struct {
		shared bool
		other  string // the release of the other template
		want   finding.Kind
	}{
		"shared":             {true, "20261101", finding.CannotCreate},
		"local":              {false, "20261101", finding.Create},
		"of another release": {true, "20261001", finding.Create},
		"nothing is known":   {true, "", finding.Create},
	} {
		rule := ruleCase{from: nowhere, change: func(s *scene) {
			s.replica()
			s.spec.Values, _ = schema.ParseYAML("", []byte("disks: [{interface: scsi0, datastore: nfs, size: 4}]"))
			s.Inventory.Storages = []cluster.Storage{{ID: "nfs", Node: "pve1", Content: "images", Active: true, Shared: c.shared}}
			if c.other == "" {
				return
			}
			vms := &s.Lock.Stacks[0].Value.VMs
			other := lock.Entry[lock.VM]{Key: "first", Value: lock.VM{VMID: 99, Node: "pve2", Release: c.other, Image: s.entry.Image, Status: lock.Live}}
			*vms = append(lock.Ordered[lock.VM]{other}, *vms...)
		}}
		found := Judge(rule.scene().Input)
		f := found[slices.IndexFunc(found, func(f finding.Finding) bool { return f.Type == finding.VM && f.Key == "web1" })]
		if f.Kind != c.want || c.want == finding.CannotCreate && !strings.Contains(linesOf(&f), "nodes: [pve2]") {
			t.Errorf("%s: %s, want %s\n%s", name, f.Kind, c.want, linesOf(&f))
		}
	}
}

// TestDownloadByApply: a run that downloads an image does not make its template, too; the creation is announced all the
// same, and a run that makes the template after the download does so.
func TestDownloadByApply(t *testing.T) {
	for name, c := range map[string]struct{ running, downloads, refused bool }{
		"announced":          {false, true, false},
		"by OpenTofu":        {true, true, true},
		"after the download": {true, false, false},
	} {
		rule := ruleCase{from: nowhere, change: func(s *scene) { s.replica(); s.Running = c.running }}
		s := rule.scene()
		plan := &tf.Plan{Changes: []*tf.ResourceChange{{Action: tf.Create, After: map[string]any{"vm_id": 100.0, "node_name": "pve1"},
			Address: schema.VMAddress("", "web1"), Type: guest.VMResource, Key: "web1", Managed: true}}}
		if c.downloads {
			plan.Changes = append(plan.Changes, &tf.ResourceChange{Action: tf.Create, Managed: true,
				Address: lock.ImageAddress("web1"), Type: guest.FileResource, Key: "web1"})
		}
		found, _, err := JudgePlan(s.Input, Judge(s.Input), tf.VMUnit("lab"), plan)
		if err != nil || (len(found) > 0) != c.refused || c.refused && (found[0].Kind != finding.CannotCreate || !strings.Contains(linesOf(&found[0]), "stackgen apply")) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

// TestOutdatedRelease: a VM that was made from a release which the project retires is not offered a line that says so: a
// render refuses it.
func TestOutdatedRelease(t *testing.T) {
	for status, offers := range map[string]bool{lock.Live: true, lock.Retired: false} {
		c := ruleCase{from: both, change: func(s *scene) {
			release := func(key string, vmid int, status string) lock.Entry[lock.VM] {
				return lock.Entry[lock.VM]{Key: key, Value: lock.VM{VMID: vmid, Node: "pve1", Release: key, Status: status, Image: &lock.Image{}}}
			}
			s.Lock.Stacks = append(s.Lock.Stacks, lock.Entry[lock.Stack]{Key: "base", Value: lock.Stack{
				Status: lock.Live, VMs: lock.Ordered[lock.VM]{release("1", 900, status), release("2", 901, lock.Live)}}})
			s.entry.Template, s.entry.MadeFrom = &lock.Template{VMID: 901, Node: "pve1"}, &lock.Template{VMID: 900, Node: "pve1"}
		}}
		var all string
		for _, f := range Judge(c.scene().Input) {
			for _, step := range f.Steps {
				all += step.What + "\n"
				for _, l := range step.Lines {
					all += l.String() + "\n"
				}
			}
		}
		if strings.Contains(all, "template: {name: base, release: \"1\"}") != offers || !strings.Contains(all, "for new disks from template 901") {
			t.Errorf("%q: %s", status, all)
		}
	}
}
