package feasible

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// A grantCheck collects the privileges that are missing.
type grantCheck struct {
	*creation
	vm, pool string // ACL paths of the VM and its pool, or an empty one
	missing  []cluster.Missing
}

// privileges checks that the token may do what the provider requests to create the VM.
func (c *creation) privileges() {
	a := c.inv.Access
	if a == nil || c.entry.Template == nil && c.entry.Image == nil {
		return
	}
	g := &grantCheck{creation: c, vm: "/vms/" + strconv.Itoa(c.entry.VMID)}
	if c.vm.PoolID != "" {
		g.pool = "/pool/" + c.vm.PoolID
	}
	if c.entry.Image != nil {
		g.image()
	} else {
		g.clone()
	}
	g.configuration()
	g.start()
	if len(g.missing) == 0 {
		return
	}
	c.add("the token lacks privileges that its creation needs", evidenceOf(g.missing), grant(a, g.missing))
}

// grantWords say what the commands do that grant privileges.
const grantWords = "grant exactly these privileges, then run preflight again"

// grant is the remedy that grants missing privileges.
func grant(a *cluster.Access, missing []cluster.Missing) Remedy {
	return Remedy{What: grantWords, Commands: a.Grants(missing), Once: true}
}

// need records a privilege that is missing on a path.
func (g *grantCheck) need(at, privilege, why string) {
	if !g.inv.Access.Rights.Has(at, privilege) {
		g.addMissing(at, privilege, why)
	}
}

// addMissing records a missing privilege of a path, once.
func (g *grantCheck) addMissing(at, privilege, why string) {
	if !slices.ContainsFunc(g.missing, func(m cluster.Missing) bool { return m.Path == at && m.Privilege == privilege }) {
		g.missing = append(g.missing, cluster.Missing{Path: at, Privilege: privilege, Why: why})
	}
}

// needVM records a privilege that is missing on the VM, which it may have from its
// pool. The role is granted on the pool then, and on all VMs without one.
func (g *grantCheck) needVM(why string, privileges ...string) {
	r := g.inv.Access.Rights
	for _, p := range privileges {
		if r.Has(g.vm, p) || g.pool != "" && r.Has(g.pool, p) {
			return
		}
	}
	at := "/vms"
	switch own := r[g.vm]; {
	case own != nil && len(own) == 0 && len(r.Inherited(g.vm)) > 0:
		at = g.vm // an entry of its own removes all privileges
	case g.pool != "":
		at = g.pool
	}
	g.addMissing(at, privileges[0], why)
}

// clone needs what POST clone checks, and a migration if the provider makes one.
func (g *grantCheck) clone() {
	g.need("/vms/"+strconv.Itoa(g.entry.Template.VMID), cluster.VMClone, "clone the template")
	g.needVM("create the VM", cluster.VMAllocate)
	g.needVM("read the VM", cluster.VMAudit)
	for _, d := range g.drives() {
		if d.CDROM() {
			continue
		}
		id := d.Storage
		if to := g.target(); to != "" {
			id = to
		}
		g.need("/storage/"+id, cluster.AllocateSpace, "create disks")
	}
	for i := range 32 {
		if nic := g.templateNIC(i); nic.Bridge() != "" {
			g.needNetwork(nic.Bridge(), nic.VLAN())
		}
	}
	if t := g.template; t != nil && t.Config != nil && g.inv.Since(9, 2) { // it checks the model of the template, too
		g.model(pve.Parse(t.Config.Raw["cpu"]).Default("cputype"))
	}
	if _, migrates := g.isCrossNode(); migrates {
		g.needVM("migrate the clone from the template's node", cluster.VMMigrate)
	}
}

// needNetwork needs the use of a bridge or virtual network.
func (g *grantCheck) needNetwork(bridge, vlan string) {
	n := g.inv.Node(g.on)
	if n == nil {
		return
	}
	at := cluster.BridgePath(bridge)
	if i := slices.IndexFunc(n.Networks, func(b cluster.Network) bool { return b.Name == bridge && b.Type == cluster.VNet }); i >= 0 {
		if at = g.inv.Access.Rights.VNetPath(&n.Networks[i]); at == "" {
			text := "whether the token may use the virtual network " + bridge + " is not known: its zone cannot be read without SDN.Audit on it"
			if !g.inv.Access.Rights.UsesAllNetworks() {
				g.addUnknown(text, g.readsZones()...)
			}
			return
		}
	}
	if r := g.inv.Access.Rights; vlan != "" && r[at+"/"+vlan] != nil {
		at += "/" + vlan
	}
	g.need(at, cluster.SDNUse, "use the network")
}

// readsZones is the remedy that grants the privilege to read all zones: an entry for one hides that for all. So does one
// for a network that removes all privileges.
func (c *creation) readsZones() []Remedy {
	a := c.inv.Access
	if a == nil {
		return nil
	}
	var missing []cluster.Missing
	for _, at := range slices.Sorted(maps.Keys(a.Rights)) {
		zone, below := path.Dir(at) == cluster.ZonesPath, strings.HasPrefix(at, cluster.ZonesPath+"/")
		if below && !a.Rights.Has(at, cluster.SDNAudit) && (zone || !a.Rights.Has(at, cluster.SDNUse)) {
			missing = append(missing, cluster.Missing{Path: at, Privilege: cluster.SDNAudit})
		}
	}
	if len(missing) == 0 || !a.Rights.Below(cluster.ZonesPath, cluster.SDNAudit) {
		missing = append(missing, cluster.Missing{Path: cluster.ZonesPath, Privilege: cluster.SDNAudit})
	}
	return []Remedy{grant(a, missing)}
}

// configuration needs what the options of the VM need, each of them.
func (g *grantCheck) configuration() {
	v := g.creation.vm.Values
	g.needVM("set CPUs", schema.ConfigCPU)
	g.needVM("set memory", schema.ConfigMemory)
	g.needVM("set options such as onboot", schema.ConfigOptions)
	if len(v.Get(guest.Networks).List()) > 0 {
		g.needVM("set network devices", schema.ConfigNetwork)
		for _, nic := range v.Get(guest.Networks).List() {
			g.needNetwork(nic.Get(guest.Bridge).Str(), nic.Get(guest.VLAN).Str())
		}
	}
	if ci := v.Get(guest.CloudInit); ci != nil && !ci.Off() {
		g.needVM("set the cloud-init drive", schema.ConfigCloudInit)
		g.needVM("set the cloud-init drive", schema.ConfigCDROM)
	}
	if tags := v.Get(guest.Tags).Strings(); len(tags) > 0 && g.template != nil {
		g.tags(tagsOf(g.template), tags)
	}
	g.disks()
	if slices.ContainsFunc(schema.VMFields, func(f schema.Field) bool { return f.Needs(schema.ConfigHardware, v.Get(f.Key)) }) {
		g.needVM("set hardware such as the SCSI controller", schema.ConfigHardware)
	}
	g.mappings()
	g.model(v.Get(guest.CPUType).Str())
	if len(v.Get(guest.Virtiofs).List()) > 0 {
		g.needVM("share directories of the node", schema.ConfigDisk)
	}
	if v.Get(guest.Startup) != nil {
		g.need("/", cluster.SysModify, "set the starting order")
	}
}

// tags needs what it takes to add and remove tags: the data center may permit some only
// to those who may change the system of its nodes.
func (g *grantCheck) tags(was, is []string) {
	rules := g.inv.Access.Tags
	if rules == nil {
		return
	}
	for _, tag := range slices.Concat(is, was) {
		if slices.Contains(was, tag) != slices.Contains(is, tag) && rules.Refuses(tag) {
			g.need("/", cluster.SysModify, "add or remove the tag "+tag)
		}
	}
}

// tagsOf are the tags of a guest.
func tagsOf(g *cluster.Guest) []string {
	if g.Config == nil {
		return nil
	}
	return pve.List(g.Config.Raw["tags"])
}

// disks needs what disks need: the provider sends the options of each, also of one that is
// as in the template.
func (g *grantCheck) disks() {
	v := g.creation.vm.Values
	changes := len(v.Get(guest.BootOrder).List())+len(v.Get(guest.Disks).List()) > 0
	for _, d := range v.Get(guest.Disks).List() {
		at, cloned := d.Get(guest.Datastore).Str(), g.clonedDisk(d.Get(guest.Interface).Str())
		if g.template == nil {
			continue // which disks it has is not known
		}
		if cloned == nil || cloned.Storage != at {
			g.need("/storage/"+at, cluster.AllocateSpace, "create disks")
		}
	}
	for _, key := range []string{guest.EFI, guest.TPM} {
		if at := v.Get(key, guest.Datastore).Str(); at != "" {
			g.need("/storage/"+at, cluster.AllocateSpace, "create disks")
			changes = true
		}
	}
	if changes {
		g.needVM("set, add, move and resize disks", schema.ConfigDisk)
	}
}

// clonedDisk is a disk as the clone has it, or nil.
func (g *grantCheck) clonedDisk(key string) *pve.Drive {
	for _, d := range g.drives() {
		if d.Key == key && !d.CDROM() {
			if to := g.target(); to != "" {
				d.Storage = to
			}
			return &d
		}
	}
	return nil
}

// start needs what a start and the query of the guest agent need.
func (g *grantCheck) start() {
	if !g.starts() {
		return
	}
	g.needVM("start the VM", cluster.VMPowerMgmt)
	if !g.creation.vm.AgentOn {
		return
	}
	if major, _, _ := strings.Cut(g.inv.Release, "."); len(major) == 1 && major < "9" {
		g.needVM("query the guest agent", cluster.VMMonitor)
	} else {
		g.needVM("query the guest agent", cluster.AgentAudit, "VM.GuestAgent.Unrestricted")
	}
}

// Paths are the ACL paths of what the creation of a VM needs, without its template.
func Paths(v *schema.VM) []string {
	var out []string
	if v.PoolID != "" {
		out = append(out, "/pool/"+v.PoolID)
	}
	for _, nic := range v.Values.Get(guest.Networks).List() {
		out = append(out, cluster.BridgePath(nic.Get(guest.Bridge).Str()))
	}
	if at := cluster.ModelPath(v.Values.Get(guest.CPUType).Str()); at != "" {
		out = append(out, at)
	}
	drives := []*schema.Node{v.Values.Get(guest.RootFS), v.Values.Get(guest.CloudInit), v.Values.Get(guest.EFI), v.Values.Get(guest.TPM)}
	for _, d := range slices.Concat(drives, v.Values.Get(guest.Disks).List(), v.Values.Get(guest.Mounts).List()) {
		if at := d.Get(guest.Datastore).Str(); at != "" {
			out = append(out, "/storage/"+at)
		}
	}
	if v.ClonedFrom != 0 {
		out = append(out, fmt.Sprintf("/vms/%d", v.ClonedFrom))
	} else if v.IsContainer() {
		storage, _ := Archive(v)
		out = append(out, "/storage/"+storage)
	}
	return out
}

// CreatePool returns what makes the creation of a pool fail.
func CreatePool(inv *cluster.Inventory, id string) []Obstacle {
	a := inv.Access
	at := "/pool/" + id
	if a == nil || a.Rights.Has(at, cluster.PoolAllocate) {
		return nil
	}
	missing := []cluster.Missing{{Path: at, Privilege: cluster.PoolAllocate, Why: "create the pool"}}
	return []Obstacle{{PrivilegesCheck, "the token lacks a privilege that its creation needs", []string{cluster.PoolAllocate + " on " + at},
		[]Remedy{grant(a, missing)}}}
}
