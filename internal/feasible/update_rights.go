package feasible

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// grants checks privileges on a guest that exists.
func (c *creation) grants() *grantCheck {
	g := &grantCheck{creation: c, vm: fmt.Sprintf("/vms/%d", c.current.VMID)}
	if c.current.Pool != "" {
		g.pool = "/pool/" + c.current.Pool
	}
	return g
}

// lacking are the privileges that updates need, and that the token lacks.
func (c *creation) lacking(updates []effect.Update) []cluster.Missing {
	g := c.grants()
	var order []string
	changed := map[string][]string{} // names of what is changed, by privilege
	for _, u := range updates {
		for _, r := range schema.RightsOf(u.Path) {
			if r.Privilege == "" {
				continue
			}
			if changed[r.Privilege] == nil {
				order = append(order, r.Privilege)
			}
			if name := u.Name(); !slices.Contains(changed[r.Privilege], name) {
				changed[r.Privilege] = append(changed[r.Privilege], name)
			}
		}
	}
	for _, p := range order {
		g.needVM("change "+strings.Join(changed[p], ", "), p)
	}
	g.needVM("set the name, as every update does", schema.ConfigOptions)
	for _, u := range updates {
		g.update(u)
	}
	return g.missing
}

// Destroy returns the privileges that the token lacks for the destroy of a guest. Without VM.Allocate, the provider
// would stop the guest, and Proxmox VE would then refuse to delete it.
func Destroy(inv *cluster.Inventory, g *cluster.Guest) []Obstacle {
	if inv.Access == nil || inv.Access.IsRoot() {
		return nil
	}
	c := newCreation(inv, &schema.VM{}, &lock.VM{VMID: g.VMID, Node: g.Node})
	c.current, c.check = g, PrivilegesCheck
	check := c.grants()
	check.needVM("delete it", cluster.VMAllocate)
	if g.Status != "stopped" {
		check.needVM("stop it before that", cluster.VMPowerMgmt)
	}
	if len(check.missing) > 0 {
		c.add("the token lacks privileges that it needs", evidenceOf(check.missing), grant(inv.Access, check.missing))
	}
	return c.found
}

// update needs what an update needs beside the privilege for its option.
func (g *grantCheck) update(u effect.Update) {
	top, _, _ := strings.Cut(u.Path, ".")
	row := cmp.Or(schema.VMField(u.Key()), &schema.Field{})
	switch {
	case row.Key == guest.Startup:
		g.need("/", cluster.SysModify, "change the starting order")
	case row.Key == guest.Tags:
		g.tags(tagsOf(g.current), g.creation.vm.Values.Get(guest.Tags).Strings())
	case u.Path == "cpu.type":
		g.model(u.Is)
	case row.Key == guest.Started:
		g.needVM("start or stop the VM", cluster.VMPowerMgmt)
	case u.Path == "pool_id" && u.Is != "":
		g.poolChange(u.Is)
	case top == "initialization" && (u.Adds() || u.Effect == schema.PowerOff):
		g.needVM("add or move the cloud-init drive", schema.ConfigCDROM)
	case top == "network_device":
		g.bridges()
	case row.Maps != "":
		g.mappings()
	case top == "disk" || top == "efi_disk" || top == "tpm_state":
		g.space(u, top)
	}
	if u.Interrupts() {
		g.needVM("restart or stop the VM", cluster.VMPowerMgmt)
	}
}

// poolChange needs what a move to another pool needs. Between the two requests, the VM is
// in no pool.
func (g *grantCheck) poolChange(to string) {
	for _, pool := range []string{g.current.Pool, to} {
		if pool != "" {
			g.need("/pool/"+pool, cluster.PoolAllocate, "move the VM to pool "+to)
		}
	}
	r := g.inv.Access.Rights
	if !r.Below("/vms", cluster.VMAllocate) && !r[g.vm][cluster.VMAllocate] {
		g.addMissing("/vms", cluster.VMAllocate, "add the VM to pool "+to+" while it is in none")
	}
}

// bridges needs the use of all bridges that the VM has or gets: the provider sends all
// network devices.
func (g *grantCheck) bridges() {
	for i := range 32 {
		nic := pve.ParseNIC(g.current.Config.Raw[fmt.Sprintf("net%d", i)])
		if bridge := nic.Bridge(); bridge != "" {
			g.needNetwork(bridge, nic.VLAN())
		}
	}
	for _, nic := range g.creation.vm.Values.Get(guest.Networks).List() {
		g.needNetwork(nic.Get(guest.Bridge).Str(), nic.Get(guest.VLAN).Str())
	}
}

// mappings needs the use of the resource mappings of USB and PCI devices and directories.
func (g *grantCheck) mappings() {
	why := map[string]string{guest.USB: "use the USB device", guest.HostPCI: "use the PCI device", guest.Virtiofs: "share the directory"}
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		for _, d := range g.creation.vm.Values.Get(f.Key).List() {
			if m := d.Get(guest.Mapping).Str(); m != "" {
				g.need("/mapping/"+f.Maps+"/"+m, cluster.MappingUse, why[f.Key])
			}
		}
	}
}

// space needs the use of a storage on which a disk is created, grown, or to which it is
// moved.
func (g *grantCheck) space(u effect.Update, top string) {
	at, why := "", ""
	v := g.creation.vm.Values
	switch {
	case u.Effect == schema.Move:
		at, why = u.Is, "move a disk there"
	case u.Effect == schema.Grow:
		at, why = g.creation.vm.Disk(u.Device).Get(guest.Datastore).Str(), "grow a disk there"
	case u.Adds() && top == "disk":
		at, why = g.creation.vm.Disk(u.Device).Get(guest.Datastore).Str(), "create a disk there"
	case u.Adds() && top == "efi_disk":
		at, why = v.Get(guest.EFI).Get(guest.Datastore).Str(), "create a disk there"
	case u.Adds():
		at, why = v.Get(guest.TPM).Get(guest.Datastore).Str(), "create a disk there"
	}
	if at != "" {
		g.need("/storage/"+at, cluster.AllocateSpace, why)
	}
}

// evidenceOf says what each missing privilege is for.
func evidenceOf(missing []cluster.Missing) []string {
	var out []string
	for _, m := range missing {
		out = append(out, fmt.Sprintf("%s on %s: to %s", m.Privilege, m.Path, m.Why))
	}
	return out
}
