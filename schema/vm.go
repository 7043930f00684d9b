package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
)

// read reads a VM's merged properties into the typed fields that decisions and
// checks use, and checks what the tables cannot express.
func (e *expander) read(v *VM) {
	if name := v.Values.Get(guest.Name); name != nil {
		v.Name = name.Text
	} else {
		v.Name = e.name(v)
		v.set(guest.Name, Scalar(v.Pos, ShapeString, v.Name))
	}
	e.identity(v)
	e.placement(v)
	e.cloudInit(v)
	e.hardware(v)
	v.canonical()
	e.disks(v)
	e.bootOrder(v)
	e.networks(v)
	e.starts(v)
	e.records(v)
	e.ignoredChanges(v)
}

// set overwrites one property with a value that the spec does not contain.
func (v *VM) set(key string, value *Node) {
	v.Values = v.Values.With(Scalar(v.Pos, ShapeString, key), value)
}

// identity reads the properties that identify a VM: profile, VMID, template.
func (e *expander) identity(v *VM) {
	e.chosenProfile(v)
	v.VMID = v.Values.Get(guest.VMID).Int()
	e.adopted(v)
	e.knownProfile(v)
	v.Clone = v.Values.Get(guest.Clone).Str()
	t := v.Values.Get(guest.Template)
	switch {
	case v.Replica != nil:
		v.Clone = ""
	case t != nil:
		v.Template = &Template{Pos: t.Pos, VMID: t.Get(guest.VMID).Int(), Name: t.Get(guest.Name).Str(), Node: t.Get(guest.Node).Str(),
			Release: t.Get(guest.Release).Str()}
	case !v.Adopt:
		e.errorPos(v.Pos, v.Path+".template", CodeNoTemplate, "add template: VMID, or adopt: {vmid: N} if the VM exists", "no template to clone")
	}
}

// AdoptedProfile is the profile of guests that existed, unless their spec says another one: no plan changes them.
const AdoptedProfile = "adopted"

// adopted reads which guest of the cluster a guest is that exists already.
func (e *expander) adopted(v *VM) {
	a := v.Values.Get(guest.Adopt)
	if a == nil {
		return
	}
	v.Adopt = true
	if own := v.Own.Get(guest.Profile); own == nil {
		v.Profile = AdoptedProfile // a profile in the defaults is meant for guests that stackgen creates
	}
	if pin := v.Own.Get(guest.VMID); pin != nil && pin.Int() != a.Get(guest.VMID).Int() {
		e.errorPos(pin.Pos, v.Path+".vmid", CodeVMIDClash, "remove vmid", "vmid is %d, but adopt is %d", pin.Int(), a.Get(guest.VMID).Int())
	}
	v.VMID = a.Get(guest.VMID).Int()
}

// chosenProfile reads the profile of a guest.
func (e *expander) chosenProfile(v *VM) {
	if v.Profile = "default"; v.SaysProfile() {
		v.Profile = v.Values.Get(guest.Profile).Text
	}
}

// SaysProfile reports whether a file gives the guest its profile.
func (v *VM) SaysProfile() bool {
	p := v.Values.Get(guest.Profile)
	return p != nil && p.File != ""
}

// knownProfile checks that there is the profile of a guest.
func (e *expander) knownProfile(v *VM) {
	if e.profile(v.Profile) != nil {
		return
	}
	names := []string{}
	for _, p := range e.profiles {
		names = append(names, p.Name)
	}
	e.errorPos(v.At(guest.Profile), v.Path+".profile", CodeNoProfile, "profiles: "+strings.Join(names, ", "),
		"the profile %q does not exist", v.Profile)
}

// poolOf reads the pool of a guest: its own, or that of the stack.
func (e *expander) poolOf(v *VM) {
	v.PoolID = v.Values.Get(guest.Pool).Str()
	if e.stack.Pool != nil {
		v.PoolID = cmp.Or(v.PoolID, e.stack.Pool.ID)
	}
	if v.PoolID != "" {
		v.set(guest.Pool, Scalar(v.Pos, ShapeString, v.PoolID))
	}
}

func (e *expander) profile(name string) *Profile {
	for i := range e.profiles {
		if e.profiles[i].Name == name {
			return &e.profiles[i]
		}
	}
	return nil
}

func (e *expander) placement(v *VM) {
	v.Node = v.Values.Get(guest.Node).Str()
	p := v.Values.Get(guest.Placement)
	if p != nil && (v.Node == "" || v.Own.Has(guest.Placement) && !v.Own.Has(guest.Node)) {
		v.Node = ""
		v.Placement = &Placement{
			Pos:        p.Pos,
			Strategy:   p.Get(guest.Strategy).Str(),
			Nodes:      p.Get(guest.Nodes).Strings(),
			MaxPerNode: p.Get(guest.MaxPerNode).Int(),
		}
		v.Placement.CPU, v.Placement.Memory = weights(p.Get(guest.Weights))
		if len(v.Placement.Nodes) == 0 {
			e.errorPos(p.Pos, v.Path+".placement", CodeNoNode, "add nodes: [...]", "the placement has no nodes")
		}
	}
	if v.Node == "" && v.Placement == nil {
		fix := "add node: NAME to defaults or to the " + v.Kind.Name() + ", or placement: {nodes: [...]}"
		e.errorPos(v.Pos, v.Path+".node", CodeNoNode, fix, "no node")
	}
	e.poolOf(v)
}

// weights are those of free CPU and free memory in a score. One that is missing beside
// the other is 0.
func weights(n *Node) (cpu, memory float64) {
	cpu, _ = strconv.ParseFloat(n.Get(guest.CPU).Str(), 64)
	memory, _ = strconv.ParseFloat(n.Get(guest.Memory).Str(), 64)
	if cpu == 0 && memory == 0 {
		return 0.6, 0.4
	}
	return cpu, memory
}

// canonical puts values into the one form in which they are rendered and compared.
func (v *VM) canonical() {
	if tags := v.Values.Get(guest.Tags); tags != nil {
		names := tags.Strings()
		for i := range names {
			names[i] = strings.ToLower(names[i])
		}
		slices.Sort(names)
		list := &Node{Pos: tags.Pos, Shape: ShapeList}
		for _, name := range slices.Compact(names) {
			list.Items = append(list.Items, Scalar(tags.Pos, ShapeString, name))
		}
		v.set(guest.Tags, list)
	}
	if d := v.Values.Get(guest.Description); d != nil { // the provider does that, and then finds a difference
		v.set(guest.Description, Scalar(d.Pos, ShapeString, strings.ReplaceAll(strings.TrimSpace(d.Text), "\r\n", "\n")))
	}
	if agent := v.Values.Get(guest.Agent); agent != nil {
		v.AgentOn = agent.Get(guest.Enabled).Bool()
		if !v.AgentOn { // the provider has no other option of an agent that is off
			v.set(guest.Agent, (&Node{Pos: agent.Pos, Shape: ShapeMap}).With(agent.key(guest.Enabled), agent.Get(guest.Enabled)))
		}
	}
	if w := v.Values.Get(guest.Watchdog); w != nil && !w.Get(guest.Enabled).Bool() {
		v.Values = v.Values.Without(guest.Watchdog)
	}
	if !v.IsContainer() && v.Values.Get(guest.Memory).Str() == "512" && !v.Values.Has(guest.Balloon) {
		// The same as no balloon, but not the provider's default, which it would read as absent.
		v.set(guest.Balloon, Scalar(v.Pos, ShapeInt, "512"))
	}
}

// disks checks the disks of a VM against one another, and each against its interface.
func (e *expander) disks(v *VM) {
	seen := map[string]bool{}
	if drive := v.Values.Get(guest.CloudInit, guest.Interface); drive != nil {
		seen[drive.Text] = true
	}
	single := v.Values.Get(guest.SCSIHardware).Str() == "virtio-scsi-single"
	for _, d := range v.Values.Get(guest.Disks).List() {
		at := d.Get(guest.Interface)
		if seen[at.Str()] {
			e.errorPos(at.Pos, v.Path+".disks", CodeDevice, "choose another interface", "two devices use the interface %s", at.Str())
		}
		seen[at.Str()] = true
		if d.Get(guest.SSD).Bool() && strings.HasPrefix(at.Str(), "virtio") {
			e.errorPos(d.Get(guest.SSD).Pos, v.Path+".disks", CodeHardware, "use a scsi interface, or remove ssd",
				"a disk on a virtio interface cannot be an SSD")
		}
		if io := d.Get(guest.IOThread); io.Bool() && strings.HasPrefix(at.Str(), "scsi") && !single {
			e.errorPos(io.Pos, v.Path+".disks", CodeHardware, "write scsi_hardware: virtio-scsi-single, or remove iothread",
				"an I/O thread on a scsi disk needs scsi_hardware: virtio-scsi-single")
		} else if io.Bool() && (strings.HasPrefix(at.Str(), "ide") || strings.HasPrefix(at.Str(), "sata")) {
			e.errorPos(io.Pos, v.Path+".disks", CodeHardware, "use a scsi or virtio interface, or remove iothread",
				"a disk on an ide or sata interface cannot have an I/O thread")
		}
	}
}

// bootOrder checks that a VM has the network devices from which it boots.
func (e *expander) bootOrder(v *VM) {
	networks := v.Values.Get(guest.Networks).List()
	for _, d := range v.Values.Get(guest.BootOrder).List() {
		if i, isNet := strings.CutPrefix(d.Text, "net"); isNet && Scalar(d.Pos, ShapeInt, i).Int() >= len(networks) {
			e.errorPos(d.Pos, v.Path+".boot_order", CodeDevice, "add a network, or remove it from boot_order",
				"%s does not exist: the VM has %d networks, and net0 is the first", d.Text, len(networks))
		}
	}
}

// networks reads the MAC addresses of a VM, and checks the ranges of VLANs of its networks.
func (e *expander) networks(v *VM) {
	for _, n := range v.Values.Get(guest.Networks).List() {
		for _, vlans := range n.Get(guest.Trunks).List() {
			if from, to, isRange := strings.Cut(vlans.Text, "-"); isRange && len(VLANs([]string{vlans.Text})) == 0 {
				e.errorPos(vlans.Pos, v.Path+".networks", CodeValue, "write "+to+"-"+from, "the range of VLANs %s has no VLAN", vlans.Text)
			}
		}
		mac := n.Get(guest.MAC).Str()
		if mac != AutoMAC {
			mac = strings.ToUpper(mac)
		}
		v.MACs = append(v.MACs, mac)
	}
	if nics := v.Values.Get(guest.Networks).List(); v.Whose != "" && len(nics) > 0 &&
		!slices.ContainsFunc(v.MACs, func(mac string) bool { return mac != AutoMAC }) {
		e.warn(nics[0].Get(guest.MAC).Pos, v.Path+".networks", CodeRoster,
			"leave out mac before the VMs are created: stackgen then decides one for each student",
			"with mac: auto, nothing tells whose VM exists if two branches give one key to two students")
	}
}

func (e *expander) records(v *VM) {
	d, own := v.Values.Get(guest.DNS), v.Own.Get(guest.DNS)
	if e.stack.DNS == nil {
		if own != nil && !own.Off() {
			e.errorPos(own.Pos, v.Path+".dns", CodeNoDNS, "add dns: {zone, server} to the stack",
				"the %s has DNS records, but the stack has no dns", v.Kind.Name())
		}
		return
	}
	if d != nil && d.Off() {
		return
	}
	ttl := cmp.Or(d.Get(guest.TTL).Int(), e.stack.DNS.TTL)
	for _, r := range d.Get(guest.Records).List() {
		if Reserved(r.Text) {
			e.errorPos(r.Pos, v.Path+".dns", CodeValue, "choose another name",
				"%q is an HCL keyword, and Terragrunt writes keys without quotes", r.Text)
		}
		v.Records = append(v.Records, Record{Pos: r.Pos, Name: r.Text, TTL: ttl})
	}
	if d.Get(guest.Records) == nil {
		v.Records = []Record{{Pos: v.At(guest.Name), Name: e.recordName(v), TTL: ttl}}
	}
	switch {
	case len(v.Records) == 0 || v.Address.IsValid():
	case v.IsContainer() && v.unaddressed():
		e.errorPos(v.At(guest.Networks), v.Path+".networks", CodeAddress, "add ipv4 to its first network, or write dns: false",
			"the container has a DNS record, and no IPv4 address")
	case !v.IsContainer() && !v.AgentOn:
		e.errorPos(v.At(guest.Agent), v.Path+".agent", CodeAgent, "set a static address, enable the agent, or write dns: false",
			"the VM has a DNS record, but its address cannot be read: it comes from DHCP, and the guest agent is off")
	}
}

// recordName is the name of the record of a VM without records of its own: the VM's name in
// lower case, relative to the zone.
func (e *expander) recordName(v *VM) string {
	name, zone := strings.ToLower(v.Name), strings.ToLower(strings.TrimSuffix(e.stack.DNS.Zone, "."))
	record := strings.TrimSuffix(name, "."+zone)
	if name == zone || !matches("record", record) {
		e.errorPos(v.At(guest.Name), v.Path+".name", CodeValue, "write dns: {records: [...]}, or dns: false",
			"the name %q cannot be a DNS record of the zone %s", v.Name, zone)
	}
	return record
}

// ignoredChanges warns about properties that are set on the VM itself although
// its profile ignores their changes. Properties that matter only when the VM is
// created are left out.
func (e *expander) ignoredChanges(v *VM) {
	p := e.profile(v.Profile)
	if p == nil {
		return
	}
	p = p.For(v.Kind)
	for i, key := range v.Own.Keys {
		f := find(v.Fields(), key.Text)
		root := f.Attribute()
		if root == "" && len(f.Fields) > 0 {
			root = f.Fields[0].Attribute() // its keys are attributes of the VM
		}
		known := v.Adopt && (f.Key == guest.Name || f.Key == guest.Networks && v.IsContainer()) // outputs and records have it; it is known by it
		if root == "" || known || f.Creation || !p.Ignores(root) || v.Own.Items[i].Off() {
			continue
		}
		fix := "remove the key, or choose a profile that does not ignore " + root
		if key.Text == guest.CloudInit && len(v.Records) > 0 {
			fix = "choose another profile to set the address on the VM; DNS and outputs use it in any case"
		}
		e.warn(key.Pos, v.Path+"."+key.Text, CodeIgnored, fix, "a change of %s has no effect: profile %s ignores %s", key.Text, p.Name, root)
	}
}
