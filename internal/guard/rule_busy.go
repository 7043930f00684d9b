package guard

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
)

// A VM is `busy` if a lock or a task is on its guest or its template, and an apply would meet it;
// or if its protection keeps it from being destroyed.

// blocks is what a lock or a running task on a guest keeps an apply from.
type blocks int

const (
	nothing blocks = iota
	changes        // a change or destroy of it would fail, and leave it as it is; so would a clone of it
	all            // also its adoption: it is not complete, or its configuration is about to be another one
)

// lockBlocks has the locks of Proxmox VE. Another lock blocks everything.
var lockBlocks = map[string]blocks{
	"":                nothing,
	"backup":          changes,
	"migrate":         changes,
	"snapshot":        changes,
	"snapshot-delete": changes,
	"suspending":      changes,
	"suspended":       changes,
	"clone":           all,
	"create":          all,
	"rollback":        all,
}

// taskBlocks has the operations that block more or less than changes. Every other task on a
// guest may hold its lock, so it blocks them.
var taskBlocks = map[pve.Operation]blocks{
	pve.Console:  nothing,
	pve.Create:   all,
	pve.Restore:  all,
	pve.Rollback: all,
	pve.Convert:  all,
	pve.Destroy:  all,
}

// A hold is what a lock and the tasks on a guest block, and why.
type hold struct {
	blocks blocks
	guest  *cluster.Guest
	tasks  []cluster.Task // that block something
	backup *cluster.Task  // of several guests of its node, which may hold the lock
	begun  bool           // a run from here began to create the guest, and no run has completed it
}

// hold is the hold on the subject's guest.
func (s *subject) hold() hold {
	if s.guest != nil && s.guest.Kind.Resource() != s.entry.Kind.Resource() {
		return hold{guest: s.guest} // another guest, which no apply waits for
	}
	h := holdOn(s.Inventory, s.guest)
	h.begun = s.begun(s.Stack, s.Key, s.guest)
	if c := s.cloneRecord(); c != nil { // its description is exact
		h.begun = c.MayBe(s.guest)
	}
	return h
}

// holdOn is the hold on a guest.
func holdOn(inv *cluster.Inventory, g *cluster.Guest) hold {
	h := hold{guest: g}
	if g == nil {
		return h
	}
	known := false
	if h.blocks, known = lockBlocks[g.Lock]; !known {
		h.blocks = all
	}
	for i, t := range inv.Tasks {
		operation := pve.OperationOf(t.Type)
		effect, known := taskBlocks[operation]
		if !known {
			effect = changes
		}
		switch {
		case t.VMID == g.VMID && effect > nothing, mayClone(t, g):
			h.tasks, h.blocks = append(h.tasks, t), max(h.blocks, effect)
		case operation == pve.Backup && t.VMID == 0 && t.Node == g.Node && g.Lock != "":
			h.backup = &inv.Tasks[i]
		}
	}
	return h
}

// mayClone reports whether a task may have the lock of a guest that is cloned: it has the VMID of its source.
func mayClone(t cluster.Task, g *cluster.Guest) bool {
	if pve.IsContainerTask(t.Type) != (g.Kind == guest.Container) {
		return false
	}
	return g.Lock == g.Kind.CloneLock() && pve.OperationOf(t.Type) == pve.Clone
}

// words say what holds the guest.
func (h hold) words() string {
	switch {
	case h.guest.Lock == "suspended":
		return "hibernated (locked: suspended)"
	case h.guest.Lock != "":
		return "locked: " + h.guest.Lock
	}
	return "a task is running on it"
}

// explain adds what is known of the hold to a finding.
func (h hold) explain(f *finding.Finding) {
	for _, t := range h.tasks {
		from := ""
		if t.VMID != h.guest.VMID {
			from = fmt.Sprintf(", a clone of VMID %d that may hold the lock", t.VMID)
		}
		f.Because("task %s of %s is running on %s%s", t.Type, t.User, t.Node, from)
	}
	if h.backup != nil {
		f.Because("a backup of several guests is running on %s, and may hold the lock", h.guest.Node)
	}
}

// refuse makes a finding of what the hold blocks. The code says which planned write meets
// it; it may be empty.
func (h hold) refuse(f *finding.Finding, planned finding.Code) {
	f.Is(finding.Busy, finding.Why("held", h.words()))
	if planned != "" {
		f.Reason = f.Reason.And(finding.Why(planned))
	}
	f.Import = ""
	h.explain(f)
	f.Because("%s", Describe(h.guest))
	h.release(f)
}

// mayWork reports whether a task may work on the guest, also one that the token must not see. A clone or creation that was
// interrupted leaves its lock.
func (h hold) mayWork() bool {
	return len(h.tasks) > 0 || h.backup != nil || !slices.Contains([]string{"", "clone", "create", "suspended"}, h.guest.Lock)
}

// release adds the steps after which nothing holds the guest.
func (h hold) release(f *finding.Finding) {
	waiting := slices.Clone(h.tasks)
	if h.backup != nil {
		waiting = append(waiting, *h.backup)
	}
	for _, t := range waiting {
		f.Next("wait until it has ended, then run preflight again", pve.Pvesh("get", "/nodes/"+t.Node+"/tasks/"+t.UPID+"/status"))
	}
	switch g := h.guest; {
	case g.Lock == "suspended": // an unlock would discard its memory
		f.Next("resume it, then run preflight again: its memory is on disk",
			pve.Pvesh("create", g.Path("status", "resume")))
	case g.Lock == "" || len(waiting) > 0:
	case g.Lock == "clone" || g.Lock == "create":
		h.refusePart(f)
	default:
		h.unlock(f)
	}
}

// forgotten reports whether nothing that is visible works on the guest, so that a killed task may have left its lock.
func (h hold) forgotten() bool {
	return h.mayWork() && len(h.tasks) == 0 && h.backup == nil
}

// unlock adds the steps that remove the lock of a killed task.
func (h hold) unlock(f *finding.Finding) {
	f.Next("no visible task holds the lock: a killed task may have left it. Look for one, as root on a node", activeTasks(h.guest))
	f.Next("if none is running, unlock it, as root on "+h.guest.Node+", then run preflight again",
		fmt.Sprintf("%s unlock %d", h.guest.Kind.Tool(), h.guest.VMID))
}

// refusePart adds the steps for a guest whose clone or creation was interrupted. Without its lock it would seem to be
// complete, so no step removes only that. A guest that stackgen did not begin may have a task of somebody else that
// the token must not see.
func (h hold) refusePart(f *finding.Finding) {
	g, name := h.guest, h.guest.Kind.Name()
	if h.begun {
		f.Next(fmt.Sprintf("no visible task holds the lock, and a %s whose creation was interrupted is not complete: look for one, "+
			"as root on a node", name), activeTasks(g))
		f.Next(fmt.Sprintf("if none is running, destroy it, as root on %s, then run preflight again", whereDestroyed(g)), destroyLine(g))
		return
	}
	f.Next(fmt.Sprintf("no visible task holds the lock. Without one, an interrupted clone or restore has left a %s that is not complete, "+
		"and nothing proves that stackgen began it: inspect both, as root on %s", name, g.Node), activeTasks(g), inspect(g))
}

// activeTasks lists the tasks that run on the node of a guest, of all users.
func activeTasks(g *cluster.Guest) string {
	return pve.Pvesh("get", "/nodes/"+g.Node+"/tasks", "--source active")
}

// incomplete reports whether no apply must touch the guest now: what it is cannot be told before
// its lock or task has ended.
func (s *subject) incomplete() bool {
	return !s.absent() && !s.guest.Template && s.hold().blocks == all
}

func (s *subject) busyIncomplete() { s.hold().refuse(s.Finding, "") }

// nothingToDestroy reports whether a destroy of the stack does nothing about the VM.
func (s *subject) nothingToDestroy() bool { return s.Destroy && s.notInState() && s.notProven() }

// leftClone reports whether a VM that no state has is being cloned during a destroy: nothing
// proves whose it is before the clone has ended.
func (s *subject) leftClone() bool {
	return s.nothingToDestroy() && !s.absent() && !s.guest.Template && s.guest.Lock == s.guest.Kind.CloneLock()
}

func (s *subject) busyLeftClone() {
	s.hold().refuse(s.Finding, "held-in-no-state")
	s.Case = finding.LeftClone
	if !Cloning(s.Inventory, s.guest.VMID) { // it is not waited for
		s.Severity = finding.OK
	}
}

// meetsHold reports whether a planned write would meet the hold on the guest.
func (s *subject) meetsHold() bool {
	return !s.guest.Template && s.hold().blocks != nothing && s.planned() != ""
}

func (s *subject) busyHold() { s.hold().refuse(s.Finding, s.planned()) }

// planned is the write to a held guest that is known without a plan, or "".
func (s *subject) planned() finding.Code {
	manages := func(attribute string) bool { return s.profile != nil && !s.profile.Ignores(attribute) }
	switch {
	case len(s.states) > 0 && (s.Destroy || s.retired()):
		return "held-destroy"
	case s.guest.Lock == "migrate" && manages("node_name"):
		return "held-migration"
	case s.match.VM != nil && s.match.VM.Values.Get(guest.Started).Bool() && s.guest.Status == "stopped" && manages("started"):
		return "held-start"
	}
	return ""
}

// meetsUpdate adds the hold to the finding about a guest that no planned write is known to
// meet. What a plan changes of it meets it, too.
func (s *subject) meetsUpdate() {
	h := s.hold()
	switch {
	case h.blocks == nothing, s.Kind == finding.WouldHarm:
	case s.Kind == finding.Migrate:
		h.refuse(s.Finding, "held-migrate")
	case s.Kind == finding.Settling && !s.importing():
		h.refuse(s.Finding, "held-settling")
	case s.Kind == finding.Managed, s.Kind == finding.Settling, s.Kind == finding.Pending:
		h.explain(s.Is(finding.Busy, finding.Why("held", h.words()).And(finding.Why("held-harmless"))))
		s.Severity = finding.OK
		if h.forgotten() {
			h.unlock(s.Finding)
		}
	default:
		s.Because("%s; an apply that does not change it may run", h.words())
		h.explain(s.Finding)
	}
}

// templateLocked reports whether the template of a VM to create cannot be cloned now.
func (s *subject) templateLocked() bool {
	return s.absent() && s.templateHold() != nil
}

func (s *subject) busyTemplate() { refuseTemplate(s.Finding, s.templateHold()) }

// templateHold is what keeps the template of the guest from being cloned now, or nil. A clone of a container locks it, and an
// apply waits for that.
func (s *subject) templateHold() *hold {
	if s.match.VM == nil || s.match.VM.ClonedFrom == 0 {
		return templateHold(s.Inventory, s.entry)
	}
	h := holdOfTemplate(s.Inventory, s.match.VM.ClonedFrom)
	if h != nil && slices.ContainsFunc(h.tasks, func(t cluster.Task) bool { return pve.OperationOf(t.Type) == pve.Clone }) {
		return nil
	}
	return h
}

// templateHold is what keeps the template of a VM from being cloned now, or nil. Proxmox VE clones one
// without a lock several times at once.
func templateHold(inv *cluster.Inventory, e *lock.VM) *hold {
	if e.Template == nil {
		return nil
	}
	return holdOfTemplate(inv, e.Template.VMID)
}

func holdOfTemplate(inv *cluster.Inventory, vmid int) *hold {
	g := inv.Guest(vmid)
	if h := holdOn(inv, g); g != nil && g.Lock != "" && h.blocks != nothing && len(inv.GapsForVM(vmid)) == 0 {
		return &h
	}
	return nil
}

// refuseTemplate refuses a VM because its template cannot be cloned now.
func refuseTemplate(f *finding.Finding, h *hold) {
	h.refuse(f, "")
	f.Reason = finding.Why("template-locked", h.guest.VMID).Of(f.Reason)
}

// protectionOn reports whether Proxmox VE refuses to destroy the VM. It does not refuse that for
// an HA resource: the provider destroys a VM together with it.
func (s *subject) protectionOn() bool { return protected(s.guest) }

func (s *subject) destroyRefused() bool { return s.Destroy && !s.notInState() && s.protectionOn() }

func (s *subject) busyProtection() {
	s.Is(finding.Busy, finding.Why("protection-on"))
	s.Because("%s", Describe(s.guest))
	s.Next("to destroy it, remove the protection", set(s.guest, "--protection 0"))
}

// Cloning reports whether a guest is the target of a clone that still runs.
func Cloning(inv *cluster.Inventory, vmid int) bool {
	g := inv.Guest(vmid)
	if g == nil || g.Lock != g.Kind.CloneLock() {
		return false
	}
	return slices.ContainsFunc(holdOn(inv, g).tasks, func(t cluster.Task) bool { return pve.OperationOf(t.Type) == pve.Clone })
}

// Changing reports whether a task changes a guest that did not run yet in an inventory of before.
func Changing(inv, before *cluster.Inventory, vmid int) bool {
	return slices.ContainsFunc(holdOn(inv, inv.Guest(vmid)).tasks, func(t cluster.Task) bool {
		changes := []pve.Operation{pve.Configure, pve.Resize, pve.MoveDisk, pve.Migrate}
		ran := slices.ContainsFunc(before.Tasks, func(b cluster.Task) bool { return b.UPID == t.UPID })
		return slices.Contains(changes, pve.OperationOf(t.Type)) && !ran
	})
}

// Working reports whether a task is running on a guest that keeps an apply from changing it.
func Working(inv *cluster.Inventory, vmid int) bool {
	return len(holdOn(inv, inv.Guest(vmid)).tasks) > 0
}
