package guard

import (
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestUnplanned checks what is said of a VM that no plan changes, and what is printed: only lines that Proxmox VE takes.
func TestUnplanned(t *testing.T) {
	t.Parallel()
	text := func(value string) *schema.Node { return schema.Scalar(schema.Pos{}, schema.ShapeString, value) }
	set := func(s *scene, key string, value *schema.Node, attribute, in string) {
		s.spec.Values = (&schema.Node{Shape: schema.ShapeMap}).With(text(key), value)
		s.state().Values = tf.Values{attribute: in}
		s.guest().Config.Raw = map[string]string{"name": "web1"}
	}
	tpm := func(s *scene) {
		disk := (&schema.Node{Shape: schema.ShapeMap}).With(text("datastore"), text("fast")).With(text("version"), text("v2.0"))
		set(s, guest.TPM, disk, "tpm_state.datastore_id", "fast")
	}
	unread := func(s *scene, volume string) {
		disk := (&schema.Node{Shape: schema.ShapeMap}).With(text(guest.Interface), text("scsi0"))
		set(s, guest.Disks, &schema.Node{Shape: schema.ShapeList, Items: []*schema.Node{disk}}, "disk.scsi0.interface", "scsi0")
		s.guest().Config.Raw["scsi0"], s.guest().Config.Raw["scsi3"] = "fast:vm-100-disk-0,size=1G", volume
	}
	hotplug := func(value string) func(s *scene) {
		return func(s *scene) {
			set(s, guest.Hotplug, text(value), "hotplug", value)
		}
	}
	for name, c := range map[string]struct {
		change func(*scene)
		lacks  string
		lines  string // some of what is printed; "" for nothing
	}{
		"no TPM": {tpm, "tpm", "--tpmstate0 fast:1,version=v2.0 | stackgen render"},
		"no TPM, and a volume that may be it": {func(s *scene) {
			tpm(s)
			s.guest().Config.Raw["unused0"] = "fast:vm-100-disk-7"
		}, "tpm", "--tpmstate0 fast:vm-100-disk-7,version=v2.0 | pvesh"},
		"a TPM that leaves": {func(s *scene) {
			tpm(s)
			s.guest().Config.Pending = []cluster.Pending{{Key: "tpmstate0", Value: "fast:vm-100-disk-7"}}
		}, "", ""},
		"no TPM, locked": {func(s *scene) {
			tpm(s)
			s.Inventory.Tasks = []cluster.Task{{UPID: "UPID:pve1:1:1:1:qmsnapshot:100:root@pam:", Type: "qmsnapshot", VMID: 100}}
		}, "tpm", ""},
		"begun": {func(s *scene) {
			tpm(s)
			s.Begun = map[string]cluster.Begun{"lab/web1": {VMID: 100}}
		}, "", ""},
		"a disk": {func(s *scene) {
			unread(s, "fast:vm-100-disk-3,size=1G")
		}, "", "stackgen drift --accept lab/web1 | pvesh set /nodes/pve1/qemu/100/config --delete scsi3"},
		"a disk, protected": {func(s *scene) {
			unread(s, "fast:vm-100-disk-3,size=1G")
			s.guest().Config.Raw["protection"] = "1"
		}, "", "--protection 0 | pvesh set /nodes/pve1/qemu/100/config --delete scsi3 | pvesh set /nodes/pve1/qemu/100/config --protection 1"},
		"a disk of a clone whose template is gone": {func(s *scene) {
			unread(s, "fast:vm-100-disk-3,size=1G")
			s.state().Values[CloneOf] = "9000"
		}, "", ""},
		"no hotplug":              {hotplug("disk"), "hotplug", "--hotplug disk"},
		"no hotplug, the default": {hotplug("usb,disk,network"), "", ""},
		"no hotplug, 1":           {hotplug("1"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJudge((&ruleCase{from: both, change: c.change}).scene().Input)
			s := j.subject(j.places["lab"], &j.all[0])
			s.decide()
			f := s.Finding
			if got := strings.Join(f.Lacks, " "); got != c.lacks {
				t.Errorf("lacks %q, want %q", got, c.lacks)
			}
			var lines []string
			for _, step := range f.Steps {
				for _, l := range step.Lines {
					lines = append(lines, l.String())
				}
			}
			if got := strings.Join(lines, " | "); c.lines == "" && strings.Contains(got, "pvesh set") || !strings.Contains(got, c.lines) {
				t.Errorf("prints %s, want %q", got, c.lines)
			}
		})
	}
}

// TestContainerWithoutCores: of a container without a number of cores, the provider reads one.
func TestContainerWithoutCores(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec  string
		has   string
		lacks string
	}{
		"the spec has one":                     {"{cores: 1}", "", "cores"},
		"the spec has two, which a plan shows": {"{cores: 2}", "", ""},
		"the container has one":                {"{cores: 1}", "1", ""},
	} {
		s := containerScene(both, func(s *scene) {
			s.spec.Values, _ = schema.ParseYAML("", []byte(c.spec))
			s.guest().Config.Raw = map[string]string{"memory": "512", "cores": c.has}
		})
		j := newJudge(s.Input)
		of := j.subject(j.places["lab"], &j.all[0])
		of.decide()
		if got := strings.Join(of.Lacks, " "); got != c.lacks {
			t.Errorf("%s: lacks %q, want %q", name, got, c.lacks)
		}
		if printed := linesOf(of.Finding); c.lacks != "" && !strings.Contains(printed, "/nodes/pve1/lxc/110/config --cores 1") {
			t.Errorf("%s: prints %s", name, printed)
		}
	}
}
