package schema

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
)

// pin is one spec's value of a setting of the whole project.
type pin struct {
	Pos
	what, value string
	given       bool
}

// pin records the versions that a spec asks for.
func (j *joiner) pin(root *Node) {
	for _, what := range []string{"engine", "providers"} {
		f := find(sharedFields, what)
		given, full := root.Get(what), j.fill(orEmpty(root.Get(what)), f)
		for _, sub := range f.Fields {
			v := full.Get(sub.Key)
			j.pinned = append(j.pinned, pin{Pos: v.Pos, what: sub.Key, value: v.Text, given: given.Has(sub.Key)})
			if what == "engine" && given.Has(sub.Key) {
				j.engine(v, sub.Key)
			}
		}
	}
}

// clashes checks all specs of the project against one another.
func (j *joiner) clashes() {
	c := clash{j, map[string]use{}}
	for _, s := range j.project.Stacks {
		if !c.once("stack "+s.Name, s.Pos, CodeStackClash, "choose another name", "stack %q is already defined", s.Name) {
			continue // a spec that is given twice has everything twice
		}
		if s.Pool != nil && s.Pool.Create {
			c.once("pool "+s.Pool.ID, s.Pool.Pos, CodePoolClash, "let one stack create it, and write create: false in the other",
				"pool %q is already created", s.Pool.ID)
		}
		if s.Registration != "" {
			file := strings.ToLower(path.Clean(s.Registration)) // some file systems ignore case
			c.once("registration "+file, s.RegistrationPos, CodeValue, "choose another file",
				"the registration %q is already used", s.Registration)
		}
		for _, v := range s.VMs {
			c.checkVM(s, v)
		}
		j.selfHosted(s)
	}
}

// A clash finds second uses.
type clash struct {
	*joiner
	first map[string]use
}

// A use is a place in a spec and, if it is a VM's, the VM.
type use struct {
	Pos
	vm *subject
}

func (u use) String() string {
	if u.vm != nil {
		return fmt.Sprintf("%s (%s %s)", u.Pos, u.vm.kind.Name(), u.vm.key)
	}
	return u.Pos.String()
}

// once reports the second use of a thing that can be used once. Two VMs may have it from one
// line, of their group or of the defaults.
func (c *clash) once(what string, pos Pos, code, fix, format string, thing any) bool {
	first, used := c.first[what]
	p := Problem{Pos: pos, Severity: SeverityError, Code: code, Fix: fix, First: first.Pos}
	switch {
	case !used:
		c.first[what] = use{pos, c.vm}
	case first.Pos == pos && first.vm != nil:
		p.Fix = "give each its own; in a group, text can have {n}"
		c.problem(p, format+" by %s %s, which has it from the same line", thing, first.vm.kind.Name(), first.vm.key)
	default:
		c.problem(p, format+" at %s", thing, first)
	}
	return !used
}

func (c *clash) checkVM(s *Stack, v *VM) {
	of := subjectOf(s, v)
	c.vm = &of
	defer func() { c.vm = nil }()
	if v.VMID != 0 {
		at := v.At(guest.VMID)
		if v.Adopt {
			at = v.At(guest.Adopt, guest.VMID)
		}
		c.once("vmid "+strconv.Itoa(v.VMID), at, CodeVMIDClash, "choose another VMID: it is unique in the cluster",
			"VMID %d is already used", v.VMID)
	}
	if t := v.Template; t != nil && t.Release != "" && c.project.TemplateOf(t) == nil {
		c.errorPos(t.Pos, v.Path+".template", CodeTemplate, "remove release, or write a spec of kind: Template with this name",
			"the project has no Template %q", t.Name)
	}
	c.once("name "+strings.ToLower(v.Name), v.At(guest.Name), CodeNameClash, "choose another name", "the name %q is already used", v.Name)
	if v.IsContainer() {
		c.containerAddresses(v)
	} else if v.Address.IsValid() {
		c.once("address "+v.Address.Addr().String(), v.At(guest.CloudInit, guest.IPv4), CodeAddressClash, "choose another address",
			"the address %s is already used", v.Address.Addr())
	}
	if six := v.Values.Get(guest.CloudInit, guest.IPv6); six != nil && staticPrefix(six.Text).IsValid() {
		addr := staticPrefix(six.Text).Addr()
		c.once("address "+addr.String(), six.Pos, CodeAddressClash, "choose another address", "the address %s is already used", addr)
	}
	c.otherAddresses(v)
	for _, n := range v.Values.Get(guest.Networks).List() {
		if mac := n.Get(guest.MAC); mac != nil && mac.Text != AutoMAC {
			c.once("mac "+strings.ToUpper(mac.Text), mac.Pos, CodeMACClash, "choose another MAC address",
				"the MAC address %s is already used", mac.Text)
		}
	}
	for _, r := range v.Records {
		c.once("dns "+s.DNS.FQDN(r.Name), r.Pos, CodeDNSClash, "choose another name", "the DNS name %s is already used", s.DNS.FQDN(r.Name))
	}
}

// containerAddresses checks the addresses of a container, which its networks have.
func (c *clash) containerAddresses(v *VM) {
	for i, n := range v.Values.Get(guest.Networks).List() {
		network := ""
		if i > 0 {
			network = " on " + n.Get(guest.Bridge).Str() + " " + n.Get(guest.VLAN).Str()
		}
		for _, key := range []string{guest.IPv4, guest.IPv6} {
			if at := n.Get(key); staticPrefix(at.Str()).IsValid() {
				addr := staticPrefix(at.Text).Addr().String()
				c.once("address "+addr+network, at.Pos, CodeAddressClash, "choose another address", "the address %s is already used", addr)
			}
		}
	}
}

// otherAddresses checks the addresses of the network devices after the first one. The
// same address may be in several networks.
func (c *clash) otherAddresses(v *VM) {
	nics := v.Values.Get(guest.Networks).List()
	for _, ip := range v.Values.Get(guest.CloudInit, guest.IPConfigs).List() {
		n := nicNumber(ip.Get(guest.Device).Str())
		if n >= len(nics) {
			continue
		}
		network := nics[n].Get(guest.Bridge).Str() + " " + nics[n].Get(guest.VLAN).Str()
		for _, key := range []string{guest.IPv4, guest.IPv6} {
			if at := ip.Get(key); staticPrefix(at.Str()).IsValid() {
				addr := staticPrefix(at.Text).Addr().String()
				c.once("address "+addr+" on "+network, at.Pos, CodeAddressClash, "choose another address", "the address %s is already used", addr)
			}
		}
	}
}

// selfHosted warns about a VM that runs what the stack needs for an apply.
func (j *joiner) selfHosted(s *Stack) {
	hosts := map[string]string{}
	if u, err := url.Parse(s.Backend.Endpoint); err == nil && u.Hostname() != "" {
		hosts[strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))] = "state backend"
	}
	if s.DNS != nil {
		hosts[strings.ToLower(strings.TrimSuffix(s.DNS.Server, "."))] = "DNS server"
	}
	for _, v := range s.VMs {
		names := []string{strings.ToLower(v.Name)}
		if v.Address.IsValid() {
			names = append(names, v.Address.Addr().String())
		}
		for _, r := range v.Records {
			names = append(names, strings.TrimSuffix(s.DNS.FQDN(r.Name), "."))
		}
		for _, n := range names {
			if what := hosts[n]; what != "" {
				of := subjectOf(s, v)
				j.vm = &of
				j.warn(v.Pos, v.Path, CodeSelfHosted, "move it to a stack of its own, with its state elsewhere",
					"%s is this stack's own %s: while it is down, the stack cannot be applied", n, what)
				j.vm = nil
				break
			}
		}
	}
}

// pins finds the settings of the whole project.
func (j *joiner) pins(inputs []Input) {
	chosen := map[string]pin{}
	for _, p := range j.pinned {
		was, ok := chosen[p.what]
		switch {
		case !ok || !was.given && p.given:
			chosen[p.what] = p
		case p.given && was.given && p.value != was.value:
			j.errorPos(p.Pos, p.what, CodePinClash, "write it once, in stackgen.yaml",
				"%s is %q here and %q at %s, but the whole project has one value", p.what, p.value, was.value, was.Pos)
		}
	}
	if len(inputs) == 0 {
		root := &Node{Shape: ShapeMap}
		j.pin(root)
		for _, p := range j.pinned {
			chosen[p.what] = p
		}
	}
	j.project.OpenTofu, j.project.Terragrunt = chosen["opentofu"].value, chosen["terragrunt"].value
	j.project.Proxmox, j.project.DNS = chosen["proxmox"].value, chosen["dns"].value
	j.collectProfiles()
}

// collectProfiles collects the profiles of all specs: one name has one definition.
func (j *joiner) collectProfiles() {
	all := BuiltinProfiles()
	for _, p := range j.custom {
		i := slices.IndexFunc(all, func(o Profile) bool { return o.Name == p.Name })
		switch {
		case i < 0:
			all = append(all, p)
		case !p.same(all[i]) && p.Pos != all[i].Pos:
			j.errorPos(p.Pos, "profiles."+p.Name, CodeProfileClash, "rename one of them, or define it once in stackgen.yaml",
				"profile %q has another definition at %s", p.Name, all[i].Pos)
		}
	}
	slices.SortFunc(all[len(BuiltinProfiles()):], func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	j.project.Profiles = all
}

// same reports whether two profiles have the same effect.
func (p Profile) same(q Profile) bool {
	a, b := slices.Clone(p.IgnoreChanges), slices.Clone(q.IgnoreChanges)
	slices.Sort(a)
	slices.Sort(b)
	return p.IgnoreAll == q.IgnoreAll && p.PreventDestroy == q.PreventDestroy && slices.Equal(a, b)
}
