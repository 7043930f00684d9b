package operate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
	"stackgen/internal/pvesim"
)

// TestExchange: a VM gets a new scsi0 and keeps scsi1, whatever happened before. No other VM is touched, and a VM that
// runs loses nothing.
func TestExchange(t *testing.T) {
	t.Parallel()
	const done = "scsi0 new discard=on, scsi1 kept, another UUID, no 399"
	for name, c := range map[string]struct {
		edit  func(*pvesim.Seed) // before
		begun func(x *exchanged) // after the clone
		want  string             // "FAILURE: " and what it has then
	}{
		"as it is":             {nil, nil, done},
		"a protected template": {func(s *pvesim.Seed) { guestOf(s, 9002).Config["protection"] = "1" }, nil, done},
		"an unused volume": {func(s *pvesim.Seed) {
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: "local-lvm:vm-301-disk-7", Node: "pve1", VMID: 301, Size: 1 << 30})
			guestOf(s, 301).Config["unused0"] = "local-lvm:vm-301-disk-7"
		}, nil, done + ", unused0"},
		"another VM has the VMID": {func(s *pvesim.Seed) {
			s.Guests = append(s.Guests, &pvesim.Guest{VMID: 399, Node: "pve1", Config: map[string]string{"name": "stranger"}})
		}, nil, "another VM has the VMID of the clone with its new disks: scsi0 old discard=on, scsi1 kept, 399"},
		"somebody starts it": {nil, func(x *exchanged) { x.change(301, func(g *pvesim.Guest) { g.Running, g.Started = true, time.Now() }) },
			"scsi0: somebody has started it: it is running: scsi0 old discard=on, scsi1 kept, 399"},
		"somebody locks it": {nil, func(x *exchanged) { x.change(301, func(g *pvesim.Guest) { g.Config["lock"] = "backup" }) },
			"scsi0: it is locked (backup): scsi0 old discard=on, scsi1 kept, 399"},
		"the clone is of another template": {nil, func(x *exchanged) {
			x.change(399, func(g *pvesim.Guest) {
				g.Config["description"] = strings.Replace(g.Config["description"], "template 9002", "template 9", 1)
			})
			x.again()
		}, done},
		"the clone was given away": {nil, func(x *exchanged) { x.change(399, func(g *pvesim.Guest) { delete(g.Config, "description") }) },
			"scsi0: another VM has the VMID of the clone with its new disks: scsi0 old discard=on, scsi1 kept, 399"},
		"a second time": {nil, func(x *exchanged) { x.exchange(); x.again() }, done},
		"killed before the UUID": {nil, func(x *exchanged) {
			uuid := ""
			x.change(301, func(g *pvesim.Guest) { uuid = g.Config["smbios1"] })
			x.exchange()
			x.change(301, func(g *pvesim.Guest) { g.Config["smbios1"] = uuid })
			x.again()
		}, done},
		"somebody puts another disk there": {nil, func(x *exchanged) {
			x.change(301, func(g *pvesim.Guest) { g.Config["scsi0"] = "local-lvm:vm-301-disk-1,discard=on,size=9G" })
		}, "scsi0: the VM has another volume there than was confirmed: \"local-lvm:vm-301-disk-1\": scsi0 old discard=on, scsi1 kept, 399, unused160"},
		"somebody moves the disk of before": {nil, func(x *exchanged) {
			x.sim.Change(func(s *pvesim.Seed) {
				i := slices.IndexFunc(s.Volumes, func(v *pvesim.Volume) bool { return v.ID == "local-lvm:vm-301-disk-0" })
				s.Volumes[i].ID = "local-lvm:vm-301-disk-9"
				g := guestOf(s, 301)
				g.Config["scsi0"] = strings.Replace(g.Config["scsi0"], "disk-0", "disk-9", 1)
			})
			x.again()
		}, done},
		"the clone has lost its disk": {nil, func(x *exchanged) {
			x.change(399, func(g *pvesim.Guest) { delete(g.Config, "scsi0") })
			x.again()
		}, done},
		"it has a disk of an earlier clone": {nil, func(x *exchanged) {
			x.sim.Change(func(s *pvesim.Seed) {
				s.Volumes = append(s.Volumes, &pvesim.Volume{ID: "local-lvm:vm-301-disk-5", Node: "pve1", VMID: 301, Size: 9 << 30})
				guestOf(s, 301).Config[pve.GivenKey("scsi0")] = "local-lvm:vm-301-disk-5"
			})
			x.again()
		}, done},
		"somebody destroys the clone": {nil, func(x *exchanged) {
			x.sim.Change(func(s *pvesim.Seed) {
				s.Guests = slices.DeleteFunc(s.Guests, func(g *pvesim.Guest) bool { return g.VMID == 399 })
			})
			x.again()
		}, done},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newExchanged(t, c.edit)
			failed := x.clone()
			if c.begun != nil && failed == "" {
				c.begun(x)
			}
			if failed == "" {
				failed = x.exchange()
			}
			if got := failed + x.has(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// An exchanged is VM 301 with the disks scsi0 and scsi1, of which it keeps the second.
type exchanged struct {
	*world
	view *View
	all  map[string]*Exchange
	uuid string
}

func newExchanged(t *testing.T, edit func(*pvesim.Seed)) *exchanged {
	w := newWorld(t, 1, func(s *pvesim.Seed) {
		for n, size := range []int{9, 20} {
			id := fmt.Sprintf("local-lvm:vm-301-disk-%d", n)
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: id, Node: "pve1", VMID: 301, Size: pvesim.Size(size << 30), Format: "raw"})
			guestOf(s, 301).Config[fmt.Sprintf("scsi%d", n)] = fmt.Sprintf("%s,discard=on,size=%dG", id, size)
		}
		guestOf(s, 301).Config["boot"] = "order=scsi0"
		if edit != nil {
			edit(s)
		}
	})
	inv, err := proxmox.Read(context.Background(), w.config, proxmox.Wanted{VMIDs: []int{301}, Templates: []string{"9002"}})
	expect(t, err)
	x := &exchanged{world: w, view: w.view(), uuid: inv.Guest(301).Config.UUID}
	x.all = map[string]*Exchange{"lab/vm1": {Template: inv.Guest(9002),
		Holder: &cluster.Guest{Kind: inv.Guest(301).Kind, VMID: 399, Node: "pve1", Name: "rebuild-301"},
		Clone:  map[string]string{"full": "1", "storage": "local-lvm"}, Disks: []string{"scsi0"}, Sizes: map[string]int64{"scsi0": 8 << 30},
		Volumes: []string{"local-lvm:vm-301-disk-0"}}}
	return x
}

func guestOf(s *pvesim.Seed, vmid int) *pvesim.Guest {
	return s.Guests[slices.IndexFunc(s.Guests, func(g *pvesim.Guest) bool { return g.VMID == vmid })]
}

func (x *exchanged) change(vmid int, edit func(*pvesim.Guest)) {
	x.Helper()
	x.sim.Change(func(s *pvesim.Seed) { edit(guestOf(s, vmid)) })
}

// again is what a later run reads, and its clone.
func (x *exchanged) again() {
	x.Helper()
	all := x.all["lab/vm1"]
	x.view, all.Begun = x.world.view(), true
	x.change(301, func(g *pvesim.Guest) {
		all.Volumes = append(all.Volumes, pve.ParseDrive("scsi0", g.Config["scsi0"]).File)
	})
	if failed := x.clone(); failed != "" {
		x.Error(failed)
	}
}

func (x *exchanged) clone() string    { return x.failed(x.view.CloneHolders) }
func (x *exchanged) exchange() string { return x.failed(x.view.Exchange) }

func (x *exchanged) failed(do func(context.Context, map[string]*Exchange, time.Duration) ([]Failure, error)) string {
	x.Helper()
	failed, err := do(context.Background(), x.all, 3*time.Second)
	expect(x.TB, err)
	for _, f := range failed {
		err = errors.Join(err, f.Err)
	}
	if err == nil {
		return ""
	}
	return err.Error() + ": "
}

// has is what the cluster has.
func (x *exchanged) has() string {
	out := []string{}
	x.sim.Change(func(s *pvesim.Seed) {
		g := guestOf(s, 301)
		size := regexp.MustCompile(`size=(\w+)`).FindStringSubmatch(g.Config["scsi0"])[1]
		is := map[string]string{"9G": "old", "8G": "new"}[size] // the name of a volume that is gone is free again
		out = append(out, "scsi0 "+is+" discard=on")
		if !strings.Contains(g.Config["scsi0"], "discard=on") {
			x.Error(g.Config["scsi0"])
		}
		if strings.HasPrefix(g.Config["scsi1"], "local-lvm:vm-301-disk-1,") && g.Config["boot"] == "order=scsi0" {
			out = append(out, "scsi1 kept")
		}
		if g.Config["smbios1"] != "uuid="+x.uuid {
			out = append(out, "another UUID")
		}
		if slices.ContainsFunc(s.Guests, func(g *pvesim.Guest) bool { return g.VMID == 399 }) {
			out = append(out, "399")
		} else {
			out = append(out, "no 399")
		}
		for key := range g.Config {
			if strings.HasPrefix(key, "unused") {
				out = append(out, key)
			}
		}
	})
	return strings.Join(out, ", ")
}
