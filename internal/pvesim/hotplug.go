package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stackgen/internal/pvesim/schema"
)

// hotplug applies the changes that have no effect on the process, and those of
// keys that the process can take.
func (w *cluster) hotplug(g *Guest, keys map[string]bool) error {
	for _, k := range slices.Sorted(maps.Keys(g.Pending)) {
		if fastPlug(k) {
			g.recordCloudinit(k, g.Pending[k])
			w.commit(g, k)
		}
	}
	p := &plug{w: w, g: g, features: hotplugFeatures(g.Config["hotplug"]), errors: map[string]string{}}
	for _, k := range slices.Sorted(maps.Keys(g.Deleted)) {
		if keys[k] && p.done(k, p.remove(k)) {
			g.recordCloudinit(k, "")
			if isDriveKey(k) {
				if err := w.detach(g, k); err != nil {
					p.errors[k] = "hotplug problem - " + err.Error() + "\n"
					continue
				}
			}
			delete(g.Config, k)
			delete(g.Deleted, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(g.Pending)) {
		if keys[k] && p.done(k, p.set(k, g.Pending[k])) {
			g.recordCloudinit(k, g.Pending[k])
			w.commit(g, k)
		}
	}
	if p.features["cloudinit"] {
		g.CloudInit = nil
	}
	g.dropAttachedUnused()
	if len(p.errors) > 0 {
		e := badParams(p.errors)
		e.delay = p.took
		return e
	}
	return nil
}

// hotplugFeatures returns the kinds of devices that may change while the guest
// runs.
func hotplugFeatures(v string) map[string]bool {
	out := map[string]bool{}
	switch v {
	case "0":
		return out
	case "", "1":
		v = "network,disk,usb"
	}
	for _, f := range schema.SplitList(v) {
		out[f] = true
	}
	return out
}

// fastPlug reports whether an option has no effect on the process of a guest.
func fastPlug(k string) bool {
	switch k {
	case "description", "hookscript", "lock", "migrate_downtime", "migrate_speed", "name", "onboot", "protection", "shares",
		"startup", "tags", "vmstatestorage":
		return true
	}
	return cloudKeys.MatchString(k)
}

// plug changes the devices of a running guest.
type plug struct {
	w        *cluster
	g        *Guest
	features map[string]bool
	errors   map[string]string
	took     time.Duration
}

// outcome is what happens to one pending change.
type outcome int

const (
	applied outcome = iota
	waits           // for the guest to be off
	busy            // the guest does not release the device
	boots           // the guest boots from the device
	failed          // with an error of its own
)

// unplugWait is the time for which the server waits for a guest to release a
// device, and controllerWait that for a controller of disks, since version 9.
const (
	unplugWait     = 6 * time.Second
	controllerWait = 16 * time.Second
)

// done records the error of a change, and reports whether it was applied.
func (p *plug) done(k string, o outcome) bool {
	switch o {
	case busy:
		p.busy(k)
	case boots:
		p.errors[k] = "hotplug problem - can't unplug bootdisk '" + k + "'\n"
	}
	return o == applied
}

// busy records that the guest did not release a device in time. Source: qemu-server 9.2, PVE::QemuServer::vm_deviceunplug.
func (p *plug) busy(k string) {
	device, wait, hint := p.device(k), unplugWait, ""
	if p.w.seed.Version == "9" {
		hint = " - still busy in guest?"
		if device != k {
			wait = controllerWait
		}
	}
	p.took += wait
	p.errors[k] = "hotplug problem - error on hot-unplugging device '" + device + "'" + hint + "\n"
}

// device returns the device on the PCI bus that a guest has to release. A SCSI disk is
// on a controller.
func (p *plug) device(k string) string {
	switch n := strings.TrimPrefix(k, "scsi"); {
	case n == k:
		return k
	case p.g.Config["scsihw"] == "virtio-scsi-single":
		return "virtioscsi" + n
	}
	return "scsihw0"
}

// unplug removes a device on the PCI bus: a guest without an operating system
// never releases it. Disks on a shared SCSI controller need no consent.
func (p *plug) unplug(k string) outcome {
	if isDriveKey(k) && slices.Contains(bootOrder(p.g.Config), k) {
		return boots
	}
	if strings.HasPrefix(k, "scsi") && p.sharedController(k) || p.g.hasOS() {
		return applied
	}
	return busy
}

// sharedController reports whether other disks keep the SCSI controller of a
// disk.
func (p *plug) sharedController(k string) bool {
	if p.g.Config["scsihw"] == "virtio-scsi-single" {
		return false
	}
	for other := range p.g.Config {
		if other != k && strings.HasPrefix(other, "scsi") && isDriveKey(other) {
			return true
		}
	}
	return false
}

func (p *plug) when(ok bool) outcome {
	if ok {
		return applied
	}
	return waits
}

// remove is the deletion of an option of a running guest.
func (p *plug) remove(k string) outcome {
	conf := p.g.Config
	switch {
	case fastPlug(k), k == "cpuunits", k == "cpulimit":
		return applied
	case k == "hotplug":
		return p.when(!slowHotplug(conf[k]))
	case k == "balloon":
		return p.when(conf[k] != "0")
	case k == "tablet":
		return p.when(p.features["usb"])
	case usbKey.MatchString(k):
		return p.when(p.plugsUSB())
	case k == "vcpus":
		return p.setCPUs(0)
	case k == "memory":
		return p.setMemory(0)
	case netKey.MatchString(k) && p.features["network"]:
		return p.unplug(k)
	case hotDrive(k) && p.features["disk"]:
		return p.unplug(k)
	}
	return waits
}

// set is a new value of an option of a running guest.
func (p *plug) set(k, v string) outcome {
	conf := p.g.Config
	switch {
	case k == "cpuunits", k == "cpulimit":
		return applied
	case k == "hotplug":
		return p.when(!slowHotplug(v) && !slowHotplug(conf[k]))
	case k == "balloon":
		return p.when((conf[k] == "0") == (v == "0"))
	case k == "agent":
		return p.when(conf[k] != "" && agentDevice(conf[k]) == agentDevice(v))
	case k == "tablet":
		return p.when(p.features["usb"])
	case usbKey.MatchString(k):
		if err := p.w.noMapping(p.g.Node, k, v); err != nil && p.plugsUSB() {
			return p.fail(k, err.Error())
		}
		return p.when(p.plugsUSB())
	case k == "vcpus":
		return p.setCPUs(atoi(v))
	case k == "memory":
		return p.setMemory(int(parseMemory(v) / mib))
	case netKey.MatchString(k):
		return p.setNet(k, v)
	case isDriveKey(k):
		return p.setDrive(k, v)
	}
	return waits
}

// setCPUs changes the number of CPUs, 0 for all. The guest has to release one that is removed. Source: qemu-server 9.2,
// PVE::QemuServer::qemu_cpu_hotplug.
func (p *plug) setCPUs(n int) outcome {
	most := p.g.vcpus()
	was := cmp.Or(atoi(p.g.Config["vcpus"]), most)
	switch n = cmp.Or(n, most); {
	case !p.features["cpu"]:
		return waits
	case n > most:
		return p.fail("vcpus", "you can't add more vcpus than maxcpus")
	case n < was && !p.g.hasOS():
		p.took += unplugWait
		return p.fail("vcpus", "400 Parameter verification failed.\nvcpus: error unplugging cpu"+itoa(was))
	}
	return applied
}

// moduleWait is the time for which the server waits for a guest to release a module of memory.
const moduleWait = 21 * time.Second

// setMemory changes the memory in MiB, in modules: the guest may get more than was asked for, and has to release what is
// removed. Source: qemu-server 9.2, PVE::QemuServer::Memory::qemu_memory_hotplug.
func (p *plug) setMemory(n int) outcome {
	was := int(p.g.maxMemory() / mib)
	switch {
	case !p.features["memory"]:
		return waits
	case n < 1024:
		return p.fail("memory", "memory can't be lower than 1024 MB at /usr/share/perl5/PVE/QemuServer/Memory.pm line 219.")
	case n < was && !p.g.hasOS():
		p.took += moduleWait
		return p.fail("memory", "400 Parameter verification failed.\ndimm: error unplug memory module")
	case n > was:
		n, _ = withModules(n)
	}
	p.g.Pending["memory"] = itoa(n)
	return applied
}

// plugsUSB reports whether the guest takes USB devices while it runs: Linux and Windows since 8 do. Source: qemu-server
// 9.2, PVE::QemuServer::vmconfig_hotplug_pending.
func (p *plug) plugsUSB() bool {
	return p.features["usb"] && slices.Contains([]string{"l26", "win8", "win10", "win11"}, p.g.Config["ostype"])
}

// slowHotplug reports whether hotplug covers what the process must be started
// with.
func slowHotplug(v string) bool { return strings.Contains(v, "cpu") || strings.Contains(v, "memory") }

// agentDevice returns the part of the agent option that is a device.
func agentDevice(v string) string {
	d := parseDrive(v)
	delete(d.opts, "fstrim_cloned_disks")
	if on, ok := d.opts["enabled"]; ok {
		d.file = on
		delete(d.opts, "enabled")
	}
	return d.String()
}

// setNet changes a NIC. Another bridge or VLAN is another cable; another model
// or MAC address is another card.
func (p *plug) setNet(k, v string) outcome {
	old, had := p.g.Config[k]
	was, is := parseNet(old), parseNet(v)
	node := p.w.node(p.g.Node)
	missing, refused := is["bridge"] != "" && !p.w.hasBridge(node, is["bridge"]), p.w.unpluggable(node, is)
	if had && same(was, is, "model", "macaddr", "queues", "mtu") && was["bridge"] != "" && is["bridge"] != "" {
		if missing && was["bridge"] != is["bridge"] {
			return p.fail(k, "interface "+is["bridge"]+" does not exist")
		}
		if refused != nil && !same(was, is, "bridge", "tag", "trunks", "firewall") {
			return p.fail(k, refused.Error())
		}
		return applied
	}
	if !p.features["network"] {
		return waits
	}
	if had {
		if o := p.unplug(k); o != applied {
			return o
		}
	}
	if missing || refused != nil {
		if had { // the old card is gone already
			delete(p.g.Config, k)
		}
		return p.fail(k, fmt.Sprintf("VM %d qmp command 'netdev_add' failed - "+
			"network script /usr/libexec/qemu-server/pve-bridge-hotplug failed with status 512", p.g.VMID))
	}
	return applied
}

// fail records why a change of a running guest failed.
func (p *plug) fail(k, why string) outcome {
	p.errors[k] = "hotplug problem - " + why + "\n"
	return failed
}

// hasBridge reports whether a node has a bridge or a virtual network.
func (w *cluster) hasBridge(n *Node, name string) bool {
	return n == nil || len(n.Bridges) == 0 || slices.Contains(n.Bridges, name) || w.hasVNet(n, name)
}

// setDrive adds or changes a drive. Media and limits change at once; what the
// emulator opens the disk with does not.
func (p *plug) setDrive(k, v string) outcome {
	old, had := p.g.Config[k]
	was, is := parseDrive(old), parseDrive(v)
	switch {
	case k == "efidisk0" || k == "tpmstate0":
		return waits
	case had && was.cdrom():
		return applied
	case had && was.file == is.file:
		return p.when(same(was.opts, is.opts, "aio", "discard", "iothread", "queues", "product", "cache", "ssd", "vendor", "ro"))
	case !hotDrive(k) || !p.features["disk"]:
		return waits
	case had:
		return p.unplug(k)
	}
	return applied
}

// hotDrive reports whether a drive is on a bus that can change while the guest
// runs.
func hotDrive(k string) bool {
	return isDriveKey(k) && (strings.HasPrefix(k, "scsi") || strings.HasPrefix(k, "virtio"))
}

func same(a, b map[string]string, keys ...string) bool {
	for _, k := range keys {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}
