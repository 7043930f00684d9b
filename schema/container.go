package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
)

// containersKey is the key of the containers of a stack, and of the defaults that only they have.
const containersKey = "containers"

// containerField is the row of a whole container.
func containerField() *Field { return guestField(guest.Container) }

// Fields are the properties of guests of a kind.
func Fields(kind guest.Kind) []Field {
	if kind == guest.Container {
		return ContainerFields
	}
	return VMFields
}

// Fields are the properties of the guest.
func (v *VM) Fields() []Field { return Fields(v.Kind) }

// notShared are properties that both kinds have, in other forms: of the defaults, they are for VMs.
var notShared = []string{guest.Name, guest.VMID, guest.Template, guest.Networks, guest.OSType, guest.DNS}

// InheritedByContainers reports whether containers inherit a property of the defaults, which VMs have as well.
func InheritedByContainers(key string) bool {
	return find(ContainerFields, key) != nil && find(VMFields, key) != nil && !slices.Contains(notShared, key)
}

// defaultContainer has the properties that every container of the stack inherits: of the
// defaults, those that VMs have as well, and those of defaults.containers.
func (j *joiner) defaultContainer(root *Node) *Node {
	base := j.fill(&Node{Shape: ShapeMap}, containerField()).Without(guest.Profile)
	defaults := root.Get("defaults")
	if defaults == nil {
		return base
	}
	own := defaults.Get(containersKey)
	shared := &Node{Pos: defaults.Pos, Shape: ShapeMap}
	for i, key := range defaults.Keys {
		if InheritedByContainers(key.Text) {
			shared = shared.With(key, defaults.Items[i])
		}
	}
	if own.Has(guest.Placement) && !own.Has(guest.Node) { // which is nearer than the node that is for VMs, too
		shared = shared.Without(guest.Node)
	}
	return merge(merge(base, shared, containerField()), own, containerField())
}

// readContainer reads a container's merged properties into the typed fields that decisions and
// checks use, and checks what the table cannot express.
func (e *expander) readContainer(v *VM) {
	if name := v.Values.Get(guest.Name); name != nil {
		v.Name = name.Text
	} else {
		v.Name = e.name(v)
		v.set(guest.Name, Scalar(v.Pos, ShapeString, v.Name))
	}
	v.VMID = v.Values.Get(guest.VMID).Int()
	e.chosenProfile(v)
	e.adopted(v)
	e.knownProfile(v)
	e.placement(v)
	e.archive(v)
	v.canonical()
	e.containerNetworks(v)
	e.mounts(v)
	if keys := v.Values.Get(guest.SSHKeys); keys != nil {
		v.set(guest.SSHKeys, e.publicKeys(keys))
	}
	if f := v.Values.Get(guest.Features); f.Get(guest.Nesting).Bool() && !v.Values.Get(guest.Unprivileged).Bool() {
		e.errorPos(f.Pos, v.Path+".features", CodeHardware, "write unprivileged: true, or set the features with `pct set` on the node, as root",
			"Proxmox VE refuses the features of a privileged container to every token")
	}
	if s := v.Values.Get(guest.Startup); s != nil && s.Get(guest.Order) == nil {
		e.errorPos(s.Pos, v.Path+".startup", CodeMissingKey, "add order", "startup lacks the key \"order\"")
	}
	e.records(v)
	e.ignoredChanges(v)
}

// archive completes what a container is made from. One that exists already is made from nothing: an archive
// that it inherits would make another one, and an empty one, where it was deleted.
func (e *expander) archive(v *VM) {
	if v.Adopt {
		v.Values = v.Values.Without(guest.Template, guest.OSType)
		return
	}
	from := v.Values.Get(guest.Template)
	if from == nil {
		e.errorPos(v.Pos, v.Path+".template", CodeNoTemplate, "add template: STORAGE:vztmpl/ARCHIVE, or adopt: {vmid: N} if the container exists",
			"no archive to make the container from")
		return
	}
	if from.Has(guest.VMID) {
		e.cloned(v, from)
		return
	}
	if v.Values.Has(guest.OSType) {
		return
	}
	_, name, _ := strings.Cut(from.Get(guest.Archive).Str(), "/")
	word, _, _ := strings.Cut(strings.ToLower(name), "-")
	if !slices.Contains(find(ContainerFields, guest.OSType).Enum, word) {
		e.errorPos(from.Pos, v.Path+".os_type", CodeNoTemplate, "add os_type, such as debian",
			"the name of the archive does not say which distribution it is")
		return
	}
	v.set(guest.OSType, Scalar(from.Pos, ShapeString, word))
}

// ofTemplate are the properties of a container that a clone has from its template, and that nothing changes later.
var ofTemplate = []string{guest.OSType, guest.Features, guest.Mounts, guest.SSHKeys}

// cloned reads the template that a container is cloned from. What the clone has from it is not rendered: defaults
// are meant for containers from archives.
func (e *expander) cloned(v *VM, from *Node) {
	v.ClonedFrom = from.Get(guest.VMID).Int()
	for _, key := range ofTemplate {
		if own := v.Own.Get(key); own != nil {
			e.errorPos(own.Pos, v.Path+"."+key, CodeHardware, "remove "+key+", and give it to the template",
				"a clone has the %s of its template, and nothing changes that later", key)
		}
	}
	v.Values = v.Values.Without(append([]string{guest.Template}, ofTemplate...)...)
}

// containerNetworks completes the network devices of a container, and reads their MAC addresses
// and the address that its records have.
func (e *expander) containerNetworks(v *VM) {
	nics := v.Values.Get(guest.Networks)
	out, names, without := &Node{Pos: nics.Pos, Shape: nics.Shape}, map[string]bool{}, -1
	for i, n := range nics.Items {
		path := fmt.Sprintf("%s.networks[%d]", v.Path, i)
		if n.Get(guest.Interface) == nil {
			n = n.With(Scalar(n.Pos, ShapeString, guest.Interface), Scalar(n.Pos, ShapeString, "eth"+strconv.Itoa(i)))
		}
		if name := n.Get(guest.Interface); names[name.Text] {
			e.errorPos(name.Pos, path, CodeDevice, "choose another interface", "two networks use the interface %s", name.Text)
		}
		names[n.Get(guest.Interface).Text] = true
		at := n.Pos
		if ip := n.Get(guest.IPv4); ip != nil {
			at = ip.Pos
		}
		n, static := e.addresses(n, path, at)
		if i == 0 {
			v.Address = static
		}
		switch has := n.Get(guest.IPv4) != nil || n.Get(guest.IPv6) != nil; {
		case !has && without < 0:
			without = i
		case has && without >= 0: // the provider reads addresses by their positions among those that there are
			e.errorPos(n.Pos, path, CodeAddress, "move networks without addresses to the end",
				"networks[%d] has no address, and comes before one that has", without)
		}
		v.MACs = append(v.MACs, strings.ToUpper(n.Get(guest.MAC).Str()))
		if v.Adopt && !n.Has(guest.MAC) {
			e.errorPos(n.Pos, path, CodeMissingKey, "add the mac that `pct config` shows of it",
				"networks[%d] lacks the key \"mac\": a container that exists is known by its MAC addresses", i)
		}
		out.Items = append(out.Items, n)
	}
	if len(out.Items) == 0 {
		e.errorPos(v.At(guest.Networks), v.Path+".networks", CodeDevice, "add a network",
			"a container without a network has no MAC address, by which it is known")
	}
	v.set(guest.Networks, out)
}

// mounts checks the mount points of a container against each other. Proxmox VE mounts them in the order of their numbers.
func (e *expander) mounts(v *VM) {
	seen := map[string]bool{}
	for i, m := range v.Values.Get(guest.Mounts).List() {
		at := m.Get(guest.Path)
		if seen[at.Str()] {
			e.errorPos(at.Pos, fmt.Sprintf("%s.mounts[%d]", v.Path, i), CodeDevice, "choose another path", "two mount points are at %s", at.Text)
		}
		below := slices.IndexFunc(v.Values.Get(guest.Mounts).List()[:i], func(o *Node) bool {
			return strings.HasPrefix(o.Get(guest.Path).Str(), at.Str()+"/")
		})
		if below >= 0 {
			e.errorPos(at.Pos, fmt.Sprintf("%s.mounts[%d]", v.Path, i), CodeDevice, "write it before the one below it",
				"%s is mounted after mounts[%d], which is below it, and would hide that", at.Text, below)
		}
		seen[at.Str()] = true
	}
}

// unaddressed reports whether nothing tells the address of a container. One of profile adopted keeps the address that it
// has, also where its networks say only its MAC addresses.
func (v *VM) unaddressed() bool {
	if v.Profile == AdoptedProfile {
		return false
	}
	nics := v.Values.Get(guest.Networks).List()
	return len(nics) == 0 || cmp.Or(nics[0].Get(guest.IPv4).Str(), "") == ""
}

// AddressesOf is the row of the addresses of a container's network devices, as the resource has
// them, and their value.
func (v *VM) AddressesOf() (row *Field, list *Node) {
	list = &Node{Pos: v.Pos, Shape: ShapeList}
	for _, n := range v.Values.Get(guest.Networks).List() {
		ip := &Node{Pos: n.Pos, Shape: ShapeMap}
		for i := range ipConfigFields {
			if f := &ipConfigFields[i]; f.HCL != "" && n.Has(f.Key) {
				ip = ip.With(n.key(f.Key), n.Get(f.Key))
			}
		}
		if len(ip.Items) > 0 {
			list.Items = append(list.Items, ip)
		}
	}
	return &containerAddresses, list
}

// ContainerAddresses is the row of AddressesOf.
func ContainerAddresses() Field { return containerAddresses }

// IsAlwaysIgnoredOf reports whether every profile ignores an attribute of guests of a kind.
func IsAlwaysIgnoredOf(kind guest.Kind, attribute string) bool {
	if kind == guest.Container {
		return slices.Contains(containerIgnored, attribute)
	}
	return IsAlwaysIgnored(attribute)
}

// ignoresContainer reports whether every profile ignores an attribute of a container, or a block around it.
func ignoresContainer(hcl string) bool {
	return slices.ContainsFunc(containerIgnored, func(name string) bool { return inBlock(hcl, strings.ReplaceAll(name, "[0]", "")) })
}

// ContainerBlocks are the attributes and blocks of a container that Proxmox VE has, in the order of their names.
func ContainerBlocks() []string {
	var out []string
	for a := range attributeRows(guest.ContainerResource, "") {
		name, _, _ := strings.Cut(a.HCL, ".")
		if a.Change != ProviderOnly && a.Change != Noise && name != "vm_id" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// For is the profile as it is for guests of a kind: the attributes that it ignores are those of the
// same properties.
func (p *Profile) For(kind guest.Kind) *Profile {
	if kind != guest.Container {
		return p
	}
	out := *p
	out.IgnoreChanges = slices.Clone(containerIgnored)
	for _, attribute := range p.IgnoreChanges {
		for i := range VMFields {
			own := find(ContainerFields, VMFields[i].Key)
			if VMFields[i].Attribute() != attribute || own == nil || own.HCL == "" || own.Attribute() == "initialization" ||
				slices.Contains(out.IgnoreChanges, own.Attribute()) {
				continue
			}
			out.IgnoreChanges = append(out.IgnoreChanges, own.Attribute())
		}
	}
	return &out
}
