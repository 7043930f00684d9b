//go:build unix

package real

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"stackgen/internal/pvesim"
)

// identityFaults are guests that are not, or no longer, what lock and state record.
func identityFaults() []fault {
	return []fault{
		fault{name: "adopted VM deleted, a stranger has its VMID", event: adopted(replaceVM), foreign: []int{300}}.refusedInBoth("conflict a", "another VM than the recorded one"),
		fault{name: "adopted VM re-created by hand under its name", event: adopted(recreateVM), foreign: []int{300}}.refusedInBoth("conflict a", "another VM than the recorded one"),
		fault{name: "state lost, and a stranger with the name and VMID", event: recreateWithoutState, foreign: []int{300}}.refusedInBoth("conflict a", "it was created again by hand"),
		fault{name: "VM lost its NICs", event: removeNICs, noHarmRun: "the plan waits 15 minutes"}.refusedInBoth("conflict a", "without NICs"),
		fault{name: "VM cloned by hand under the name and VMID of a new one", event: both(addVM, cloneByHand), foreign: []int{303}}.refusedInBoth("conflict d", "nothing proves that an interrupted run made it"),
		fault{name: "the same, and Proxmox VE chooses its MAC", event: both(addVMWithoutMAC, cloneByHand), foreign: []int{303}}.refusedInBoth("conflict d", "nothing else says that it is this VM"),
		fault{name: "MAC of a VM changed by hand", event: changeMAC, recovery: recovery{"stackgen adopt", "right", nil}}.refusedInBoth("conflict a", "it was created again by hand"),
		fault{name: "MAC of a VM changed by hand, its uuid recorded", event: changeRecordedMAC}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
		fault{name: "VM re-created by hand with its MAC, its uuid recorded", event: both(resolveFirst, recreateWithMAC), harm: "changes 300, which is not the stack's", foreign: []int{300}}.refusedInBoth("conflict a", "another VM with its MAC"),
		fault{name: "the same, and the VM is retired", event: both(resolveFirst, recreateWithMAC, retireVM("a")), harm: "destroys 300", foreign: []int{300}}.refusedInBoth("conflict a", "another VM with its MAC"),
		fault{name: "VM destroyed and created again, the lock not committed", event: createAgain}.succeedsInBoth(nothingToDo),
		fault{name: "rollback to a snapshot", event: rollBack}.succeedsInBoth(nothingToDo),
		fault{name: "MAC of a new VM on a guest elsewhere", event: takeMAC, harm: "creates 303", recovery: recovery{"resolve --again", "1 added, 0 changed, 0 destroyed", []int{303}}}.refusedInBoth("conflict d", "another guest has its MAC"),
		fault{name: "VM restored from a backup under another VMID", event: restoreElsewhere, harm: "creates 300 as one more live-a", recovery: recovery{"stackgen adopt", "1 imported, 0 added, 0 changed, 0 destroyed", nil}}.refusedInBoth("gone a", "it exists under another VMID"),
		fault{name: "the same, under another name", event: renamedBy("restored", restoreElsewhere), harm: "creates 300"}.refusedInBoth("gone a", "it exists under another VMID"),
		fault{name: "the same, and the state is lost", event: restoreWithoutState, harm: "creates 300 as one more live-a"}.refusedInBoth("gone a", "it exists under another VMID"),
		fault{name: "id of a retired VM in the state is another VMID", event: both(retireVM("a"), changeStateID), command: applyWithoutRefresh, harm: "destroys 700"}.refusedInBoth("conflict a", "its id in the state is another VMID than its vm_id"),
		fault{name: "VM restored from a backup beside itself", event: copyVM}.refusedInBoth("conflict a", "another guest has its MAC"),
	}
}

// adopted adopts VM a in the spec, and then injects an event.
func adopted(event func(*faultCase)) func(*faultCase) {
	return func(w *faultCase) {
		w.spec(strings.Replace(faultSpec, "a: {node: pve1,", "a: {node: pve1, adopt: {vmid: 300}, profile: default,", 1)+faultLast, true)
		event(w)
	}
}

// recreateWithoutState records what identifies the VMs, and then loses the state.
func recreateWithoutState(w *faultCase) {
	w.must(w.stackgen("resolve"))
	loseUnitState(w)
	recreateVM(w)
}

// removeNICs removes the NICs of a VM.
func removeNICs(w *faultCase) { w.change(300, func(g *pvesim.Guest) { delete(g.Config, "net0") }) }

// changeMAC gives a VM another MAC address, while its UUID is not recorded.
func changeMAC(w *faultCase) {
	w.change(300, func(g *pvesim.Guest) { g.Config["net0"] = "virtio=BC:24:11:99:99:99,bridge=vmbr0" })
}

// changeRecordedMAC does the same after the UUID was recorded.
func changeRecordedMAC(w *faultCase) {
	w.must(w.stackgen("resolve"))
	changeMAC(w)
}

// rollBack takes a snapshot of a VM and rolls it back, which changes its vmgenid.
func rollBack(w *faultCase) {
	w.must(w.stackgen("resolve"))
	w.post("POST", "/nodes/pve1/qemu/300/snapshot", "snapname", "before")
	w.waitUntil("the snapshot is taken", w.noRunningTask)
	was := w.guests()[300].config["vmgenid"]
	w.post("POST", "/nodes/pve1/qemu/300/snapshot/before/rollback")
	w.waitUntil("the VM is rolled back", w.noRunningTask)
	w.post("POST", "/nodes/pve1/qemu/300/status/start")
	w.waitUntil("the agent answers", func() bool { return w.stackgen("preflight").code == 0 })
	if is := w.guests()[300].config["vmgenid"]; is == was {
		w.Fatalf("the vmgenid is still %s", is)
	}
}

// takeMAC gives a guest the MAC address that was decided for a new VM.
func takeMAC(w *faultCase) {
	addVM(w)
	body, err := os.ReadFile(filepath.Join(w.dir, "stackgen.lock.yaml"))
	check(w.T, err)
	m := regexp.MustCompile(`\n +d: .*macs: \['?(BC:24:11:[0-9A-F:]+)`).FindSubmatch(body)
	if m == nil {
		w.Fatalf("the lock has no MAC of d\n%s", body)
	}
	g := guestByHand(700, "pve2", "erp")
	g.Config["net0"] = "virtio=" + string(m[1]) + ",bridge=vmbr0"
	w.add(g)
}

// addVMWithoutMAC adds a VM whose MAC address Proxmox VE chooses.
func addVMWithoutMAC(w *faultCase) {
	w.spec(faultSpec+faultLast+"  d: {node: pve1, networks: [{mac: auto}]}\n", true)
}

// cloneByHand clones the template with the VMID and name of the new VM.
func cloneByHand(w *faultCase) {
	w.post("POST", "/nodes/pve1/qemu/9000/clone", "newid", "303", "name", "live-d")
	w.waitUntil("the clone is complete", w.noRunningTask)
	w.sim.ResetLog() // a person made it, no apply
}

// resolveFirst records what identifies the VMs.
func resolveFirst(w *faultCase) { w.must(w.stackgen("resolve")) }

// recreateWithMAC deletes a VM and creates another one under its VMID and MAC address, as
// for a reservation in DHCP.
func recreateWithMAC(w *faultCase) {
	nic := w.guests()[300].config["net0"]
	w.sim.Remove(300)
	g := guestByHand(300, "pve1", "erp")
	g.Config["net0"], g.Running = nic, false
	w.add(g)
}

// createAgain deletes a VM, and creates it again where nobody commits the lock: the lock has
// the uuid of the first one.
func createAgain(w *faultCase) {
	resolveFirst(w)
	w.sim.Remove(300)
	w.must(w.run("stacks/live", nil, "terragrunt", "stack", "generate", "--non-interactive"))
	w.must(w.run("stacks/live/.terragrunt-stack/proxmox-vm", nil, "terragrunt", "state", "rm", `proxmox_virtual_environment_vm.this["a"]`, "--non-interactive"))
	w.must(w.apply())
	w.before = stateOf(w.sim)
}

// changeStateID gives VM a the id of an unmanaged VM in its state, and keeps its vm_id.
func changeStateID(w *faultCase) {
	w.add(guestByHand(700, "pve1", "erp"))
	const state = ".state/live/proxmox-vm/tofu.tfstate"
	body, err := os.ReadFile(filepath.Join(w.dir, state))
	check(w.T, err)
	w.write("backup.tfstate", string(body)) // which a step restores
	changed := strings.Replace(string(body), `"id": "300"`, `"id": "700"`, 1)
	if changed == string(body) {
		w.Fatalf("the state has no id 300:\n%s", body)
	}
	w.write(state, changed)
}

// applyWithoutRefresh is an apply that does not read the VMs first.
func applyWithoutRefresh(w *faultCase) commandResult {
	return w.run("stacks/live", nil, "terragrunt", "stack", "run", "apply", "--non-interactive", "--", "-refresh=false")
}

// copyVM adds a copy of a VM, as a restore from a backup does.
func copyVM(w *faultCase) {
	is := w.guests()[300]
	g := guestByHand(710, "pve1", "live-a")
	g.Running = false
	for _, key := range []string{"net0", "smbios1", "vmgenid", "meta"} {
		g.Config[key] = is.config[key]
	}
	w.add(g)
}

// restoreElsewhere deletes a VM and restores it under another VMID.
func restoreElsewhere(w *faultCase) {
	copyVM(w)
	deleteVM(w)
}

// renamedBy gives the restored VM another name.
func renamedBy(name string, event func(*faultCase)) func(*faultCase) {
	return func(w *faultCase) {
		event(w)
		w.change(710, func(g *pvesim.Guest) { g.Config["name"] = name })
	}
}

// restoreWithoutState does the same, and loses the state of the VMs.
func restoreWithoutState(w *faultCase) {
	w.must(w.stackgen("resolve"))
	loseUnitState(w)
	restoreElsewhere(w)
}
