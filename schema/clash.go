package schema

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// pin is one spec's word on something that holds for the whole project.
type pin struct {
	Pos
	what, value string
	given       bool
}

// pin notes what a spec says about versions.
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
	c := clash{j, map[string]Pos{}}
	for _, s := range j.project.Stacks {
		if !c.once("stack "+s.Name, s.Pos, CodeStackClash, "choose another name", "stack %q is already defined by %s", s.Name) {
			continue // the same spec twice has everything twice
		}
		if s.Pool != nil && s.Pool.Create {
			c.once("pool "+s.Pool.ID, s.Pool.Pos, CodePoolClash, "let one stack create it, and say create: false in the other", "pool %q is already created by %s", s.Pool.ID)
		}
		if s.Registration != "" {
			c.once("registration "+path.Clean(s.Registration), s.RegistrationPos, CodeValue, "choose another file", "the registration %s is already written by %s", s.Registration)
		}
		for _, v := range s.VMs {
			c.vm(s, v)
		}
		j.selfHosted(s)
	}
}

// A clash remembers who used what first.
type clash struct {
	*joiner
	first map[string]Pos
}

// once reports the second use of something there can be one of.
func (c *clash) once(what string, pos Pos, code, fix, text string, thing any) bool {
	first, used := c.first[what]
	if used {
		c.errorPos(pos, "", code, fix, text, thing, first)
	} else {
		c.first[what] = pos
	}
	return !used
}

func (c *clash) vm(s *Stack, v *VM) {
	if v.VMID != 0 {
		at := v.At("vmid")
		if v.Adopt {
			at = v.At("adopt", "vmid")
		}
		c.once("vmid "+strconv.Itoa(v.VMID), at, CodeVMIDClash, "a VMID is one VM's in the whole cluster: choose another", "VMID %d is already used at %s", v.VMID)
	}
	c.once("name "+v.Name, v.At("name"), CodeNameClash, "choose another name", "the VM name %q is already used at %s", v.Name)
	if v.Address.IsValid() {
		c.once("address "+v.Address.Addr().String(), v.At("cloud_init", "ipv4"), CodeAddressClash, "choose another address", "the address %s is already used at %s", v.Address.Addr())
	}
	if six := v.Values.Get("cloud_init", "ipv6"); six != nil && staticPrefix(six.Text).IsValid() {
		addr := staticPrefix(six.Text).Addr()
		c.once("address "+addr.String(), six.Pos, CodeAddressClash, "choose another address", "the address %s is already used at %s", addr)
	}
	for _, n := range v.Values.Get("networks").List() {
		if mac := n.Get("mac"); mac != nil {
			c.once("mac "+strings.ToUpper(mac.Text), mac.Pos, CodeMACClash, "choose another MAC address", "the MAC address %s is already used at %s", mac.Text)
		}
	}
	for _, r := range v.Records {
		c.once("dns "+s.DNS.FQDN(r.Name), r.Pos, CodeDNSClash, "choose another name", "the DNS name %s is already used at %s", s.DNS.FQDN(r.Name))
	}
}

// selfHosted warns of a VM that holds what the stack itself needs to be applied.
func (j *joiner) selfHosted(s *Stack) {
	hosts := map[string]string{}
	if u, err := url.Parse(s.Backend.Endpoint); err == nil && u.Hostname() != "" {
		hosts[strings.TrimSuffix(u.Hostname(), ".")] = "state"
	}
	if s.DNS != nil {
		hosts[strings.TrimSuffix(s.DNS.Server, ".")] = "DNS server"
	}
	for _, v := range s.VMs {
		names := []string{v.Name}
		if v.Address.IsValid() {
			names = append(names, v.Address.Addr().String())
		}
		for _, r := range v.Records {
			names = append(names, strings.TrimSuffix(s.DNS.FQDN(r.Name), "."))
		}
		for _, n := range names {
			if what := hosts[n]; what != "" {
				j.warn(v.Pos, v.Path, CodeSelfHosted, "keep it in a stack of its own, with its state elsewhere",
					"VM %s (%s) holds this stack's own %s: when it is down, the stack cannot be applied", v.Key, n, what)
				break
			}
		}
	}
}

// pins settles what holds for the whole project.
func (j *joiner) pins(inputs []Input) {
	settled := map[string]pin{}
	for _, p := range j.pinned {
		was, ok := settled[p.what]
		switch {
		case !ok || !was.given && p.given:
			settled[p.what] = p
		case p.given && was.given && p.value != was.value:
			j.errorPos(p.Pos, p.what, CodePinClash, "say it once, in stackgen.yaml", "%s is %q here and %q at %s; it holds for the whole project", p.what, printable(p.value), printable(was.value), was.Pos)
		}
	}
	if len(inputs) == 0 {
		root := &Node{Shape: ShapeMap}
		j.pin(root)
		for _, p := range j.pinned {
			settled[p.what] = p
		}
	}
	j.project.OpenTofu, j.project.Terragrunt = settled["opentofu"].value, settled["terragrunt"].value
	j.project.Proxmox, j.project.DNS = settled["proxmox"].value, settled["dns"].value
	j.settleProfiles()
}

// settleProfiles collects the profiles of all specs: one name, one meaning.
func (j *joiner) settleProfiles() {
	all := BuiltinProfiles()
	for _, p := range j.custom {
		i := slices.IndexFunc(all, func(o Profile) bool { return o.Name == p.Name })
		switch {
		case i < 0:
			all = append(all, p)
		case !p.same(all[i]) && p.Pos != all[i].Pos:
			j.errorPos(p.Pos, "profiles."+p.Name, CodeProfileClash, "give one of them another name, or say it once in stackgen.yaml", "profile %q means something else at %s", p.Name, all[i].Pos)
		}
	}
	slices.SortFunc(all[len(BuiltinProfiles()):], func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	j.project.Profiles = all
}

// same reports whether two profiles mean the same.
func (p Profile) same(q Profile) bool {
	a, b := slices.Clone(p.IgnoreChanges), slices.Clone(q.IgnoreChanges)
	slices.Sort(a)
	slices.Sort(b)
	return p.IgnoreAll == q.IgnoreAll && p.PreventDestroy == q.PreventDestroy && slices.Equal(a, b)
}
