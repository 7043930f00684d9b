package cluster

import (
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// CustomModel reports whether a CPU type is a model that an administrator defines.
func CustomModel(cpu string) bool { return strings.HasPrefix(cpu, "custom-") }

// model checks that the cluster has the CPU model, if an administrator defines it.
func (c *creation) model() {
	cpu := c.get(guest.CPUType).Str()
	if !CustomModel(cpu) || c.current != nil && pve.Parse(c.current.Config.Raw["cpu"]).Default("cputype") == cpu {
		return
	}
	switch {
	case c.inv.CPUModels == nil:
		c.unknown = append(c.unknown, "whether CPU model "+cpu+" exists is not known: the token lacks Sys.Audit on /nodes")
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
	switch name := strings.TrimPrefix(cpu, "custom-"); {
	case !CustomModel(cpu):
	case g.inv.since(9, 2):
		g.need("/mapping/cpu/"+name, MappingUse, "use the CPU model")
	default:
		g.need("/nodes", SysAudit, "use the CPU model")
	}
}

// since reports whether the cluster runs a release or a later one.
func (inv *Inventory) since(major, minor int) bool {
	parts := strings.SplitN(inv.Release, ".", 3)
	if len(parts) < 2 {
		return false
	}
	x, errMajor := strconv.Atoi(parts[0])
	y, errMinor := strconv.Atoi(parts[1])
	return errMajor == nil && errMinor == nil && (x > major || x == major && y >= minor)
}
