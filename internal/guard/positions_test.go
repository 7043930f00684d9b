package guard

import (
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// disksWith are disks of a state or plan, each as INTERFACE=PATH.
func disksWith(disks ...string) []any {
	var out []any
	for _, d := range disks {
		at, path, known := strings.Cut(d, "=")
		disk := map[string]any{"interface": at, "datastore_id": "shared", "size": 8.0}
		if known {
			disk["path_in_datastore"] = path
		}
		out = append(out, disk)
	}
	return out
}

// TestPlanSharesVolumes: no plan has a volume for a disk that the state does not have,
// whatever else it does.
func TestPlanSharesVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		action        tf.Action
		before, after []any
		importing     bool
		want          string // a part of the evidence; empty if the plan is right
	}{
		"a disk after the others":       {before: disksWith("scsi0=a"), after: disksWith("scsi0=a", "scsi1")},
		"an empty path":                 {before: disksWith("scsi0=a"), after: disksWith("scsi1=", "scsi0=a")},
		"a disk removed in the middle":  {before: disksWith("scsi0=a", "scsi1=b", "scsi2=c"), after: disksWith("scsi0=a", "scsi2=b")},
		"two disks swapped":             {before: disksWith("scsi0=a", "scsi1=b"), after: disksWith("scsi1=a", "scsi0=b")},
		"a disk before another one":     {before: disksWith("scsi0=a"), after: disksWith("ide0=a", "scsi0"), want: "the plan has shared:a for ide0, which is the volume of scsi0"},
		"a disk instead of another one": {before: disksWith("scsi0=a", "scsi1=b"), after: disksWith("scsi0=a", "virtio1=b"), want: "the plan has shared:b for virtio1, which is the volume of scsi1"},
		"a volume that the state lacks": {before: disksWith("scsi0=a"), after: disksWith("scsi0=a", "scsi1=x"), want: "the plan has shared:x for scsi1, and no disk of the state has that volume"},
		"an import":                     {before: disksWith("scsi0=a"), after: disksWith("ide0=a", "scsi0"), importing: true, want: "ide0"},
		"a creation":                    {action: tf.Create, after: disksWith("scsi0=a"), want: "no disk of the state has that volume"},
	} {
		if c.action == "" {
			c.action = tf.Update
		}
		change := &tf.ResourceChange{Address: schema.VMAddress("", "web1"), Managed: true, Type: guest.VMResource, Key: "web1", Action: c.action, After: map[string]any{"vm_id": 100.0, "disk": c.after}}
		if c.before != nil {
			change.Before = map[string]any{"vm_id": 100.0, "disk": c.before}
		}
		if c.importing {
			change.Imports, change.ImportID = true, "pve1/100"
		}
		plan := &tf.Plan{Changes: []*tf.ResourceChange{change}}
		in := input([]tf.Resource{inState("web1", 100)}, newGuest(100, "web1")) // its configuration is not known
		out, _, err := JudgePlan(in, nil, tf.VMUnit("lab"), plan)
		if err != nil {
			t.Fatal(err)
		}
		shared := len(out) > 0 && strings.Contains(said(&out[0]), "would attach the volume of another disk")
		if shared != (c.want != "") || shared && (out[0].Severity != finding.Blocked || !strings.Contains(said(&out[0]), c.want) || len(out[0].Steps) == 0) {
			t.Errorf("%s: %+v, want %q", name, out, c.want)
		}
	}
}

// TestSpecSharesVolumes: without a plan, the positions of the disks in spec and state tell
// which volume a plan has for a disk.
func TestSpecSharesVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		state []any
		spec  string
		want  string // the disks that get a volume
	}{
		"none in the state":      {spec: "ide0 scsi0"},
		"the last one":           {state: disksWith("scsi0=a"), spec: "scsi0 scsi1"},
		"before the other one":   {state: disksWith("scsi0=a"), spec: "ide0 scsi0", want: "ide0 shared:a"},
		"removed only":           {state: disksWith("ide0=a", "scsi0=b"), spec: "scsi0"},
		"removed, and added":     {state: disksWith("scsi0=a", "scsi1=b"), spec: "scsi0 virtio1", want: "virtio1 shared:b"},
		"one of them is shorter": {state: disksWith("scsi0=a"), spec: "ide0 ide1 scsi0", want: "ide0 shared:a"},
		"one was detached":       {state: disksWith("=", "scsi1=b"), spec: "scsi0 scsi1"},
	} {
		list := &schema.Node{Shape: schema.ShapeList}
		for _, at := range strings.Fields(c.spec) {
			list.Items = append(list.Items, (&schema.Node{Shape: schema.ShapeMap}).With(schema.Scalar(schema.Pos{}, schema.ShapeString, "interface"), schema.Scalar(schema.Pos{}, schema.ShapeString, at)))
		}
		v := &schema.VM{Values: (&schema.Node{Shape: schema.ShapeMap}).With(schema.Scalar(schema.Pos{}, schema.ShapeString, "disks"), list)}
		state := (&tf.ResourceChange{Type: guest.VMResource, Before: map[string]any{"disk": c.state}}).Resource()
		var changes []tf.Change
		for _, at := range strings.Fields(c.spec) {
			if !state.Values.Has("disk." + at) {
				changes = append(changes, tf.Change{Path: "disk", Device: at, Is: "new", Whole: true})
			}
		}
		var got []string
		for _, change := range sharedVolumes(state.Disks, state.Values, v, &lock.VM{Disks: strings.Fields(c.spec)}, changes) {
			if change.Volume != "" {
				got = append(got, change.Device+" "+change.Volume)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
