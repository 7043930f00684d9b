//go:build unix

package real

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

// A positionList is a list that the provider knows by position: its entries in a spec, and
// how a spec has them.
type positionList struct {
	name    string
	entries string // the keys of a configuration that show them, without their numbers
	items   [4]string
	spec    func(items []string) string
}

// listOf is a list in a spec, behind what it needs.
func listOf(needs, key string) func([]string) string {
	return func(items []string) string { return needs + key + ": [" + strings.Join(items, ", ") + "]" }
}

// threeNICs are network devices for addresses.
const threeNICs = "networks: [{vlan: 10}, {vlan: 20}, {vlan: 30}]"

// addressesOf are the addresses of network devices.
func addressesOf(networks func(n int) string) func([]string) string {
	return func(items []string) string {
		return fmt.Sprintf("%s, cloud_init: {ipv4: %s, ip_configs: [{ipv4: %s}]}", networks(len(items)), items[0], strings.Join(items[1:], "}, {ipv4: "))
	}
}

// nicsOf are network devices with their addresses: items are VLANs.
func nicsOf(items []string) string {
	var nics, addresses []string
	for _, vlan := range items {
		nics, addresses = append(nics, "{vlan: "+vlan+"}"), append(addresses, "10.0.N."+vlan+"/24")
	}
	return addressesOf(func(int) string { return "networks: [" + strings.Join(nics, ", ") + "]" })(addresses)
}

// cells are NUMA nodes, which together have the memory of the VM.
func cells(items []string) string {
	var out []string
	for i, cpus := range items {
		memory := 512
		if i == len(items)-1 {
			memory = 2048 - 512*i
		}
		out = append(out, fmt.Sprintf("{cpus: %s, memory: %d, host_nodes: 0}", cpus, memory))
	}
	return listOf("cores: 4, numa: true, ", "numa_nodes")(out)
}

// positionLists are the lists. The last item is the one that an edit adds.
var positionLists = []positionList{
	{"disk", "scsi unused", [4]string{"{interface: scsi0, size: 8, datastore: shared}", "{interface: scsi2, size: 2, datastore: shared}", "{interface: scsi3, size: 3, datastore: shared}", "{interface: scsi1, size: 1, datastore: shared}"}, listOf("", "disks")},
	{"network_device, MACs in the lock", "net", [4]string{"{vlan: 10}", "{vlan: 20}", "{vlan: 30}", "{vlan: 40}"}, listOf("", "networks")},
	{"network_device, MACs in the spec", "net", [4]string{"{vlan: 10, mac: 'BC:24:11:00:N:10'}", "{vlan: 20, mac: 'BC:24:11:00:N:20'}", "{vlan: 30, mac: 'BC:24:11:00:N:30'}", "{vlan: 40, mac: 'BC:24:11:00:N:40'}"}, listOf("", "networks")},
	{"network_device, MACs of Proxmox VE", "net", [4]string{"{vlan: 10, mac: auto}", "{vlan: 20, mac: auto}", "{vlan: 30, mac: auto}", "{vlan: 40, mac: auto}"}, listOf("", "networks")},
	{"network_device with addresses", "net ipconfig", [4]string{"10", "20", "30", "40"}, nicsOf},
	{"ip_config", "net ipconfig", [4]string{"10.0.N.10/24", "10.0.N.20/24", "10.0.N.30/24", "10.0.N.40/24"}, addressesOf(func(int) string { return threeNICs })},
	{"hostpci", "hostpci", [4]string{"{mapping: gpu}", "{mapping: card}", "{mapping: disk}", "{mapping: more}"}, listOf("", "hostpci")},
	{"usb", "usb", [4]string{"{mapping: stick}", "{mapping: key}", "{mapping: phone}", "{mapping: more}"}, listOf("", "usb")},
	{"serial_device", "serial", [4]string{"socket", "/dev/ttyS1", "/dev/ttyS2", "/dev/ttyS3"}, listOf("", "serial")},
	{"numa", "numa", [4]string{"0", "1", "2", "3"}, cells},
	{"virtiofs", "virtiofs", [4]string{"{mapping: home}", "{mapping: media}", "{mapping: music}", "{mapping: more}"}, listOf("", "virtiofs")},
}

// positionEdits are the edits of a list: which items it has before and after.
var positionEdits = []struct {
	name          string
	before, after []int
}{
	{"add first", []int{0, 1}, []int{3, 0, 1}},
	{"remove first", []int{0, 1, 2}, []int{1, 2}},
	{"remove a middle one", []int{0, 1, 2}, []int{0, 2}},
	{"swap two", []int{0, 1}, []int{1, 0}},
}

// positionStates are the ways in which VMs are while they are changed.
var positionStates = []struct {
	name             string
	started, restart bool
}{{"stopped", false, false}, {"running", true, false}, {"running, `restart: true`", true, true}}

// firstPosition is the VMID of the first VM.
const firstPosition = 300

// positionSpec is a stack with a VM for each list, edit and state.
func positionSpec(after bool) string {
	var b strings.Builder
	b.WriteString("apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-599\ndefaults: {node: pve1, clone: linked, template: {vmid: 9000, node: pve1}, cloud_init: {datastore: shared}}\nvms:\n")
	n := 0
	for _, l := range positionLists {
		for _, e := range positionEdits {
			for _, state := range positionStates {
				has := e.before
				if after {
					has = e.after
				}
				var items []string
				for _, i := range has {
					items = append(items, l.items[i])
				}
				own := strings.NewReplacer(":N:", fmt.Sprintf(":%02X:", n), ".N.", fmt.Sprintf(".%d.", n))
				fmt.Fprintf(&b, "  p%d: {started: %v, restart: %v, %s}\n", n, state.started, state.restart, own.Replace(l.spec(items)))
				n++
			}
		}
	}
	return b.String()
}

// A positionResult is what an edit did to a VM, and what stackgen said before.
type positionResult struct {
	before, after     propertyGuest
	preflight, byPlan finding.Finding
	failed            string // the error of its apply
}

// TestPositions edits every list that the provider knows by position, on stopped and on
// running VMs. Each edit has a VM of its own. The guard is off, so that what it refuses is
// seen, too. No volume becomes another disk. Without `restart: true`, what moves a MAC
// address or a USB device of a running VM is refused, with a plan and without one, and so
// is what fails. The results are the tables of docs/positions.md.
func TestPositions(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": positionSpec(false)})
	sim := p.simulateWith(pvesim.Options{Clock: clock.NewScaled(time.Now(), 100), Durations: func(kind string, _ int) (time.Duration, bool) { return 0, kind == "qmclone" }})
	sim.Change(addMappings)
	w := &faultCase{T: t, dir: p.dir, sim: sim, guard: "off"}
	w.tools = p.tools.With("PROXMOX_VE_API_TOKEN=", "PROXMOX_VE_USERNAME=root@pam", "PROXMOX_VE_PASSWORD=stackgen") // device files are root's
	w.settings("")
	w.spec(positionSpec(false), true)
	w.must(w.apply())
	w.spec(positionSpec(true), true)
	said, plans := w.verdicts(), t.TempDir()
	w.must(w.run("stacks/live", nil, "terragrunt", "stack", "run", "plan", "--non-interactive", "--json-out-dir", plans))
	byPlan := w.verdicts("--plan", plans)
	before := w.propertyGuests()
	r := w.apply()
	after := w.propertyGuests()
	results := make([]positionResult, len(positionLists)*len(positionEdits)*len(positionStates))
	for i := range results {
		key, id := fmt.Sprintf("p%d", i), firstPosition+i
		results[i] = positionResult{before[id], after[id], said[key], byPlan[key], failure(r.output, key)}
		results[i].check(w, key, positionStates[i%len(positionStates)].restart)
	}
	writePositions(t, results)
}

// check fails if stackgen permits what it must refuse, or refuses what it must permit.
func (r *positionResult) check(w *faultCase, key string, restart bool) {
	w.Helper()
	moved := movedDevices(r.before.config, r.after.config)
	for _, m := range moved {
		if strings.HasPrefix(m, "volume") {
			w.Errorf("%s: %s", key, m)
		}
	}
	repeats := slices.ContainsFunc(r.preflight.Updates, func(u finding.Update) bool { return u.Harm == string(effect.Repeats) })
	want := r.failed != "" || repeats || len(moved) > 0 && r.before.running && !restart
	if r.refused() != want || (r.byPlan.Severity == finding.Blocked) != want {
		w.Errorf("%s: refused %v, by its plan %v, want %v: moved %v, %s\n%+v", key, r.refused(), r.byPlan.Reason, want, moved, r.failed, r.preflight.Updates)
	}
}

func (r *positionResult) refused() bool { return r.preflight.Severity == finding.Blocked }

var (
	nicEntry    = regexp.MustCompile(`^virtio=([0-9A-F:]+),.*tag=(\d+)`)
	usbEntry    = regexp.MustCompile(`mapping=(\w+)`)
	volumeEntry = regexp.MustCompile(`^shared:[^,]+`)
)

// movedDevices are the volumes, MAC addresses and USB devices of a VM that have another
// place than before.
func movedDevices(was, is map[string]string) []string {
	places := func(config map[string]string) map[string]string {
		out := map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(config)) {
			nic, usb, volume := nicEntry.FindStringSubmatch(config[key]), usbEntry.FindStringSubmatch(config[key]), volumeEntry.FindString(config[key])
			switch name := strings.TrimRight(key, "0123456789"); {
			case name == "net" && nic != nil:
				out[nic[1]] = key + " in VLAN " + nic[2]
			case name == "usb" && usb != nil:
				out["device "+usb[1]] = key
			case name == "scsi" && volume != "":
				out["volume "+volume] += key
			}
		}
		return out
	}
	var out []string
	before, after := places(was), places(is)
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if after[id] != "" && before[id] != after[id] {
			out = append(out, fmt.Sprintf("%s from %s to %s", id, before[id], after[id]))
		}
	}
	return out
}
