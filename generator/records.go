package generator

import (
	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/guest"
	"stackgen/internal/lock"
)

// handedOver is the root module of units whose records other units publish now.
const handedOver = moduleDNS

// handOver is a unit that forgets its records, without destroying them, after the
// units that publish them now were applied.
func handOver(name string, successors []string) unit {
	main := generated("main", call("file", stackPath("moved/"+handedOver+".tf")))
	return unit{name: name, kind: lock.UnitDNS, values: []pair{{"records", object()}}, after: successors, extra: nest(main)}
}

// generated is a file in a unit's root module.
func generated(name string, contents hclwrite.Tokens) part {
	return block("generate", []string{name},
		group(pair{"path", text(name + ".tf")}, pair{"if_exists", text("overwrite")}, pair{"contents", contents}))
}

// handOverModule replaces the main.tf of the module: without the resource, and
// with the instruction to remove it from the state only.
func (r *renderer) handOverModule(stack string) {
	f := r.blockFile("stacks/" + stack + "/moved/" + handedOver + ".tf")
	for _, name := range []string{"dns", "records"} {
		f.add(block("variable", []string{name}, group(pair{"type", ident("any")})))
	}
	keep := block("lifecycle", nil, group(pair{"destroy", boolean(false)}))
	f.add(block("removed", nil, group(pair{"from", ref(guest.RecordResource, "this")}), nest(keep)))
	r.files = append(r.files, *f)
}
