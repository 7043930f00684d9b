package hardware

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/sshkey"
	"stackgen/schema"
)

// disks reads the drives that are disks. CD-ROM drives stay as they are.
func (r *Reading) disks(f *schema.Field) {
	list := &schema.Node{Shape: schema.ShapeList}
	for bus := range strings.FieldsSeq(f.PVE) {
		for _, key := range r.numbered(strings.TrimSuffix(bus, "*")) {
			d := pve.ParseDrive(key, r.raw[key])
			if d.CloudInitOf(r.vmid) || d.CDROM() || d.File == "none" {
				continue
			}
			r.shows[f.Key] = append(r.shows[f.Key], key+"="+r.raw[key])
			if d.Size()>>30 < 1 {
				r.refuse(f.Key, key+"="+r.raw[key],
					"a spec has disks of whole GiB, and this one has less than one",
					pve.Pvesh("set", guest.VM.Path(r.node, r.vmid, "resize"), "--disk "+shell.Word(key), "--size 1G"))
			}
			e, more := parseAs(f, key, r.raw[key])
			more = append(more, pve.Option{Name: "interface", Value: key})
			list.Items = append(list.Items, r.entry(f, key, e, more))
		}
	}
	r.values[f.Key] = list
}

// cloudKeys are the entries of cloud-init that have no number.
var cloudKeys = []string{"cicustom", "citype", "ciupgrade", "ciuser", "nameserver", "searchdomain", "sshkeys"}

// SameCloudInit reports whether two configurations have the same settings of cloud-init, as far as Proxmox VE shows them:
// a password is hidden.
func SameCloudInit(a, b *cluster.Config) bool {
	settings := func(c *cluster.Config) map[string]string {
		out := map[string]string{}
		for key, text := range c.Raw {
			if of, _ := pve.SplitKey(key); of == "ipconfig" || slices.Contains(cloudKeys, key) {
				out[key] = text
			}
		}
		return out
	}
	return a == nil || b == nil || maps.Equal(settings(a), settings(b))
}

// cloudInit reads the cloud-init drive and the settings on it.
func (r *Reading) cloudInit(f *schema.Field, password bool) {
	var drives, settings []string
	for _, bus := range pve.Buses {
		for _, key := range r.numbered(bus) {
			if pve.ParseDrive(key, r.raw[key]).CloudInitOf(r.vmid) {
				drives = append(drives, key)
			}
		}
	}
	for _, key := range append(slices.Clone(cloudKeys), r.numbered("ipconfig")...) {
		if text, ok := r.raw[key]; ok {
			settings = append(settings, key)
			r.shows[f.Key] = append(r.shows[f.Key], key+"="+text)
		}
	}
	if password {
		settings = append(settings, "cipassword")
	}
	for _, key := range drives {
		r.shows[f.Key] = append(r.shows[f.Key], key+"="+r.raw[key])
	}
	switch {
	case len(drives) == 0 && len(settings) == 0:
		return
	case len(drives) == 0:
		r.refuse(f.Key, strings.Join(settings, ", "),
			"the VM has no cloud-init drive, and a spec with these settings adds one",
			r.Set("--delete", strings.Join(settings, ",")))
		return
	case len(drives) > 1:
		r.refuse(f.Key, strings.Join(r.shows[f.Key], " "),
			"the VM has several cloud-init drives, and a spec has one: keep one of them",
			r.Set("--delete", drives[len(drives)-1]))
		return
	}
	for _, key := range []string{"ipconfig0", "cicustom"} {
		if text := r.raw[key]; text != "" {
			r.unknownOptions(key, pve.Parse(text), options(f.Fields, key+"/"))
		}
	}
	r.addresses(f, password)
	r.publicKeys(f)
	r.raw[entryDrive] = "datastore=" + pve.ParseDrive(drives[0], r.raw[drives[0]]).Storage + ",interface=" + drives[0]
	r.values[f.Key] = value(f, r.get)
	r.otherAddresses(f)
}

// otherAddresses reads the addresses of the network devices after the first one.
func (r *Reading) otherAddresses(f *schema.Field) {
	i := slices.IndexFunc(f.Fields, func(sub schema.Field) bool { return sub.Rest })
	list := &f.Fields[i]
	out := &schema.Node{Shape: schema.ShapeList}
	for _, key := range r.numbered("ipconfig") {
		e, number := pve.Parse(r.raw[key]), strings.TrimPrefix(key, "ipconfig")
		switch n, _ := strconv.Atoi(number); {
		case n == 0 || r.raw[key] == "":
			continue
		case n > list.Most:
			r.refuse(f.Key, key+"="+r.raw[key], fmt.Sprintf("a spec has addresses for net0 to net%d only", list.Most))
		}
		r.unknownOptions(key, e, options(list.Elem.Fields, ""))
		out.Items = append(out.Items, value(list.Elem, e.With(schema.Slot, "net"+number).Get))
	}
	if len(out.Items) > 0 {
		r.values[f.Key] = r.values[f.Key].With(&schema.Node{Shape: schema.ShapeString, Text: list.Key}, out)
	}
}

// addresses refuses what a spec cannot express of the addresses and the user.
func (r *Reading) addresses(f *schema.Field, password bool) {
	text := r.raw["ipconfig0"]
	first := pve.Parse(text)
	switch {
	case first.Option("ip") == "" && (first.Option("ip6") != "" || first.Option("gw6") != ""):
		r.refuse(f.Key, "ipconfig0="+text, "a spec always has an IPv4 address or dhcp")
	case first.Option("ip") == "":
		r.unset(f.Key, "ipconfig0",
			"a spec always has an address; setting it to dhcp, which Proxmox VE uses now, does not change the VM",
			cluster.Setting{Key: "ipconfig0", Value: "ip=dhcp"})
	}
	if password && r.raw["ciuser"] == "" && r.raw["sshkeys"] == "" {
		r.refuse(f.Key, "a cloud-init password",
			"a spec has no passwords, and no account without a user or a key: set the user to the one of the image",
			r.Set("--ciuser <USER>"))
	}
}

// publicKeys refuses SSH keys that a spec does not accept.
func (r *Reading) publicKeys(f *schema.Field) {
	text, err := url.QueryUnescape(r.raw["sshkeys"])
	if err != nil {
		r.refuse(f.Key, "sshkeys", "its SSH keys are not URL-encoded text")
		return
	}
	if text == "" {
		return
	}
	for key := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if sshkey.Fault(key) != "" || key != strings.TrimSpace(key) {
			r.refuse(f.Key, "sshkeys", "one of its lines is not a public key")
			return
		}
	}
}
