package generator

import (
	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// A unit is one unit block of a stack file.
type unit struct {
	name    string // its label, path and part of its state key
	kind    string // the folder below units/
	module  string
	values  []pair
	after   []string // units that must be applied first
	files   []string // what is generated into its root module: imports, moved
	address []pair   // DNS: the dependency's mock and how an address is read
	all     bool     // DNS: one unit for the whole stack
}

// mockAddress stands for an address that is not known before the VM is there.
// It is from the block reserved for documentation, and never used by an apply.
const mockAddress = "192.0.2.1"

// units renders the stack file. The order is pool, VMs, DNS; what is to go goes
// the other way round: its records, then the VM, then the pool.
func (r *renderer) units(s *schema.Stack, l *lock.Stack) {
	var before, after []unit // of the VM unit
	for _, e := range l.Units {
		switch {
		case e.Key == lock.UnitVM || e.Value.Status == lock.Forgotten:
		case e.Key == lock.UnitPool && e.Value.Status == lock.Live:
			before = append(before, r.poolUnit(s))
		case e.Key == lock.UnitPool:
			after = append(after, unit{name: e.Key, kind: lock.UnitPool, module: lock.UnitPool, values: []pair{{"pools", object()}}, after: []string{lock.UnitVM}, files: []string{"imports"}})
		case e.Value.Status == lock.Retired:
			before = append(before, unit{name: e.Key, kind: lock.UnitDNS, module: "dns-records", values: []pair{{"records", object()}}, files: []string{"imports"}})
		default:
			after = append(after, r.dnsUnit(s, l, e.Key))
		}
	}
	machines := r.vmUnit(s, l)
	for _, u := range before {
		machines.after = append(machines.after, u.name)
	}
	body := r.begin("stacks/" + s.Name + "/terragrunt.stack.hcl")
	for i, u := range append(append(before, machines), after...) {
		if i > 0 {
			body.AppendNewline()
		}
		u.write(body, s)
	}
	r.done()
}

func (r *renderer) poolUnit(s *schema.Stack) unit {
	pool := inline(pair{"comment", orNull(s.Pool.Comment)})
	return unit{name: lock.UnitPool, kind: lock.UnitPool, module: lock.UnitPool, files: []string{"imports"},
		values: []pair{{"pools", object(pair{s.Pool.ID, pool})}}}
}

func (r *renderer) vmUnit(s *schema.Stack, l *lock.Stack) unit {
	decisions := map[string]*lock.VM{}
	for i := range l.VMs {
		decisions[l.VMs[i].Key] = &l.VMs[i].Value
	}
	root := vmShape()
	var vms []pair
	for _, v := range naturalOrder(s.VMs) {
		tokens, err := vmLiteral(root, v, decisions[v.Key])
		if err != nil {
			r.fail(err)
		}
		vms = append(vms, pair{v.Key, tokens})
	}
	u := unit{name: lock.UnitVM, kind: lock.UnitVM, module: lock.UnitVM, files: []string{"imports", "moved"}}
	if s.Parallelism > 0 {
		u.values = append(u.values, pair{"parallelism", number(s.Parallelism)})
	}
	u.values = append(u.values, pair{"vms", object(vms...)})
	return u
}

// dnsUnit is the unit of one VM's records, or of the whole stack's.
func (r *renderer) dnsUnit(s *schema.Stack, l *lock.Stack, name string) unit {
	u := unit{name: name, kind: lock.UnitDNS, module: "dns-records", after: []string{lock.UnitVM}, files: []string{"imports"}, all: name == lock.UnitDNS}
	owner := map[string]bool{}
	for _, e := range l.VMs {
		owner[e.Key] = u.all || e.Value.Unit == name
	}
	var records []pair
	for _, v := range naturalOrder(s.VMs) {
		if !owner[v.Key] || len(v.Records) == 0 {
			continue
		}
		for _, rec := range v.Records {
			records = append(records, pair{rec.Name, inline(pair{"vm", text(v.Key)}, pair{"ttl", number(rec.TTL)})})
		}
		mock := mockAddress
		if v.Address.IsValid() {
			mock = v.Address.Addr().String() // a plan made from nothing is then right
		}
		u.address = append(u.address, pair{v.Key, inline(pair{"ipv4", text(mock)})})
	}
	u.values = []pair{{"records", object(records...)}}
	return u
}

// write writes the unit block. What differs between stacks is in it, so that
// the unit itself stays generic.
func (u *unit) write(body *hclwrite.Body, s *schema.Stack) {
	source, extra := unitSource(s, u.kind, u.module)
	b := body.AppendNewBlock("unit", []string{u.name}).Body()
	b.SetAttributeRaw("source", text(source))
	b.SetAttributeRaw("path", text(u.name))
	b.AppendNewline()
	b.SetAttributeRaw("values", object(append(extra, u.values...)...))
	b.AppendNewline()
	auto := b.AppendNewBlock("autoinclude", nil).Body()
	for _, name := range u.after {
		u.dependency(auto, name)
	}
	for i, file := range u.files {
		if i > 0 || len(u.after) > 0 {
			auto.AppendNewline()
		}
		u.generate(auto, file)
	}
}

// dependency orders the unit after another one. A DNS unit reads addresses from
// the VM unit; for all others the order is the whole point.
func (u *unit) dependency(auto *hclwrite.Body, on string) {
	d := auto.AppendNewBlock("dependency", []string{on}).Body()
	d.SetAttributeRaw("config_path", ref("unit", on, "path"))
	if len(u.address) == 0 {
		d.SetAttributeRaw("skip_outputs", boolean(true))
		return
	}
	d.SetAttributeRaw("mock_outputs", object(pair{"vms", object(u.address...)}))
	d.SetAttributeRaw("mock_outputs_allowed_terraform_commands", texts([]string{"init", "validate", "plan", "destroy"}))
	d.SetAttributeRaw("mock_outputs_merge_strategy_with_state", text("deep_map_only"))
	auto.AppendNewline()
	var addresses []pair
	for _, a := range u.address {
		vm := append(index(ref("dependency", on, "outputs", "vms"), a.key), ref("x", "ipv4")[1:]...)
		addresses = append(addresses, pair{a.key, vm})
	}
	auto.SetAttributeRaw("inputs", object(pair{"addresses", object(addresses...)}))
}

// generate puts a file of the stack into the unit's root module. It is always
// written, so that nothing stale survives there; imports lists come and go.
func (u *unit) generate(auto *hclwrite.Body, what string) {
	path := hclwrite.Tokens(nil)
	path = append(path, stackPath(what+"/"+u.name+".tf")...)
	contents := call("file", path)
	if what == "imports" {
		contents = conditional(call("fileexists", stackPath(what+"/"+u.name+".tf")), call("file", path),
			text("# "+Marker+". Nothing to import.\n"))
	}
	g := auto.AppendNewBlock("generate", []string{what}).Body()
	g.SetAttributeRaw("path", text(what+".tf"))
	g.SetAttributeRaw("if_exists", text("overwrite"))
	g.SetAttributeRaw("contents", contents)
}

// naturalOrder sorts VMs as people do, whatever order they were written in.
func naturalOrder(vms []*schema.VM) []*schema.VM {
	out := make([]*schema.VM, len(vms))
	copy(out, vms)
	sortVMs(out)
	return out
}
