package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A rebuild gives VMs new disks: it destroys the guest of each, and creates it again from the
// template of its spec, with the same VMID. The lock marks these VMs before. A plan that creates
// one of them is then what was asked for; a plan that replaces one needs a grant.

// rebuilds reports whether a change creates a VM whose rebuild has begun, and whose guest is gone.
func (p *planJudge) rebuilds(c *tf.ResourceChange, known *finding.Finding) bool {
	e := p.entries[c.Key]
	return c.Type == guest.VMResource && e != nil && e.Recreates() && known != nil && known.Kind == finding.Create
}

// A Rebuild is what a rebuild does in one stack. VMs are named by their keys.
type Rebuild struct {
	Replaced []Replacement
	Done     []string // replaced by a run that did not end, and not to be replaced again
	Left     []string // a run has begun to replace them, and the guest of before is gone
	Lost     []string // deleted by hand: they are created again
	Refused  []finding.Finding
}

// A Replacement is a VM that gets new disks.
type Replacement struct {
	Granted
	Guest *cluster.Guest // that is destroyed
	VM    *schema.VM
	State *tf.Resource
	Node  string // where it is created again

	Exchange *Exchange // of a VM that keeps disks; nil if its guest is replaced
}

// JudgeRebuild says what a rebuild of VMs of a stack, by their keys, does. named are those that
// were named one by one: a profile that prevents the destroy of a VM, and an adoption, protect
// the others. again are those that are replaced although a run that did not end has replaced them.
// Found are the findings of Judge for the same input.
func JudgeRebuild(in Input, found []finding.Finding, stack string, keys, named, again []string) Rebuild {
	var out Rebuild
	j := &judge{Input: in, index: newIndex(in)}
	for _, s := range in.Project.Stacks {
		l := in.Lock.Stacks.Get(stack)
		if s.Name != stack || l == nil {
			continue
		}
		for _, v := range s.VMs {
			if e := l.VMs.Get(v.Key); e != nil && slices.Contains(keys, v.Key) {
				f := finding.Finding{Address: finding.Address{Stack: stack, Unit: lock.UnitOf(v.Kind), Type: finding.VM, Key: v.Key}}
				f.VMID, f.Name, f.Node, f.Resource = e.VMID, v.Name, e.Node, schema.GuestAddress(e.Kind, e.Profile, v.Key)
				r := &rebuilder{judge: j, spec: s.Spec, vm: v, entry: e, named: slices.Contains(named, v.Key), f: &f,
					again: slices.Contains(again, v.Key)}
				r.decide(&out, found)
			}
		}
	}
	finding.Sort(out.Refused)
	return out
}

// A rebuilder decides about one VM.
type rebuilder struct {
	*judge
	spec  string
	vm    *schema.VM
	entry *lock.VM
	named bool
	again bool
	f     *finding.Finding
}

func (r *rebuilder) decide(out *Rebuild, found []finding.Finding) {
	i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Address == r.f.Address })
	g := r.Inventory.Guest(r.f.VMID)
	switch {
	case i < 0:
		r.refuse("rebuild-not-judged").Next("find out why", "stackgen preflight")
	case r.vm.IsContainer():
		r.refuse("rebuild-container").Next("write a container under a new key into " + r.spec + ", and retire this one there")
	case r.vm.Adopt:
		r.refuse("rebuild-adopted").Next("write a VM under a new key into " + r.spec + ", and retire this one there")
	case !r.again && r.done(g, &found[i]):
		out.Done = append(out.Done, r.vm.Key)
		if found[i].Kind == finding.Adopt { // its creation ended halfway
			out.Left = append(out.Left, r.vm.Key)
		}
		return
	case r.elsewhere(g):
		r.refuse("rebuild-elsewhere").Next("take stackgen.lock.yaml from there, such as by `git pull`; then run the same command again")
	case found[i].Kind == finding.Create && r.entry.Recreates():
		out.Left = append(out.Left, r.vm.Key)
		return
	case found[i].Kind == finding.Gone && found[i].Reason.Code == "gone" && r.named && r.seen() && r.template():
		out.Lost = append(out.Lost, r.vm.Key)
		return
	case found[i].Case != finding.SilentAgent && found[i].Reason.Code != halfExchanged && (!found[i].Kind.Exists() || found[i].Stops()):
		r.refuseFound(&found[i])
	case r.onlyNewer(g) && !(r.entry.RebuildBegun() && r.done(g, &found[i])):
		r.refuse("rebuild-other-uuid").Because("%s", Describe(g)).Next("inspect it", inspect(g)).
			Next("if it is the right VM, record what it is now; then run the same command again", "stackgen resolve", "stackgen render")
	default:
		r.f.Node = cmp.Or(g.Node, r.f.Node)
		if state := r.state(); r.allows(g, state) {
			from := r.entry.Template.VMID
			x, ok := r.exchange(g)
			if ok && (x != nil && r.startsAgain(g, x) || x == nil && r.destroysKnown(g, state) && r.canCreate()) {
				out.Replaced = append(out.Replaced, Replacement{Granted{r.f.Resource, r.vm.Key, r.f.VMID, from}, g, r.vm, state, r.entry.Node, x})
				return
			}
		}
	}
	out.Refused = append(out.Refused, *r.f)
}

// elsewhere reports whether a VM that waits for its wave was replaced by a run that has another lock.
func (r *rebuilder) elsewhere(g *cluster.Guest) bool {
	b := r.entry.Rebuild
	return b != nil && b.Waits && g != nil && g.Config != nil && g.Config.UUID != "" && !strings.EqualFold(b.UUID, g.Config.UUID)
}

// onlyNewer reports whether a guest has another UUID than the recorded one, and no run from here has recorded that it creates the
// VM again: that its state is newer than what was recorded is too little to destroy a guest.
func (r *rebuilder) onlyNewer(g *cluster.Guest) bool {
	begun := r.Begun[r.f.Stack+"/"+r.f.Key]
	return r.seen() && g != nil && g.Config != nil && g.Config.UUID != "" && !strings.EqualFold(r.entry.Fingerprint.UUID, g.Config.UUID) &&
		(begun.VMID != g.VMID || !strings.EqualFold(begun.UUID, r.entry.Fingerprint.UUID))
}

// done reports whether a guest is the one that a run has made which did not end.
func (r *rebuilder) done(g *cluster.Guest, known *finding.Finding) bool {
	exists := known.Kind.Exists() || known.Kind == finding.Adopt || known.Case == finding.SilentAgent
	return exists && g != nil && g.Config != nil && r.entry.Rebuilt(g.Config.UUID)
}

// seen reports whether the lock records the UUID of the VM.
func (r *rebuilder) seen() bool { return r.entry.Fingerprint != nil && r.entry.Fingerprint.UUID != "" }

// template reports whether it is known what the VM is made from.
func (r *rebuilder) template() bool { return r.entry.Template != nil && r.entry.Template.VMID != 0 }

func (r *rebuilder) refuse(code finding.Code, args ...any) *finding.Finding {
	return r.f.Is(finding.WouldDestroy, finding.Why(code, args...))
}

// refuseFound refuses a VM for what was found about it.
func (r *rebuilder) refuseFound(known *finding.Finding) {
	switch h := holdOn(r.Inventory, r.Inventory.Guest(r.f.VMID)); {
	case known.Stops():
		*r.f = *known
		return
	case known.Kind == finding.Busy && h.blocks != nothing: // an apply that does not change it may run
		h.refuse(r.f, "held-destroy")
		return
	}
	r.refuse("rebuild-apply-first", known.Kind).Next("create it, or import it", "stackgen apply "+shell.Path(r.spec))
}

// state is the VM in its state, or nil.
func (r *rebuilder) state() *tf.Resource {
	all := r.State[tf.VMUnit(r.f.Stack)].Resources
	i := slices.IndexFunc(all, func(s tf.Resource) bool { return s.Address == r.f.Resource && s.VMID == r.f.VMID && !s.OtherID() })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// allows reports whether a VM that exists may be replaced. Otherwise the finding says why not.
func (r *rebuilder) allows(g *cluster.Guest, state *tf.Resource) bool {
	p, this := r.profile(r.entry), r.f.Stack+"/"+r.f.Key
	switch {
	case state == nil || state.Tainted:
		r.refuse("rebuild-apply-first", "not complete in its state").Next("apply it", "stackgen apply "+shell.Path(r.spec))
	case g.Config == nil || g.Config.UUID == "":
		r.refuse("rebuild-no-uuid").Because("%s", Describe(g))
	case !r.template():
		r.refuse("rebuild-no-template").Next("write into "+r.spec+" what it is made from", specLine(r.vm, "template: VMID"))
	case r.vm.Values.Get(guest.Protection).Bool():
		r.refuse("rebuild-protection").Next("write into "+r.spec+", then render and apply", specLine(r.vm, "protection: false"))
	case protected(g): // by hand, or of its template: the provider does not read that of a clone
		r.refuse("rebuild-protection").Next("remove the protection", set(g, "--protection 0"))
	case inHA(g):
		what := fmt.Sprintf("remove it from the HA manager; add it again after the rebuild, with `ha-manager add vm:%d`", g.VMID)
		r.refuse("rebuild-ha", g.HA).Next(what, r.leaveHA(g))
	case len(r.borrowed[g.VMID]) > 0:
		refuseLent(r.f, g, r.borrowed[g.VMID])
	case g.Lock != "":
		r.refuse("rebuild-locked", g.Lock).Next("wait until it has no lock, or find out why it has one", "stackgen preflight")
	case !r.named && p != nil && p.PreventDestroy:
		r.refuse("rebuild-protected", cmp.Or(r.entry.Profile, "default")).Next("name it", "stackgen rebuild "+this)
	default:
		return true
	}
	return false
}

// canCreate reports whether the creation is known to succeed which follows on the destroy. Otherwise the finding says
// what is in the way, or not known.
func (r *rebuilder) canCreate() bool {
	doubt := r.doubtOf(r.vm, r.entry)
	if doubt != nil {
		doubt.refuse(r.f, r.vm, r.spec)
	}
	return doubt == nil
}

// A doubt is why a VM should not be destroyed to be created again: its creation fails, or may fail. Then it would be gone.
type doubt struct {
	obstacles []feasible.Obstacle
	unknown   []feasible.Unknown
	template  *hold // that keeps the template from being cloned
}

// doubtOf is what is in the way of a creation of a VM that exists, or not known about it. Nothing is nil.
func (in *Input) doubtOf(v *schema.VM, e *lock.VM) *doubt {
	if v == nil || e == nil {
		return nil
	}
	d := &doubt{template: templateHold(in.Inventory, e)}
	d.obstacles, d.unknown = in.creation(v, e)
	if len(d.obstacles)+len(d.unknown) == 0 && d.template == nil {
		return nil
	}
	return d
}

// refuse refuses to destroy the VM.
func (d *doubt) refuse(f *finding.Finding, v *schema.VM, spec string) {
	line := func(text string) string { return specLine(v, text) }
	switch {
	case len(d.obstacles) > 0:
		addObstacles(f, d.obstacles, spec, line)
	case d.template != nil:
		refuseTemplate(f, d.template)
	default:
		f.Is(finding.WouldDestroy, finding.Why("rebuild-creation-unknown"))
	}
	for _, u := range d.unknown {
		f.Because("%s", u.Reason)
		for _, remedy := range u.Remedies {
			addRemedy(f, remedy, spec, line)
		}
	}
}

// leaveHA is the line that takes a VM out of the HA manager. Since 9.1, that removes it from the rules as well if nothing else is said.
func (r *rebuilder) leaveHA(g *cluster.Guest) string {
	line := fmt.Sprintf("ha-manager remove vm:%d", g.VMID)
	if r.Inventory.Since(9, 1) {
		line += " --purge 0"
	}
	return line
}

// inHA reports whether the HA manager has a guest: Proxmox VE removes it there when it destroys it.
func inHA(g *cluster.Guest) bool { return g.HA != "" && g.HA != "ignored" }

// rebuild is the step that gives the VM new disks, which makes it as its spec says. It is empty if
// that would be refused.
func (s *subject) rebuild(what string) {
	if !s.match.VM.Adopt && s.guest.Config != nil && s.guest.Config.UUID != "" && !inHA(s.guest) && !s.protectionOn() {
		s.Next(what, "stackgen rebuild "+s.Stack+"/"+s.Key)
	}
}
