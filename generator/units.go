package generator

import (
	"slices"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// A unit is one unit block of a stack file.
type unit struct {
	name    string // its label, path and part of its state key
	kind    string // its folder in units
	values  []pair
	shared  []pair   // guests: what most of them have in common
	after   []string // units that must be applied first
	address []owner  // DNS: whose addresses it reads
	extra   part     // what else is in its autoinclude
}

// An owner is a guest whose records a DNS unit publishes, with its address in plans made before it
// exists.
type owner struct {
	kind      guest.Kind
	key, mock string
}

// mockAddress is the address of a VM in plans made before the VM exists. It is
// from the block reserved for documentation; an apply never uses it.
const mockAddress = "192.0.2.1"

// units renders the stack file. Units are applied in the order pool, VMs, DNS. What
// is retired is destroyed in the reverse order: records, then VMs, then the pool.
func (r *renderer) units(s *schema.Stack, l *lock.Stack) {
	vms := naturalOrder(s.VMs)
	owners := recordOwners(vms, l)
	var before, after []unit // of the VM unit
	var moving, successors []string
	for _, e := range l.Units {
		switch {
		case lock.HasGuests(e.Key) || e.Value.Status == lock.Forgotten:
		case e.Key == lock.UnitPool && e.Value.Status == lock.Live:
			before = append(before, r.poolUnit(s))
		case e.Key == lock.UnitPool:
			after = append(after, unit{name: e.Key, kind: lock.UnitPool, values: []pair{{"pools", object()}}, after: guestUnits(l)})
		case e.Value.Status == lock.Retired:
			before = append(before, unit{name: e.Key, kind: lock.UnitDNS, values: []pair{{"records", object()}}})
		case e.Value.Status == lock.Moving:
			moving = append(moving, e.Key)
		default:
			after = append(after, r.dnsUnit(e.Key, owners[e.Key]))
			successors = append(successors, e.Key)
		}
	}
	for _, name := range moving {
		after = append(after, handOver(name, successors))
	}
	if len(moving) > 0 {
		r.handOverModule(s.Name)
	}
	var machines []unit
	var locals []pair
	for _, kind := range guest.Kinds() {
		if !slices.Contains(guestUnits(l), lock.UnitOf(kind)) {
			continue
		}
		u := r.guestUnit(kind, s, l, vms)
		for _, first := range before {
			u.after = append(u.after, first.name)
		}
		if len(u.shared) > 0 {
			locals = append(locals, pair{sharedOf(kind), object(u.shared...)})
		}
		machines = append(machines, u)
	}
	f := r.blockFile("stacks/" + s.Name + "/" + StackFile)
	if len(locals) > 0 {
		f.add(block("locals", nil, group(locals...)))
	}
	for _, u := range slices.Concat(before, machines, after) {
		f.add(u.block(s))
	}
	r.files = append(r.files, *f)
}

func (r *renderer) poolUnit(s *schema.Stack) unit {
	pool := inline(pair{"comment", orNull(s.Pool.Comment)})
	return unit{name: lock.UnitPool, kind: lock.UnitPool,
		values: []pair{{"pools", object(pair{s.Pool.ID, pool})}}}
}

// guestUnits are the units of guests that a stack has, that of VMs first.
func guestUnits(l *lock.Stack) []string {
	out := []string{lock.UnitVM}
	if u := l.Units.Get(lock.UnitContainer); u != nil && u.Status != lock.Forgotten {
		out = append(out, lock.UnitContainer)
	}
	return out
}

// guestUnit is the unit of the guests of a kind.
func (r *renderer) guestUnit(kind guest.Kind, s *schema.Stack, l *lock.Stack, sorted []*schema.VM) unit {
	decisions := map[string]*lock.VM{}
	for i := range l.VMs {
		decisions[l.VMs[i].Key] = &l.VMs[i].Value
	}
	u := unit{name: lock.UnitOf(kind), kind: lock.UnitOf(kind)}
	var root *shape
	switch {
	case kind == guest.Container:
		root = containerShape()
	case s.IsTemplate():
		root, u.kind = templateShape(), kindTemplate
	default:
		root = vmShape()
	}
	machines := make([]machine, 0, len(sorted))
	for _, v := range sorted {
		if v.IsContainer() != (kind == guest.Container) {
			continue
		}
		values, err := vmValues(root, v, decisions[v.Key])
		if err != nil {
			r.fail(err)
		}
		machines = append(machines, machine{v.Key, values, v.Adopt})
	}
	u.shared = shareValues(machines)
	shared := ""
	if len(u.shared) > 0 {
		shared = sharedOf(kind)
	}
	var all []pair
	for _, m := range machines {
		all = append(all, pair{m.key, seal(vmIndent, m.literal(shared))})
	}
	u.values = []pair{{"parallelism", number(s.Parallelism)}, {kind.List(), object(all...)}}
	return u
}

// recordOwners are the VMs whose records each DNS unit publishes.
func recordOwners(vms []*schema.VM, l *lock.Stack) map[string][]*schema.VM {
	units := map[string]string{}
	for _, e := range l.VMs {
		units[e.Key] = e.Value.Unit
	}
	out := map[string][]*schema.VM{}
	for _, v := range vms {
		if len(v.Records) > 0 {
			unit := units[v.Key]
			out[unit] = append(out[unit], v)
			out[lock.UnitDNS] = append(out[lock.UnitDNS], v)
		}
	}
	return out
}

// dnsUnit is the unit with the records of one VM, or of the whole stack.
func (r *renderer) dnsUnit(name string, owners []*schema.VM) unit {
	u := unit{name: name, kind: lock.UnitDNS}
	var records []pair
	for _, v := range owners {
		if unit := lock.UnitOf(v.Kind); !slices.Contains(u.after, unit) {
			u.after = append(u.after, unit)
		}
		for _, rec := range v.Records {
			records = append(records, pair{rec.Name, inline(pair{"vm", text(v.Key)}, pair{"ttl", number(rec.TTL)})})
		}
		mock := mockAddress
		if v.Address.IsValid() {
			mock = v.Address.Addr().String() // then a plan made before the VM exists is right
		}
		u.address = append(u.address, owner{v.Kind, v.Key, mock})
	}
	if len(u.after) == 0 {
		u.after = []string{lock.UnitVM}
	}
	slices.SortFunc(u.after, func(a, b string) int { return slices.Index(guestOrder, a) - slices.Index(guestOrder, b) })
	u.values = []pair{{"records", object(records...)}}
	return u
}

// block is the unit block. It has everything that differs between stacks, so that
// the unit itself is generic.
func (u *unit) block(s *schema.Stack) part {
	source, extra := unitSource(s, u.kind)
	var auto []part
	for _, name := range u.after {
		auto = append(auto, u.dependency(name)...)
	}
	if len(u.address) > 0 {
		auto = append(auto, u.addresses())
	}
	if u.extra != nil {
		auto = append(auto, u.extra)
	}
	parts := []part{
		group(pair{"source", text(source)}, pair{"path", text(u.name)}),
		group(pair{"values", object(append(extra, u.values...)...)}),
	}
	// Without the block, Terragrunt keeps the file that it wrote for an earlier
	// render, and a dependency that now runs the other way makes a cycle.
	parts = append(parts, nest(block("autoinclude", nil, auto...)))
	return block("unit", []string{u.name}, parts...)
}

// guestOrder is the order in which a unit names the units of guests.
var guestOrder = []string{lock.UnitVM, lock.UnitContainer}

// dependency makes Terragrunt apply the unit after another one. A DNS unit reads
// addresses from the units of guests; other units need only the order.
func (u *unit) dependency(on string) []part {
	path := pair{"config_path", ref("unit", on, "path")}
	if len(u.address) == 0 {
		return []part{nest(block("dependency", []string{on}, group(path, pair{"skip_outputs", boolean(true)})))}
	}
	var mocks []pair
	list := ""
	for _, o := range u.address {
		if lock.UnitOf(o.kind) == on {
			list, mocks = o.kind.List(), append(mocks, pair{o.key, inline(pair{"ipv4", text(o.mock)})})
		}
	}
	return []part{nest(block("dependency", []string{on}, group(path,
		pair{"mock_outputs", object(pair{list, object(mocks...)})},
		pair{"mock_outputs_allowed_terraform_commands", texts([]string{"init", "validate", "plan", "destroy"})},
		pair{"mock_outputs_merge_strategy_with_state", text("deep_map_only")})))}
}

// addresses are the inputs of a DNS unit, from the outputs of the units that it depends on.
func (u *unit) addresses() part {
	var addresses []pair
	for _, o := range u.address {
		vm := append(index(ref("dependency", lock.UnitOf(o.kind), "outputs", o.kind.List()), o.key), ref("x", "ipv4")[1:]...)
		addresses = append(addresses, pair{o.key, vm})
	}
	return group(pair{"inputs", object(pair{"addresses", object(addresses...)})})
}

// naturalOrder sorts VMs by key, numbers in keys by value.
func naturalOrder(vms []*schema.VM) []*schema.VM {
	out := make([]*schema.VM, len(vms))
	copy(out, vms)
	slices.SortFunc(out, func(a, b *schema.VM) int { return natural.Compare(a.Key, b.Key) })
	return out
}
