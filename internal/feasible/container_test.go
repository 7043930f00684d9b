package feasible

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestContainerPrivileges: what a token lacks is said before a container is made.
func TestContainerPrivileges(t *testing.T) {
	text := func(s string) *schema.Node { return scalar(schema.ShapeString, s) }
	values := (&schema.Node{Shape: schema.ShapeMap}).
		With(text(guest.Template), set(&schema.Node{Shape: schema.ShapeMap}, guest.Archive, text("local:vztmpl/debian.tar.zst"))).
		With(text(guest.Memory), scalar(schema.ShapeInt, "512")).
		With(text(guest.RootFS), set(&schema.Node{Shape: schema.ShapeMap}, guest.Datastore, text("local-lvm"))).
		With(text(guest.Features), set(&schema.Node{Shape: schema.ShapeMap}, guest.Nesting, scalar(schema.ShapeBool, "true")))
	all := map[string]bool{}
	for _, p := range []string{cluster.VMAllocate, cluster.VMAudit, schema.ConfigMemory, schema.ConfigDisk, cluster.AllocateSpace} {
		all[p] = true
	}
	for _, without := range []string{"", cluster.VMAllocate, schema.ConfigMemory, schema.ConfigDisk, cluster.AllocateSpace} {
		rights := map[string]bool{}
		for p := range all {
			if p != without {
				rights[p] = true
			}
		}
		inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Access: &cluster.Access{Rights: cluster.Rights{"/vms": rights, "/storage": rights}}}
		found, _ := Creation(inv, &schema.VM{Kind: guest.Container, Values: values}, &lock.VM{Kind: guest.Container, VMID: 110, Node: "pve1"})
		says := slices.ContainsFunc(found, func(o Obstacle) bool {
			return o.Check == PrivilegesCheck && strings.Contains(strings.Join(o.Evidence, " "), without)
		})
		if says != (without != "") {
			t.Errorf("without %q: %v", without, found)
		}
	}
	// Since 9.0, a privileged container needs more.
	for _, c := range []struct {
		release, unprivileged string
		needs                 bool
	}{{"8.4.21", "false", false}, {"9.0.3", "true", false}, {"9.0.3", "false", true}} {
		inv := &cluster.Inventory{Release: c.release, Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Access: &cluster.Access{Rights: cluster.Rights{"/vms": all, "/storage": all}}}
		values := values.With(text(guest.Unprivileged), scalar(schema.ShapeBool, c.unprivileged))
		found, _ := Creation(inv, &schema.VM{Kind: guest.Container, Values: values}, &lock.VM{Kind: guest.Container, VMID: 110, Node: "pve1"})
		if strings.Contains(fmt.Sprint(found), "Sys.Modify on /") != c.needs {
			t.Errorf("%s, unprivileged %s: %v", c.release, c.unprivileged, found)
		}
	}
}

// TestContainerPaths: what the token may do is read for each storage with a volume of a container, and needed there.
func TestContainerPaths(t *testing.T) {
	text := func(s string) *schema.Node { return scalar(schema.ShapeString, s) }
	mount := set(&schema.Node{Shape: schema.ShapeMap}, guest.Datastore, text("tank"))
	v := &schema.VM{Kind: guest.Container, Values: (&schema.Node{Shape: schema.ShapeMap}).
		With(text(guest.Template), set(&schema.Node{Shape: schema.ShapeMap}, guest.Archive, text("local:vztmpl/debian.tar.zst"))).
		With(text(guest.RootFS), set(&schema.Node{Shape: schema.ShapeMap}, guest.Datastore, text("local-lvm"))).
		With(text(guest.Mounts), &schema.Node{Shape: schema.ShapeList, Items: []*schema.Node{mount}})}
	paths := Paths(v)
	for _, id := range append(volumeStorages(v), "local") {
		if !slices.Contains(paths, "/storage/"+id) {
			t.Errorf("%v lacks storage %s", paths, id)
		}
	}
	if got := volumeStorages(v); !slices.Equal(got, []string{"local-lvm", "tank"}) {
		t.Errorf("its storages are %v", got)
	}
}

// TestContainerVolumes: the volumes of new containers count against the free space of a storage, and containers are
// called that.
func TestContainerVolumes(t *testing.T) {
	text := func(s string) *schema.Node { return scalar(schema.ShapeString, s) }
	volume := set(set(&schema.Node{Shape: schema.ShapeMap}, guest.Datastore, text("tank")), guest.Size, scalar(schema.ShapeInt, "20"))
	v := &schema.VM{Kind: guest.Container, Values: (&schema.Node{Shape: schema.ShapeMap}).
		With(text(guest.Memory), scalar(schema.ShapeInt, "1024")).
		With(text(guest.RootFS), volume).
		With(text(guest.Mounts), &schema.Node{Shape: schema.ShapeList, Items: []*schema.Node{volume}})}
	free := int64(50 << 30)
	inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true, Memory: 2 << 30, Used: 1 << 30}},
		Storages: []cluster.Storage{{ID: "tank", Node: "pve1", Total: 100 << 30, Avail: &free}}}
	created := Created{VM: v, Entry: &lock.VM{Kind: guest.Container, VMID: 110, Node: "pve1"}}
	if got := Likely(inv, []Created{created}, nil); len(got) > 0 {
		t.Errorf("one container: %v", got)
	}
	got := fmt.Sprint(Likely(inv, []Created{created, created}, nil))
	for _, want := range []string{"the containers that are started on node pve1", "2 containers start with 2.0 GiB", "4 new volumes of 80.0 GiB; 50.0 GiB of 100.0 GiB are free"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
