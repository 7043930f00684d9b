package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// read reads a VM's merged properties into the typed fields that decisions and
// checks use, and checks what the tables cannot express.
func (e *expander) read(v *VM) {
	if name := v.Values.Get("name"); name != nil {
		v.Name = name.Text
	} else {
		v.Name = e.name(v)
		v.set("name", Scalar(v.Pos, ShapeString, v.Name))
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
	v.Profile = "default"
	if p := v.Values.Get("profile"); p != nil && p.File != "" {
		v.Profile = p.Text
	}
	v.VMID = v.Values.Get("vmid").Int()
	if a := v.Values.Get("adopt"); a != nil {
		v.Adopt = true
		if own := v.Own.Get("profile"); own == nil {
			v.Profile = "adopted" // a profile in the defaults is meant for VMs that stackgen creates
		}
		if pin := v.Own.Get("vmid"); pin != nil && pin.Int() != a.Get("vmid").Int() {
			e.errorPos(pin.Pos, v.Path+".vmid", CodeVMIDClash, "remove vmid", "vmid is %d, but adopt is %d", pin.Int(), a.Get("vmid").Int())
		}
		v.VMID = a.Get("vmid").Int()
	}
	if e.profile(v.Profile) == nil {
		names := []string{}
		for _, p := range e.profiles {
			names = append(names, p.Name)
		}
		e.errorPos(v.At("profile"), v.Path+".profile", CodeNoProfile, "profiles: "+strings.Join(names, ", "),
			"the profile %q does not exist", v.Profile)
	}
	v.Clone = v.Values.Get("clone").Str()
	t := v.Values.Get("template")
	switch {
	case t != nil:
		v.Template = &Template{Pos: t.Pos, VMID: t.Get("vmid").Int(), Name: t.Get("name").Str(), Node: t.Get("node").Str()}
	case !v.Adopt:
		e.errorPos(v.Pos, v.Path+".template", CodeNoTemplate, "add template: VMID, or adopt: {vmid: N} if the VM exists", "no template to clone")
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
	v.Node = v.Values.Get("node").Str()
	p := v.Values.Get("placement")
	if p != nil && (v.Node == "" || v.Own.Has("placement") && !v.Own.Has("node")) {
		v.Node = ""
		v.Placement = &Placement{
			Pos:        p.Pos,
			Strategy:   p.Get("strategy").Str(),
			Nodes:      p.Get("nodes").Strings(),
			MaxPerNode: p.Get("max_per_node").Int(),
		}
		v.Placement.CPU, v.Placement.Memory = weights(p.Get("weights"))
		if len(v.Placement.Nodes) == 0 {
			e.errorPos(p.Pos, v.Path+".placement", CodeNoNode, "add nodes: [...]", "the placement has no nodes")
		}
	}
	if v.Node == "" && v.Placement == nil {
		e.errorPos(v.Pos, v.Path+".node", CodeNoNode, "add node: NAME to defaults or to the VM, or placement: {nodes: [...]}", "no node")
	}
	v.PoolID = v.Values.Get("pool").Str()
	if e.stack.Pool != nil {
		v.PoolID = cmp.Or(v.PoolID, e.stack.Pool.ID)
	}
	if v.PoolID != "" {
		v.set("pool", Scalar(v.Pos, ShapeString, v.PoolID))
	}
}

// weights are those of free CPU and free memory in a score. One that is missing beside
// the other is 0.
func weights(n *Node) (cpu, memory float64) {
	cpu, _ = strconv.ParseFloat(n.Get("cpu").Str(), 64)
	memory, _ = strconv.ParseFloat(n.Get("memory").Str(), 64)
	if cpu == 0 && memory == 0 {
		return 0.6, 0.4
	}
	return cpu, memory
}

// canonical puts values into the one form in which they are rendered and compared.
func (v *VM) canonical() {
	if tags := v.Values.Get("tags"); tags != nil {
		names := tags.Strings()
		for i := range names {
			names[i] = strings.ToLower(names[i])
		}
		slices.Sort(names)
		list := &Node{Pos: tags.Pos, Shape: ShapeList}
		for _, name := range slices.Compact(names) {
			list.Items = append(list.Items, Scalar(tags.Pos, ShapeString, name))
		}
		v.set("tags", list)
	}
	if d := v.Values.Get("description"); d != nil { // the provider does that, and then finds a difference
		v.set("description", Scalar(d.Pos, ShapeString, strings.ReplaceAll(strings.TrimSpace(d.Text), "\r\n", "\n")))
	}
	if agent := v.Values.Get("agent"); agent != nil {
		v.AgentOn = agent.Get("enabled").Bool()
		if !v.AgentOn { // the provider has no other option of an agent that is off
			v.set("agent", (&Node{Pos: agent.Pos, Shape: ShapeMap}).With(agent.key("enabled"), agent.Get("enabled")))
		}
	}
	if w := v.Values.Get("watchdog"); w != nil && !w.Get("enabled").Bool() {
		v.Values = v.Values.Without("watchdog")
	}
	if v.Values.Get("memory").Str() == "512" && !v.Values.Has("balloon") {
		// The same as no balloon, but not the provider's default, which it would read as absent.
		v.set("balloon", Scalar(v.Pos, ShapeInt, "512"))
	}
}

// disks checks the disks of a VM against one another, and each against its interface.
func (e *expander) disks(v *VM) {
	seen := map[string]bool{}
	if drive := v.Values.Get("cloud_init", "interface"); drive != nil {
		seen[drive.Text] = true
	}
	single := v.Values.Get("scsi_hardware").Str() == "virtio-scsi-single"
	for _, d := range v.Values.Get("disks").List() {
		at := d.Get("interface")
		if seen[at.Str()] {
			e.errorPos(at.Pos, v.Path+".disks", CodeDevice, "choose another interface", "two devices use the interface %s", at.Str())
		}
		seen[at.Str()] = true
		if d.Get("ssd").Bool() && strings.HasPrefix(at.Str(), "virtio") {
			e.errorPos(d.Get("ssd").Pos, v.Path+".disks", CodeHardware, "use a scsi interface, or remove ssd",
				"a disk on a virtio interface cannot be an SSD")
		}
		if io := d.Get("iothread"); io.Bool() && strings.HasPrefix(at.Str(), "scsi") && !single {
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
	networks := v.Values.Get("networks").List()
	for _, d := range v.Values.Get("boot_order").List() {
		if i, isNet := strings.CutPrefix(d.Text, "net"); isNet && Scalar(d.Pos, ShapeInt, i).Int() >= len(networks) {
			e.errorPos(d.Pos, v.Path+".boot_order", CodeDevice, "add a network, or remove it from boot_order",
				"%s does not exist: the VM has %d networks, and net0 is the first", d.Text, len(networks))
		}
	}
}

// networks reads the MAC addresses of a VM, and checks the ranges of VLANs of its networks.
func (e *expander) networks(v *VM) {
	for _, n := range v.Values.Get("networks").List() {
		for _, vlans := range n.Get("trunks").List() {
			if from, to, isRange := strings.Cut(vlans.Text, "-"); isRange && len(VLANs([]string{vlans.Text})) == 0 {
				e.errorPos(vlans.Pos, v.Path+".networks", CodeValue, "write "+to+"-"+from, "the range of VLANs %s has no VLAN", vlans.Text)
			}
		}
		mac := n.Get("mac").Str()
		if mac != AutoMAC {
			mac = strings.ToUpper(mac)
		}
		v.MACs = append(v.MACs, mac)
	}
}

func (e *expander) records(v *VM) {
	d, own := v.Values.Get("dns"), v.Own.Get("dns")
	if e.stack.DNS == nil {
		if own != nil && !own.Off() {
			e.errorPos(own.Pos, v.Path+".dns", CodeNoDNS, "add dns: {zone, server} to the stack", "the VM has DNS records, but the stack has no dns")
		}
		return
	}
	if d != nil && d.Off() {
		return
	}
	ttl := cmp.Or(d.Get("ttl").Int(), e.stack.DNS.TTL)
	for _, r := range d.Get("records").List() {
		if Reserved(r.Text) {
			e.errorPos(r.Pos, v.Path+".dns", CodeValue, "choose another name",
				"%q is an HCL keyword, and Terragrunt writes keys without quotes", r.Text)
		}
		v.Records = append(v.Records, Record{Pos: r.Pos, Name: r.Text, TTL: ttl})
	}
	if d.Get("records") == nil {
		v.Records = []Record{{Pos: v.At("name"), Name: e.recordName(v), TTL: ttl}}
	}
	if len(v.Records) > 0 && !v.Address.IsValid() && !v.AgentOn {
		e.errorPos(v.At("agent"), v.Path+".agent", CodeAgent, "set a static address, enable the agent, or write dns: false",
			"the VM has a DNS record, but its address cannot be read: it comes from DHCP, and the guest agent is off")
	}
}

// recordName is the name of the record of a VM without records of its own: the VM's name in
// lower case, relative to the zone.
func (e *expander) recordName(v *VM) string {
	name, zone := strings.ToLower(v.Name), strings.ToLower(strings.TrimSuffix(e.stack.DNS.Zone, "."))
	record := strings.TrimSuffix(name, "."+zone)
	if name == zone || !matches("record", record) {
		e.errorPos(v.At("name"), v.Path+".name", CodeValue, "write dns: {records: [...]}, or dns: false",
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
	for i, key := range v.Own.Keys {
		f := find(VMFields, key.Text)
		root := f.Attribute()
		if root == "" && len(f.Fields) > 0 {
			root = f.Fields[0].Attribute() // its keys are attributes of the VM
		}
		named := f.Key == "name" && v.Adopt // outputs and records have it
		if root == "" || named || f.Creation || !p.Ignores(root) || v.Own.Items[i].Off() {
			continue
		}
		fix := "remove the key, or choose a profile that does not ignore " + root
		if key.Text == "cloud_init" && len(v.Records) > 0 {
			fix = "choose another profile to set the address on the VM; DNS and outputs use it in any case"
		}
		e.warn(key.Pos, v.Path+"."+key.Text, CodeIgnored, fix, "a change of %s has no effect: profile %s ignores %s", key.Text, p.Name, root)
	}
}
