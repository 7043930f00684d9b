package guard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
)

// creates refuses the create of anything that is not free for certain.
func (p *planJudge) creates(c *tfjson.ResourceChange) {
	if !judged(c.Type) {
		return
	}
	known := p.known(c)
	vmid := number(c.Change.After, "vm_id")
	switch {
	case c.Type == TypeRecord && known != nil && known.Kind == finding.Create:
		return // a record that is gone is published again
	case p.gone[c.Address]:
		p.add(c).Is(finding.Gone).Because("the plan creates %s, because its refresh found it gone: somebody deleted it, or the token does not see it", c.Address).
			Next("find out which it is, and what to do about it", "stackgen preflight")
	case known == nil:
		p.add(c).Is(finding.Conflict).Because("the plan creates %s, which no spec asks for", c.Address).
			Next("render anew, then plan again", "stackgen render")
	case c.Type == TypeVM && vmid != known.VMID:
		p.add(c).Is(finding.Conflict).Because("the plan creates %s with %s, the lock says VMID %d", c.Address, vmidText(vmid), known.VMID).
			Next("render anew, then plan again", "stackgen render")
	case known.Kind != finding.Create:
		v := p.add(c)
		v.Kind, v.Severity = known.Kind, finding.Blocked
		v.Because("the plan creates %s, which is wrong: preflight says %s", c.Address, known.Kind)
		v.Evidence = append(v.Evidence, known.Evidence...)
		v.Steps = append(v.Steps, known.Steps...)
		switch known.Kind {
		case finding.Adopt:
			v.Next("have the plan import it", "stackgen import-blocks")
		case finding.Managed, finding.Moved:
			v.Is(finding.Conflict).Next("the plan was made from another state than the one that was read: plan again")
		case finding.Retiring:
			v.Is(finding.WouldDestroy).Next("render anew, then plan again", "stackgen render")
		}
	}
}

func vmidText(vmid int) string {
	if vmid == 0 {
		return "a VMID that Proxmox VE chooses"
	}
	return fmt.Sprintf("VMID %d", vmid)
}

// whose is what a change destroys, as far as the plan or the lock knows.
func whose(c *tfjson.ResourceChange, v *finding.Finding) string {
	if c.Type != TypeVM && c.Type != TypeContainer {
		return string(v.Type)
	}
	if vmid := number(c.Change.Before, "vm_id"); vmid != 0 {
		return vmidText(vmid)
	}
	return vmidText(v.VMID)
}

// number is a whole number in a plan's values, or 0.
func number(values any, key string) int {
	m, _ := values.(map[string]any)
	switch n := m[key].(type) {
	case float64:
		return int(n)
	case json.Number:
		i, _ := n.Int64()
		return int(i)
	}
	return 0
}

// keys are the keys that a change is about: the one it has, and the one it had.
func keys(c *tfjson.ResourceChange) []string {
	out := []string{keyOf(c)}
	if _, index, ok := strings.Cut(c.PreviousAddress, "["); ok {
		var key string
		if json.Unmarshal([]byte(strings.TrimSuffix(index, "]")), &key) == nil {
			out = append(out, key)
		}
	}
	return out
}

// status is what became of the VM or unit that a change is about.
func (p *planJudge) status(c *tfjson.ResourceChange) string {
	if u := p.lock.Units.Get(p.unit.Unit); u != nil && u.Status != lock.Live && c.Type != TypeVM {
		return u.Status
	}
	for _, key := range keys(c) {
		if e := p.lock.VMs.Get(key); e != nil && c.Type == TypeVM {
			return e.Status
		}
	}
	return lock.Live
}

// deletes refuses every destroy that `retired` does not ask for.
func (p *planJudge) deletes(c *tfjson.ResourceChange) {
	known := p.known(c)
	wrong := known != nil && known.Stops()
	switch {
	case !judged(c.Type):
		return
	case c.Type == TypeRecord && !wrong:
		return // a spec that asks for a record no more has said so
	case c.DeposedKey == "" && !wrong && (p.status(c) == lock.Retired || p.in.Destroy) && p.same(c):
		return
	case p.gone[c.Address]:
		return
	}
	v := p.add(c)
	v.Is(finding.WouldDestroy).Because("the plan destroys %s (%s)%s, and nothing retires it", c.Address, whose(c, v), reason(c))
	if wrong {
		v.Kind, v.Severity = known.Kind, finding.Blocked
		v.Evidence = append([]string{"the plan destroys " + c.Address}, known.Evidence...)
		v.Steps = append(v.Steps, known.Steps...)
		return
	}
	if c.DeposedKey != "" {
		p.deposed(c, v)
		return
	}
	v.Next("it is to go: "+retire(p.lock.Spec), "retired: ["+keyOf(c)+"]", "stackgen render")
	v.Next("it is to be left alone: take it out of the state", inUnit(p.unit.Stack, p.unit.Unit, "terragrunt state rm "+shell.Quote(c.Address))...)
}

// deposed is what an interrupted replacement left in the state, beside what is
// there now under the same address: retiring the key would destroy that.
func (p *planJudge) deposed(c *tfjson.ResourceChange, v *finding.Finding) {
	v.Because("it is what an interrupted replacement left (deposed %s)", c.DeposedKey)
	lines := inUnit(p.unit.Stack, p.unit.Unit, "terragrunt state rm "+shell.Quote(c.Address))
	v.Next("let go of it: take the address out of the state, and have what is there now imported again", append(lines, "stackgen import-blocks")...)
	if vmid := number(c.Change.Before, "vm_id"); vmid != 0 && vmid != v.VMID {
		v.Next("what was left over is then in no state: look at it, and if it is to go, destroy it by hand", fmt.Sprintf("qm config %d", vmid), fmt.Sprintf("qm destroy %d", vmid))
	}
}

// same reports whether a destroy hits the VMID that was decided for the key.
func (p *planJudge) same(c *tfjson.ResourceChange) bool {
	if c.Type != TypeVM {
		return true
	}
	return slices.ContainsFunc(keys(c), func(key string) bool {
		e := p.lock.VMs.Get(key)
		return e != nil && e.VMID == number(c.Change.Before, "vm_id")
	})
}

// reason is why OpenTofu does it, as far as it says.
func reason(c *tfjson.ResourceChange) string {
	var paths []string
	for _, path := range c.Change.ReplacePaths {
		steps, _ := path.([]any)
		var words []string
		for _, s := range steps {
			words = append(words, fmt.Sprint(s))
		}
		paths = append(paths, strings.Join(words, "."))
	}
	slices.Sort(paths)
	if len(paths) == 0 {
		return ""
	}
	return ", because of " + strings.Join(paths, " and ")
}

// replaces refuses every replacement: nothing can ask for one.
func (p *planJudge) replaces(c *tfjson.ResourceChange, actions string) {
	if !judged(c.Type) {
		return
	}
	if known := p.known(c); c.Type == TypeRecord && (known == nil || !known.Stops()) {
		return // another TTL; a record has nothing to lose
	}
	v := p.add(c)
	v.Is(finding.WouldDestroy).Because("the plan replaces %s (%s)%s: %s", c.Address, whose(c, v), reason(c), actions)
	if c.Change.Importing != nil {
		v.Because("it would import it first, as %s", c.Change.Importing.ID)
	}
	v.Next("see what changed, and put it back", "stackgen render --diff")
	v.Next("a new VM is wanted: give it a new key in "+p.lock.Spec+", and retire this one", "retired: ["+keyOf(c)+"]", "stackgen render")
}

// forgets refuses to let go of anything that nobody said to forget.
func (p *planJudge) forgets(c *tfjson.ResourceChange) {
	known := p.known(c)
	handed := c.Type == TypeRecord && p.status(c) == lock.Moving && (known == nil || !known.Stops())
	if !judged(c.Type) || p.status(c) == lock.Forgotten || handed {
		return
	}
	p.add(c).Is(finding.WouldDestroy).Because("the plan takes %s out of the state, and the cluster would keep it unmanaged", c.Address).
		Next("it is to be left alone: say so in "+p.lock.Spec, "forgotten: ["+keyOf(c)+"]").
		Next("else take the removed block away that asks for it")
}

// imports refuses to import what is not certainly ours.
func (p *planJudge) imports(c *tfjson.ResourceChange) {
	if !judged(c.Type) {
		return
	}
	id := c.Change.Importing.ID
	known := p.known(c)
	if known != nil && known.Kind == finding.Adopt && known.Import == id {
		return
	}
	v := p.add(c)
	v.Is(finding.Conflict).Because("the plan imports %s into %s, and nothing says that it is ours", id, c.Address)
	if known != nil {
		v.Because("preflight says %s", known.Kind)
		v.Evidence = append(v.Evidence, known.Evidence...)
	}
	v.Next("write the import files anew, then plan again", "stackgen import-blocks")
}

// errored is a plan that failed: what it does not say may be anything.
func (p *planJudge) errored() {
	v := finding.Finding{Address: finding.Address{Stack: p.unit.Stack, Unit: p.unit.Unit, Type: finding.Unit}}
	v.Is(finding.Unknown).Because("the plan of %s failed, and was written all the same", p.unit)
	if len(p.out) > 0 {
		v.Because("what is refused here is the likely reason")
	}
	v.Next("see its errors", inUnit(p.unit.Stack, p.unit.Unit, "terragrunt plan")...)
	if len(p.out) == 0 {
		v.Severity = finding.Failed
	}
	p.out = append(p.out, v)
}
