package effect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/tf"
)

// values flattens a VM resource in JSON.
func values(t *testing.T, text string) tf.Values {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return tf.Flatten(v)
}

const stateBefore = `{"name": "a", "bios": "seabios", "tags": ["a"], "rng": [], "reboot_after_update": false,
	"cpu": [{"cores": 2, "type": "host"}], "memory": [{"dedicated": 2048}],
	"disk": [{"interface": "scsi0", "size": 8, "datastore_id": "ssd"}, {"interface": "scsi1", "size": 20, "datastore_id": "ssd"}],
	"network_device": [{"mac_address": "BC:24:11:00:00:01", "bridge": "vmbr0"}, {"mac_address": "BC:24:11:00:00:02", "bridge": "vmbr0"}],
	` + withUser + `}`

const withUser = `"initialization": [{"datastore_id": "ssd", "user_account": [{"username": "debian", "password": ""}]}]`

// TestUpdatesOfPlan judges the changes of one plan each.
func TestUpdatesOfPlan(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string // replaced in the values before the plan
		before   string // what is replaced in them first: changed by hand since the last apply
		vm       VM
		want     string
	}{
		"nothing":                         {want: ""},
		"hotplug of disks":                {old: `"bios": "seabios"`, before: `"bios": "seabios", "hotplug": "disk"`, new: `"bios": "seabios", "hotplug": "disk,usb"`, want: "hotplug: disk -> disk,usb, at once"},
		"hotplug of CPUs":                 {old: `"bios": "seabios"`, before: `"bios": "seabios", "hotplug": "disk"`, new: `"bios": "seabios", "hotplug": "cpu"`, want: "hotplug: disk -> cpu, after a restart"},
		"name":                            {old: `"name": "a"`, new: `"name": "b"`, want: "name: a -> b, at once"},
		"provider only":                   {old: `"reboot_after_update": false`, new: `"reboot_after_update": true`, want: "restart: false -> true, in the state only"},
		"memory":                          {old: "2048", new: "3072", want: "memory: 2048 -> 3072, after a restart"},
		"memory, permitted":               {old: "2048", new: "3072", vm: VM{Restarts: true, Permits: true, Answers: true}, want: "memory: 2048 -> 3072, restarts the VM"},
		"memory, permitted, silent agent": {old: "2048", new: "3072", vm: VM{Restarts: true, Permits: true}, want: "memory: 2048 -> 3072, stops the VM hard and starts it again: no agent answers"},
		"memory, not permitted":           {old: "2048", new: "3072", vm: VM{Restarts: true, Answers: true}, want: "memory: 2048 -> 3072, restarts the VM: " + string(Restarts)},
		"disk grows":                      {old: `"size": 8`, new: `"size": 10`, want: "size of scsi0: 8 -> 10, at once"},
		"disk shrinks":                    {old: `"size": 8`, new: `"size": 4`, want: "size of scsi0: 8 -> 4, fails: " + string(Shrinks)},
		"disk in another datastore":       {old: `"size": 8, "datastore_id": "ssd"`, new: `"size": 8, "datastore_id": "hdd"`, want: "datastore of scsi0: ssd -> hdd, needs the VM off: " + string(Stops)},
		"disk of a VM with snapshots":     {old: `"size": 8, "datastore_id": "ssd"`, new: `"size": 8, "datastore_id": "hdd"`, vm: VM{Snapshots: true, Permits: true, Answers: true}, want: "datastore of scsi0: ssd -> hdd, stops the VM and fails: " + string(Snapshots)},
		"lent disk in another datastore":  {old: `"size": 8, "datastore_id": "ssd"`, new: `"size": 8, "datastore_id": "hdd"`, vm: VM{Lent: []string{"scsi0"}, Permits: true, Answers: true}, want: "datastore of scsi0: ssd -> hdd, deletes a volume that another guest has, too: " + string(Lends)},
		"lent disk grows":                 {old: `"size": 8`, new: `"size": 10`, vm: VM{Lent: []string{"scsi0"}}, want: "size of scsi0: 8 -> 10, at once"},
		"another disk is lent":            {old: `"size": 8, "datastore_id": "ssd"`, new: `"size": 8, "datastore_id": "hdd"`, vm: VM{Lent: []string{"scsi1"}, Permits: true, Answers: true}, want: "datastore of scsi0: ssd -> hdd, stops the VM and starts it again"},
		"disk moved by hand":              {before: `"size": 8, "datastore_id": "hdd"`, old: `"size": 8, "datastore_id": "ssd"`, new: `"size": 8, "datastore_id": "ssd"`, want: "datastore of scsi0: hdd -> ssd, moves it back: " + string(MovesBack)},
		"disk removed from the spec":      {old: `, {"interface": "scsi1", "size": 20, "datastore_id": "ssd"}`, vm: VM{Answers: true}, want: "scsi1: datastore_id=ssd size=20 -> none, at once"}, // its guest answers
		"NIC removed from the spec":       {old: `, {"mac_address": "BC:24:11:00:00:02", "bridge": "vmbr0"}`, want: "net1: bridge=vmbr0 mac_address=BC:24:11:00:00:02 -> none, at once, or after a restart if the guest does not let it go"},
		"disk of a linked clone grows":    {old: `"size": 8`, new: `"size": 10`, vm: VM{Linked: []string{"scsi0"}}, want: "size of scsi0: 8 -> 10, fails: " + string(Fails)},
		"disk of another guest grows":     {old: `"size": 8`, new: `"size": 10`, vm: VM{Foreign: []string{"scsi0"}}, want: "size of scsi0: 8 -> 10, fails: " + string(FailsForeign)},
		"EFI disk of a linked clone":      {old: `"bios": "seabios"`, before: `"bios": "ovmf", "efi_disk": [{"datastore_id": "ssd"}]`, new: `"bios": "ovmf", "efi_disk": [{"datastore_id": "hdd"}]`, vm: VM{Linked: []string{"efidisk0"}, Permits: true}, want: "efi.datastore: ssd -> hdd, fails: " + string(Fails)},
		"unread disk, another one grows":  {old: `"size": 8`, new: `"size": 10`, vm: VM{Disks: attached("scsi0", "scsi1", "virtio3")}, want: "size of scsi0: 8 -> 10, at once; virtio3: ssd:virtio3,aio=io_uring -> none, detaches it: " + string(Detaches)},
		"unread disk, none changes":       {old: "2048", new: "3072", vm: VM{Disks: attached("scsi0", "scsi1", "virtio3")}, want: "memory: 2048 -> 3072, after a restart"},
		"disk grows, and memory": {old: `2048}],
	"disk": [{"interface": "scsi0", "size": 8`, new: `3072}],
	"disk": [{"interface": "scsi0", "size": 10`, want: "size of scsi0: 8 -> 10, fails while the VM runs: " + string(Together) + "; memory: 2048 -> 3072, after a restart"},
		"disk grows, and memory, permitted": {old: `2048}],
	"disk": [{"interface": "scsi0", "size": 8`, new: `3072}],
	"disk": [{"interface": "scsi0", "size": 10`, vm: VM{Restarts: true, Permits: true, Answers: true}, want: "size of scsi0: 8 -> 10, restarts the VM; memory: 2048 -> 3072, restarts the VM"},
		"cloud-init drive": {old: withUser, before: `"initialization": []`, new: `"initialization": [{"datastore_id": "ssd"}]`, vm: VM{NoDrive: true},
			want: "cloud_init: none -> datastore_id=ssd, needs the VM off: " + string(Stops)},
		"cloud-init drive, permitted": {old: withUser, before: `"initialization": []`, new: `"initialization": [{"datastore_id": "ssd"}]`, vm: VM{NoDrive: true, Permits: true, Answers: true},
			want: "cloud_init: none -> datastore_id=ssd, stops the VM and starts it again"},
		"cloud-init drive that the state does not have": {old: withUser, before: `"initialization": []`, new: `"initialization": [{"datastore_id": "ssd"}]`, want: "cloud_init: none -> datastore_id=ssd, after a restart"},
		"user of the template":                          {old: `{"username": "debian", "password": ""}`, want: "cloud_init.user: debian -> none, with every apply again: " + string(Repeats)},
	} {
		t.Run(name, func(t *testing.T) {
			state := values(t, stateBefore)
			now := stateBefore
			if c.before != "" {
				now = strings.Replace(now, c.old, c.before, 1)
				c.old = c.before
			}
			before, after := values(t, now), values(t, strings.Replace(now, c.old, c.new, 1))
			c.vm.State, c.vm.Running, c.vm.Keeps = state, true, after.Devices("disk")
			if text := harmsOfAll(c.vm.Updates(tf.OfPlan(before, after))); text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

// attached are disks of a VM as the provider attaches them.
func attached(interfaces ...string) map[string]string {
	out := map[string]string{}
	for _, at := range interfaces {
		out[at] = "ssd:" + at + ",aio=io_uring"
	}
	return out
}

// TestDisksOfUpdate: with any change of a disk, the provider sets aio on all disks whose
// configuration has none. It refuses to update a VM that lost a disk of its state.
func TestDisksOfUpdate(t *testing.T) {
	grows := tf.Change{Path: "disk.size", Device: "scsi0", Was: "8", Is: "10"}
	added := tf.Change{Path: "disk", Device: "scsi1", Is: "as it is", Whole: true, Present: true}
	memory := tf.Change{Path: "memory.dedicated", Was: "1024", Is: "2048"}
	byHand := map[string]string{"scsi0": "ssd:0,size=8G", "scsi1": "ssd:1,size=20G"}
	one := attached("scsi0")
	backup := tf.Change{Path: "disk.backup", Device: "scsi0", Was: "true", Is: "false"}
	const complete = "ssd:0,aio=io_uring,backup=1,cache=none,discard=ignore,iothread=0,replicate=1,ssd=0"
	const aio, fails = "aio of scsi0: none -> io_uring, after a restart; aio of scsi1: none -> io_uring, after a restart", "fails while the VM runs: " + string(Together)
	for name, c := range map[string]struct {
		vm     VM
		change tf.Change
		want   string
	}{
		"disk grows":                        {VM{Running: true, Disks: attached("scsi0", "scsi1")}, grows, "size of scsi0: 8 -> 10, at once"},
		"backup":                            {VM{Running: true, Disks: map[string]string{"scsi0": complete}}, backup, "backup of scsi0: true -> false, at once"},
		"backup, aio waits for a restart":   {VM{Running: true, Disks: map[string]string{"scsi0": complete}, Runs: map[string]string{"scsi0": strings.Replace(complete, "io_uring", "native", 1)}}, backup, "backup of scsi0: true -> false, after a restart"},
		"backup, the disk waits":            {VM{Running: true, Disks: map[string]string{"scsi0": complete}, Runs: map[string]string{}}, backup, "backup of scsi0: true -> false, after a restart"},
		"disk without aio grows":            {VM{Running: true, Disks: byHand}, grows, "size of scsi0: 8 -> 10, " + fails + "; " + aio},
		"disk without aio, VM off":          {VM{Disks: byHand}, grows, "size of scsi0: 8 -> 10, at once; " + strings.ReplaceAll(aio, "after a restart", "when it starts")},
		"disk without aio, not permitted":   {VM{Running: true, Restarts: true, Answers: true, Disks: map[string]string{"scsi0": "ssd:0"}}, grows, "size of scsi0: 8 -> 10, restarts the VM; aio of scsi0: none -> io_uring, restarts the VM: " + string(Restarts)},
		"disk that the state does not have": {VM{Running: true, Disks: byHand}, added, "scsi1: none -> as it is, in the state only; " + aio},
		"disk without aio, memory grows":    {VM{Running: true, Disks: byHand}, memory, "memory: 1024 -> 2048, after a restart"},
		"disk lost":                         {VM{Running: true, Disks: one, Keeps: []string{"scsi0"}}, memory, "memory: 1024 -> 2048, after a restart; scsi1: datastore_id=ssd size=20 -> none, fails: " + string(Lost)},
		"disk lost, and ignored":            {VM{Running: true, Disks: one, Keeps: []string{"scsi0"}, IgnoresDisks: true}, memory, "memory: 1024 -> 2048, after a restart"},
		"disk lost, and in the spec":        {VM{Running: true, Disks: one}, tf.Change{Path: "disk", Device: "scsi1", Is: "size=20", Whole: true}, "scsi1: none -> size=20, attaches an empty one: " + string(Empties)},
		"disk that was never added":         {VM{Disks: one, Begun: true}, tf.Change{Path: "disk", Device: "scsi1", Is: "size=20", Whole: true}, "scsi1: none -> size=20, fails: " + string(Unadded)},
		"configuration not known":           {VM{Running: true, Keeps: []string{"scsi0"}}, memory, "memory: 1024 -> 2048, after a restart"},
	} {
		t.Run(name, func(t *testing.T) {
			c.vm.State = values(t, stateBefore)
			if c.vm.Keeps == nil {
				c.vm.Keeps = []string{"scsi0", "scsi1"}
			}
			if got := harmsOfAll(c.vm.Updates([]tf.Change{c.change})); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	vm := VM{State: values(t, strings.Replace(stateBefore, `"interface": "scsi1", `, "", 1)), Disks: one, Keeps: []string{"scsi0"}}
	if got, want := harmsOfAll(vm.Updates(nil)), "disks: one without an interface -> none, fails: "+string(Lost); got != want {
		t.Errorf("state that was refreshed: got %s, want %s", got, want)
	}
}

// harmsOfAll are updates in words, with their harms.
func harmsOfAll(updates []Update) string {
	var out []string
	for _, u := range updates {
		text := u.String()
		if u.Harm != "" {
			text += ": " + string(u.Harm)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// TestDisksThatCameByHand are in the configuration and in the values before the plan,
// and not in the state.
func TestDisksThatCameByHand(t *testing.T) {
	state := values(t, strings.Replace(stateBefore, `, {"interface": "scsi1", "size": 20, "datastore_id": "ssd"}`, "", 1))
	state["network_device.net1.mac_address"] = "BC:24:11:00:00:09"
	before := values(t, stateBefore)
	after := values(t, strings.NewReplacer(`, {"interface": "scsi1", "size": 20, "datastore_id": "ssd"}`, "", `, {"mac_address": "BC:24:11:00:00:02", "bridge": "vmbr0"}`, "").Replace(stateBefore))
	vm := VM{State: state, Running: true, Keeps: after.Devices("disk")}
	var harms []Harm
	for _, u := range vm.Updates(tf.OfPlan(before, after)) {
		harms = append(harms, u.Harm)
	}
	if want := []Harm{Detaches, Unplugs}; !slices.Equal(harms, want) {
		t.Errorf("got %q, want %q", harms, want)
	}
	// A disk that the state has, and that is gone, comes back empty.
	vm.State = before
	for _, u := range vm.Updates(tf.OfPlan(after, before)) {
		if u.Device == "scsi1" && u.Harm != Empties {
			t.Errorf("an empty disk: got %v", u)
		}
	}
}

// TestHeldValues: what the VM has and the state does not restarts the VM only where the
// spec permits that.
func TestHeldValues(t *testing.T) {
	c := tf.Change{Path: "serial_device", Is: "as it is", Whole: true, Present: true}
	for _, v := range []struct {
		vm   VM
		want string
	}{{VM{Running: true}, Settles}, {VM{Restarts: true, Permits: true}, Settles}, {VM{Running: true, Restarts: true, Permits: true, Answers: true}, restarts}} {
		if does, harm := v.vm.Does(c); does != v.want || harm != "" {
			t.Errorf("%+v: got %s, %s", v.vm, does, harm)
		}
	}
}

// TestOptionsOfDrives: the provider sends a drive as a whole, and Proxmox VE sets all of it at
// once or none of it.
func TestOptionsOfDrives(t *testing.T) {
	const all = "shared:a,aio=io_uring,backup=1,cache=none,discard=ignore,iothread=0,replicate=1,size=8G,ssd=0"
	backup := tf.Change{Path: "disk.backup", Device: "scsi0", Was: "true", Is: "false"}
	for name, c := range map[string]struct {
		disk, device, also string
		vm                 VM
		want               string
	}{
		"made by the provider":             {disk: all, vm: VM{Running: true}, want: atOnce},
		"made by hand":                     {disk: "shared:a,size=8G", vm: VM{Running: true}, want: afterRestart},
		"made by hand, restarts":           {disk: "shared:a,size=8G", vm: VM{Running: true, Restarts: true, Permits: true, Answers: true}, want: restarts},
		"made by hand, off":                {disk: "shared:a,size=8G", want: atOnce},
		"one option is missing":            {disk: strings.Replace(all, "cache=none,", "", 1), vm: VM{Running: true}, want: afterRestart},
		"no ssd on virtio":                 {disk: strings.Replace(all, ",ssd=0", "", 1), device: "virtio0", vm: VM{Running: true}, want: atOnce},
		"with an option that waits":        {disk: all, also: "scsi0", vm: VM{Running: true}, want: afterRestart},
		"with one of another disk":         {disk: all, also: "scsi1", vm: VM{Running: true}, want: atOnce},
		"configuration that was not known": {vm: VM{Running: true}, want: atOnce},
	} {
		changes := []tf.Change{backup}
		if c.device != "" {
			changes[0].Device = c.device
		}
		if c.also != "" {
			changes = append(changes, tf.Change{Path: "disk.cache", Device: c.also, Was: "none", Is: "writeback"})
		}
		c.vm.Keeps = []string{changes[0].Device}
		if c.disk != "" {
			c.vm.Disks = map[string]string{changes[0].Device: c.disk}
		}
		if got := c.vm.Updates(changes)[0].Does; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestResizeWithRestart: the provider refuses to resize a disk of a running VM in an
// update with a change that needs a restart, also if the VM has the value already.
func TestResizeWithRestart(t *testing.T) {
	grows := tf.Change{Path: "disk.size", Device: "scsi0", Was: "8", Is: "10"}
	for name, c := range map[string]struct {
		with tf.Change
		vm   VM
		want Harm
	}{
		"alone":              {vm: VM{Running: true}},
		"restart":            {with: tf.Change{Path: "cpu.cores", Was: "2", Is: "3"}, vm: VM{Running: true}, want: Together},
		"needless restart":   {with: tf.Change{Path: "cpu.units", Is: "200"}, vm: VM{Running: true}, want: Together},
		"value that is held": {with: tf.Change{Path: "serial_device", Is: "as it is", Whole: true, Present: true}, vm: VM{Running: true}, want: Together},
		"option of a disk":   {with: tf.Change{Path: "disk.ssd", Device: "scsi0", Was: "false", Is: "true"}, vm: VM{Running: true}},
		"name":               {with: tf.Change{Path: "name", Was: "a", Is: "b"}, vm: VM{Running: true}},
		"off":                {with: tf.Change{Path: "cpu.cores", Was: "2", Is: "3"}},
		"permitted":          {with: tf.Change{Path: "cpu.cores", Was: "2", Is: "3"}, vm: VM{Running: true, Restarts: true, Permits: true}},
	} {
		t.Run(name, func(t *testing.T) {
			changes := []tf.Change{grows}
			if c.with.Path != "" {
				changes = append(changes, c.with)
			}
			if got := c.vm.Updates(changes)[0].Harm; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestAgentWithoutDevice: a running VM gets the device of its agent with a restart, and
// the provider waits for the agent at once.
func TestAgentWithoutDevice(t *testing.T) {
	for name, c := range map[string]struct {
		change tf.Change
		vm     VM
		want   Harm
	}{
		"enabled":              {change: tf.Change{Path: "agent.enabled", Was: "false", Is: "true"}, vm: VM{Running: true, NewAgent: true}, want: Waits},
		"block added":          {change: tf.Change{Path: "agent", Is: "type=virtio", Whole: true}, vm: VM{Running: true, NewAgent: true}, want: Waits},
		"disabled block added": {change: tf.Change{Path: "agent", Is: "type=virtio", Whole: true}, vm: VM{Running: true}},
		"off":                  {change: tf.Change{Path: "agent.enabled", Was: "false", Is: "true"}, vm: VM{NewAgent: true}},
		"permitted":            {change: tf.Change{Path: "agent.enabled", Was: "false", Is: "true"}, vm: VM{Running: true, NewAgent: true, Restarts: true, Permits: true}},
		"not permitted":        {change: tf.Change{Path: "agent.enabled", Was: "false", Is: "true"}, vm: VM{Running: true, NewAgent: true, Restarts: true}, want: Restarts},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.vm.Updates([]tf.Change{c.change})[0].Harm; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestNeverAdded: the state has a disk that the VM does not have. It was detached, unless
// the state has no path for it, or that of another disk.
func TestNeverAdded(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		unused []string
		want   Harm
	}{
		"detached, its volume remains":             {"b", []string{"shared:b"}, Empties},
		"detached, its volume was removed":         {"b", nil, Empties},
		"never added":                              {"a", []string{"shared:old"}, Unadded},
		"detached, a volume of the same name":      {"a", []string{"shared:a"}, Empties},
		"never read, so never added":               {"", []string{"ssd:old"}, Unadded},
		"never read, a volume on its storage":      {"", []string{"shared:old"}, Empties},
		"detached by hand, and an old volume only": {"b", []string{"shared:old"}, Empties},
	} {
		vm := &VM{Disks: map[string]string{"scsi0": "local-lvm:a,size=8G"}, Unused: c.unused,
			State: tf.Values{"disk.scsi0.size": "8", "disk.scsi1.size": "8", "disk.scsi1.datastore_id": "shared", "disk.scsi1.path_in_datastore": c.path}}
		if _, harm := vm.Does(tf.Change{Path: "disk", Device: "scsi1", Is: "new", Whole: true}); harm != c.want {
			t.Errorf("%s: %q, want %q", name, harm, c.want)
		}
	}
}
