package deploy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/guard"
	"stackgen/internal/operate"
	"stackgen/internal/report"
	"stackgen/schema"
)

// confirmRebuild says what is lost, and asks for the key of one VM, or for the name of each stack.
func (r *run) confirmRebuild(s *check.Session, all []*rebuilding, o Order) (bool, error) {
	n, words := 0, []string{}
	var last string
	for _, b := range all {
		keys := append(b.keys(), b.Lost...)
		if n += len(keys); len(keys) > 0 {
			words, last = append(words, b.stack.name), keys[0]
		}
	}
	if err := r.summarizeRebuild(s, all, o); err != nil || r.Yes || r.DryRun || n == 0 {
		return err == nil && !r.DryRun, err
	}
	what := "the name of the stack"
	if n == 1 {
		words, what = []string{last}, "its key"
	}
	for _, word := range words {
		question := fmt.Sprintf("What is on their disks is lost. To rebuild %s, type %s, %s: ", report.Count(n, "VM"), what, word)
		if confirmed, err := r.answer(question, word); err != nil || !confirmed {
			return false, err
		}
	}
	return true, nil
}

// summarizeRebuild prints what is about to be done: each VM, with what is lost.
func (r *run) summarizeRebuild(s *check.Session, all []*rebuilding, o Order) error {
	sum := report.Summary{Command: r.command}
	var names []string
	for _, b := range all {
		sum.Stacks = append(sum.Stacks, b.stack.name)
		names = append(names, b.names()...)
	}
	lost, err := operate.Named(r.p, s.Inventory, names).Loses(r.ctx)
	if err != nil {
		return err
	}
	for _, b := range all {
		sum.Actions = append(sum.Actions, b.actions(lost)...)
	}
	for _, b := range all {
		for _, key := range b.Lost {
			sum.Actions = append(sum.Actions, b.action("create", key, "it was deleted, and its state still has it"))
		}
	}
	if len(names) > 0 {
		sum.Notes = []string{losses(all)}
		if o.Backup != "" {
			sum.Notes = append(sum.Notes, "a backup of each is made on "+o.Backup+" before, while it still runs")
		}
		if auto := newMACs(all); len(auto) > 0 {
			sum.Notes = append(sum.Notes, "new MAC addresses, because their specs leave them to Proxmox VE: "+some(auto))
		}
	}
	for _, b := range all {
		if len(b.waves) > 0 && b.waving.rule != nil {
			sum.Notes = append(sum.Notes, b.stack.name+": "+b.waving.says(b.hasAgents()))
		}
	}
	return sum.Print(r.Out, r.Options)
}

// losses says what VMs lose that keep disks, and those that do not.
func losses(all []*rebuilding) string {
	const keeping = "a VM that keeps disks loses its other disks and its snapshots, and nothing else"
	const replaced = "the disks, snapshots and unused volumes of these VMs are destroyed, and the ACLs on them and their " +
		"entries in jobs go with them; VMIDs, names, MAC addresses, records, pools and tags stay"
	keeps, others := false, false
	for _, b := range all {
		keeps = keeps || b.keepsDisks()
		others = others || len(b.Left) > 0 || slices.ContainsFunc(b.Replaced, func(vm guard.Replacement) bool { return vm.Exchange == nil })
	}
	switch {
	case !keeps:
		return replaced
	case !others:
		return keeping
	}
	return keeping + "; of the others, " + replaced
}

// actions are the lines about the VMs of a stack that are replaced or completed. lost is what each loses,
// by STACK/KEY; what was not read is not said.
func (b *rebuilding) actions(lost map[string]string) (out []report.Action) {
	for _, vm := range b.inWaves() {
		at := vm.Guest.Node
		if vm.Exchange == nil && vm.Node != at {
			at += ", created again on " + vm.Node
		}
		detail := fmt.Sprintf("VM %d %s on %s, from template %d", vm.VMID, vm.VM.Name, at, vm.Template)
		if loses := lost[b.stack.name+"/"+vm.Key]; loses != "" {
			detail += "; " + loses
		}
		if x := vm.Exchange; x != nil {
			detail += "; it keeps " + strings.Join(x.Keeps, ", ") + ", and loses " + strings.Join(x.Disks, ", ")
		}
		if wave := b.waveName(b.waveOf(vm.Key)); wave != "" {
			detail = wave + ": " + detail
		}
		out = append(out, b.action("rebuild", vm.Key, detail))
	}
	for _, key := range b.Left {
		out = append(out, b.action("complete", key, "its rebuild was begun, and its former disks are gone already"))
	}
	return out
}

// action is a line about one VM.
func (b *rebuilding) action(word, key, detail string) report.Action {
	return report.Action{Word: word, Stack: b.stack.name, What: "VM", Name: key, Named: true, Detail: detail}
}

// inWaves are the VMs that are replaced, in the order of their waves.
func (b *rebuilding) inWaves() []guard.Replacement {
	out := slices.Clone(b.Replaced)
	slices.SortStableFunc(out, func(x, y guard.Replacement) int { return cmp.Compare(b.waveOf(x.Key), b.waveOf(y.Key)) })
	return out
}

// hasAgents reports whether one of the VMs that are replaced has an agent, which a check of its health asks.
func (b *rebuilding) hasAgents() bool {
	return slices.ContainsFunc(b.Replaced, func(vm guard.Replacement) bool { return vm.VM != nil && vm.VM.AgentOn })
}

// newMACs are the VMs that are replaced and of which Proxmox VE chooses MAC addresses.
func newMACs(all []*rebuilding) []string {
	var out []string
	for _, b := range all {
		for _, vm := range b.Replaced {
			if vm.Exchange == nil && slices.Contains(vm.VM.MACs, schema.AutoMAC) {
				out = append(out, b.stack.name+"/"+vm.Key)
			}
		}
	}
	return out
}
