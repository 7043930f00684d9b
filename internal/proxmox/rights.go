package proxmox

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
)

// rights are what the asker may do: path, privilege, and whether it holds for
// what lies below too. A privilege that is named is granted, whatever its value;
// the value says only whether it propagates. The dump names every path that has
// an entry or belongs to a pool, but no path on which nothing is granted.
type rights map[string]map[string]lax

// has reports whether a privilege is granted on a path, as far as the dump
// tells: an entry that takes everything away is not in it.
func (r rights) has(at, privilege string) bool {
	if own, listed := r[at]; listed {
		_, ok := own[privilege]
		return ok
	}
	if at == "/" || strings.Count(at, "/") == 1 {
		return false // the dump would name it
	}
	return r.below(path.Dir(at), privilege)
}

// below reports whether a privilege holds for everything below a path that has
// no entry of its own.
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

// A mender writes the commands that close gaps.
type mender struct {
	user, token string
	rights      rights
	old         bool // before Proxmox VE 9
	separate    bool // the token has rights of its own, less than its user's
	known       bool // whether separate is known
	userHas     func(at, privilege string) bool
}

// newMender finds out how the token and its user hang together. It costs two
// requests and is for when there is something to mend.
func newMender(ctx context.Context, c *client, r rights, old bool) *mender {
	m := &mender{rights: r, old: old, userHas: func(string, string) bool { return false }}
	m.user, m.token = c.config.who()
	if m.token == "" {
		return m
	}
	if m.user == "root@pam" { // may do everything, so what is missing is missing to the token
		m.separate, m.known = true, true
		m.userHas = func(string, string) bool { return true }
		return m
	}
	var own struct {
		Privsep lax `json:"privsep"`
	}
	// A token is seldom allowed to ask; then both halves are told.
	if err := c.get(ctx, "/access/users/"+m.user+"/token/"+m.token, &own); err == nil {
		m.separate, m.known = own.Privsep != 0, true
	}
	var of rights
	if err := c.get(ctx, "/access/permissions?userid="+m.user, &of); err == nil {
		m.userHas = of.has
	}
	return m
}

// gap describes a missing privilege and how to get it.
func (m *mender) gap(at, privilege, reason string) cluster.Gap {
	return cluster.Gap{Path: at, Privilege: privilege, Reason: reason + m.why(at, privilege), Fix: m.mend(m.where(at, privilege), privilege, at)}
}

// where is the path to grant on. A deeper entry replaces what comes from above,
// so a role is added where the asker's other rights come from.
func (m *mender) where(at, privilege string) string {
	if at == "/vms" && len(m.rights["/"]) > 0 && len(m.rights["/vms"]) == len(m.rights["/"]) && privilege != "" {
		return "/"
	}
	return at
}

// why says whose entry is missing, where that is not plain.
func (m *mender) why(at, privilege string) string {
	switch {
	case m.token == "":
		return ""
	case !m.known:
		return "; a token with privsep=1 needs the role for itself and for its user, one with privsep=0 for its user only"
	case !m.separate:
		return "; the token has privsep=0, so its user needs the role"
	case m.userHas(at, privilege):
		return "; the token has privsep=1 and needs the role itself, its user has it"
	}
	return "; the token has privsep=1, so it and its user both need the role"
}

// mend is the command to run, as root on any node.
func (m *mender) mend(where, privilege, at string) string {
	role, before := "PVEAuditor", ""
	if privilege == cluster.VMMonitor {
		role, before = "StackgenAgent", "pveum role add StackgenAgent --privs VM.Monitor && "
	}
	user := fmt.Sprintf("pveum acl modify %s --users '%s' --roles %s", where, m.user, role)
	token := fmt.Sprintf("pveum acl modify %s --tokens '%s!%s' --roles %s", where, m.user, m.token, role)
	switch {
	case m.token == "", m.known && !m.separate:
		return before + user
	case m.known && m.userHas(at, privilege):
		return before + token
	}
	return before + token + " && " + user
}
