package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// Begun are the VMs of a stack that runs from here began to create and that no run has
// completed, by their keys. Their record proves that a clone which no run has configured is
// ours. It survives a killed run.
type Begun map[string]BegunVM

// A BegunVM is one of them.
type BegunVM struct {
	VMID int    `json:"vmid"`
	UUID string `json:"uuid,omitempty"` // that the lock recorded then, of the guest that had the VMID before

	Start bool `json:"start,omitempty"` // the run that completes it starts it
	Half  bool `json:"half,omitempty"`  // its creation ended halfway: the provider does not start it any more

	// It replaces a guest: a state may still have that one, and says nothing about the new one.
	Replaces bool `json:"replaces,omitempty"`

	Clone *cluster.CloneRecord `json:"clone,omitempty"` // of a container that is cloned

	// A request of the run had no answer. Proxmox VE may have it still, and create the VM later.
	Unanswered bool `json:"unanswered,omitempty"`

	Again bool `json:"again,omitempty"` // an earlier run, which may have been killed, has begun to create it, too
}

// once reports whether no run but the last one can have made a guest for the VM.
func (vm BegunVM) once() bool { return !vm.Unanswered && !vm.Again && !vm.Replaces && vm.Clone == nil }

// Unanswered matches what a run prints if a request of it had no answer of Proxmox VE: its
// proxy gave up, or the connection broke. OpenTofu breaks long lines, so any space may be a line
// break. root.hcl has the same pattern.
const Unanswered = `HTTP\s+5(0[234]|9[0-9])|(i/o|handshake)\s+timeout|[Tt]imeout\s+(exceeded|awaiting)|[Tt]imed\s+out|` +
	`deadline\s+exceeded|context\s+canceled|connection\s+(reset|lost)|closed\s+(network|idle)\s+connection|` +
	`broken\s+pipe|forcibly\s+closed|bad\s+record\s+MAC|(:|unexpected)\s+EOF|did\s+not\s+respond|data\s+object\s+in\s+the\s+response`

// maxBegun bounds the file.
const maxBegun = 16 << 20

// RecordFile is a file about a stack that must survive a killed command. It is outside of
// what Terragrunt generates, and Git ignores its folder.
func RecordFile(root, stack, what string) string {
	return filepath.Join(root, lock.StateDir, ".stackgen", stack+"."+what+".json")
}

// WriteRecord writes a file of RecordFile.
func WriteRecord(file string, value any) error {
	for again := true; ; again = false {
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = files.WritePrivate(file, func(w io.Writer) error { return json.NewEncoder(w).Encode(value) })
		}
		if !again || !errors.Is(err, fs.ErrNotExist) { // the command of another stack may have removed the empty folder
			return err
		}
	}
}

// RemoveRecord removes a file of RecordFile, and its folders if they are empty.
func RemoveRecord(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(file)
	_, _ = os.Remove(dir), os.Remove(filepath.Dir(dir)) // others have files there
	return nil
}

// ReadBegun reads the record of a stack.
func ReadBegun(root, stack string) (Begun, error) {
	out := Begun{}
	return out, readRecord(RecordFile(root, stack, "unfinished"), &out)
}

// readRecord reads a file of RecordFile. One that does not exist changes nothing.
func readRecord(file string, out any) error {
	body, err := files.Read(file, maxBegun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(body, out)
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", file, err)
	}
	return nil
}

// Write writes the record of a stack.
func (b Begun) Write(root, stack string) error {
	return writeRecord(RecordFile(root, stack, "unfinished"), b)
}

// writeRecord writes the record of some guests, and removes that of none.
func writeRecord[T any](file string, guests map[string]T) error {
	if len(guests) == 0 {
		return RemoveRecord(file)
	}
	return WriteRecord(file, guests)
}

// Begin adds a VM that a run is about to create, or to complete. What an earlier run asked for
// without an answer may still come. One whose rebuild has begun replaces another guest, also for a run that completes it.
func (b Begun) Begin(key string, vm BegunVM, l *lock.Stack) {
	if before := b[key]; before.VMID == vm.VMID {
		vm.Unanswered, vm.Clone, vm.Again = before.Unanswered, cmp.Or(vm.Clone, before.Clone), true
	}
	if l != nil {
		if e := l.VMs.Get(key); e != nil && e.VMID == vm.VMID {
			vm.Replaces = vm.Replaces || e.RebuildBegun()
			if e.Fingerprint != nil {
				vm.UUID = e.Fingerprint.UUID
			}
		}
	}
	b[key] = vm
}

// Created drops the VMs of a stack whose creation the provider has completed, as the states say: they
// were made, and read afterwards. The provider has started them. Whoever stops them later
// wants them stopped.
func (b Begun) Created(states tf.States, stack string) {
	for _, r := range states.Guests(stack) {
		vm, made := b[r.Key], r.Made && !r.Tainted && !r.Planned
		if vm.VMID == r.VMID && !vm.Half && !vm.Replaces && made {
			delete(b, r.Key)
		}
	}
}

// NotMade drops the VMs that a run did not make before it ended by itself: a guest that gets
// such a VMID later is somebody else's.
func (b Begun) NotMade(inv *cluster.Inventory) {
	maps.DeleteFunc(b, func(_ string, vm BegunVM) bool {
		return !vm.Unanswered && inv.Guest(vm.VMID) == nil && len(inv.GapsForVM(vm.VMID)) == 0
	})
}

// taken matches what a run prints if another guest had the VMID of one that it was about to create. root.hcl has the same
// pattern.
var taken = regexp.MustCompile(`unable\s+to\s+create\s+VM\s+(\d+)(:|\s+-)\s+(config\s+file|VM\s+\d+)\s+already\s+exists|` +
	`qemu-server/(\d+)\.conf'\s+failed:\s+File\s+exists`)

// Taken drops the VMs of whose VMIDs a run says that other guests have got them in between: whatever these are called, they
// are somebody else's. What an earlier run has asked for may be such a guest.
func (b Begun) Taken(log string) {
	for _, m := range taken.FindAllStringSubmatch(log, -1) {
		maps.DeleteFunc(b, func(_ string, vm BegunVM) bool {
			return strconv.Itoa(vm.VMID) == cmp.Or(m[1], m[4]) && vm.once()
		})
	}
}

// InNoState drops the VMs that no state has, after a run that has met another guest under one of their VMIDs, and nothing
// tells under which: a guest that the provider has made is in the state, unless a request had no answer. What an earlier run
// has asked for may be such a guest.
func (b Begun) InNoState(states tf.States, stack string) {
	maps.DeleteFunc(b, func(key string, vm BegunVM) bool {
		return vm.once() && !slices.ContainsFunc(states.Guests(stack), func(r tf.Resource) bool { return r.Key == key && r.VMID == vm.VMID })
	})
}

// Keep keeps the VMs that a run may still make, because a request of it had no answer.
func (b Begun) Keep() {
	for key, vm := range b {
		vm.Unanswered = true
		b[key] = vm
	}
}

// unanswered reports whether all VMs may still be made.
func (b Begun) unanswered() bool {
	for _, vm := range b {
		if !vm.Unanswered {
			return false
		}
	}
	return true
}

// begun are the records of all stacks, by STACK/KEY. What cannot be read proves nothing.
func (s *Session) begun() map[string]cluster.Begun {
	out := map[string]cluster.Begun{}
	for _, stack := range s.Project.Stacks.Stacks {
		vms, _ := ReadBegun(s.Project.Root, stack.Name)
		left := maps.Clone(vms)
		left.Created(s.State, stack.Name)
		for key, vm := range vms {
			_, open := left[key]
			out[stack.Name+"/"+key] = cluster.Begun{VMID: vm.VMID, UUID: vm.UUID, Done: !open, Clone: vm.Clone}
		}
		s.rebuilds(stack.Name, out)
	}
	return out
}

// rebuilds adds the VMs of a stack whose rebuild has begun, by the lock. While the guest that is
// replaced exists, nothing of its successor does.
func (s *Session) rebuilds(stack string, out map[string]cluster.Begun) {
	l := s.Project.Lock.Stacks.Get(stack)
	if l == nil {
		return
	}
	for i := range l.VMs {
		v, at := &l.VMs[i].Value, stack+"/"+l.VMs[i].Key
		if !v.RebuildBegun() {
			continue
		}
		g := s.Inventory.Guest(v.VMID)
		if g != nil && g.Config != nil && strings.EqualFold(g.Config.UUID, v.Rebuild.UUID) {
			delete(out, at)
			continue
		}
		out[at] = cluster.Begun{VMID: v.VMID, UUID: v.Rebuild.UUID, Replaces: true}
	}
}

// begins records the VMs that the run is about to create: if it is killed, that proves that
// their clones are ours. It records none of a run in which OpenTofu asks: whether the answer was
// yes is not known here, and a record of VMs that nobody wanted would claim a stranger's. The
// record of those that are complete ends before a destroy, too: no state tells that afterwards.
func (h *Hook) begins(found []finding.Finding, asks bool) error {
	stack := h.Unit.Stack
	if h.Unit.Unit != lock.UnitVM {
		return nil
	}
	vms, err := ReadBegun(h.Project.Root, stack)
	if err != nil {
		return err
	}
	before := maps.Clone(vms)
	vms.Created(h.State, stack)
	for _, f := range found {
		if asks || !h.creates(f) {
			continue
		}
		vm := vms[f.Key]
		switch {
		case vm.VMID != f.VMID:
			vm = BegunVM{VMID: f.VMID}
		case h.command.Own: // it has recorded it before
			continue
		}
		vms.Begin(f.Key, vm, h.Project.Lock.Stacks.Get(stack))
	}
	if maps.Equal(vms, before) {
		return nil
	}
	return vms.Write(h.Project.Root, stack)
}

// creates reports whether a finding is about a VM that the run creates. Without a plan, it creates all of the unit, unless
// it is for a part of that.
func (h *Hook) creates(f finding.Finding) bool {
	if !h.applies() || f.Stack != h.Unit.Stack || f.Unit != lock.UnitVM || f.Type != finding.VM || f.Kind != finding.Create {
		return false
	}
	plan := h.plans[h.Unit]
	if plan == nil {
		return !h.command.Part()
	}
	return slices.ContainsFunc(plan.Changes, func(c *tf.ResourceChange) bool {
		return c.Action == tf.Create && h.Unit.Manages(c.Type) && c.Key == f.Key && tf.VMIDOf(c.After) == f.VMID
	})
}

// A Failure is how a run has failed.
type Failure int

// The ways in which runs fail.
const (
	Answered      Failure = iota // Proxmox VE has answered all requests
	WithoutAnswer                // a request had no answer: Proxmox VE may have it still
	VMIDTaken                    // another guest had the VMID of a VM that was about to be created
)

// Failed forgets the VMs that the run of the unit, which has failed, was about to create and
// did not make. If a request of the run had no answer, they may still be made, and it keeps
// them. If a VMID was taken, it forgets those that are in no state. `stackgen apply` does that itself, and
// what it is about to create is not forgotten for a run beside it that was refused.
func (h *Hook) Failed(ctx context.Context, how Failure) error {
	vms, err := ReadBegun(h.Project.Root, h.Unit.Stack)
	if err != nil || len(vms) == 0 || h.left || h.ownRun() || h.otherRun() {
		return err
	}
	switch {
	case how == WithoutAnswer:
		vms.Keep()
	case how == VMIDTaken: // what a state that cannot be read has is not known
		err = h.ReadStates(ctx, slices.DeleteFunc(h.Units(), func(u tf.Unit) bool { return !u.HasGuests() }))
		vms.InNoState(h.State, h.Unit.Stack)
	case vms.unanswered():
		return nil
	default:
		if h.Inventory, err = ReadCluster(ctx, h.Project, h.sources); err != nil {
			return fmt.Errorf("cannot see which VMs the failed run has made: %w", err)
		}
		vms.NotMade(h.Inventory)
	}
	return errors.Join(err, vms.Write(h.Project.Root, h.Unit.Stack))
}
