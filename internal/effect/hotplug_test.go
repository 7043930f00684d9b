package effect

import (
	"testing"

	"stackgen/internal/tf"
)

// TestHotplug: what a running VM does not take and release waits for a restart, which the
// provider does not cause for a network device or an added disk, and causes for a disk that
// grows.
func TestHotplug(t *testing.T) {
	grows := tf.Change{Path: "disk.size", Device: "scsi0", Was: "8", Is: "10"}
	permits := VM{Restarts: true, Permits: true, Answers: true}
	with := func(vm VM, has, gets string) VM {
		vm.Hotplug, vm.Plugs = has, gets
		return vm
	}
	for name, c := range map[string]struct {
		vm     VM
		change tf.Change
		want   string
	}{
		"disk grows":                             {with(permits, "network,usb", "network,usb"), grows, "size of scsi0: 8 -> 10, restarts the VM"},
		"disk grows, silent agent":               {with(VM{Restarts: true, Permits: true}, "0", "0"), grows, "size of scsi0: 8 -> 10, stops the VM hard and starts it again: no agent answers"},
		"disk grows, not permitted":              {with(VM{Restarts: true, Answers: true}, "0", "0"), grows, "size of scsi0: 8 -> 10, restarts the VM: " + string(Restarts)},
		"disk grows, the provider may not":       {with(VM{Answers: true}, "0", "0"), grows, "size of scsi0: 8 -> 10, at once"},
		"disk grows, with hotplug of disks":      {with(permits, "disk", "disk"), grows, "size of scsi0: 8 -> 10, at once"},
		"disk grows, and hotplug loses disks":    {with(permits, "", "network,usb"), grows, "size of scsi0: 8 -> 10, restarts the VM"},
		"disk grows, and hotplug gets disks":     {with(permits, "network,usb", "disk,network,usb"), grows, "size of scsi0: 8 -> 10, at once"},
		"disk grows, hotplug 1":                  {with(permits, "1", "1"), grows, "size of scsi0: 8 -> 10, at once"},
		"disk grows, default":                    {permits, grows, "size of scsi0: 8 -> 10, at once"},
		"disk shrinks":                           {with(permits, "0", "0"), tf.Change{Path: "disk.size", Device: "scsi0", Was: "8", Is: "4"}, "size of scsi0: 8 -> 4, fails: " + string(Shrinks)},
		"disk of a linked clone grows":           {with(VM{Restarts: true, Permits: true, Linked: []string{"scsi0"}}, "0", "0"), grows, "size of scsi0: 8 -> 10, fails: " + string(Fails)},
		"disk is added":                          {with(permits, "network", "network"), tf.Change{Path: "disk", Device: "scsi2", Is: "size=4", Whole: true}, "scsi2: none -> size=4, after a restart"},
		"disk is added, with hotplug of disks":   {permits, tf.Change{Path: "disk", Device: "scsi2", Is: "size=4", Whole: true}, "scsi2: none -> size=4, at once"},
		"disk is added on SATA":                  {permits, tf.Change{Path: "disk", Device: "sata2", Is: "size=4", Whole: true}, "sata2: none -> size=4, after a restart"},
		"disk is removed":                        {with(permits, "network", "network"), tf.Change{Path: "disk", Device: "scsi1", Was: "size=20", Whole: true}, "scsi1: size=20 -> none, after a restart"},
		"network device is added":                {with(permits, "disk", "disk"), tf.Change{Path: "network_device", Device: "net2", Is: "bridge=vmbr0", Whole: true}, "net2: none -> bridge=vmbr0, after a restart"},
		"network device is removed":              {with(permits, "disk", "disk"), tf.Change{Path: "network_device", Device: "net1", Was: "mac_address=BC:24:11:00:00:02", Whole: true}, "net1: mac_address=BC:24:11:00:00:02 -> none, after a restart"},
		"MTU":                                    {with(permits, "disk", "disk"), tf.Change{Path: "network_device.mtu", Device: "net0", Was: "0", Is: "1400"}, "mtu of net0: 0 -> 1400, after a restart"},
		"bridge":                                 {with(permits, "disk", "disk"), tf.Change{Path: "network_device.bridge", Device: "net0", Was: "vmbr0", Is: "vmbr1"}, "bridge of net0: vmbr0 -> vmbr1, at once"},
		"tablet, the provider may not":           {with(VM{}, "disk", "disk"), tf.Change{Path: "tablet_device", Was: "true", Is: "false"}, "tablet: true -> false, after a restart"},
		"tablet, with hotplug of USB":            {VM{}, tf.Change{Path: "tablet_device", Was: "true", Is: "false"}, "tablet: true -> false, at once"},
		"USB device, the provider may not":       {with(VM{}, "disk", "disk"), tf.Change{Path: "usb.host", Device: "0", Was: "1234:5678", Is: "1234:5679"}, "usb.host: 1234:5678 -> 1234:5679, after a restart"},
		"USB device, with hotplug of USB":        {VM{}, tf.Change{Path: "usb.host", Device: "0", Was: "1234:5678", Is: "1234:5679"}, "usb.host: 1234:5678 -> 1234:5679, at once"},
		"CPU limit does not depend on the value": {with(VM{}, "0", "0"), tf.Change{Path: "cpu.limit", Was: "1", Is: "2"}, "cpu_limit: 1 -> 2, at once"},
	} {
		t.Run(name, func(t *testing.T) {
			c.vm.State, c.vm.Running, c.vm.Keeps = values(t, stateBefore), true, []string{"scsi0", "scsi1"}
			if got := harmsOfAll(c.vm.Updates([]tf.Change{c.change})); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestHotplugOfMemoryAndCPUs: Proxmox VE plugs and unplugs both in a running VM with that hotplug, and the provider restarts
// it for less memory, and for other CPUs than their number. It takes 1 for hotplug of both, which Proxmox VE does not.
func TestHotplugOfMemoryAndCPUs(t *testing.T) {
	more, less := tf.Change{Path: "memory.dedicated", Was: "2048", Is: "3072"}, tf.Change{Path: "memory.dedicated", Was: "2048", Is: "1024"}
	balloon := tf.Change{Path: "memory.floating", Was: "2048", Is: "1024"}
	two, three := tf.Change{Path: "cpu.hotplugged", Was: "0", Is: "2"}, tf.Change{Path: "cpu.hotplugged", Was: "2", Is: "3"}
	all, fewer := tf.Change{Path: "cpu.hotplugged", Was: "2", Is: "0"}, tf.Change{Path: "cpu.hotplugged", Was: "3", Is: "2"}
	cores := tf.Change{Path: "cpu.cores", Was: "2", Is: "4"}
	grows := tf.Change{Path: "disk.size", Device: "scsi0", Was: "8", Is: "10"}
	for name, c := range map[string]struct {
		hotplug  string
		restarts bool // the provider may, and the spec permits it
		changes  []tf.Change
		does     string
		harm     Harm
	}{
		"more memory":                      {"memory", false, []tf.Change{more}, atOnce, ""},
		"more memory, restart permitted":   {"memory", true, []tf.Change{more}, atOnce, ""},
		"more memory, hotplug 1":           {"1", true, []tf.Change{more}, afterRestart, ""},
		"more memory, default":             {"", true, []tf.Change{more}, restarts, ""},
		"more memory, a smaller balloon":   {"memory", true, []tf.Change{more, balloon}, restarts, ""},
		"less memory":                      {"memory", false, []tf.Change{less}, released, ""},
		"less memory, restart permitted":   {"memory", true, []tf.Change{less}, restarts, ""},
		"less memory, no hotplug of it":    {"cpu", false, []tf.Change{less}, afterRestart, ""},
		"another CPU":                      {"cpu", false, []tf.Change{three}, atOnce, ""},
		"another CPU, restart permitted":   {"cpu", true, []tf.Change{three}, atOnce, ""},
		"another CPU, and cores":           {"cpu", true, []tf.Change{three, cores}, restarts, ""},
		"all CPUs":                         {"cpu", true, []tf.Change{all}, atOnce, ""},
		"a CPU less":                       {"cpu", true, []tf.Change{fewer}, released, ""},
		"two instead of all CPUs":          {"cpu", false, []tf.Change{two}, released, ""},
		"another CPU, no hotplug of it":    {"memory", true, []tf.Change{three}, restarts, ""},
		"a disk grows with the memory":     {"disk,memory", false, []tf.Change{grows, more}, atOnce, ""},
		"a disk grows, and less memory":    {"disk,memory", false, []tf.Change{grows, less}, "fails while the VM runs", Together},
		"a disk grows with the memory, no": {"disk", false, []tf.Change{grows, more}, "fails while the VM runs", Together},
	} {
		vm := VM{Running: true, Answers: true, Restarts: c.restarts, Permits: c.restarts, Hotplug: c.hotplug, Plugs: c.hotplug}
		vm.State, vm.Keeps = values(t, stateBefore), []string{"scsi0", "scsi1"}
		if u := vm.Updates(c.changes)[0]; u.Does != c.does || u.Harm != c.harm {
			t.Errorf("%s: got %q, %q, want %q, %q", name, u.Does, u.Harm, c.does, c.harm)
		}
		vm.Running = false
		if u := vm.Updates(c.changes[:1])[0]; u.Does != nextStart && u.Does != atOnce || u.Harm != "" {
			t.Errorf("%s, off: got %q, %q", name, u.Does, u.Harm)
		}
	}
}

// TestMoreCPUsThanCores: Proxmox VE counts the cores with which the VM runs, whatever its configuration has after the next
// start, and refuses the update before the provider restarts the VM.
func TestMoreCPUsThanCores(t *testing.T) {
	four, cores := tf.Change{Path: "cpu.hotplugged", Was: "2", Is: "4"}, tf.Change{Path: "cpu.cores", Was: "2", Is: "4"}
	for name, c := range map[string]struct {
		hotplug, cores string
		restarts       bool
		does           string
		harm           Harm
	}{
		"with the cores":                    {"cpu", "2", false, "fails while the VM runs", TooManyCPUs},
		"with the cores, restart permitted": {"cpu", "2", true, "fails while the VM runs", TooManyCPUs},
		"after a restart":                   {"cpu", "4", false, atOnce, ""},
		"no hotplug of it":                  {"disk", "2", false, afterRestart, ""},
	} {
		vm := VM{Running: true, Answers: true, Restarts: c.restarts, Permits: c.restarts, Hotplug: c.hotplug, Plugs: c.hotplug}
		vm.State, vm.Runs = values(t, stateBefore), map[string]string{"cores": c.cores, "hotplug": c.hotplug}
		if u := vm.Updates([]tf.Change{four, cores})[0]; u.Does != c.does || u.Harm != c.harm {
			t.Errorf("%s: got %q, %q, want %q, %q", name, u.Does, u.Harm, c.does, c.harm)
		}
		vm.Running = false
		if u := vm.Updates([]tf.Change{four, cores})[0]; u.Harm != "" {
			t.Errorf("%s, off: got %q, %q", name, u.Does, u.Harm)
		}
	}
}

// TestHotplugOfUSB: Proxmox VE plugs USB devices into a running guest of some types only.
func TestHotplugOfUSB(t *testing.T) {
	device := tf.Change{Path: "usb.host", Device: "0", Was: "1234:5678", Is: "1234:5679"}
	tablet := tf.Change{Path: "tablet_device", Was: "true", Is: "false"}
	vm := VM{Running: true, NoUSB: true}
	for _, u := range vm.Updates([]tf.Change{device, tablet}) {
		if want := map[string]string{"usb.host": afterRestart, "tablet_device": atOnce}[u.Path]; u.Does != want {
			t.Errorf("%s, want %s", u, want)
		}
	}
}

// TestGrowthThatRestarts: where the growth of a disk restarts a VM anyway, the spec asks for
// the restart that also sets what an import could not read.
func TestGrowthThatRestarts(t *testing.T) {
	vm := VM{Running: true, Answers: true, Restarts: true, Permits: true, Hotplug: "network", Plugs: "network"}
	updates := vm.Updates([]tf.Change{{Path: "vga", Is: "as it is", Whole: true, Present: true}, {Path: "disk.size", Device: "scsi0", Was: "8", Is: "10"}})
	for _, u := range RefuseNeedless(updates, []string{"vga"}) {
		if !u.Interrupts() {
			t.Errorf("%s (%s) does not interrupt the VM", u, u.Harm)
		}
	}
}
