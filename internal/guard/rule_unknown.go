package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// A VM is `unknown` if something that decides about it cannot be read: its state, its node, its
// guest, the names of other guests, or its agent; or if the provider cannot read the VM, so that
// the plan of the whole stack would fail.

// stateUnknown is the finding where a state could not be read. Such a state is not
// an empty one.
func (in *Input) stateUnknown(f *finding.Finding, reason string) {
	f.Is(finding.Unknown, finding.Why("state-unread")).Because("%s: %s", f.Unit, reason)
	if file := in.State[tf.Unit{Stack: f.Stack, Unit: f.Unit}].CutOff; file != "" { // the cluster and the lock say what it had
		f.Next("a full disk or a killed run has cut off the file of the state: keep it under another name, then run preflight again. "+
			"What exists is imported", "mv "+shell.Path(file)+" "+shell.Path(file+".cut-off"))
	} else {
		f.Next("fix access to the state first: an apply would create everything again that it cannot read",
			lock.InUnit(f.Stack, f.Unit, "terragrunt state list"))
	}
	f.Severity = finding.Failed
}

// grant is the step for what the token may not see.
const grant = "grant this permission, then run preflight again"

// stateUnread reports whether the state of the VM's unit cannot be read.
func (s *subject) stateUnread() bool { return s.notRead != "" }

func (s *subject) unknownState() { s.stateUnknown(s.Finding, s.notRead) }

// hidden reports whether the VMID may belong to a guest that the token does not see.
func (s *subject) hidden() bool { return len(s.Inventory.GapsForVM(s.VMID)) > 0 }

func (s *subject) absentAndHidden() bool { return s.absent() && s.hidden() }

func (s *subject) unknownHidden() { gaps(s.Finding, s.Inventory.GapsForVM(s.VMID)) }

// hiddenNames are the parts of the cluster in which another VM may have the name of the VM.
func (s *subject) hiddenNames() []cluster.Gap {
	return slices.DeleteFunc(s.Inventory.GapsForNames(), func(g cluster.Gap) bool { return !g.AnyGuest() })
}

func (s *subject) namesHidden() bool { return s.absent() && len(s.hiddenNames()) > 0 }

func (s *subject) unknownNames() {
	gaps(s.Finding, s.hiddenNames())
	s.Because("so another %s may be named %s already", s.Word(), s.Name)
}

// unknownUnread is a VM of which the cluster has more than its lists say yet.
func (s *subject) unknownUnread() {
	s.Is(finding.Unknown, finding.Why("guest-unread")).Because("%s", Describe(s.guest)).Case = finding.NotRead
	s.Next("wait ten seconds, then run preflight again: the lists of Proxmox VE may be ten seconds old")
}

// unknownRetired is a retired VM that the state has. An apply would destroy the guest.
func (s *subject) unknownRetired() {
	s.Is(finding.Unknown, finding.Why("retired-unproven")).Because("%s", Describe(s.guest))
	s.Next("inspect it, as root on a node", inspect(s.guest))
	s.Next("if it is this " + s.Word() + ", destroy it by hand, then run preflight again")
	s.Add(finding.DoAll("if it is another guest, remove this "+s.Word()+" from the state, then run preflight again",
		s.stateRemove(s.Resource)))
}

// gaps makes a finding unknown for what is not visible. It reports whether there
// was anything.
func gaps(f *finding.Finding, gaps []cluster.Gap) bool {
	reason := finding.Why("hidden")
	if i := slices.IndexFunc(gaps, func(g cluster.Gap) bool { return !strings.HasSuffix(g.Path, fmt.Sprintf("/%d", f.VMID)) }); i >= 0 {
		reason = finding.Why("gap", gaps[i].Reason) // the same for every VM
	}
	for _, g := range gaps {
		f.Is(finding.Unknown, reason).Because("%s: %s", g.Path, g.Reason)
		if g.Fix != "" {
			f.Next(grant, g.Fix)
		}
	}
	return len(gaps) > 0
}

// quorum makes every finding that blocks nothing `unknown` if the cluster has no quorum:
// reads work then, and some writes fail halfway. A token that does not see the quorum sees
// which nodes are online, and a cluster of which half are off may have it all the same.
func (j *judge) quorum() {
	if j.Inventory.Quorate {
		return
	}
	reason, start := finding.Why("no-quorum"), "start the missing nodes, then run preflight again"
	hidden := slices.DeleteFunc(slices.Clone(j.Inventory.Gaps), func(g cluster.Gap) bool {
		return g.Path != "/" || g.Privilege != cluster.SysAudit
	})
	if len(hidden) > 0 {
		reason, start = finding.Why("quorum-hidden"), "or "+start
	}
	for i := range j.out {
		f := &j.out[i]
		if f.Stops() || f.Type == finding.Record || f.Type == finding.Guest {
			continue
		}
		was := f.Kind
		f.Evidence, f.Steps, f.Differs, f.Updates, f.Import = nil, nil, nil, nil, ""
		f.Is(finding.Unknown, reason).Because("with quorum: %s", was)
		for _, g := range hidden {
			f.Next(grant, g.Fix)
		}
		f.Next(start, "pvecm status")
	}
}

// nodeDown reports whether the VM is on a node that is offline or does not answer, or is a new
// one whose template is on such a node. A destroy of a VM that was never made needs no node.
func (s *subject) nodeDown() bool {
	n, _ := s.downNode()
	return n != nil
}

// downNode is the node that does not answer, and what that means; nil if all answer.
func (s *subject) downNode() (n *cluster.Node, reason finding.Reason) {
	create := s.absent() && s.notInState()
	if s.Destroy && create {
		return nil, reason
	}
	n = s.Inventory.Node(s.Node)
	switch t := s.entry.Template; {
	case n != nil && n.Silent != "":
		return n, finding.Why("node-down", n.Name, n.Down())
	case n != nil && !n.Online:
		return n, finding.Why("node-offline", n.Name)
	case create && t != nil:
		if n = s.Inventory.Node(s.templateNode(t)); n != nil && (!n.Online || n.Silent != "") {
			return n, finding.Why("template-node-down", t.VMID, n.Name, n.Down())
		}
	}
	return nil, reason
}

func (s *subject) unknownNode() {
	n, reason := s.downNode()
	s.Is(finding.Unknown, reason)
	what, line := n.Wake()
	s.Next(what+", then run preflight again", line)
}

// templateNode is where a template is, or the node that the lock says.
func (s *subject) templateNode(t *lock.Template) string {
	if g := s.Inventory.Guest(t.VMID); g != nil {
		return g.Node
	}
	return t.Node
}

// undecodable reports whether the VM has an entry that the provider cannot read, so that every
// plan of its unit fails, also if its profile ignores all changes.
func (s *subject) undecodable() bool {
	return s.guest.Config != nil && hardware.FindUnreadable(s.guest.Config.Raw) != nil
}

func (s *subject) unknownUndecodable() {
	u := hardware.FindUnreadable(s.guest.Config.Raw)
	s.Is(finding.Unknown, finding.Why("undecodable", u.Has, u.Them))
	s.Because("%s: %s", u.Key, s.guest.Config.Raw[u.Key])
	if s.guest.Kind == guest.Container || u.Options == "" { // a whole entry of a running container is not written
		s.Next(u.Step+", then run preflight again", inspect(s.guest))
		return
	}
	s.Next(u.Step+", then run preflight again", set(s.guest, u.Options))
}

// configurationUnread reports whether a VM to adopt has a configuration that was not read.
func (s *subject) configurationUnread() bool { return s.notInState() && s.guest.Config == nil }

func (s *subject) unknownConfiguration() {
	s.Is(finding.Unknown, finding.Why("configuration-unread")).Because("%s", Describe(s.guest))
	s.Next("read the cluster again", "stackgen snapshot")
}

// deviceGap is the device that a VM to adopt does not have although it has later ones, or "".
// HCL cannot express that: the plan of the adoption looks harmless, and the apply adds a NIC.
func (s *subject) deviceGap() string {
	if !s.notInState() || s.profile != nil && s.profile.IgnoreAll {
		return ""
	}
	return cmp.Or(missingDevice(s.guest.Config.Raw, nics), missingDevice(s.guest.Config.Raw, "serial"))
}

func (s *subject) hasDeviceGap() bool { return s.deviceGap() != "" }

func (s *subject) unknownDevices() {
	s.Is(finding.Unknown,
		finding.Why("device-gap", s.deviceGap()))
	s.Because("%s", Describe(s.guest))
	s.Next("adopt it without its hardware: write into "+s.at.Spec, s.line("profile: adopted"))
	device, _ := pve.SplitKey(s.deviceGap())
	renumber(s.Finding, "or renumber its devices without a gap", s.guest, device)
}
