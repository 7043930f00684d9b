package feasible

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestContainerTemplate: what keeps a template container from being cloned is said before that, with its remedy.
func TestContainerTemplate(t *testing.T) {
	for name, c := range map[string]struct {
		change        func(*cluster.Inventory, *cluster.Guest)
		says, unknown string
		step          string
	}{
		"as it should be":   {func(*cluster.Inventory, *cluster.Guest) {}, "", "", ""},
		"missing":           {func(_ *cluster.Inventory, g *cluster.Guest) { g.VMID = 9101 }, "its template 9100 does not exist", "", "template: {vmid: VMID}"},
		"a VM":              {func(_ *cluster.Inventory, g *cluster.Guest) { g.Kind = guest.VM }, "its template 9100 is not a container", "", "template: {vmid: VMID}"},
		"no template":       {func(_ *cluster.Inventory, g *cluster.Guest) { g.Template, g.Status = false, "stopped" }, "not a template yet", "", "pvesh create /nodes/pve1/lxc/9100/template"},
		"on another node":   {func(_ *cluster.Inventory, g *cluster.Guest) { g.Node = "pve2" }, "on another node, and a clone is made there", "", "node pve2"},
		"privileged":        {func(_ *cluster.Inventory, g *cluster.Guest) { g.Config.Raw["unprivileged"] = "0" }, "has unprivileged: false, and no clone changes that", "", "unprivileged false"},
		"with a bind mount": {func(_ *cluster.Inventory, g *cluster.Guest) { g.Config.Raw["mp0"] = "/srv,mp=/srv" }, "has mp0, which is no volume of a storage", "", "template: {vmid: VMID}"},
		"with a volume": {func(_ *cluster.Inventory, g *cluster.Guest) {
			g.Config.Raw["mp0"] = "local-lvm:base-9100-disk-1,mp=/srv"
		}, "", "", ""},
		"larger": {func(_ *cluster.Inventory, g *cluster.Guest) {
			g.Config.Raw["rootfs"] = "local-lvm:base-9100-disk-0,size=12G"
		}, "smaller than that of its template 9100", "", "rootfs "},
		"not read": {func(_ *cluster.Inventory, g *cluster.Guest) { g.Config = nil }, "", "its configuration could not be read", ""},
		"not seen": {func(inv *cluster.Inventory, g *cluster.Guest) {
			g.VMID, inv.Access = 9101, &cluster.Access{Rights: cluster.Rights{"/": {cluster.VMAllocate: true}}}
		}, "", "the token lacks VM.Audit on /vms/9100", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := cluster.Guest{VMID: 9100, Node: "pve1", Kind: guest.Container, Template: true, Name: "base",
				Config: &cluster.Config{Raw: map[string]string{"rootfs": "local-lvm:base-9100-disk-0,size=4G", "unprivileged": "1"}}}
			inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true}, {Name: "pve2", Online: true}}, Guests: []cluster.Guest{g}}
			c.change(inv, &inv.Guests[0])
			root := set(&schema.Node{Shape: schema.ShapeMap}, guest.Size, scalar(schema.ShapeInt, "8"))
			values := set(set(&schema.Node{Shape: schema.ShapeMap}, guest.RootFS, root), guest.Unprivileged, scalar(schema.ShapeBool, "true"))
			found, unknown := Creation(inv, &schema.VM{Kind: guest.Container, ClonedFrom: 9100, Values: values}, &lock.VM{Kind: guest.Container, VMID: 110, Node: "pve1"})
			var says, steps string
			for _, o := range found {
				if o.Check == ArchiveCheck {
					says += o.Reason
					for _, r := range o.Remedies {
						steps += r.Field + " " + r.Value.Str() + " " + r.Text + strings.Join(r.Commands, " ") + "; "
					}
				}
			}
			if (says == "") != (c.says == "") || !strings.Contains(says, c.says) || !strings.Contains(steps, c.step) {
				t.Errorf("%q: %q, want %q: %q", says, steps, c.says, c.step)
			}
			if got := fmt.Sprint(unknown); !strings.Contains(got, c.unknown) {
				t.Errorf("unknown: %s, want %q", got, c.unknown)
			}
		})
	}
}

// TestCloneRights: a clone needs privileges on its template, and for what is set of it before its import.
func TestCloneRights(t *testing.T) {
	all := map[string]bool{cluster.VMAllocate: true, cluster.VMAudit: true, cluster.VMClone: true, schema.ConfigNetwork: true, schema.ConfigOptions: true, schema.ConfigDisk: true}
	for _, without := range []string{"", cluster.VMClone, schema.ConfigNetwork, schema.ConfigOptions} {
		rights := map[string]bool{}
		for p := range all {
			rights[p] = p != without
		}
		inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Access: &cluster.Access{Rights: cluster.Rights{"/vms": rights, "/storage": {cluster.AllocateSpace: true}}}}
		v := &schema.VM{Kind: guest.Container, ClonedFrom: 9100, Values: set(&schema.Node{Shape: schema.ShapeMap}, guest.RootFS,
			set(&schema.Node{Shape: schema.ShapeMap}, guest.Datastore, scalar(schema.ShapeString, "local-lvm")))}
		found, _ := Creation(inv, v, &lock.VM{Kind: guest.Container, VMID: 110, Node: "pve1"})
		missing := ""
		for _, o := range found {
			if o.Check == PrivilegesCheck {
				missing = strings.Join(o.Evidence, " ")
			}
		}
		if (missing == "") != (without == "") || !strings.Contains(missing, without) {
			t.Errorf("without %q: %q", without, missing)
		}
	}
}
