//go:build unix

package real

import (
	"strings"
	"testing"
)

// TestDriftAcceptShared accepts a value that all VMs of a class have: one line in its defaults
// says it, a part of an inherited list too, and what one VM has by itself stays in its entry.
func TestDriftAcceptShared(t *testing.T) {
	t.Parallel()
	const was = "apiVersion: stackgen/v1\nkind: Class\nname: class\nvmids: 1000-1099\ntemplate: 9002\nplacement: {nodes: [pve1]}\n" +
		"defaults:\n  agent: false  # no agent in the image\n  disks: [{interface: scsi0, datastore: local-lvm, size: 4}]\nstudents:\n  count: 3\n"
	w := &acceptWorld{project: newProject(t, map[string]string{"specs/class.yaml": was})}
	w.sim = w.simulate()
	w.render()
	w.deployed(0, "apply --yes")
	for _, vmid := range []string{"1000", "1001", "1002"} {
		disk := callAPI(t, w.sim, "GET", "/nodes/pve1/qemu/"+vmid+"/config", nil).(map[string]any)["scsi0"].(string)
		setByHand("memory", "4096", "balloon", "0", "scsi0", strings.Replace(disk, ",ssd=0", "", 1)+",ssd=1")(w, "/nodes/pve1/qemu/"+vmid)
	}
	setByHand("cores", "3")(w, "/nodes/pve1/qemu/1001")
	out := w.deployed(0, "drift --accept", "class/student1, class/student3: the specs say what they have: memory, disks.", "class/student2: the spec says what it has: ")
	want := strings.NewReplacer("size: 4}]\n", "size: 4, ssd: true}]\n  memory: 4096\n", "count: 3\n", "count: 3\n  overrides:\n    student2: {cores: 3}\n").Replace(was)
	if got := w.read("specs/class.yaml"); got != want {
		t.Errorf("the spec is\n%s\nwant\n%s\n%s", got, want, out)
	}
	w.render()
	for _, vmid := range []string{"1000", "1001", "1002"} { // what waits for a restart
		for _, action := range []string{"stop", "start"} {
			callAPI(t, w.sim, "POST", "/nodes/pve1/qemu/"+vmid+"/status/"+action, nil)
		}
	}
	w.noDrift()
}
