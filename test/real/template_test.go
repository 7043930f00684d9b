package real

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/finding"
)

// differing are the properties that preflight says of each VM and its spec to differ.
func (p *project) differing() map[string][]string {
	p.Helper()
	_, output := p.stackgen("preflight", "--format", "json", p.dir)
	_, output, _ = strings.Cut(output, "{\n")
	var report struct{ Verdicts []finding.Finding }
	if err := json.Unmarshal([]byte("{\n"+output), &report); err != nil {
		p.Fatalf("%v\n%s", err, output)
	}
	out := map[string][]string{}
	for _, v := range report.Verdicts {
		for _, d := range append(v.Differs, v.FromTemplate...) {
			name, _, _ := strings.Cut(d.Config, "=")
			if d.Field != "" {
				name = d.Field
			}
			out[v.Key] = append(out[v.Key], name)
		}
		slices.Sort(out[v.Key])
	}
	return out
}

// TestTemplateBringsMore creates VMs from a template that has more than the specs say,
// and loses the state. What preflight then announces of the import, it has said before the creation.
func TestTemplateBringsMore(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, started: false}
vms:
  least: {}
  disks: {disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
  most: {cloud_init: {user: me}, vga: std, serial: socket, tablet: true, startup: {order: 1}, machine: q35, description: mine, tags: [mine], keyboard: fr, networks: [{}, {bridge: vmbr0}], protection: false, boot_order: [scsi0]}
`})
	sim := p.simulate()
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/9002/config", url.Values{"ciuser": {"ops"}, "nameserver": {"192.0.2.1"}, "serial0": {"socket"}, "vga": {"serial0"}, "agent": {"1,fstrim_cloned_disks=1"},
		"net1": {"virtio,bridge=vmbr0,tag=30,queues=2"}, "scsi1": {"local-lvm:2,ssd=1"}, "tablet": {"0"}, "keyboard": {"de"}, "startup": {"order=5"}, "description": {"golden"}, "tags": {"golden"}, "numa": {"1"}, "cpulimit": {"2"}, "cpuunits": {"200"},
		"machine": {"q35"}, "rng0": {"source=/dev/urandom"}, "watchdog": {"model=i6300esb"}, "hotplug": {"disk"}, "balloon": {"256"}, "onboot": {"1"}})
	p.render()
	announced := p.differing()
	_, output := p.stackgen("preflight", "--verbose", p.dir)
	t.Log(output)
	p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	p.planOnly("cpu_limit", "watchdog")
	p.remove(".state")
	p.step(0, "import-blocks") // its plan tells what changes
	found := p.differing()

	if !reflect.DeepEqual(announced, found) {
		t.Errorf("announced at the creation: %q\nfound after the loss:    %q", announced, found)
	}
}

// planOnly checks that drift finds differences in some properties, which the plan has, and
// otherwise nothing that an apply would change or that somebody has changed.
func (p *project) planOnly(properties ...string) {
	p.Helper()
	_, output := p.stackgen("drift", "--format", "json", p.dir)
	var report driftReport
	_, body, _ := strings.Cut(output, "{")
	check(p.T, json.Unmarshal([]byte("{"+body), &report))
	var got []string
	for _, f := range report.Findings {
		if f.Severity != finding.OK {
			got = append(got, f.Change.Property)
		}
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, properties) {
		p.Errorf("drift finds differences in %v, want %v", got, properties)
	}
}

// noDrift checks that drift finds nothing, also nothing that no plan shows.
func (p *project) noDrift() {
	p.Helper()
	if code, output := p.stackgen("drift", p.dir); code != 0 || !strings.Contains(output, "\nno drift: ") {
		p.Errorf("drift: exit %d\n%s", code, output)
	}
}
