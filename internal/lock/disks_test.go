package lock

import (
	"slices"
	"strings"
	"testing"
)

// TestDisksKeepTheirOrder decides for a spec and then for a changed one: disks that stay
// keep their order, and new ones come last.
func TestDisksKeepTheirOrder(t *testing.T) {
	spec := func(interfaces string) string {
		if interfaces == "no VM" {
			return head + "vms: {}\n"
		}
		var disks []string
		for _, at := range strings.Fields(interfaces) {
			disks = append(disks, "{interface: "+at+", size: 8}")
		}
		return head + "vms: {x: {disks: [" + strings.Join(disks, ", ") + "]}}\n"
	}
	for name, c := range map[string]struct{ before, after, want string }{
		"new":                      {"no VM", "virtio0 scsi10 scsi2 ide0", "ide0 scsi2 scsi10 virtio0"},
		"added first":              {"scsi0", "ide0 scsi0", "scsi0 ide0"},
		"added in the middle":      {"scsi0 scsi2", "scsi0 scsi1 scsi2", "scsi0 scsi2 scsi1"},
		"several added":            {"virtio0", "virtio0 scsi1 scsi0", "virtio0 scsi0 scsi1"},
		"first removed":            {"scsi0 scsi1 scsi2", "scsi1 scsi2", "scsi1 scsi2"},
		"one removed, and another": {"scsi0 scsi1", "scsi0 ide0", "scsi0 ide0"},
		"others in the spec first": {"scsi0 scsi1", "scsi1 scsi0", "scsi0 scsi1"},
		"all removed":              {"scsi0", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			first := decided(t, &Lock{Version: Version, Project: "1"}, nil, spec(c.before))
			r := decided(t, first.Lock, nil, spec(c.after))
			v := r.Lock.Stacks.Get("a").VMs.Get("x")
			var rendered []string
			for _, d := range v.OrderedDisks(r.Stacks[0].VMs[0]) {
				rendered = append(rendered, d.Get("interface").Str())
			}
			if want := strings.Fields(c.want); !slices.Equal(v.Disks, want) || !slices.Equal(rendered, want) {
				t.Errorf("%v, rendered as %v, want %v", v.Disks, rendered, want)
			}
			unchanged(t, r.Lock, spec(c.after))
		})
	}
}

// TestLockWithoutOrders: in a lock from before it had orders, disks have their first order,
// which a render records.
func TestLockWithoutOrders(t *testing.T) {
	spec := head + "vms: {x: {disks: [{interface: virtio0, size: 8}, {interface: scsi0, size: 8}]}}\n"
	first := decided(t, &Lock{Version: Version, Project: "1"}, nil, spec)
	first.Lock.Stacks[0].Value.VMs[0].Value.Disks = nil
	unchanged(t, first.Lock, spec)
	r := decided(t, first.Lock, nil, spec)
	v := r.Lock.Stacks.Get("a").VMs.Get("x")
	if got := v.OrderedDisks(r.Stacks[0].VMs[0])[0].Get("interface").Str(); got != "scsi0" || v.Disks != nil {
		t.Errorf("first is %s, recorded %v", got, v.Disks)
	}
}

// TestBootDiskRemoved: boot_order does not name a disk that the spec has removed. What the
// spec never had may be in the template.
func TestBootDiskRemoved(t *testing.T) {
	spec := func(disks, order string) string {
		return head + "vms: {x: {disks: [" + disks + "], boot_order: [" + order + "]}}\n"
	}
	const first, second = "{interface: scsi0, size: 8}", "{interface: scsi1, size: 8}"
	for name, c := range map[string]struct {
		after string
		want  int
	}{
		"kept":                    {spec(first, "scsi0"), 0},
		"removed":                 {spec(second, "scsi0, net0"), 1},
		"removed from both":       {spec(second, "scsi1"), 0},
		"of the template":         {spec(first+", "+second, "virtio0, scsi0"), 0},
		"disks not managed":       {spec("", "scsi0"), 0},
		"another disk is removed": {spec(first, "scsi0, net0"), 0},
	} {
		l := decided(t, &Lock{Version: Version, Project: "1"}, nil, spec(first+", "+second, "scsi0")).Lock
		r := decided(t, l, nil, c.after)
		if len(r.Problems) != c.want {
			t.Errorf("%s: %v, want %d", name, r.Problems, c.want)
		}
	}
}

// TestOrderAs: the order of a state replaces one that a render without a disk has forgotten.
func TestOrderAs(t *testing.T) {
	for name, c := range map[string]struct{ lock, state, spec, want []string }{
		"the same":                   {[]string{"scsi0", "scsi1"}, []string{"scsi0", "scsi1"}, []string{"scsi1", "scsi0"}, nil},
		"a place that was forgotten": {[]string{"scsi1"}, []string{"scsi0", "scsi1"}, []string{"scsi0", "scsi1"}, []string{"scsi0", "scsi1"}},
		"a lock without orders":      {nil, []string{"scsi0", "scsi2"}, []string{"scsi0", "scsi1", "scsi2"}, []string{"scsi0", "scsi2", "scsi1"}},
		"a disk that is removed":     {[]string{"scsi0", "scsi1"}, []string{"scsi0", "scsi1"}, []string{"scsi1"}, nil},
		"a new disk":                 {[]string{"scsi1"}, []string{"scsi1"}, []string{"scsi0", "scsi1"}, nil},
		"no state":                   {[]string{"scsi1", "scsi0"}, nil, []string{"scsi0", "scsi1"}, nil},
	} {
		if got := (&VM{Disks: c.lock}).OrderAs(c.state, c.spec); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
