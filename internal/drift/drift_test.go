package drift

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

var vmUnit = tf.VMUnit("lab")

const vmAddress = `proxmox_virtual_environment_vm.this["web"]`

// values are those of a VM in a plan, with every shape of attribute.
func values() map[string]any {
	return map[string]any{
		"vm_id": 100.0, "node_name": "pve1", "name": "web", "description": "text", "bios": "seabios", "tags": []any{"a", "b"}, "on_boot": true, "reboot_after_update": false,
		"ipv4_addresses": []any{[]any{"192.0.2.1"}}, "cpu": []any{map[string]any{"cores": 2.0, "type": "host", "flags": []any{}}}, "memory": []any{map[string]any{"dedicated": 2048.0}},
		"disk":           []any{map[string]any{"interface": "scsi0", "size": 8.0, "datastore_id": "ssd"}, map[string]any{"interface": "scsi1", "size": 9.0, "datastore_id": "ssd"}},
		"network_device": []any{map[string]any{"mac_address": "BC:24:11:00:00:01", "bridge": "vmbr0", "vlan_id": 0.0}},
		"initialization": []any{map[string]any{"datastore_id": "ssd", "user_account": []any{map[string]any{"username": "debian", "password": "old"}}, "ip_config": []any{map[string]any{"ipv4": []any{map[string]any{"address": "dhcp"}}}}}},
		"no_such_thing":  "x", "usb": []any{}, "rng": []any{},
	}
}

// explain explains a plan that changes a VM from what is real to what is wanted. applied is
// what the last apply left, or nil for the same as what is real.
func explain(applied, now, wanted, unknown any) []finding.Finding {
	return Explain(inputOf(applied, now, wanted, unknown))
}

// inputOf is what explain explains.
func inputOf(applied, now, wanted, unknown any) Input {
	vm := &schema.VM{Key: "web", Path: "vms.web", Name: "web", Profile: "default", Pos: schema.Pos{File: "specs/lab.yaml", Line: 5, Col: 3}}
	l := lock.Stack{Spec: "specs/lab.yaml", Units: lock.Ordered[lock.Unit]{{Key: lock.UnitVM}}, VMs: lock.Ordered[lock.VM]{{Key: "web", Value: lock.VM{VMID: 100, Node: "pve1"}}}}
	in := Input{Units: []tf.Unit{vmUnit}, Input: guard.Input{
		Project:   &schema.Project{Stacks: []*schema.Stack{{Name: "lab", Spec: "specs/lab.yaml", VMs: []*schema.VM{vm}}}, Profiles: schema.BuiltinProfiles()},
		Lock:      &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: l}}},
		Selected:  func(string) bool { return true },
		State:     tf.States{vmUnit: {Resources: []tf.Resource{{Address: vmAddress, Type: guest.VMResource, Key: "web", VMID: 100, Node: "pve1", Name: "web"}}}},
		Inventory: &cluster.Inventory{Quorate: true, Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Guests: []cluster.Guest{{VMID: 100, Node: "pve1", Kind: guest.VM, Name: "web", Status: "stopped", Config: &cluster.Config{Raw: map[string]string{"balloon": "0"}}}}}}}
	change := func(before, after any) *tf.ResourceChange {
		c := &tf.ResourceChange{Address: vmAddress, Managed: true, Type: guest.VMResource, Key: "web", Action: tf.Update, Unknown: unknown}
		c.Before, _ = before.(map[string]any)
		c.After, _ = after.(map[string]any)
		return c
	}
	plan := &tf.Plan{Changes: []*tf.ResourceChange{change(now, wanted)}}
	if applied != nil {
		plan.Drift = []*tf.ResourceChange{change(applied, now)}
	}
	in.Plans = map[tf.Unit]*tf.Plan{vmUnit: plan}
	in.Found = guard.Judge(in.Input)
	refused, updates, err := guard.JudgePlan(in.Input, in.Found, vmUnit, plan)
	if err != nil {
		panic(err)
	}
	in.Found, in.Updates = guard.Merge(in.Found, refused), map[tf.Unit]map[string][]effect.Update{vmUnit: updates}
	return in
}

// TestExplain explains one change each.
func TestExplain(t *testing.T) {
	with := func(edit func(v map[string]any)) map[string]any {
		v := values()
		edit(v)
		return v
	}
	memory := func(n float64) map[string]any {
		return with(func(v map[string]any) { v["memory"] = []any{map[string]any{"dedicated": n}} })
	}
	for name, c := range map[string]struct {
		applied, real, wanted, unknown any
		want                           string
	}{
		"nothing":             {real: values(), wanted: values(), want: ""},
		"by spec":             {real: values(), wanted: memory(4096), want: "live 2 memory.dedicated spec 2048 4096"},
		"by hand":             {applied: values(), real: memory(4096), wanted: values(), want: "live 2 memory.dedicated hand 4096 2048"},
		"by both":             {applied: values(), real: memory(4096), wanted: memory(8192), want: "live 2 memory.dedicated both 4096 8192"},
		"by hand, in no spec": {applied: values(), real: memory(4096), wanted: memory(4096), want: "noise 2 memory.dedicated hand 4096 none"},
		"shrinks":             {real: values(), wanted: with(func(v map[string]any) { v["disk"].([]any)[1].(map[string]any)["size"] = 4.0 }), want: "disk-loss 3 disk.scsi1.size spec 9 4"},
		"another disk":        {real: with(func(v map[string]any) { v["disk"] = v["disk"].([]any)[:1] }), wanted: values(), want: "live 2 disk.scsi1 spec none datastore_id=ssd size=9"},
		"replaced": {real: values(), wanted: with(func(v map[string]any) {
			v["vm_id"] = 100.0
			v["initialization"].([]any)[0].(map[string]any)["type"] = "nocloud"
		}), want: "replace 3 initialization.type spec none nocloud"},
		"in no table": {real: values(), wanted: with(func(v map[string]any) { v["no_such_thing"] = "y" }), want: "unknown 3 no_such_thing spec x y"},
		"a secret": {real: values(), wanted: with(func(v map[string]any) {
			v["initialization"].([]any)[0].(map[string]any)["user_account"] = []any{map[string]any{"username": "debian", "password": "new"}}
		}),
			want: "unknown 3 initialization.user_account.password unknown none none"},
		"not known before the apply": {real: values(), wanted: with(func(v map[string]any) { delete(v, "bios") }), unknown: map[string]any{"bios": true}, want: "unknown 3 bios unknown none none"},
		"only read":                  {applied: values(), real: with(func(v map[string]any) { v["ipv4_addresses"] = []any{[]any{"192.0.2.7"}} }), wanted: with(func(v map[string]any) { v["ipv4_addresses"] = []any{[]any{"192.0.2.7"}} }), want: "noise 0 ipv4_addresses nobody [192.0.2.7] none"},
		"ignored by the profile":     {applied: values(), real: with(func(v map[string]any) { v["node_name"] = "pve2" }), wanted: with(func(v map[string]any) { v["node_name"] = "pve2" }), want: "moved 2 node_name hand pve2 none"},
		"ignored, and planned":       {real: values(), wanted: with(func(v map[string]any) { v["node_name"] = "pve2" }), want: "unknown 3 node_name spec pve1 pve2"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range explain(c.applied, c.real, c.wanted, c.unknown) {
				none := func(s string) string {
					if s == "" {
						return "none"
					}
					return s
				}
				got = append(got, fmt.Sprintf("%s %d %s %s %s %s", f.Kind, f.Severity, f.Change.Attribute, f.Change.Cause, none(f.Change.Real), none(f.Change.Spec)))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

// TestNothingIsDropped changes attributes at random, and requires a finding about each.
func TestNothingIsDropped(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewSource(seed))
	for range 500 {
		applied, now, wanted := shuffled(random), shuffled(random), shuffled(random)
		found := explain(applied, now, wanted, nil)
		covers := func(attribute string) bool {
			return slices.ContainsFunc(found, func(f finding.Finding) bool {
				at := f.Change.Attribute
				return at == attribute || strings.HasPrefix(attribute, at+".") && at != ""
			})
		}
		for _, attribute := range slices.Concat(tf.Differing(tf.All(now), tf.All(wanted), nil), tf.Differing(tf.All(applied), tf.All(now), nil)) {
			if !covers(attribute) {
				t.Fatalf("no finding about %s\nbefore %v\nafter %v\n%+v", attribute, now, wanted, found)
			}
		}
		for _, f := range found {
			if strings.Contains(fmt.Sprintf("%+v %+v", f, *f.Change), "hidden") {
				t.Fatalf("a secret is in %+v, %+v", f, *f.Change)
			}
		}
	}
}

// TestMovedContainer: a container on another node than its state says is not found by the plan, and yet was not deleted.
func TestMovedContainer(t *testing.T) {
	in, unit, mac := inputOf(nil, nil, nil, nil), tf.Unit{Stack: "lab", Unit: lock.UnitContainer}, "BC:24:11:00:00:01"
	s, l, g := in.Project.Stacks[0], &in.Lock.Stacks[0].Value, &in.Inventory.Guests[0]
	s.VMs = []*schema.VM{{Kind: guest.Container, Key: "web", Path: "containers.web", Name: "web", Profile: "default", MACs: []string{mac}, Values: &schema.Node{Shape: schema.ShapeMap}}}
	l.Units = lock.Ordered[lock.Unit]{{Key: lock.UnitContainer}}
	l.VMs = lock.Ordered[lock.VM]{{Key: "web", Value: lock.VM{Kind: guest.Container, VMID: 100, Node: "pve1", MACs: []string{mac}}}}
	g.Kind, g.Node, g.Config.MACs = guest.Container, "pve2", []string{mac}
	in.Inventory.Nodes = append(in.Inventory.Nodes, cluster.Node{Name: "pve2", Online: true})
	address := schema.GuestAddress(guest.Container, "", "web")
	in.State = tf.States{unit: {Resources: []tf.Resource{{Address: address, Type: guest.ContainerResource, Key: "web", ID: "100", VMID: 100, Node: "pve1", Name: "web", MACs: []string{mac}}}}}
	change := func(a tf.Action) []*tf.ResourceChange {
		return []*tf.ResourceChange{{Address: address, Type: guest.ContainerResource, Key: "web", Managed: true, Action: a, After: map[string]any{"vm_id": 100.0}}}
	}
	plan := &tf.Plan{Changes: change(tf.Create), Drift: change(tf.Delete)}
	in.Units, in.Plans = []tf.Unit{unit}, map[tf.Unit]*tf.Plan{unit: plan}
	judged := guard.Judge(in.Input)
	refused, _, err := guard.JudgePlan(in.Input, judged, unit, plan)
	if err != nil {
		t.Fatal(err)
	}
	in.Found = guard.Merge(judged, refused)
	found := Explain(in)
	if len(found) != 1 || found[0].Kind != finding.Moved || !found[0].Stops() || found[0].Reason.Code != "container-moved" || len(found[0].Steps) == 0 {
		t.Errorf("%+v", found)
	}
}

// TestConflict: only a guest that is not the VM makes drift say that something else has the VMID. A VM for which the lock
// has another MAC address than the state is a conflict, too, and it is the VM.
func TestConflict(t *testing.T) {
	const state, other = "BC:24:11:00:00:01", "BC:24:11:00:00:02"
	const uuid = "c0ffee00-0000-4000-8000-000000000001"
	for _, c := range []struct {
		uuid            string
		verdict, memory finding.Code
	}{
		{uuid, "macs-differ", "changed-hand"},
		{"c0ffee00-0000-4000-8000-000000000002", "other-uuid", "vmid-of-other"},
	} {
		now := values()
		now["memory"] = []any{map[string]any{"dedicated": 4096.0}}
		in := inputOf(values(), now, values(), nil)
		vm := &in.Lock.Stacks[0].Value.VMs[0].Value
		vm.MACs, vm.Fingerprint = []string{other}, &lock.Fingerprint{UUID: uuid}
		in.State[vmUnit].Resources[0].MACs = []string{state}
		g := in.Inventory.Guests[0].Config
		g.UUID, g.MACs = c.uuid, []string{state}
		in.Found = guard.Judge(in.Input)
		found := Explain(in)
		var verdict, memory finding.Code
		for _, f := range found {
			if f.Change.Attribute == "memory.dedicated" {
				memory = f.Reason.Code
			}
		}
		for _, f := range in.Found {
			if f.Kind == finding.Conflict {
				verdict = f.Reason.Code
			}
		}
		if verdict != c.verdict || memory != c.memory {
			t.Errorf("the verdict is %q, and memory %q, want %q and %q", verdict, memory, c.verdict, c.memory)
		}
	}
}

// TestWordsDecideNothing replaces every sentence of what guard found by noise: drift decides
// the same, and prints the same commands.
func TestWordsDecideNothing(t *testing.T) {
	const seed = 2
	random := rand.New(rand.NewSource(seed))
	decisions := func(in Input) []string {
		var out []string
		for _, f := range Explain(in) {
			var lines []string
			for _, s := range f.Steps {
				for _, l := range s.Lines {
					lines = append(lines, l.String())
				}
			}
			c := *f.Change
			out = append(out, fmt.Sprintf("%s %s %d %s %s %q %q %s %q %s %d", f.Address, f.Kind, f.Severity, c.Attribute, c.Cause, c.Real, c.Spec, c.Effect, c.Accept, strings.Join(lines, ", "), len(f.Evidence)))
		}
		slices.Sort(out)
		return out
	}
	stopped := 0
	for range 300 {
		in := inputOf(shuffled(random), shuffled(random), shuffled(random), nil)
		if random.Intn(3) == 0 { // an import, or a VM that another one took the VMID of
			in.State[vmUnit].Resources[0].Name = "another"
			in.Found = guard.Judge(in.Input)
		}
		want := decisions(in)
		in.Found = noise(in.Found)
		if finding.Exit(in.Found) == finding.Blocked {
			stopped++
		}
		if got := decisions(in); !slices.Equal(got, want) {
			t.Fatalf("other words make other decisions: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if stopped == 0 || stopped == 300 {
		t.Errorf("guard blocks %d of 300", stopped)
	}
}

// noise are findings with all sentences replaced, and different ones by different noise.
func noise(found []finding.Finding) []finding.Finding {
	words := map[string]string{}
	word := func(sentence string) string {
		if words[sentence] == "" && sentence != "" {
			words[sentence] = fmt.Sprintf("noise %d -> stackgen", len(words)+1)
		}
		return words[sentence]
	}
	out := slices.Clone(found)
	for i := range out {
		f := &out[i]
		f.Reason, f.Evidence, f.Steps, f.Updates = finding.Why(finding.Code(word(f.Reason.String()))), slices.Clone(f.Evidence), slices.Clone(f.Steps), slices.Clone(f.Updates)
		for k, e := range f.Evidence {
			f.Evidence[k].Text = word(e.Text)
		}
		for k := range f.Steps {
			f.Steps[k].What = word(f.Steps[k].What)
		}
		for k := range f.Updates {
			u := &f.Updates[k]
			u.Does, u.Harm, u.Says = word(u.Does), word(u.Harm), word(u.Says)
		}
	}
	return out
}

// shuffled are values of which some are others.
func shuffled(random *rand.Rand) map[string]any {
	v := values()
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if name == "vm_id" || random.Intn(3) > 0 {
			continue
		}
		v[name] = other(random, v[name])
	}
	return v
}

// other is a value of the same shape.
func other(random *rand.Rand, value any) any {
	switch value := value.(type) {
	case string:
		return []any{"else", "pve2", "", nil}[random.Intn(4)]
	case float64:
		return float64(random.Intn(100))
	case bool:
		return !value
	case []any:
		if len(value) == 0 || random.Intn(4) == 0 {
			return []any{}
		}
		out := slices.Clone(value)
		out[0] = other(random, out[0])
		return out
	case map[string]any:
		out := maps.Clone(value)
		for _, name := range slices.Sorted(maps.Keys(out)) {
			switch {
			case name == "password":
				out[name] = fmt.Sprintf("hidden%d", random.Intn(3))
			case name != "interface" && random.Intn(2) == 0:
				out[name] = other(random, out[name])
			}
		}
		return out
	}
	return value
}

// TestCreationOfUnseen: a plan creates a VM that the state does not have, and whose VMID may belong to a guest that the token
// does not see. That is not known, and not said to exist.
func TestCreationOfUnseen(t *testing.T) {
	in := inputOf(nil, values(), values(), nil)
	in.State[vmUnit], in.Inventory.Guests = tf.State{}, nil
	in.Inventory.Gaps = []cluster.Gap{{Path: "/vms", Privilege: cluster.VMAudit, Reason: "guests may exist", Fix: "pveum acl modify"}}
	in.Plans[vmUnit].Changes[0].Action, in.Plans[vmUnit].Changes[0].Before = tf.Create, nil
	in.Found = guard.Judge(in.Input)
	f := Explain(in)[0]
	if f.Kind != finding.Unknown || f.Severity != finding.Blocked || f.Reason.Code != "gap" || len(f.Steps) == 0 {
		t.Errorf("%s %s: %v, %v", f.Severity, f.Kind, f.Reason, f.Steps)
	}
}
