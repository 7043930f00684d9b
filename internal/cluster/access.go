package cluster

import (
	"path"
	"slices"
	"strings"

	"stackgen/schema"
)

// Rights are privileges by path, and whether each of them propagates to deeper
// paths, as /access/permissions lists them: every privilege in it is granted. It has
// every path that has an ACL entry or belongs to a pool; a path without any privilege
// is in it, with an empty map, only if it was queried by itself.
type Rights map[string]map[string]bool

// Has reports whether a privilege is granted on a path, as far as is known: an ACL
// entry on a path that is not listed may remove all privileges.
func (r Rights) Has(at, privilege string) bool {
	if own, listed := r[at]; listed {
		_, ok := own[privilege]
		return ok
	}
	if TopPath(at) {
		return false // it would be listed
	}
	return r.Below(path.Dir(at), privilege)
}

// Below reports whether a privilege is granted on all deeper paths that have no ACL
// entry of their own.
func (r Rights) Below(at, privilege string) bool {
	if own, listed := r[at]; listed {
		return own[privilege]
	}
	if TopPath(at) {
		return false
	}
	return r.Below(path.Dir(at), privilege)
}

// TopPath reports whether the list of a user's privileges always has a path on which
// there are any.
func TopPath(at string) bool { return at == "/" || strings.Count(at, "/") == 1 && at != "/mapping" }

// Inherited are the privileges that a path has from the paths above it.
func (r Rights) Inherited(at string) []string {
	if at == "/" {
		return nil
	}
	above, listed := r[path.Dir(at)]
	if !listed {
		return r.Inherited(path.Dir(at))
	}
	var out []string
	for privilege, propagates := range above {
		if propagates {
			out = append(out, privilege)
		}
	}
	slices.Sort(out)
	return out
}

// source is the path whose ACL entry gives a path its privileges, as far as the
// privileges show: an entry on a deeper path replaces the entries above it, so a role
// that is added below the source would take the others away. It is the path itself if
// nothing is granted on it.
func (r Rights) source(at string) string {
	for at != "/" {
		own, listed := r[at]
		above := r.Inherited(at)
		if listed && !same(own, above) || len(above) == 0 {
			return at
		}
		at = path.Dir(at)
	}
	return at
}

func same(own map[string]bool, above []string) bool {
	return len(own) == len(above) && !slices.ContainsFunc(above, func(p string) bool { _, ok := own[p]; return !ok })
}

// An Access is what the credentials of an inventory may do, and what the commands that
// change it need.
type Access struct {
	User    string `json:"user"`
	Token   string `json:"token,omitempty"`
	Privsep *bool  `json:"privsep,omitempty"` // of the token; nil if it could not be read
	Rights  Rights `json:"rights"`            // relevant paths and privileges only
	OfUser  Rights `json:"user_rights,omitempty"`
	Entries []ACL  `json:"acl,omitempty"`  // of the token, its user and groups; nil if they could not be read
	Tags    *Tags  `json:"tags,omitempty"` // nil if all tags may be set, or the rules could not be read
}

// Tags are the rules of the data center about which tags may be set without Sys.Modify on /.
type Tags struct {
	Free       bool     `json:"free,omitempty"`       // all but the registered ones
	Allowed    []string `json:"allowed,omitempty"`    // these, unless all are free
	Registered []string `json:"registered,omitempty"` // but none of these
}

// Refuses reports whether a tag may not be added or removed.
func (t *Tags) Refuses(tag string) bool {
	return slices.Contains(t.Registered, tag) || !t.Free && !slices.Contains(t.Allowed, tag)
}

// An ACL is one entry of the access control list.
type ACL struct {
	Path      string `json:"path"`
	Type      string `json:"type"` // token, user or group
	To        string `json:"to"`
	Role      string `json:"role"`
	Propagate bool   `json:"propagate"`
}

// NoAccess is the role that removes all privileges on its path, whatever other roles
// are granted there.
const NoAccess = "NoAccess"

// A Grantee is a token, user or group to which a role is granted.
type Grantee struct{ Type, To string }

// privsep is whether the token has privilege separation, and whether that is known: a
// token with it that has privileges has entries of its own.
func (a *Access) privsep() (separate, known bool) {
	switch {
	case a.Privsep != nil:
		return *a.Privsep, true
	case a.User == "root@pam":
		return true, true // root has every privilege, so only the token can lack one
	case a.Entries != nil && len(a.Rights) > 0 && !slices.ContainsFunc(a.Entries, func(e ACL) bool { return e.Type == "token" }):
		return false, true
	}
	return true, false
}

// separate reports whether the token may have privileges of its own. Without a token, or
// with privsep=0, it has those of its user.
func (a *Access) separate() bool {
	separate, _ := a.privsep()
	return a.Token != "" && separate
}

func (a *Access) token() Grantee { return Grantee{"token", a.User + "!" + a.Token} }
func (a *Access) user() Grantee  { return Grantee{"user", a.User} }

// needing are the token and user that need a role before a privilege is granted on a
// path.
func (a *Access) needing(at, privilege string) []Grantee {
	userHas := a.User == "root@pam" || a.OfUser.Has(at, privilege)
	_, known := a.privsep()
	switch {
	case !a.separate():
		return []Grantee{a.user()}
	case userHas && known:
		return []Grantee{a.token()}
	}
	return []Grantee{a.token(), a.user()}
}

// Explain says whether the token or its user needs the role.
func (a *Access) Explain(at, privilege string) string {
	_, known := a.privsep()
	switch {
	case a.Token == "":
		return ""
	case !known:
		return "; with privsep=1, both the token and its user need the role; with privsep=0, only the user"
	case !a.separate():
		return "; the token has privsep=0, so its user needs the role"
	case len(a.needing(at, privilege)) == 1:
		return "; the token has privsep=1 and needs the role itself; its user has it"
	}
	return "; the token has privsep=1, so both the token and its user need the role"
}

// place is where a grantee gets a role so that it has it on a path, and whether
// NoAccess is there and must be removed first.
func (a *Access) place(to Grantee, at string) (on string, removed bool) {
	if a.Entries != nil {
		return a.recorded(to, at)
	}
	rights := a.Rights
	if to.Type == "user" && a.separate() && a.OfUser != nil {
		rights = a.OfUser
	}
	// A path above has privileges that propagate, and this one has none at all.
	for on = at; on != "/"; on = path.Dir(on) {
		own, listed := rights[on]
		if (listed || TopPath(on)) && len(own) == 0 && len(rights.Inherited(on)) > 0 {
			return on, true
		}
		if listed {
			break
		}
	}
	return rights.source(at), false
}

// recorded is the place by the entries of the access control list: the deepest path
// that has one.
func (a *Access) recorded(to Grantee, at string) (on string, removed bool) {
	for on = at; ; on = path.Dir(on) {
		found := false
		for _, e := range a.Entries {
			ours := e.Type == to.Type && e.To == to.To || to.Type == "user" && e.Type == "group"
			if !ours || e.Path != on || !e.Propagate && on != at {
				continue
			}
			if e.Role == NoAccess && e.Type == to.Type {
				return on, true
			}
			found = true
		}
		if found {
			return on, false
		}
		if on == "/" {
			return at, false
		}
	}
}

// Relevant is the access as an inventory has it: without privileges that no check
// names, and without paths of other VMs.
func (a *Access) Relevant(paths []string) *Access {
	out := *a
	out.Rights, out.OfUser = a.Rights.relevant(paths), a.OfUser.relevant(paths)
	return &out
}

func (r Rights) relevant(paths []string) Rights {
	if r == nil {
		return nil
	}
	out := Rights{}
	for at, own := range r {
		if strings.HasPrefix(at, "/vms/") && !slices.Contains(paths, at) || strings.HasPrefix(at, "/access/") {
			continue
		}
		out[at] = map[string]bool{}
		for privilege, propagates := range own {
			if slices.Contains(checkedPrivileges, privilege) {
				out[at][privilege] = propagates
			}
		}
	}
	return out
}

// UpdatePrivileges are the privileges on a VM that updates of it may need.
var UpdatePrivileges = []string{
	schema.ConfigCDROM, schema.ConfigCPU, schema.ConfigCloudInit, schema.ConfigDisk, schema.ConfigHardware,
	schema.ConfigMemory, schema.ConfigNetwork, schema.ConfigOptions, VMMigrate, VMPowerMgmt,
}

// checkedPrivileges are the privileges that a create or update of a VM or pool, or an action
// on a VM, may need.
var checkedPrivileges = []string{
	VMAudit, VMClone, VMAllocate, VMMigrate, VMPowerMgmt, VMMonitor, AgentAudit, "VM.GuestAgent.Unrestricted",
	"VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Cloudinit", "VM.Config.Disk", "VM.Config.HWType", "VM.Config.Memory",
	"VM.Config.Network", "VM.Config.Options", PoolAllocate, PoolAudit, AllocateSpace, AllocateImage, DatastoreAudit, MappingUse,
	SDNUse, SDNAudit, SysAudit, SysModify, AccessNetwork, VMSnapshot, VMRollback, VMBackup, VMConsole,
}

// IsRoot reports whether the credentials are root's password, with which everything is
// permitted.
func (a *Access) IsRoot() bool { return a.User == "root@pam" && a.Token == "" }
