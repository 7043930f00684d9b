package hardware

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stackgen/schema"
)

// disks reads the drives that are disks. CD-ROMs are left alone, but for the one
// place where the provider looks for one.
func (r *Reading) disks(f *family) {
	list := &schema.Node{Shape: schema.ShapeList}
	for _, bus := range f.Keys {
		for _, key := range r.numbered(bus) {
			options, order := f.entry(r.raw[key])
			r.place(options)
			switch {
			case r.isCloudInit(options):
				continue
			case options["media"] == "cdrom" || options[volume] == "none":
				if key == "ide3" {
					r.refuse("", key+"="+r.raw[key], "a spec has no CD-ROMs; on every other interface they are left alone", fmt.Sprintf("qm set %d --delete ide3", r.vmid), fmt.Sprintf("qm set %d --ide1 %s", r.vmid, schema.Quoted(r.raw[key])))
				}
				continue
			}
			r.shows[f.Field] = append(r.shows[f.Field], key+"="+r.raw[key])
			options["interface"] = key
			gib, ok := gibibytes(options["size"])
			if !ok || gib < 1 {
				r.refuse(f.Field, key+"="+r.raw[key], "a spec counts disks in whole GiB, and this one has less than one", fmt.Sprintf("qm disk resize %d %s 1G", r.vmid, key))
			}
			options["size"] = strconv.Itoa(gib)
			list.Items = append(list.Items, r.object(f, key, options, order))
		}
	}
	r.values[f.Field] = list
}

// gibibytes is a size such as 2252M in whole GiB, rounded down as the provider
// does.
func gibibytes(text string) (int, bool) {
	units := map[string]int64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
	digits := strings.TrimRight(text, "KMGT")
	unit, known := units[text[len(digits):]]
	n, err := strconv.ParseFloat(digits, 64)
	if !known || err != nil || n < 0 || n > 1<<40 {
		return 0, false
	}
	return int(int64(n*float64(unit)) >> 30), true
}

// isCloudInit reports whether a drive is the VM's cloud-init drive, as the
// provider tells it.
func (r *Reading) isCloudInit(options map[string]string) bool {
	return strings.Contains(options[volume], fmt.Sprintf("vm-%d-cloudinit", r.vmid))
}

// cloudKeys are the entries that cloud-init reads.
var cloudKeys = []string{"cicustom", "citype", "ciupgrade", "ciuser", "nameserver", "searchdomain", "sshkeys"}

// cloudInit reads the cloud-init drive and what stands on it.
func (r *Reading) cloudInit(f *family, password bool) {
	var drives, settings []string
	for _, bus := range []string{"ide", "sata", "scsi", "virtio"} {
		for _, key := range r.numbered(bus) {
			if options, _ := (&family{First: volume}).entry(r.raw[key]); r.isCloudInit(options) {
				drives = append(drives, key)
			}
		}
	}
	for _, key := range append(slices.Clone(cloudKeys), r.numbered("ipconfig")...) {
		if text, there := r.raw[key]; there {
			settings = append(settings, key)
			if !slices.Contains([]string{"cicustom", "citype", "ciupgrade"}, key) {
				r.shows[f.Field] = append(r.shows[f.Field], key+"="+text)
			}
		}
	}
	if password {
		settings = append(settings, "cipassword")
	}
	for _, key := range drives {
		r.shows[f.Field] = append(r.shows[f.Field], key+"="+r.raw[key])
	}
	switch {
	case len(drives) == 0 && len(settings) == 0:
		return
	case len(drives) == 0:
		r.refuse(f.Field, strings.Join(settings, ", "), "there is no cloud-init drive to use them, and a spec that says them would add one", fmt.Sprintf("qm set %d --delete %s", r.vmid, strings.Join(settings, ",")))
		return
	case len(drives) > 1:
		r.refuse(f.Field, strings.Join(r.shows[f.Field], " "), "it has several cloud-init drives, and a spec has one: keep one of them", fmt.Sprintf("qm set %d --delete %s", r.vmid, drives[len(drives)-1]))
		return
	}
	r.network(f, password)
	options, order := f.entry(r.raw["ipconfig0"])
	if r.raw["ipconfig0"] == "" {
		options, order = map[string]string{}, nil
	}
	n := r.object(f, "ipconfig0", options, order)
	drive, _ := (&family{First: volume}).entry(r.raw[drives[0]])
	r.place(drive)
	say := func(name, text string) { n = set(n, name, scalar(fieldOf(field(f.Field).Fields, name), text)) }
	say("datastore", drive["datastore"])
	say("interface", drives[0])
	say("user", r.raw["ciuser"])
	say("search_domain", r.raw["searchdomain"])
	n = set(n, "nameservers", texts(strings.Fields(r.raw["nameserver"])))
	n = set(n, "ssh_keys", texts(r.keys(f.Field)))
	r.values[f.Field] = n
}

// network refuses what a spec cannot say of the addresses and the user.
func (r *Reading) network(f *family, password bool) {
	first := r.raw["ipconfig0"]
	options, _ := f.entry(first)
	switch {
	case options["ip"] == "" && (options["ip6"] != "" || options["gw6"] != ""):
		r.refuse(f.Field, "ipconfig0="+first, "a spec always has an IPv4 address or dhcp")
	case options["ip"] == "":
		r.refuse(f.Field, "no ipconfig0", "a spec always has an address; dhcp is what Proxmox VE takes then, and writing it changes nothing in the VM", fmt.Sprintf("qm set %d --ipconfig0 ip=dhcp", r.vmid))
	}
	for _, key := range r.numbered("ipconfig") {
		if key != "ipconfig0" {
			r.refuse(f.Field, key+"="+r.raw[key], "a spec has addresses for net0 only")
		}
	}
	if password && r.raw["ciuser"] == "" && r.raw["sshkeys"] == "" {
		r.refuse(f.Field, "a cloud-init password", "a spec has no passwords, and no account without a user or key: name the user, which is the image's own", fmt.Sprintf("qm set %d --ciuser USER", r.vmid))
	}
}

// keys are the SSH keys, which stand in a configuration URL-encoded.
func (r *Reading) keys(name string) []string {
	text, err := url.QueryUnescape(r.raw["sshkeys"])
	if err != nil {
		r.refuse(name, "sshkeys", "its SSH keys cannot be read")
		return nil
	}
	if text == "" {
		return nil
	}
	out := strings.Split(strings.TrimSpace(text), "\n")
	for _, key := range out {
		if !schema.IsPublicKey(key) || key != strings.TrimSpace(key) {
			r.refuse(name, "sshkeys", "one of its lines is no public key")
			break
		}
	}
	return out
}
