package guard

import (
	"slices"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

func unknownCases() []ruleCase {
	return []ruleCase{
		{"unknown: the state cannot be read", both, func(s *scene) { s.State = tf.States{} }, "terragrunt state list"},
		{"unknown: the state cannot be read", both, func(s *scene) {
			s.State = tf.States{tf.VMUnit("lab"): {Unreadable: "it ends early", CutOff: ".state/lab/proxmox-vm/tofu.tfstate"}}
		}, "mv .state/lab/proxmox-vm/tofu.tfstate .state/lab/proxmox-vm/tofu.tfstate.cut-off"},
		{"unknown: its node does not answer", both, func(s *scene) { s.Inventory.Nodes[0].Online = false }, "pvecm status"},
		{"unknown: the token does not see it", nowhere, func(s *scene) { s.hide("/vms/100", "VM.Audit") }, "pveum acl modify"},
		{"unknown: the token does not see it", nowhere, func(s *scene) { s.retire(); s.hide("/vms/100", "VM.Audit") }, "pveum acl modify"},
		{"unknown: another guest may have its name", nowhere, func(s *scene) { s.hide("/vms", "VM.Audit"); s.Inventory.Free = []int{100} }, "pveum acl modify"},
		{"unknown: not read yet", both, func(s *scene) { s.guest().Config = nil }, ""},
		{"unknown: nothing proves that it is the guest", both, func(s *scene) { s.retire(); s.guest().Config = nil }, "pvesh get"},
		{"unknown: its agent does not answer", both, func(s *scene) { s.running(cluster.AgentSilent) }, "systemctl enable --now qemu-guest-agent"},
		{"unknown: its agent does not answer", both, func(s *scene) { s.running(cluster.AgentSilent); s.retire() }, "--delete agent"},
		{"unknown: its agent refuses", both, func(s *scene) { s.running(cluster.AgentRefuses) }, "grep -ri rpc /etc/qemu"},
		{"unknown: its agent refuses", both, func(s *scene) { s.running(cluster.AgentRefuses); s.retire() }, "--delete agent"},
		{"unknown: its agent reports no address", both, func(s *scene) { s.running(cluster.AgentNoAddress) }, "network-get-interfaces"},
		{"unknown: its agent reports no address", both, func(s *scene) { s.running(cluster.AgentNoAddress); s.retire() }, "--delete agent"},
		{"unknown: its agent is not visible", both, func(s *scene) { s.running(""); s.hide("/vms/100", cluster.AgentAudit) }, "pveum acl modify"},
		{"unknown: the provider cannot read it", both, func(s *scene) { s.guest().Config.Raw = map[string]string{"migrate_downtime": "5"} }, "--delete migrate_downtime"},
		{"unknown: no configuration", onlyGuest, func(s *scene) { s.entry.Fingerprint, s.spec.Adopt, s.guest().Config = nil, true, nil }, "stackgen snapshot"},
		{"unknown: a gap in its devices", onlyGuest, func(s *scene) { s.guest().Config.Raw = map[string]string{"net0": "virtio", "net2": "virtio"} }, "profile: adopted"},
		{"adopt", onlyGuest, func(s *scene) {
			s.guest().Config.Raw, s.Project.Profiles = map[string]string{"net0": "virtio", "net2": "virtio"}, []schema.Profile{{Name: "default", IgnoreAll: true}}
		}, ""},
	}
}

// TestQuorum: without quorum, nothing is sure. Where the token does not see the quorum, the step that lets it comes first.
func TestQuorum(t *testing.T) {
	for _, c := range []struct {
		gaps  []cluster.Gap
		code  finding.Code
		lines []string
	}{
		{nil, "no-quorum", []string{"pvecm status"}},
		{[]cluster.Gap{{Path: "/", Privilege: cluster.SysAudit, Fix: "pveum acl modify"}, {Path: "/vms", Privilege: cluster.VMAudit}}, "quorum-hidden", []string{"pveum acl modify", "pvecm status"}},
	} {
		in := input([]tf.Resource{inState("web1", 100)}, newGuest(100, "web1"))
		in.Inventory.Quorate, in.Inventory.Gaps = false, c.gaps
		f := Judge(in)[0]
		var lines []string
		for _, s := range f.Steps {
			lines = append(lines, s.Lines[0].String())
		}
		if f.Key != "web1" || f.Kind != finding.Unknown || f.Reason.Code != c.code || !slices.Equal(lines, c.lines) {
			t.Errorf("%s: %v, %q", f.Key, f.Reason, lines)
		}
	}
}
