package pvesim

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	cpuKeys     = regexp.MustCompile(`^(cores|cpu|cpulimit|cpuunits|numa|smp|sockets|vcpus|numa\d+)$`)
	memoryKeys  = regexp.MustCompile(`^(memory|balloon|shares)$`)
	hardware    = regexp.MustCompile(`^(acpi|hotplug|kvm|machine|scsihw|smbios1|tablet|vga|watchdog|audio0|rng0)$`)
	generalKeys = regexp.MustCompile(`^(agent|autostart|bios|description|keyboard|localtime|migrate_downtime|migrate_speed|name|onboot|` +
		`ostype|protection|reboot|startdate|startup|tdf|template|tags)$`)
	diskKeys  = regexp.MustCompile(`^(boot|bootdisk|vmstatestorage|unused\d+)$`)
	cloudKeys = regexp.MustCompile(`^(cicustom|cipassword|citype|ciuser|ciupgrade|nameserver|searchdomain|sshkeys|ipconfig\d+)$`)
	netKey    = regexp.MustCompile(`^net\d+$`)
	serialKey = regexp.MustCompile(`^serial\d+$`)
	passedKey = regexp.MustCompile(`^hostpci\d+$`)
	usbKey    = regexp.MustCompile(`^usb\d+$`)
	shareKey  = regexp.MustCompile(`^virtiofs\d$`) // the server's pattern
)

// checkConfigRights checks the privilege that each option needs.
func (c *call) checkConfigRights(vmid int, pool string, keys []string, values map[string]string) error {
	if c.root() {
		return nil
	}
	for _, k := range keys {
		if err := c.optionRights(vmid, pool, k, values[k]); err != nil {
			return err
		}
	}
	return nil
}

// optionRights checks the privileges that one option needs.
func (c *call) optionRights(vmid int, pool, k, v string) error {
	switch {
	case cpuKeys.MatchString(k):
		return c.vmRight(vmid, pool, "VM.Config.CPU")
	case memoryKeys.MatchString(k):
		return c.vmRight(vmid, pool, "VM.Config.Memory")
	case hardware.MatchString(k):
		return c.vmRight(vmid, pool, "VM.Config.HWType")
	case k == "startup": // it changes how the node starts and stops
		if err := c.vmRight(vmid, pool, "VM.Config.Options"); err != nil {
			return err
		}
		return c.w.require(c.who, "/", "Sys.Modify")
	case generalKeys.MatchString(k):
		return c.vmRight(vmid, pool, "VM.Config.Options")
	case k == "freeze":
		return c.vmRight(vmid, pool, "VM.PowerMgmt")
	case cloudKeys.MatchString(k):
		return c.cloudRights(vmid, pool)
	case netKey.MatchString(k):
		return c.vmRight(vmid, pool, "VM.Config.Network")
	case isDriveKey(k) && parseDrive(v).cloudinit():
		if err := c.vmRight(vmid, pool, "VM.Config.Cloudinit"); err != nil {
			return err
		}
		return c.vmRight(vmid, pool, "VM.Config.CDROM")
	case isDriveKey(k) && strings.Contains(v, "media=cdrom"):
		return c.vmRight(vmid, pool, "VM.Config.CDROM")
	case isDriveKey(k) || diskKeys.MatchString(k):
		return c.vmRight(vmid, pool, "VM.Config.Disk")
	case serialKey.MatchString(k):
		return c.serialRights(vmid, pool, k, "set", v)
	case usbKey.MatchString(k) || passedKey.MatchString(k):
		return c.deviceRights(vmid, pool, k, v)
	case shareKey.MatchString(k):
		return c.shareRights(vmid, pool, v)
	case k == "node" || k == "vmid" || k == "pool" || k == "storage" || k == "start" || k == "digest" || k == "bwlimit":
		return nil
	}
	return failf("only root can set '%s' config", k)
}

// serialRights checks a serial device: only root may name a device of the node.
func (c *call) serialRights(vmid int, pool, k, verb string, values ...string) error {
	if slices.ContainsFunc(values, func(v string) bool { return v != "" && v != "socket" }) {
		return failf("only root can %s '%s' config for real devices", verb, k)
	}
	return c.vmRight(vmid, pool, "VM.Config.HWType")
}

// deviceRights checks an option that passes a device of the node to the guest: only
// root may name the device itself.
func (c *call) deviceRights(vmid int, pool, k, v string) error {
	if err := c.vmRight(vmid, pool, "VM.Config.HWType"); err != nil {
		return err
	}
	d, kind := parseDrive(v), "real"
	host := cmp.Or(d.opts["host"], d.file)
	if passedKey.MatchString(k) {
		kind = "non-mapped"
	}
	switch {
	case v == "" || usbKey.MatchString(k) && strings.EqualFold(host, "spice"):
		return nil
	case host != "":
		return failf("only root can set '%s' config for %s devices", k, kind)
	case d.opts["mapping"] == "":
		return failf("either 'host' or 'mapping' must be set.")
	}
	bus := "usb"
	if passedKey.MatchString(k) {
		bus = "pci"
	}
	return c.w.require(c.who, "/mapping/"+bus+"/"+d.opts["mapping"], "Mapping.Use")
}

// shareRights checks a directory of the node that the guest shares.
func (c *call) shareRights(vmid int, pool, v string) error {
	if err := c.vmRight(vmid, pool, "VM.Config.Disk"); err != nil {
		return err
	}
	d := parseDrive(v)
	return c.w.require(c.who, "/mapping/dir/"+cmp.Or(d.opts["dirid"], d.file), "Mapping.Use")
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

// checkDiskAccess returns an error for disks on storages, or from images, without
// permission.
func (c *call) checkDiskAccess(vmid int, conf map[string]string, fallback string) error {
	for _, k := range driveKeys(conf) {
		d := parseDrive(conf[k])
		if d.file != "none" && d.file != "cdrom" {
			id := storageOf(d.file)
			if !strings.Contains(d.file, ":") {
				id = cmp.Or(fallback, "local")
			}
			s, err := c.w.checkStorage(id, c.node)
			if err != nil {
				return err
			}
			if err := c.driveAccess(vmid, k, s, d); err != nil {
				return err
			}
		}
		if src := d.opts["import-from"]; src != "" {
			if err := c.importAccess(vmid, k, src); err != nil {
				return err
			}
		}
	}
	return nil
}

// driveAccess checks the privileges that a drive needs on its storage.
func (c *call) driveAccess(vmid int, key string, s *Storage, d drive) error {
	switch {
	case strings.HasSuffix(d.file, ":cloudinit"):
		return nil
	case d.cdrom() || !newDiskSpec.MatchString(d.file):
		if err := c.mayReadVolume(vmid, d.file); err != nil {
			return err
		}
		if kind := volumeKind(d.file); s.fileBased() && kind != "images" && kind != "iso" {
			return badParam(key, "content type needs to be 'images' or 'iso'")
		}
		return nil
	}
	if err := c.w.require(c.who, "/storage/"+s.ID, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	return s.checkImages()
}

var newDiskSpec = regexp.MustCompile(`^[^:]+:(\d+(\.\d+)?|cloudinit)$`)

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
		path := "/sdn/zones/" + c.w.zone(n["bridge"]) + "/" + n["bridge"]
		if n["tag"] != "" {
			path += "/" + n["tag"]
		}
		if err := c.w.require(c.who, path, "SDN.Use"); err != nil {
			return err
		}
	}
	return nil
}
