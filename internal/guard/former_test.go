package guard

import (
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// vmWithDisks is a VM of a spec with disks, each as INTERFACE:SIZE.
func vmWithDisks(disks string) *schema.VM {
	list := &schema.Node{Shape: schema.ShapeList}
	for _, d := range strings.Fields(disks) {
		at, size, _ := strings.Cut(d, ":")
		item := &schema.Node{Shape: schema.ShapeMap}
		for _, v := range []struct{ key, text string }{{"interface", at}, {"size", size}, {"datastore", "shared"}} {
			item = item.With(schema.Scalar(schema.Pos{}, schema.ShapeString, v.key), schema.Scalar(schema.Pos{}, schema.ShapeString, v.text))
		}
		list.Items = append(list.Items, item)
	}
	return &schema.VM{Key: "web1", Values: (&schema.Node{Shape: schema.ShapeMap}).With(schema.Scalar(schema.Pos{}, schema.ShapeString, "disks"), list)}
}

// TestFormerVolumes: which volume a disk had that is added, by the state and by the lock. An
// unused volume of which neither says anything is that of any disk.
func TestFormerVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		state          []any
		spec, detached string
		config         map[string]string
		want           string
	}{
		"a new disk":                      {state: disksWith("scsi0=a"), spec: "scsi0:8 scsi1:8"},
		"an old unused volume":            {state: disksWith("scsi0=a"), spec: "scsi0:8 scsi1:8", config: map[string]string{"unused0": "shared:x"}},
		"another interface":               {state: disksWith("scsi0=a", "scsi1=b"), spec: "scsi0:8 virtio1:8", want: "shared:b"},
		"another interface, larger":       {state: disksWith("scsi0=a", "scsi1=b"), spec: "scsi0:8 virtio1:9"},
		"the volume is another one":       {state: disksWith("scsi0=a", "scsi1=b"), spec: "scsi0:8 virtio1:8", config: map[string]string{"scsi1": "shared:c,size=8G"}},
		"it comes back":                   {state: disksWith("scsi0=a"), spec: "scsi0:8 scsi1:9", detached: "scsi1=shared:b", config: map[string]string{"unused0": "shared:b"}, want: "shared:b"},
		"it comes back, and was deleted":  {state: disksWith("scsi0=a"), spec: "scsi0:8 scsi1:8", detached: "scsi1=shared:b"},
		"another one comes":               {state: disksWith("scsi0=a"), spec: "scsi0:8 scsi2:8", detached: "scsi1=shared:b", config: map[string]string{"unused0": "shared:b"}},
		"it is attached again":            {state: disksWith("scsi0=a"), spec: "scsi0:8 scsi1:8", detached: "scsi1=shared:b", config: map[string]string{"scsi1": "shared:b,size=8G"}},
		"one of two is attached and kept": {state: disksWith("scsi0=a", "scsi1=b", "scsi2=c"), spec: "scsi0:8 scsi2:8 virtio1:8", want: "shared:b"},
	} {
		g := newGuest(100, "web1")
		g.Config.Raw = map[string]string{}
		state := (&tf.ResourceChange{Type: guest.VMResource, Before: map[string]any{"disk": c.state}}).Resource()
		for _, at := range state.Disks {
			g.Config.Raw[at] = state.Values.Volume(at) + ",size=8G"
		}
		for key, text := range c.config {
			g.Config.Raw[key] = text
		}
		v, entry := vmWithDisks(c.spec), &lock.VM{}
		if c.detached != "" {
			entry.Detached = []string{c.detached}
		}
		var changes []tf.Change
		for _, at := range v.Interfaces() {
			if !state.Values.Has("disk." + at) {
				changes = append(changes, tf.Change{Path: "disk", Device: at, Is: "new", Whole: true})
			}
		}
		got := ""
		for _, change := range formerVolumes(state.Values, v, entry, &g, changes) {
			got += change.Former
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestDetachedDisks: an apply records what it is about to remove, and keeps that while the VM
// has the volume.
func TestDetachedDisks(t *testing.T) {
	for name, c := range map[string]struct{ spec, detached, config, want string }{
		"nothing is removed":        {spec: "scsi0:8 scsi1:8"},
		"one is removed":            {spec: "scsi0:8", want: "scsi1=shared:b"},
		"it has another volume":     {spec: "scsi0:8", config: "scsi1=shared:x"},
		"the spec leaves the disks": {spec: ""},
		"removed before":            {spec: "scsi0:8 scsi1:8", detached: "scsi2=shared:c", config: "unused0=shared:c", want: "scsi2=shared:c"},
		"removed before, and gone":  {spec: "scsi0:8 scsi1:8", detached: "scsi2=shared:c"},
		"removed, and attached":     {spec: "scsi0:8 scsi1:8 scsi2:8", detached: "scsi2=shared:c", config: "scsi2=shared:c"},
		"both":                      {spec: "scsi0:8", detached: "scsi10=shared:c", config: "unused0=shared:c", want: "scsi1=shared:b scsi10=shared:c"},
	} {
		g := newGuest(100, "web1")
		g.Config.Raw = map[string]string{"scsi0": "shared:a,size=8G", "scsi1": "shared:b,size=8G"}
		if key, text, more := strings.Cut(c.config, "="); more {
			g.Config.Raw[key] = text
		}
		state := (&tf.ResourceChange{Type: guest.VMResource, Before: map[string]any{"disk": disksWith("scsi0=a", "scsi1=b")}}).Resource()
		entry := &lock.VM{Detached: strings.Fields(c.detached)}
		if got := detachedDisks(&state, vmWithDisks(c.spec), entry, &g); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// TestLater: a second apply adds disks only if the first one removes some and leaves one.
func TestLater(t *testing.T) {
	state := (&tf.ResourceChange{Type: guest.VMResource, Before: map[string]any{"disk": disksWith("scsi0=a", "scsi1=b")}}).Resource()
	for name, c := range map[string]struct {
		spec, want string
		one        bool // the command makes one apply
	}{
		"added":          {spec: "scsi0:8 scsi1:8 scsi2:8"},
		"removed":        {spec: "scsi0:8"},
		"both":           {spec: "scsi0:8 scsi2:8 scsi3:8", want: "scsi2 scsi3"},
		"both, together": {spec: "scsi0:8 scsi2:8", one: true},
		"none remains":   {spec: "scsi2:8"},
	} {
		in := Input{Splits: !c.one}
		if got := in.later(&state, vmWithDisks(c.spec)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// TestBootDevices: what a VM boots from now keeps its disk while it runs.
func TestBootDevices(t *testing.T) {
	for name, c := range map[string]struct{ boot, bootdisk, order, status, want, was string }{
		"no order in the spec": {boot: "order=scsi0;net0", status: "stopped", want: "scsi0 net0"},
		"the first disk":       {bootdisk: "scsi0", status: "running", want: "scsi0"},
		"running":              {boot: "order=scsi0", order: "scsi1", status: "running", want: "scsi1 scsi0"},
		"stopped":              {boot: "order=scsi0", order: "scsi1", status: "stopped", want: "scsi1"},
		"waits for a restart":  {boot: "order=scsi1", was: "order=scsi0", status: "running", want: "scsi1 scsi0"},
		"none":                 {boot: "cdn", status: "running"},
	} {
		g := newGuest(100, "web1")
		g.Status, g.Config.Raw = c.status, map[string]string{"boot": c.boot, "bootdisk": c.bootdisk}
		if c.was != "" {
			g.Config.Pending = []cluster.Pending{{Key: "boot", Value: c.was, New: c.boot}}
		}
		v := vmWithDisks("")
		if c.order != "" {
			list := &schema.Node{Shape: schema.ShapeList, Items: []*schema.Node{schema.Scalar(schema.Pos{}, schema.ShapeString, c.order)}}
			v.Values = v.Values.With(schema.Scalar(schema.Pos{}, schema.ShapeString, "boot_order"), list)
		}
		if got := bootDevices(&g, v); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}
