package feasible

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// rootContent is the content of a storage that has the volumes of containers.
const rootContent = "rootdir"

// containerStorages checks the storages of the volumes of a container.
func (c *creation) containerStorages() {
	for _, id := range volumeStorages(c.vm) {
		c.content(id, rootContent)
	}
}

// volumesOf are the volumes that a container has by its spec; none of a VM.
func volumesOf(v *schema.VM) []*schema.Node {
	if !v.IsContainer() {
		return nil
	}
	return append([]*schema.Node{v.Values.Get(guest.RootFS)}, v.Values.Get(guest.Mounts).List()...)
}

// newVolume is a volume of a spec on a node.
func newVolume(v *schema.Node, node string) volume {
	return volume{v.Get(guest.Datastore).Str(), node, int64(v.Get(guest.Size).Int()) << 30, "new volume"}
}

// volumeStorages are the storages of the volumes of a container, each once.
func volumeStorages(v *schema.VM) (out []string) {
	for _, m := range volumesOf(v) {
		if id := m.Get(guest.Datastore).Str(); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// MountPoint returns what makes a new volume for one more mount point of a container fail, or too large for what its
// storage has.
func MountPoint(inv *cluster.Inventory, g *cluster.Guest, m *schema.Node) []Obstacle {
	c := &creation{inv: inv, on: g.Node, current: g, check: StorageCheck}
	id := m.Get(guest.Datastore).Str()
	c.content(id, rootContent)
	for _, d := range larger(inv, []volume{newVolume(m, c.on)}) {
		c.add(d.Reason, d.Evidence)
	}
	return c.found
}

// containerPrivileges checks that the token may make the container, as POST /nodes/N/lxc checks it:
// https://git.proxmox.com/?p=pve-container.git;a=blob;f=src/PVE/LXC.pm (check_ct_modify_config_perm)
func (c *creation) containerPrivileges() {
	a, v := c.inv.Access, c.vm.Values
	if a == nil {
		return
	}
	g := &grantCheck{creation: c, vm: "/vms/" + strconv.Itoa(c.entry.VMID)}
	if c.vm.PoolID != "" {
		g.pool = "/pool/" + c.vm.PoolID
	}
	g.needVM("create the container", cluster.VMAllocate)
	g.needVM("read the container", cluster.VMAudit)
	for i := range schema.ContainerFields {
		f := &schema.ContainerFields[i]
		if value := v.Get(f.Key); f.Right.Privilege != "" && value != nil && !value.Off() {
			g.needVM("set its "+f.Key, f.Right.Privilege)
		}
	}
	if c.vm.ClonedFrom == 0 && !v.Get(guest.Unprivileged).Bool() && c.inv.Since(9, 0) {
		g.need("/", cluster.SysModify, "make it privileged")
	}
	for _, id := range volumeStorages(c.vm) {
		g.need("/storage/"+id, cluster.AllocateSpace, "create its volume")
	}
	g.source()
	for _, nic := range v.Get(guest.Networks).List() {
		g.needNetwork(nic.Get(guest.Bridge).Str(), nic.Get(guest.VLAN).Str())
	}
	if v.Get(guest.Started).Bool() {
		g.needVM("start the container", cluster.VMPowerMgmt)
	}
	if len(g.missing) > 0 {
		c.add("the token lacks privileges that its creation needs", evidenceOf(g.missing), grant(a, g.missing))
	}
}

// source needs what it takes to read what a container is made from. A clone is configured before OpenTofu imports it.
func (g *grantCheck) source() {
	if id := g.creation.vm.ClonedFrom; id != 0 {
		g.need(fmt.Sprintf("/vms/%d", id), cluster.VMClone, "clone its template")
		g.needVM("set its networks", schema.ConfigNetwork)
		g.needVM("set its description", schema.ConfigOptions)
		if t := g.inv.Guest(id); t != nil && t.Config != nil {
			for i := range 32 { // Proxmox VE checks those of its template as well
				nic := pve.Parse(t.Config.Raw[fmt.Sprintf("net%d", i)])
				if bridge := nic.Option("bridge"); bridge != "" {
					g.needNetwork(bridge, nic.Option("tag"))
				}
			}
		}
		return
	}
	storage, _ := Archive(g.creation.vm)
	if at := "/storage/" + storage; !g.inv.Access.Rights.Has(at, cluster.AllocateSpace) {
		g.need(at, cluster.DatastoreAudit, "read the archive")
	}
}

// mounted checks the storages of the volumes that a container has. What they are used for does not matter to its start.
func (c *creation) mounted() {
	var seen []string
	for _, d := range pve.Mounts(c.current.Config.Raw) {
		if d.Storage != "" && !slices.Contains(seen, d.Storage) {
			seen = append(seen, d.Storage)
			c.content(d.Storage, "")
		}
	}
}

// content checks that a storage is on the node, and takes what a container needs there.
func (c *creation) content(id, content string) {
	if id == "" || !c.storagesRead() {
		return
	}
	n, s, d := c.inv.Node(c.on), c.inv.Storage(id, c.on), c.inv.Datastore(id)
	again := "correct it, then run preflight again"
	switch {
	case n == nil || !n.Online:
	case s == nil && d == nil && !c.inv.SeesStorage(id):
		c.hiddenStorage(id)
	case s == nil && d == nil:
		c.add("storage "+id+" does not exist", c.storagesWith(content))
	case d != nil && (d.Disabled || len(d.Nodes) > 0 && !slices.Contains(d.Nodes, c.on)), s != nil && !s.Active:
		c.add(fmt.Sprintf("storage %s is not available on node %s", id, c.on), c.storagesWith(content),
			Remedy{What: again, Commands: []string{pve.Pvesh("get", "/storage/"+id)}})
	case s != nil && content != "" && !slices.Contains(pve.List(s.Content), content):
		list := append(pve.List(s.Content), content)
		slices.Sort(list)
		c.add(fmt.Sprintf("storage %s does not have the content %s", id, content), c.storagesWith(content),
			Remedy{What: "permit it, then run preflight again", Commands: []string{pve.SetStorage(id, "content", strings.Join(list, ","))}})
	}
}

// storagesWith are the storages of the node that have a content, as evidence.
func (c *creation) storagesWith(content string) []string {
	var names []string
	for i := range c.inv.Storages {
		if s := &c.inv.Storages[i]; s.Node == c.on && s.Active && slices.Contains(pve.List(s.Content), content) {
			names = append(names, s.ID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("storages of node %s with %s: %s", c.on, content, strings.Join(names, ", "))}
}
