package pvesim

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/pvesim/schema"
)

var (
	cpuKeys     = regexp.MustCompile(`^(affinity|cores|cpu|cpulimit|cpuunits|numa|smp|sockets|vcpus|numa\d+)$`)
	memoryKeys  = regexp.MustCompile(`^(memory|balloon|shares)$`)
	hardware    = regexp.MustCompile(`^(acpi|hotplug|kvm|machine|scsihw|smbios1|tablet|vga|watchdog|audio0|vmgenid|arch|rng0|hugepages|keephugepages)$`)
	generalKeys = regexp.MustCompile(`^(agent|autostart|bios|description|keyboard|localtime|migrate_downtime|migrate_speed|name|onboot|ostype|protection|reboot|startdate|startup|tdf|template|tags|freeze)$`)
	diskKeys    = regexp.MustCompile(`^(boot|bootdisk|vmstatestorage|unused\d+)$`)
	cloudKeys   = regexp.MustCompile(`^(cicustom|cipassword|citype|ciuser|ciupgrade|nameserver|searchdomain|sshkeys|ipconfig\d+)$`)
	netKey      = regexp.MustCompile(`^net\d+$`)
	serialKey   = regexp.MustCompile(`^serial\d+$`)
	usbKey      = regexp.MustCompile(`^usb\d+$`)
)

// checkConfigRights checks the privilege that each option needs.
func (c *call) checkConfigRights(vmid int, pool string, keys []string, values map[string]string) error {
	if c.who.user == "root@pam" && c.who.token == "" {
		return nil
	}
	for _, k := range keys {
		priv := ""
		v := values[k]
		switch {
		case cpuKeys.MatchString(k):
			priv = "VM.Config.CPU"
		case memoryKeys.MatchString(k):
			priv = "VM.Config.Memory"
		case hardware.MatchString(k):
			priv = "VM.Config.HWType"
		case generalKeys.MatchString(k):
			priv = "VM.Config.Options"
		case cloudKeys.MatchString(k):
			if err := c.cloudRights(vmid, pool); err != nil {
				return err
			}
			continue
		case netKey.MatchString(k):
			priv = "VM.Config.Network"
		case isDriveKey(k) && strings.Contains(v, "media=cdrom"):
			priv = "VM.Config.CDROM"
		case isDriveKey(k) || diskKeys.MatchString(k):
			priv = "VM.Config.Disk"
		case serialKey.MatchString(k) && (v == "" || v == "socket"), usbKey.MatchString(k) && (v == "" || strings.HasPrefix(v, "spice")):
			priv = "VM.Config.HWType"
		case k == "node" || k == "vmid" || k == "pool" || k == "storage" || k == "start" || k == "digest" || k == "bwlimit":
			continue
		default:
			return failf("only root can set '%s' config", k)
		}
		if err := c.vmRight(vmid, pool, priv); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) cloudRights(vmid int, pool string) error {
	if c.vmRight(vmid, pool, "VM.Config.Cloudinit") == nil {
		return nil
	}
	return c.vmRight(vmid, pool, "VM.Config.Network")
}

// vmRight checks a privilege on the guest or on the pool in which it is
// created.
func (c *call) vmRight(vmid int, pool, priv string) error {
	if pool != "" && c.w.allowed(c.who, "/pool/"+pool, priv) {
		return nil
	}
	return c.w.require(c.who, "/vms/"+itoa(vmid), priv)
}

// checkDiskAccess returns an error for new disks on storages without
// permission.
func (c *call) checkDiskAccess(vmid int, conf map[string]string, fallback string) error {
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		if !isDriveKey(k) {
			continue
		}
		d := parseDrive(conf[k])
		if d.file == "none" || d.file == "cdrom" {
			continue
		}
		id := storageOf(d.file)
		if !strings.Contains(d.file, ":") {
			id = fallback
			if id == "" {
				id = "local"
			}
		}
		if _, err := c.w.checkStorage(id, c.node); err != nil {
			return err
		}
		if newDisk(d) {
			if err := c.w.require(c.who, "/storage/"+id, "Datastore.AllocateSpace"); err != nil {
				return err
			}
			continue
		}
		if err := c.volumeAccess(vmid, id, d); err != nil {
			return err
		}
	}
	return nil
}

// volumeAccess checks access to an existing volume: it belongs to the guest, or
// the caller has a privilege on the storage.
func (c *call) volumeAccess(vmid int, storage string, d drive) error {
	if volumeOwner(d.file, vmid) == vmid || c.w.allowed(c.who, "/storage/"+storage, "Datastore.Allocate") {
		return nil
	}
	return c.w.requireAny(c.who, "/storage/"+storage, "Datastore.Audit", "Datastore.AllocateSpace")
}

var newDiskSpec = regexp.MustCompile(`^[^:]+:(\d+(\.\d+)?|cloudinit)$`)

// newDisk reports whether a drive requests a new volume: storage:GiB or
// storage:cloudinit.
func newDisk(d drive) bool { return newDiskSpec.MatchString(d.file) || d.opts["import-from"] != "" }

// checkBridges checks the permission to use every bridge.
func (c *call) checkBridges(conf map[string]string) error {
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		if !netKey.MatchString(k) {
			continue
		}
		n := parseNet(conf[k])
		if n["bridge"] == "" {
			continue
		}
		path := "/sdn/zones/localnetwork/" + n["bridge"]
		if n["tag"] != "" {
			path += "/" + n["tag"]
		}
		if err := c.w.require(c.who, path, "SDN.Use"); err != nil {
			return err
		}
	}
	return nil
}

// parseNet parses a network line. The keys "model" and "macaddr" are always
// explicit.
func parseNet(v string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(v, ",") {
		k, val, keyed := strings.Cut(part, "=")
		switch {
		case part == "":
		case !keyed:
			out["model"] = part
		case isModel(k):
			out["model"], out["macaddr"] = k, val
		default:
			out[k] = val
		}
	}
	return out
}

func isModel(k string) bool {
	switch k {
	case "virtio", "e1000", "e1000e", "e1000-82540em", "e1000-82544gc", "e1000-82545em", "i82551", "i82557b", "i82559er",
		"ne2k_isa", "ne2k_pci", "pcnet", "rtl8139", "vmxnet3":
		return true
	}
	return false
}

// printNet returns a network line as the server stores it.
func printNet(n map[string]string) string {
	out := n["model"] + "=" + n["macaddr"]
	for _, k := range slices.Sorted(maps.Keys(n)) {
		if k != "model" && k != "macaddr" {
			out += "," + k + "=" + n[k]
		}
	}
	return out
}

// cleanParams converts options to their stored form: it generates MAC addresses
// and UUIDs, and sorts tags.
func (w *cluster) cleanParams(in map[string]string) map[string]string {
	out := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(in)) {
		v := in[k]
		switch {
		case netKey.MatchString(k):
			n := parseNet(v)
			if n["macaddr"] == "" {
				n["macaddr"] = w.mac()
			}
			v = printNet(n)
		case isDriveKey(k):
			v = parseDrive(v).String()
		case k == "tags":
			v = uniqueTags(v)
		case k == "vmgenid" && v == "1":
			v = w.uuid()
		case k == "description":
			v = strings.TrimRight(v, "\n")
		}
		out[k] = v
	}
	return out
}

func uniqueTags(v string) string {
	seen := map[string]bool{}
	for _, t := range schema.SplitList(v) {
		seen[strings.ToLower(t)] = true
	}
	if len(seen) == 0 {
		return " "
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ";")
}
