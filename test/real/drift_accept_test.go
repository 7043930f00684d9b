package real

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// An acceptCase is a VM of which one thing is changed by hand.
type acceptCase struct {
	key  string
	was  string                            // its entry in the spec
	is   string                            // the entry after drift --accept
	hand func(c *acceptWorld, path string) // changes the VM at /nodes/NODE/qemu/VMID
}

// An acceptWorld is a project of which every VM is changed by hand.
type acceptWorld struct {
	*project
	sim *pvesim.Server
}

// setByHand changes the configuration of a VM by hand.
func setByHand(pairs ...string) func(*acceptWorld, string) {
	return func(w *acceptWorld, path string) {
		form := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		callAPI(w.T, w.sim, "PUT", path+"/config", form)
	}
}

// acceptCases are the kinds of differences that a spec can say.
var acceptCases = []acceptCase{
	{key: "memory", was: "\n    # small\n    memory: 2048  # MiB\n    cores: 2\n", is: "\n    # small\n    memory: 4096  # MiB\n    cores: 3\n", hand: setByHand("memory", "4096", "balloon", "0", "cores", "3")},
	{key: "default", was: " {}  # all defaults\n", is: " {memory: 3072}  # all defaults\n", hand: setByHand("memory", "3072", "balloon", "0")},
	{key: "tags", was: "\n    tags:\n      - a  # first\n      - b\n", is: "\n    tags:\n      - a  # first\n      - c\n", hand: setByHand("tags", "a;all;c")},
	{key: "notes", was: "\n    description: old notes  # why\n    name: notes-vm\n    protection: true\n", is: "\n    description: \"new: notes\"  # why\n    name: notes-vm\n    protection: false\n    on_boot: false\n", hand: setByHand("description", "new: notes", "onboot", "0", "protection", "0")},
	{key: "startup", was: "\n    startup:\n      order: 3  # after the database\n      up: 30\n", is: "\n    startup:\n      order: 5  # after the database\n", hand: setByHand("startup", "order=5")},
	{key: "nonotes", was: " {description: old, cores: 2}\n", is: " {cores: 2}\n", hand: setByHand("delete", "description")},
	{key: "extra", was: "\n    disks:\n      - {interface: scsi0, datastore: local-lvm, size: 4}  # system\n", is: "\n    disks:\n      - {interface: scsi0, datastore: local-lvm, size: 4}  # system\n", hand: setByHand("scsi1", "local-lvm:2")},
	{key: "grow", was: "\n    disks:\n      # the system\n      - interface: scsi0\n        datastore: local-lvm\n        size: 4  # GiB\n", is: "\n    disks:\n      # the system\n      - interface: scsi0\n        datastore: local-lvm\n        size: 6  # GiB\n",
		hand: func(w *acceptWorld, path string) {
			callAPI(w.T, w.sim, "PUT", path+"/resize", url.Values{"disk": {"scsi0"}, "size": {"6G"}})
		}},
	{key: "inherited", was: " {}\n", is: " {disks: [{interface: scsi0, datastore: local-lvm, size: 5}]}\n",
		hand: func(w *acceptWorld, path string) {
			callAPI(w.T, w.sim, "PUT", path+"/resize", url.Values{"disk": {"scsi0"}, "size": {"5G"}})
		}},
	{key: "moved-disk", was: "\n    disks: [{interface: scsi0, datastore: local-lvm, size: 4}]\n", is: "\n    disks: [{interface: scsi0, datastore: local-zfs, size: 4}]\n    cloud_init: {datastore: local-lvm}\n",
		hand: func(w *acceptWorld, path string) {
			callAPI(w.T, w.sim, "POST", path+"/move_disk", url.Values{"disk": {"scsi0"}, "storage": {"local-zfs"}, "delete": {"1"}})
		}},
	{key: "nic", was: "\n    networks:\n      - bridge: vmbr0  # the LAN\n", is: "\n    networks:\n      - bridge: vmbr0  # the LAN\n      - bridge: vmbr0\n        vlan: 7\n        mac: \"BC:24:11:AA:00:01\"\n", hand: setByHand("net1", "virtio=BC:24:11:AA:00:01,bridge=vmbr0,tag=7")},
	{key: "nonic", was: " {networks: [{bridge: vmbr0}, {bridge: vmbr0, vlan: 9}]}  # two\n", is: " {networks: [{bridge: vmbr0}]}  # two\n", hand: setByHand("delete", "net1")},
	{key: "vlan", was: "\n    networks:\n      - {bridge: vmbr0, vlan: 9}  # office\n", is: "\n    networks:\n      - {bridge: vmbr0}  # office\n",
		hand: func(w *acceptWorld, path string) {
			net := callAPI(w.T, w.sim, "GET", path+"/config", nil).(map[string]any)["net0"].(string)
			setByHand("net0", strings.Replace(net, ",tag=9", "", 1))(w, path)
		}},
	{key: "renamed", was: " {}\n", is: " {name: other-name}\n", hand: setByHand("name", "other-name")},
	{key: "user", was: "\n    cloud_init:\n      user: ops  # the admin\n      ssh_keys:\n        - key.pub  # two keys\n        - " + acceptKey("three") + "\n      nameservers: [192.0.2.1]\n",
		is:   "\n    cloud_init:\n      user: dev  # the admin\n      ssh_keys:\n        - key.pub  # two keys\n        - \"" + acceptKey("four") + "\"\n      nameservers: [192.0.2.1, \"192.0.2.2\"]\n",
		hand: setByHand("ciuser", "dev", "sshkeys", strings.ReplaceAll(url.QueryEscape(acceptKey("one")+"\n"+acceptKey("two")+"\n"+acceptKey("four")), "+", "%20"), "nameserver", "192.0.2.1 192.0.2.2")},
	{key: "address", was: " {cloud_init: {ipv4: 192.0.2.50/24, gateway: 192.0.2.254}}\n", is: " {cloud_init: {ipv4: \"192.0.2.51/24\", gateway: 192.0.2.254}}\n", hand: setByHand("ipconfig0", "ip=192.0.2.51/24,gw=192.0.2.254")},
	{key: "cpu", was: " {cpu_type: host, vga: std}\n", is: " {cpu_type: x86-64-v3, vga: serial0}\n", hand: setByHand("cpu", "x86-64-v3", "vga", "serial0")},
	{key: "migrated", was: " {}\n", is: " {node: pve2}\n",
		hand: func(w *acceptWorld, path string) {
			callAPI(w.T, w.sim, "POST", path+"/migrate", url.Values{"target": {"pve2"}, "online": {"1"}, "with-local-disks": {"1"}})
		}},
	{key: "pooled", was: " {pool: one}  # for backups\n", is: " {pool: two}  # for backups\n",
		hand: func(w *acceptWorld, path string) {
			vmid := path[strings.LastIndexByte(path, '/')+1:]
			callAPI(w.T, w.sim, "PUT", "/pools/one", url.Values{"vms": {vmid}, "delete": {"1"}})
			callAPI(w.T, w.sim, "PUT", "/pools/two", url.Values{"vms": {vmid}})
		}},
	{key: "unapplied", was: " {cores: 2}  # few\n", is: " {cores: 2}  # few\n",
		hand: func(w *acceptWorld, _ string) {
			w.write("specs/live.yaml", strings.Replace(w.read("specs/live.yaml"), "unapplied: {cores: 2}", "unapplied: {cores: 4}", 1))
		}},
	{key: "flags", was: " {disks: [{interface: scsi0, datastore: local-lvm, size: 4, ssd: true}]}  # fast\n", is: " {disks: [{interface: scsi0, datastore: local-lvm, size: 4, ssd: false, iothread: true}]}  # fast\n",
		hand: func(w *acceptWorld, path string) {
			disk := callAPI(w.T, w.sim, "GET", path+"/config", nil).(map[string]any)["scsi0"].(string)
			setByHand("scsi0", strings.NewReplacer(",ssd=1", "", ",iothread=0", "").Replace(disk)+",iothread=1")(w, path)
		}},
}

func acceptKey(name string) string {
	return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + strings.Repeat("A", 43-len(name)) + name + " " + name
}

const (
	acceptHead = "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 100-999\n" +
		"defaults:\n  node: pve1\n  template: 9002\n  agent: false  # no agent in the image\n  tags: [all]\n  disks: [{interface: scsi0, datastore: local-lvm, size: 4}]\n" +
		"groups:\n  w:\n    count: 2  # workers\n    cores: 2\nvms:\n"
	acceptClass = "apiVersion: stackgen/v1\nkind: Class\nname: class\nvmids: 1000-1099\ntemplate: 9002\nplacement: {nodes: [pve1]}\n" +
		"defaults: {agent: false, disks: [{interface: scsi0, datastore: local-lvm, size: 4}]}\nstudents:\n  count: 2\n  overrides:\n    student1: {cores: 3}  # the fast one\n"
)

// acceptSpec is the spec of all cases, before or after.
func acceptSpec(after bool) string {
	text := acceptHead
	if after {
		text = strings.Replace(text, "cores: 2\nvms", "cores: 2\n    overrides:\n      w2: {memory: 1024}\nvms", 1)
	}
	for _, c := range acceptCases {
		entry := c.was
		if after {
			entry = c.is
		}
		text += "  # case " + c.key + "\n  " + c.key + ":" + entry
	}
	return text
}

// TestDriftAccept changes VMs by hand, one thing each, and accepts all of it: the spec has
// the expected lines and no other change, its comments are kept, and the next plan is empty.
func TestDriftAccept(t *testing.T) {
	t.Parallel()
	w := &acceptWorld{project: newProject(t, map[string]string{"specs/live.yaml": acceptSpec(false), "specs/class.yaml": acceptClass,
		"specs/key.pub": acceptKey("one") + "\n" + acceptKey("two") + "\n"})}
	w.sim = w.simulate()
	for _, pool := range []string{"one", "two"} {
		callAPI(t, w.sim, "POST", "/pools", url.Values{"poolid": {pool}})
	}
	w.render()
	for _, stack := range []string{"live", "class"} {
		w.succeeds("stacks/"+stack, "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	vms := map[string]string{}
	for _, g := range callAPI(t, w.sim, "GET", "/nodes/pve1/qemu", nil).([]any) {
		g := g.(map[string]any)
		vms[fmt.Sprint(g["name"])] = fmt.Sprintf("/nodes/pve1/qemu/%v", g["vmid"])
	}
	for _, c := range acceptCases {
		name := "live-" + c.key
		if c.key == "notes" {
			name = "notes-vm"
		}
		c.hand(w, vms[name])
	}
	setByHand("memory", "1024", "balloon", "0")(w, vms["live-w2"])
	setByHand("cores", "4")(w, vms["class-student1"])
	setByHand("cores", "1")(w, vms["class-student2"])
	w.render()

	code, output := w.stackgen("drift", "--accept", w.dir)
	if code != 3 || strings.Count(output, "blocked unmatched") != 1 {
		t.Errorf("drift --accept: exit %d\n%s", code, output)
	}
	w.contains(output, "scsi1: the state does not have this disk", "stackgen adopt --match live/extra")
	if got, want := w.read("specs/live.yaml"), acceptSpec(true); got != want {
		t.Errorf("specs/live.yaml:\n%s\nwant\n%s", got, want)
	}
	if got, want := w.read("specs/class.yaml"), strings.Replace(acceptClass, "{cores: 3}  # the fast one\n", "{cores: 4}  # the fast one\n    student2: {cores: 1}\n", 1); got != want {
		t.Errorf("specs/class.yaml:\n%s\nwant\n%s", got, want)
	}
	w.render()
	w.sim.ResetLog()
	for _, stack := range []string{"live", "class"} { // the plan has outputs at most, such as the name of a renamed VM
		plan := w.succeeds("stacks/"+stack, "terragrunt", "stack", "run", "plan", "--non-interactive")
		if strings.Contains(plan, "Plan:") {
			t.Errorf("the plan of %s changes resources\n%s", stack, plan)
			continue
		}
		w.succeeds("stacks/"+stack, "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	if n := w.sim.Counters().Writes; n != 0 {
		t.Errorf("the applies made %d writes", n)
	}
	if r := w.run("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive", "--", "-detailed-exitcode"); r.Code != 0 {
		t.Errorf("the plan after it is not empty: exit %d\n%s", r.Code, r.Text())
	}
}

// TestDriftAcceptUnseen accepts what no plan shows: the apply after it writes the same values
// once more, and changes and restarts nothing. What no spec can say is listed.
func TestDriftAcceptUnseen(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\ndefaults: {node: pve1, template: 9002, agent: false}\nvms:\n"
	w := &acceptWorld{project: newProject(t, map[string]string{"specs/live.yaml": head + "  a:\n    cores: 2\n  b: {}\n  c:\n    cores: 2\n    startup: {order: 1}\n"})}
	w.sim = w.simulate()
	w.render()
	w.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	w.noDrift()
	setByHand("description", "by hand", "tags", "backup", "startup", "order=7", "serial0", "socket", "ciuser", "eve", "boot", "order=scsi0;net0", "args", "-no-shutdown", "cipassword", "hunter2hunter2")(w, "/nodes/pve1/qemu/300")
	setByHand("delete", "startup")(w, "/nodes/pve1/qemu/302")
	was := config(t, w.sim, 300)

	code, output := w.stackgen("drift", "--accept", w.dir)
	if code != 3 {
		t.Errorf("drift --accept: exit %d", code)
	}
	w.contains(output, "args: a spec has no property for QEMU arguments; change it back", "pvesh set /nodes/pve1/qemu/300/config --delete args", "cipassword: a spec has no passwords", "--delete cipassword")
	if strings.Contains(output, "hunter2") {
		t.Errorf("the password is printed:\n%s", output)
	}
	want := head + "  a:\n    cores: 2\n    description: \"by hand\"\n    tags: [backup]\n    boot_order: [scsi0, net0]\n    cloud_init: {user: eve}\n    serial: socket\n    startup: {order: 7}\n  b: {}\n  c:\n    cores: 2\n"
	if got := w.read("specs/live.yaml"); got != want {
		t.Errorf("the spec is\n%s\nwant\n%s", got, want)
	}
	w.render()
	w.sim.ResetLog()
	setByHand("description", "theirs")(w, "/nodes/pve1/qemu/301")
	w.write("specs/live.yaml", strings.Replace(want, "b: {}", "b: {description: mine}", 1))
	w.render()
	code, output = w.stackgen("drift", w.dir)
	w.contains(output, "the provider sets startup: an apply sets it, in the state only", "live/c: VM 302 on pve1                  no value of it changes: an apply removes an empty block from the state",
		"description: Proxmox VE has theirs, ")
	if code != 2 || strings.Contains(output, "Proxmox VE has nothing") {
		t.Errorf("drift: exit %d\n%s", code, output)
	}
	if r := w.run("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive"); r.Code != 0 { // it warns: a restart is pending
		t.Fatal(r.Text())
	}
	is := config(t, w.sim, 300)
	delete(was, "digest")
	delete(is, "digest")
	if !reflect.DeepEqual(was, is) {
		t.Errorf("the VM was\n%v\nand is\n%v", was, is)
	}
	setByHand("delete", "args,cipassword")(w, "/nodes/pve1/qemu/300")
	for _, action := range []string{"stop", "start"} { // what waits for a restart
		callAPI(t, w.sim, "POST", "/nodes/pve1/qemu/300/status/"+action, nil)
	}
	w.noDrift()
}
