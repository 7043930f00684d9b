package feasible

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// model checks that the cluster has the CPU model, if an administrator defines it.
func (c *creation) model() {
	cpu := c.get(guest.CPUType).Str()
	if c.restarts && c.ignores(guest.CPUType) {
		cpu = pve.Parse(c.current.Config.Raw["cpu"]).Default("cputype")
	}
	if !pve.CustomModel(cpu) || c.current != nil && !c.restarts && pve.Parse(c.current.Config.Raw["cpu"]).Default("cputype") == cpu {
		return
	}
	switch {
	case c.inv.CPUModels == nil && c.inv.Access != nil && c.inv.Access.Rights.Has("/nodes", cluster.SysAudit):
		c.addUnknown("whether CPU model " + cpu + " exists is not known: the models could not be read")
	case c.inv.CPUModels == nil:
		c.addHidden("CPU model "+cpu+" exists", "/nodes", cluster.SysAudit)
	case !slices.Contains(c.inv.CPUModels, cpu):
		var evidence []string
		if len(c.inv.CPUModels) > 0 {
			evidence = []string{"it has " + strings.Join(c.inv.CPUModels, ", ")}
		}
		value := scalar(schema.ShapeString, schema.VMField(guest.CPUType).Default)
		c.add("the cluster has no CPU model "+cpu, evidence,
			c.write("define it in /etc/pve/virtual-guest/cpu-models.conf, or write another one into SPEC", guest.CPUType, value))
	}
}

// model needs what it takes to use a CPU model of the administrator.
func (g *grantCheck) model(cpu string) {
	switch at := cluster.ModelPath(cpu); {
	case at == "":
	case g.inv.Since(9, 2):
		g.need(at, cluster.MappingUse, "use the CPU model")
	default:
		g.need("/nodes", cluster.SysAudit, "use the CPU model")
	}
}
