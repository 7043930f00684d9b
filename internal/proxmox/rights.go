package proxmox

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/shell"
)

// rights is the dump of /access/permissions: path, privilege, and whether the
// privilege propagates to deeper paths. Every privilege in the dump is granted;
// the value is about propagation only. The dump contains every path that has an
// ACL entry or belongs to a pool, but no path on which nothing is granted.
type rights map[string]map[string]number

// has reports whether a privilege is granted on a path, as far as the dump shows:
// it omits paths whose ACL entry removes all privileges.
func (r rights) has(at, privilege string) bool {
	if own, listed := r[at]; listed {
		_, ok := own[privilege]
		return ok
	}
	if at == "/" || strings.Count(at, "/") == 1 {
		return false // the dump would contain it
	}
	return r.below(path.Dir(at), privilege)
}

// below reports whether a privilege is granted on all deeper paths that have no
// ACL entry of their own.
func (r rights) below(at, privilege string) bool {
	if own, listed := r[at]; listed {
		return own[privilege] != 0
	}
	if at == "/" || strings.Count(at, "/") == 1 {
		return false
	}
	return r.below(path.Dir(at), privilege)
}

func vmPath(vmid int) string { return "/vms/" + strconv.Itoa(vmid) }

// An advisor writes the commands that close gaps.
type advisor struct {
	user, token string
	rights      rights
	separate    bool // the token has privilege separation
	known       bool // separate could be read
	userHas     func(at, privilege string) bool
}

// newAdvisor finds out whether the token has privilege separation and what its
// user may do. It sends up to two requests.
func newAdvisor(ctx context.Context, c *client, r rights) *advisor {
	a := &advisor{rights: r, userHas: func(string, string) bool { return false }}
	a.user, a.token = c.config.identity()
	if a.token == "" {
		return a
	}
	if a.user == "root@pam" { // root has every privilege, so only the token lacks one
		a.separate, a.known = true, true
		a.userHas = func(string, string) bool { return true }
		return a
	}
	var own struct {
		Privsep number `json:"privsep"`
	}
	// Most tokens may not read this; then the advice covers both cases.
	if err := c.get(ctx, "/access/users/"+a.user+"/token/"+a.token, &own); err == nil {
		a.separate, a.known = own.Privsep != 0, true
	}
	var ofUser rights
	if err := c.get(ctx, "/access/permissions?userid="+a.user, &ofUser); err == nil {
		a.userHas = ofUser.has
	}
	return a
}

// gap returns the gap of a missing privilege, with the command that grants it.
func (a *advisor) gap(at, privilege, reason string) cluster.Gap {
	return cluster.Gap{Path: at, Privilege: privilege, Reason: reason + a.explain(at, privilege), Fix: a.command(a.grantPath(at), privilege, at)}
}

// grantPath is the path to grant the role on. An ACL entry on a deeper path
// replaces the entries above it, so if all privileges come from "/", the role is
// added there.
func (a *advisor) grantPath(at string) string {
	if at == "/vms" && len(a.rights["/"]) > 0 && len(a.rights["/vms"]) == len(a.rights["/"]) {
		return "/"
	}
	return at
}

// explain says whether the token or its user needs the role.
func (a *advisor) explain(at, privilege string) string {
	switch {
	case a.token == "":
		return ""
	case !a.known:
		return "; with privsep=1, both the token and its user need the role; with privsep=0, only the user"
	case !a.separate:
		return "; the token has privsep=0, so its user needs the role"
	case a.userHas(at, privilege):
		return "; the token has privsep=1 and needs the role itself; its user has it"
	}
	return "; the token has privsep=1, so both the token and its user need the role"
}

// command is the command to run as root on any node.
func (a *advisor) command(grantOn, privilege, at string) string {
	role, newRole := "PVEAuditor", ""
	if privilege == cluster.VMMonitor {
		role, newRole = "StackgenAgent", "pveum role add StackgenAgent --privs VM.Monitor && "
	}
	user := fmt.Sprintf("pveum acl modify %s --users %s --roles %s", shell.Word(grantOn), shell.Quote(a.user), role)
	token := fmt.Sprintf("pveum acl modify %s --tokens %s --roles %s", shell.Word(grantOn), shell.Quote(a.user+"!"+a.token), role)
	switch {
	case a.token == "", a.known && !a.separate:
		return newRole + user
	case a.known && a.userHas(at, privilege):
		return newRole + token
	}
	return newRole + token + " && " + user
}
