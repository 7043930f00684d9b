//go:build unix

package real

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/pvesim"
)

// A propertyEdit changes one property of a VM.
type propertyEdit struct{ what, before, after string } // before and after are in its entry in the spec

const baseDisk = "interface: scsi0, size: 8, datastore: shared"

// disk and nic change one key of a disk or a network device.
func disk(keys string) propertyEdit {
	return propertyEdit{"disks: " + keys, "", "disks: [{" + baseDisk + ", " + keys + "}]"}
}

func nic(keys string) propertyEdit {
	return propertyEdit{"networks: " + keys, "", "networks: [{" + keys + "}]"}
}

func property(text string) propertyEdit { return propertyEdit{text, "", text} }

// propertyEdits are one change of every property that acts on an existing VM.
var propertyEdits = []propertyEdit{
	property("name: Renamed.Lab"), property("description: text"), property("tags: [new]"), property("on_boot: false"), property("protection: true"), property("pool: left"), {"pool: another", "pool: left", "pool: right"}, {"pool: removed", "pool: left", ""},
	property("bios: ovmf"), property("machine: q35"), property("scsi_hardware: virtio-scsi-pci"), property("boot_order: [scsi0, net0]"), property("os_type: l24"),
	property("cores: 3"), property("sockets: 2"), property("cpu_type: host"), property("cpu_flags: [+aes]"), property("numa: true"), {"numa_nodes: added", "numa: true", "numa: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0}]"}, property("cpu_affinity: 0-3"), property("cpu_units: 200"), property("cpu_limit: 1"), property("vcpus: 1"),
	property("memory: 3072"), {"memory: 1024 (less)", "", "memory: 1024"}, property("balloon: 1024"),
	property("agent: {timeout: 30s}"), property("agent: {trim: true}"), property("agent: {type: isa}"),
	property("cloud_init: {user: admin}"), property("cloud_init: {nameservers: [192.0.2.53]}"), property("cloud_init: {search_domain: lab.example}"), property("cloud_init: {ipv4: 192.0.2.9/24, gateway: 192.0.2.1}"),
	property("cloud_init: {upgrade: false}"), property("cloud_init: {user_data: 'shared:snippets/user.yaml'}"), property("cloud_init: {type: configdrive2}"),
	{"cloud_init: {ip_configs: [{ipv4: dhcp}]}", "networks: [{}, {}]", "networks: [{}, {}], cloud_init: {ip_configs: [{ipv4: dhcp}]}"},
	{"cloud_init: another datastore", "", "cloud_init: {datastore: local-lvm}"},
	{"disks: one more", "", disksOf(8, 4)}, {"disks: one less", disksOf(8, 4), disksOf(8)}, {"disks: larger", "", disksOf(9)}, {"disks: another datastore", "", "disks: [{interface: scsi0, size: 8, datastore: local-lvm}]"}, {"disks: another interface", disksOf(8, 4), strings.Replace(disksOf(8, 4), "scsi1", "scsi2", 1)},
	disk("ssd: true"), disk("discard: true"), disk("iothread: true"), disk("cache: writeback"), disk("backup: false"), disk("replicate: false"), disk("aio: native"), disk("serial: A1"), disk("speed: {read: 100}"),
	{"networks: one more", "", "networks: [{bridge: vmbr0}, {bridge: vmbr0}]"}, {"networks: one less", "networks: [{bridge: vmbr0}, {bridge: vmbr0}]", "networks: [{bridge: vmbr0}]"},
	nic("bridge: vmbr1"), nic("model: e1000"), nic("vlan: 20"), nic("mtu: 1400"), nic("firewall: true"), nic("queues: 2"), nic("rate: 10"), nic("trunks: [10, 20]"), nic("disconnected: true"),
	{"efi: added", "bios: ovmf", "bios: ovmf, efi: shared"}, {"efi: pre_enrolled_keys", "bios: ovmf, efi: shared", "bios: ovmf, efi: {datastore: shared, pre_enrolled_keys: true}"}, {"tpm: added", "", "tpm: shared"}, {"tpm: removed", "tpm: shared", ""},
	property("tablet: false"), property("keyboard: de"), property("usb: [{host: spice}]"), {"serial: removed", "serial: socket", ""}, property("serial: socket"), property("vga: qxl"), property("watchdog: true"), {"watchdog: removed", "watchdog: true", ""}, property("audio: AC97"), {"audio: removed", "audio: AC97", ""}, property("virtiofs: [{mapping: media}]"), {"virtiofs: removed", "virtiofs: [{mapping: media}]", ""}, property("hotplug: disk"), property("hotplug: 'disk,network,cpu'"), property("startup: {order: 1, up: 10}"), property("restart: true"), property("stop_on_destroy: true"), property("delete_unreferenced_disks: false"), property("timeouts: {shutdown: 60}"), property("started: false"),
}

const baseNet = "bridge: vmbr0, ipv4: dhcp"

// containerEdits are one change of every property of a container.
var containerEdits = []propertyEdit{
	property("name: renamed"), property("description: text"), property("tags: [new]"), property("on_boot: false"), property("protection: true"), property("pool: left"), property("os_type: alpine"),
	property("unprivileged: false"), property("template: 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'"), property("ssh_keys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a']"), property("features: {nesting: true}"),
	property("cores: 2"), property("memory: 1024"), {"memory: 256 (less)", "", "memory: 256"}, property("swap: 256"),
	property("rootfs: {size: 5}"), {"rootfs: smaller", "rootfs: {size: 5}", "rootfs: {size: 4}"}, property("rootfs: {datastore: shared}"),
	{"mounts: one more", "", "mounts: [{path: /data, size: 4}]"}, {"mounts: one less", "mounts: [{path: /data, size: 4}]", ""}, {"mounts: larger", "mounts: [{path: /data, size: 4}]", "mounts: [{path: /data, size: 5}]"},
	{"networks: one more", "", "networks: [{" + baseNet + "}, {" + baseNet + "}]"}, {"networks: one less", "networks: [{" + baseNet + "}, {" + baseNet + "}]", "networks: [{" + baseNet + "}]"},
	nic("bridge: vmbr1, ipv4: dhcp"), nic(baseNet + ", vlan: 20"), nic(baseNet + ", mtu: 1400"), nic(baseNet + ", firewall: true"), nic(baseNet + ", interface: lan0"), nic(baseNet + ", ipv6: auto"), nic("bridge: vmbr0, ipv4: 192.0.2.9/24, gateway: 192.0.2.1"),
	property("nameservers: [192.0.2.53]"), {"nameservers: removed", "nameservers: [192.0.2.53]", ""}, property("search_domain: lab.example"), property("startup: {order: 1, up: 10}"), {"startup: removed", "startup: {order: 1}", ""}, property("restart: true"), property("started: false"),
}

// A propertyResult is what was said about a change, and what it did.
type propertyResult struct{ preflight, plan, server string }

// TestEffectsOfEveryProperty changes every property of a running VM once, with and
// without an agent, and with and without `restart: true`, and every property of a running container.
// Each change has a VM or container of its own. The guard is off, so that what preflight blocks is seen, too. The results are the
// tables of docs/dev/effects.md.
func TestEffectsOfEveryProperty(t *testing.T) {
	t.Parallel()
	if !strings.Contains(testFilter(), "TestEffectsOfEveryProperty") {
		t.Skip("`make faults` runs it")
	}
	tools := findFaultTools(t)
	results := map[string][]propertyResult{}
	for _, restart := range []bool{false, true} {
		for _, agent := range []bool{true, false} {
			name := fmt.Sprintf("restart-%v-agent-%v", restart, agent)
			t.Run(name, func(t *testing.T) {
				b := &faultWorld{tools: tools}
				w := b.cell(t, otherBridge)
				w.guard = "off"
				w.settings("")
				results[name] = changeEveryProperty(w, propertyEdits, agent, func(of func(propertyEdit) string) string { return propertySpec(restart, agent, of) })
			})
		}
		name := fmt.Sprintf("restart-%v-containers", restart)
		t.Run(name, func(t *testing.T) {
			b := &faultWorld{tools: tools, containers: true}
			w := b.cell(t, otherBridge)
			w.guard = "off"
			w.settings("")
			results[name] = changeEveryProperty(w, containerEdits, true, func(of func(propertyEdit) string) string { return containerPropertySpec(restart, of) })
		})
	}
	if t.Failed() {
		return
	}
	writeEffects(t, results)
}

// propertySpec is a stack with a VM for each change.
func propertySpec(restart, agent bool, of func(propertyEdit) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults:
  node: pve1
  clone: linked
  template: {vmid: 9000, node: pve1}
  restart: %v
  agent: {enabled: %v}
  disks: [{%s}]
  cloud_init: {datastore: shared}
vms:
`, restart, agent, baseDisk)
	for i, e := range propertyEdits {
		fmt.Fprintf(&b, "  p%d: {%s}\n", i, of(e))
	}
	return b.String()
}

// containerPropertySpec is a stack with a container for each change.
func containerPropertySpec(restart bool, of func(propertyEdit) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults:
  node: pve1
  restart: %v
  containers: {template: "%s"}
containers:
`, restart, containerArchive)
	for i, e := range containerEdits {
		fmt.Fprintf(&b, "  p%d: {%s}\n", i, of(e))
	}
	return b.String()
}

// changeEveryProperty makes the guests, and then changes all of them in one apply. The spec has what an edit says of each.
func changeEveryProperty(w *faultCase, edits []propertyEdit, agent bool, spec func(of func(propertyEdit) string) string) []propertyResult {
	w.sim.Change(func(s *pvesim.Seed) {
		s.Pools = append(s.Pools, &pvesim.Pool{ID: "left"}, &pvesim.Pool{ID: "right"})
		snippets(s)
	})
	w.spec(spec(func(e propertyEdit) string { return e.before }), true)
	w.must(w.apply())
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID >= 300 && g.VMID <= 399 && !agent {
				g.Agent.Mode = ""
			}
		}
	})
	w.spec(spec(func(e propertyEdit) string { return e.after }), true)
	said := w.preflightSays()
	w.level("full")
	w.oneOpinion()
	w.level("off")
	planned := w.planSays()
	before, tasks := w.propertyGuests(), w.taskList()
	r := w.apply()
	after, done := w.propertyGuests(), w.taskList()[len(tasks):]
	out := make([]propertyResult, len(edits))
	for i := range edits {
		key, id := fmt.Sprintf("p%d", i), 300+i
		out[i] = propertyResult{cmp.Or(said[key], "managed"), cmp.Or(planned[key], "no changes"), serverDid(before[id], after[id], done, id, failure(r.output, key))}
	}
	return out
}

// preflightSays is what preflight says about each VM.
func (w *faultCase) preflightSays() map[string]string {
	w.Helper()
	out := map[string]string{}
	for key, f := range w.verdicts() {
		var does []string
		for _, u := range f.Updates {
			does = append(does, u.Name+" "+u.Does)
		}
		out[key] = "**" + string(f.Kind) + "** " + strings.Join(does, "; ")
	}
	return out
}

// verdicts are those of preflight about each VM.
func (w *faultCase) verdicts(args ...string) map[string]finding.Finding {
	w.Helper()
	r := w.stackgen(append([]string{"preflight", "--format", "json"}, args...)...)
	var report struct{ Verdicts []finding.Finding }
	start := strings.Index(r.output, "{")
	if start < 0 || json.NewDecoder(strings.NewReader(r.output[start:])).Decode(&report) != nil {
		w.Fatalf("preflight: exit %d\n%s", r.code, r.output)
	}
	out := map[string]finding.Finding{}
	for _, f := range report.Verdicts {
		if f.Type == finding.VM {
			out[f.Key] = f
		}
	}
	return out
}

// planSays are the attributes that the plan changes of each VM or container.
func (w *faultCase) planSays() map[string]string {
	w.Helper()
	dir := w.TempDir()
	w.must(w.run("stacks/live", nil, "terragrunt", "stack", "run", "plan", "--non-interactive", "--json-out-dir", dir))
	files, err := filepath.Glob(filepath.Join(dir, "*", "proxmox-*", "tfplan.json"))
	check(w.T, err)
	out := map[string]string{}
	for _, file := range files {
		maps.Copy(out, w.changedIn(file))
	}
	return out
}

// changedIn are the attributes that a plan changes of each VM or container.
func (w *faultCase) changedIn(file string) map[string]string {
	w.Helper()
	body, err := os.ReadFile(file)
	check(w.T, err)
	var plan struct {
		Changes []struct {
			Index  string
			Change struct {
				Actions       []string
				Before, After map[string]any
			}
		} `json:"resource_changes"`
	}
	check(w.T, json.Unmarshal(body, &plan))
	out := map[string]string{}
	for _, c := range plan.Changes {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(c.Change.After)) {
			if !reflect.DeepEqual(c.Change.Before[name], c.Change.After[name]) {
				names = append(names, "`"+name+"`")
			}
		}
		if a := strings.Join(c.Change.Actions, ", "); a != "no-op" {
			out[c.Index] = a + ": " + strings.Join(names, ", ")
		}
	}
	return out
}

// A propertyGuest is a VM with what waits for a restart.
type propertyGuest struct {
	guestState
	pending map[string]string
}

func (w *faultCase) propertyGuests() map[int]propertyGuest {
	out := map[int]propertyGuest{}
	state := w.guests()
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			pending := maps.Clone(g.Pending)
			if pending == nil {
				pending = map[string]string{}
			}
			for key := range g.Deleted {
				pending[key] = "removed"
			}
			out[g.VMID] = propertyGuest{state[g.VMID], pending}
		}
		for _, p := range s.Pools {
			for _, id := range p.Guests {
				out[id].config["pool"] = p.ID // list entries of a guest have it, and its configuration does not
			}
		}
	})
	return out
}

// taskList are all tasks, the oldest first.
func (w *faultCase) taskList() []*pvesim.Task {
	w.Helper()
	var b bytes.Buffer
	check(w.T, w.sim.Save(&b))
	seed, err := pvesim.ParseSeed(b.Bytes())
	check(w.T, err)
	return seed.Tasks
}

// failure is the error of an apply about a VM, or "".
func failure(output, key string) string {
	before, _, found := strings.Cut(output, fmt.Sprintf("this[%q]", key)+",")
	if !found {
		return ""
	}
	i := strings.LastIndex(before, "Error: ")
	if i < 0 {
		return ""
	}
	return oneLine(before[i+len("Error: "):])
}

var border = regexp.MustCompile(`[│╷╵\s]+`)

// oneLine is the first sentence of an error.
func oneLine(text string) string {
	text, _, _ = strings.Cut(border.ReplaceAllString(text, " "), " with proxmox_virtual_environment_")
	if len(text) > 160 {
		text = text[:160] + "..."
	}
	return strings.TrimSpace(text)
}

// serverDid says which tasks ran for a VM, and what is different afterwards.
func serverDid(was, is propertyGuest, tasks []*pvesim.Task, id int, failed string) string {
	var parts, ran []string
	for _, task := range tasks {
		if task.ID == fmt.Sprint(id) {
			ran = append(ran, "`"+task.Type+"`")
		}
	}
	if ran = slices.Compact(ran); len(ran) > 0 { // the provider asks again if an answer is late
		parts = append(parts, strings.Join(ran, ", "))
	}
	if slices.Contains(ran, "`qmdestroy`") || slices.Contains(ran, "`vzdestroy`") { // it is another guest, with values of its own
		is = was
		parts = append(parts, "**replaced**")
	}
	for _, key := range keysOfBoth(was.config, is.config) {
		if was.config[key] != is.config[key] && key != "digest" {
			parts = append(parts, difference(key, was.config[key], is.config[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is.pending)) {
		parts = append(parts, "waits for a restart: "+difference(key, is.config[key], is.pending[key]))
	}
	switch {
	case was.running && !is.running:
		parts = append(parts, "**stopped**")
	case !is.started.Equal(was.started):
		parts = append(parts, "**restarted**")
	}
	if failed != "" {
		parts = append(parts, "**fails**: "+failed)
	}
	return cmp.Or(strings.Join(parts, "; "), "nothing")
}

// difference is an entry before and after, of two lists of options only those that differ.
func difference(key, was, is string) string {
	a, b := strings.Split(was, ","), strings.Split(is, ",")
	if len(a) > 2 && len(b) > 2 && a[0] == b[0] {
		missing := func(in, from []string) string {
			return strings.Join(slices.DeleteFunc(slices.Clone(in), func(o string) bool { return slices.Contains(from, o) }), ",")
		}
		was, is = missing(a, b), missing(b, a)
	}
	return fmt.Sprintf("%s: %s -> %s", key, shorter(was), shorter(is))
}

func keysOfBoth(a, b map[string]string) []string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return slices.Sorted(maps.Keys(both))
}

// anyMAC is a MAC address, which render chooses.
var anyMAC = regexp.MustCompile(`BC:24:11(:[0-9A-F]{2}){3}`)

func shorter(text string) string {
	text = anyMAC.ReplaceAllString(strings.TrimSpace(text), "MAC")
	if len(text) > 70 {
		text = text[:70] + "..."
	}
	return cmp.Or(text, "none")
}

const effectsHead = "<!-- Generated by UPDATE=1 make faults. Do not edit. -->\n" + `# What a change does to a running VM or container

Every property, changed once in the spec of a running guest. The real provider applied each change to a simulated cluster with
` + "`guard: off`" + `, so that the table also shows what ` + "`preflight`" + ` blocks (would-harm). The columns are what preflight said before the apply,
which attributes the plan changed; and the tasks of the server and the configuration before and after. The provider
logs in with a token of root@pam: what only root@pam itself may change, ` + "`cpu_affinity`" + `, fails with the server's answer.
`

// writeEffects compares the results with the documentation, or writes it.
func writeEffects(t *testing.T, results map[string][]propertyResult) {
	t.Helper()
	var b strings.Builder
	b.WriteString(effectsHead)
	for _, restart := range []bool{false, true} {
		fmt.Fprintf(&b, "\n## With `restart: %v`\n\n| change | preflight | plan | server |\n|---|---|---|---|\n", restart)
		with, without := results[fmt.Sprintf("restart-%v-agent-true", restart)], results[fmt.Sprintf("restart-%v-agent-false", restart)]
		for i, e := range propertyEdits {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.what, either(with[i].preflight, without[i].preflight), either(with[i].plan, without[i].plan), either(with[i].server, without[i].server))
		}
	}
	for _, restart := range []bool{false, true} {
		fmt.Fprintf(&b, "\n## Containers, with `restart: %v`\n\n| change | preflight | plan | server |\n|---|---|---|---|\n", restart)
		for i, r := range results[fmt.Sprintf("restart-%v-containers", restart)] {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", containerEdits[i].what, faultText.Replace(r.preflight), faultText.Replace(r.plan), faultText.Replace(r.server))
		}
	}
	file := filepath.Join(repository, "docs", "dev", "effects.md")
	if os.Getenv("UPDATE") != "" {
		check(t, os.WriteFile(file, []byte(b.String()), 0o666))
		return
	}
	if body, err := os.ReadFile(file); err != nil || string(body) != b.String() {
		t.Errorf("%s differs from the results; UPDATE=1 make faults writes it\n%s", file, b.String())
	}
}

// either is what happened with an agent and without one, once if that is the same.
func either(with, without string) string {
	with, without = faultText.Replace(with), faultText.Replace(without)
	if with == without {
		return with
	}
	return "agent: " + with + "<br>no agent: " + without
}
