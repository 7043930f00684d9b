package hardware

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/edit"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// container reads the properties of a container, and refuses what a spec cannot say of it. What every
// profile ignores is not read: the container keeps it.
func (r *Reading) container(g *cluster.Guest) {
	r.raw[entryStatus] = fmt.Sprint(g.Status == "running")
	if text, ok := r.raw["description"]; ok {
		r.raw["description"] = strings.TrimSuffix(text, "\n") // Proxmox VE adds it, and the provider, too
	}
	for f := range r.compared() {
		r.property(f)
	}
	r.hiddenTexts()
	r.cores(g)
	r.rootfs()
	r.networks()
	if text, list := r.raw["nameserver"], r.values[guest.Nameservers].Strings(); text != strings.Join(list, " ") {
		r.refuse(guest.Nameservers, "nameserver="+text, "the provider reads addresses with one space between them only")
	}
	r.notes()
	r.others()
}

// hiddenTexts refuses properties whose text the inventory left out, because it looks like a secret.
func (r *Reading) hiddenTexts() {
	for f := range r.compared() {
		if slices.ContainsFunc(r.shows[f.Key], hidden) {
			r.refuse(f.Key, f.PVE, "its text looks like a secret, which a spec must not contain")
		}
	}
}

// cores refuses a container that may use all cores of its node: a spec always has a number, and the
// provider reads one core.
func (r *Reading) cores(g *cluster.Guest) {
	if _, has := r.raw["cores"]; has {
		return
	}
	var command []string
	all := int(g.CPUs)
	if most := schema.FieldOf(r.kind, guest.Cores).Max; all >= 1 && all <= most && r.raw["cpulimit"] == "" {
		command = append(command, r.Set("--cores", strconv.Itoa(all)))
	}
	r.refuse(guest.Cores, "no cores",
		"it may use all cores of its node, and a spec always has a number: set that of the node, or another one", command...)
}

// rootfs refuses a root file system that is no volume of whole GiB.
func (r *Reading) rootfs() {
	text := r.raw["rootfs"]
	d := pve.ParseDrive("rootfs", text)
	switch {
	case d.Storage == "":
		r.refuse(guest.RootFS, "rootfs="+text, "its root file system is no volume of a storage")
	case d.Size()>>30 < 1:
		r.refuse(guest.RootFS, "rootfs="+text, "a spec has root file systems of whole GiB, and the configuration has no such size")
	}
}

// networks refuses MAC addresses in lower case, of which the provider would write those of the spec.
func (r *Reading) networks() {
	for _, key := range r.numbered("net") {
		if mac := pve.ParseNIC(r.raw[key]).MAC; mac != strings.ToUpper(mac) {
			r.refuse(guest.Networks, key+"="+r.raw[key], "its MAC address is in lower case, and a spec has upper case")
			return
		}
	}
}

// Named is an attribute of a plan as the properties of a guest name it: a container has its addresses in `networks`.
func Named(kind guest.Kind, attribute string) string {
	list := schema.ContainerAddresses()
	rest, is := strings.CutPrefix(attribute, list.HCL+".")
	if kind != guest.Container || !is {
		return attribute
	}
	device, path, _ := strings.Cut(rest, ".")
	for _, f := range list.Elem.Fields {
		if f.HCL == path {
			path = f.Key
		}
	}
	return strings.TrimSuffix(schema.FieldOf(kind, guest.Networks).HCL+"."+device+"."+path, ".")
}

// unsaidMounts says of mount points that the spec does not have how it would have them, if they are asked for. They act at
// the creation only, so that it makes no difference to this container.
func (r *Reading) unsaidMounts(v *schema.VM, asked func(tf.Change) bool) []Acceptance {
	f := schema.FieldOf(r.kind, guest.Mounts)
	if f == nil || !asked(tf.Change{Path: f.HCL}) {
		return nil
	}
	all := Reading{kind: r.kind, raw: r.raw, values: map[string]*schema.Node{}, shows: map[string][]string{}, skip: map[string]bool{}}
	all.list(f)
	said := v.Values.Get(guest.Mounts)
	want := &schema.Node{Shape: schema.ShapeList, Items: slices.Clone(said.List())}
	var shows []string
	for i, m := range all.values[f.Key].List() {
		at := func(n *schema.Node) bool { return n.Get(guest.Path).Str() == m.Get(guest.Path).Str() }
		if !slices.ContainsFunc(said.List(), at) {
			want.Items, shows = append(want.Items, m), append(shows, all.shows[f.Key][i])
		}
	}
	if len(shows) == 0 {
		return nil
	}
	a := Acceptance{Setting: edit.Setting{Key: f.Key}, Config: strings.Join(shows, " "), Reason: mountsKept}
	want = (&comparison{}).pruned(f, want, nil)
	if problems := schema.CheckProperty(r.kind, f.Key, want); len(problems) > 0 {
		a.Reason += ", and a new one would not have it: a spec cannot say it"
	} else {
		a.Reason, a.Commands = a.Reason+". For a new one, write into the spec", []string{assignment(f, want)}
	}
	return []Acceptance{a}
}

// AtDefault reports whether a container has the provider's default of an attribute: a plan that removes the block around
// it, because of another value there, changes nothing of this one.
func (r *Reading) AtDefault(attribute string) bool {
	row := schema.ResourceAttribute(r.kind.Resource(), attribute)
	switch {
	case r.kind != guest.Container || row == nil:
		return false
	case row.Key == "":
		text, has := r.raw[row.PVE]
		return !has || text == row.Unset
	}
	f := schema.FieldAt(r.kind, row.Name)
	return f != nil && row.Name == row.Key && f.IsDefault(r.values[row.Key])
}

// mountsKept is why a mount point is not accepted.
const mountsKept = "mount points act at the creation only: the container keeps it, whatever its spec says"
