package hardware

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/shell"
	"stackgen/internal/sshkey"
	"stackgen/schema"
)

// disks reads the drives that are disks. CD-ROM drives stay as they are.
func (r *Reading) disks(f *schema.Field) {
	list := &schema.Node{Shape: schema.ShapeList}
	for bus := range strings.FieldsSeq(f.PVE) {
		for _, key := range r.numbered(strings.TrimSuffix(bus, "*")) {
			e := parseVolume(r.raw[key])
			switch {
			case r.isCloudInit(e):
				continue
			case e.values["media"] == "cdrom" || e.values[""] == "none":
				continue
			}
			r.shows[f.Key] = append(r.shows[f.Key], key+"="+r.raw[key])
			e.values["interface"] = key
			gib, ok := gibibytes(e.values["size"])
			if !ok || gib < 1 {
				r.refuse(f.Key, key+"="+r.raw[key],
					"a spec has disks of whole GiB, and this one has less than one",
					"pvesh set "+shell.Word(guest.VM.Path(r.node, r.vmid, "resize"))+" --disk "+shell.Word(key)+" --size 1G")
			}
			e.values["size"] = strconv.Itoa(gib)
			list.Items = append(list.Items, r.entry(f, key, e))
		}
	}
	r.values[f.Key] = list
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

// isCloudInit reports whether a drive is the VM's cloud-init drive, by the rule of
// the provider.
func (r *Reading) isCloudInit(e *entry) bool {
	return strings.Contains(e.values[""], fmt.Sprintf("vm-%d-cloudinit", r.vmid))
}

// cloudKeys are the entries of cloud-init that have no number.
var cloudKeys = []string{"cicustom", "citype", "ciupgrade", "ciuser", "nameserver", "searchdomain", "sshkeys"}

// cloudInit reads the cloud-init drive and the settings on it.
func (r *Reading) cloudInit(f *schema.Field, password bool) {
	var drives, settings []string
	for _, bus := range []string{"ide", "sata", "scsi", "virtio"} {
		for _, key := range r.numbered(bus) {
			if r.isCloudInit(parseVolume(r.raw[key])) {
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
			r.set("--delete %s", strings.Join(settings, ",")))
		return
	case len(drives) > 1:
		r.refuse(f.Key, strings.Join(r.shows[f.Key], " "),
			"the VM has several cloud-init drives, and a spec has one: keep one of them",
			r.set("--delete %s", drives[len(drives)-1]))
		return
	}
	for _, key := range []string{"ipconfig0", "cicustom"} {
		if text := r.raw[key]; text != "" {
			r.unknownOptions(key, parse(text), options(f.Fields, key+"/"))
		}
	}
	r.addresses(f, password)
	r.publicKeys(f)
	r.raw[entryDrive] = "datastore=" + parseVolume(r.raw[drives[0]]).values["datastore"] + ",interface=" + drives[0]
	r.values[f.Key] = value(f, r.get)
	r.otherAddresses(f)
}

// otherAddresses reads the addresses of the network devices after the first one.
func (r *Reading) otherAddresses(f *schema.Field) {
	i := slices.IndexFunc(f.Fields, func(sub schema.Field) bool { return sub.Rest })
	list := &f.Fields[i]
	out := &schema.Node{Shape: schema.ShapeList}
	for _, key := range r.numbered("ipconfig") {
		e, number := parse(r.raw[key]), strings.TrimPrefix(key, "ipconfig")
		switch n, _ := strconv.Atoi(number); {
		case n == 0 || r.raw[key] == "":
			continue
		case n > list.Most:
			r.refuse(f.Key, key+"="+r.raw[key], fmt.Sprintf("a spec has addresses for net0 to net%d only", list.Most))
		}
		r.unknownOptions(key, e, options(list.Elem.Fields, ""))
		e.set(schema.Slot, "net"+number)
		out.Items = append(out.Items, value(list.Elem, e.get))
	}
	if len(out.Items) > 0 {
		r.values[f.Key] = r.values[f.Key].With(&schema.Node{Shape: schema.ShapeString, Text: list.Key}, out)
	}
}

// addresses refuses what a spec cannot express of the addresses and the user.
func (r *Reading) addresses(f *schema.Field, password bool) {
	text := r.raw["ipconfig0"]
	first := parse(text).values
	switch {
	case first["ip"] == "" && (first["ip6"] != "" || first["gw6"] != ""):
		r.refuse(f.Key, "ipconfig0="+text, "a spec always has an IPv4 address or dhcp")
	case first["ip"] == "":
		r.unset(f.Key, "ipconfig0",
			"a spec always has an address; setting it to dhcp, which Proxmox VE uses now, does not change the VM",
			cluster.Setting{Key: "ipconfig0", Value: "ip=dhcp"})
	}
	if password && r.raw["ciuser"] == "" && r.raw["sshkeys"] == "" {
		r.refuse(f.Key, "a cloud-init password",
			"a spec has no passwords, and no account without a user or a key: set the user to the one of the image",
			r.set("--ciuser USER"))
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
