package generator

import (
	"stackgen/internal/lock"
)

// movingFile is the root module of a unit whose records go on in another one.
const movingFile = "dns-records"

// movingUnit is a unit that lets go of its records after those that take them over
// have them. Its state must be known to be empty before it leaves the stack.
func movingUnit(name string, heirs []string) unit {
	return unit{name: name, kind: lock.UnitDNS, module: "dns-records", values: []pair{{"records", object()}}, after: heirs, moving: true}
}

// without are the files of its root module: an import would have nothing to import
// into, so that whatever was written for the unit before does not count.
func (u *unit) without() []part {
	return []part{
		nest(generated("imports", text("# "+marker+". Nothing to import.\n"))),
		nest(generated("main", call("file", stackPath("moved/"+movingFile+".tf")))),
	}
}

// letGo takes the place of the module's main.tf: no resource, so that nothing is
// destroyed, and the word that the state is to forget what it has.
func (r *renderer) letGo(stack string) {
	var blocks []gated
	for _, name := range []string{"dns", "records"} {
		blocks = append(blocks, gated{part: block("variable", []string{name}, group(pair{"type", ident("any")}))})
	}
	keep := block("lifecycle", nil, group(pair{"destroy", boolean(false)}))
	blocks = append(blocks, gated{part: block("removed", nil, group(pair{"from", ref("dns_a_record_set", "this")}), nest(keep))})
	r.blocks("stacks/"+stack+"/moved/"+movingFile+".tf", blocks)
}
