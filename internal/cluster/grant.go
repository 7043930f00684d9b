package cluster

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/shell"
)

// A Missing is a privilege that is not granted on a path.
type Missing struct {
	Path      string
	Privilege string
	Why       string // what needs it
}

// audit are the privileges of the role PVEAuditor that stackgen reads a cluster with.
var audit = []string{VMAudit, SysAudit, PoolAudit, AgentAudit}

// Command is the line that grants a privilege which stackgen needs to read the
// cluster, to be run as root on any node.
func (a *Access) Command(at, privilege string) string {
	role, newRole := "StackgenAgent", "pveum role add StackgenAgent --privs "+privilege+" && "
	if slices.Contains(audit, privilege) {
		role, newRole = "PVEAuditor", ""
	}
	var lines []string
	for _, to := range a.needing(at, privilege) {
		on, removed := a.place(to, at)
		if removed {
			lines = append(lines, aclLine("delete", on, to, NoAccess))
			continue
		}
		lines = append(lines, newRole+aclLine("modify", on, to, role))
		newRole = ""
	}
	return strings.Join(lines, " && ")
}

// aclLine is the line that adds a role, by modify, or takes it away, by delete.
func aclLine(command, on string, to Grantee, role string) string {
	return fmt.Sprintf("pveum acl %s %s --%ss %s --roles %s", command, shell.Word(on), to.Type, shell.Quote(to.To), shell.Word(role))
}

// Grants are the lines that grant exactly what is missing, to be run as root on any
// node: for each path a role of its own, which has only the privileges that are missing
// there. Where NoAccess removes them, it is removed.
func (a *Access) Grants(missing []Missing) []string {
	type grant struct {
		on         string
		privileges []string
		to         []Grantee
	}
	var lines []string
	var grants []*grant
	add := func(line string) {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for _, m := range missing {
		for _, to := range a.needing(m.Path, m.Privilege) {
			on, removed := a.place(to, m.Path)
			if removed {
				add(aclLine("delete", on, to, NoAccess))
				continue
			}
			i := slices.IndexFunc(grants, func(g *grant) bool { return g.on == on })
			if i < 0 {
				i, grants = len(grants), append(grants, &grant{on: on})
			}
			g := grants[i]
			if !slices.Contains(g.privileges, m.Privilege) {
				g.privileges = append(g.privileges, m.Privilege)
			}
			if !slices.Contains(g.to, to) {
				g.to = append(g.to, to)
			}
		}
	}
	for _, g := range grants {
		slices.Sort(g.privileges)
		role, privileges := roleName(g.on), strings.Join(g.privileges, ",")
		quoted := shell.Word(role)
		add(fmt.Sprintf("pveum role add %s --privs %s || pveum role modify %s --privs %s --append 1", quoted, privileges, quoted, privileges))
		for _, to := range g.to {
			add(aclLine("modify", g.on, to, role))
		}
	}
	return lines
}

// roleName is the name of the role that stackgen proposes for a path.
func roleName(on string) string {
	if on == "/" {
		return "Stackgen"
	}
	return "Stackgen" + strings.ReplaceAll(on, "/", "-")
}
