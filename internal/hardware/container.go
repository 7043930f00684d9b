package hardware

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
