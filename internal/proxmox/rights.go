package proxmox

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
)

// rights is the response of /access/permissions.
type rights map[string]map[string]number

// plain is the response as an inventory has it.
func (r rights) plain() cluster.Rights {
	out := cluster.Rights{}
	for at, privileges := range r {
		out[at] = make(map[string]bool, len(privileges))
		for p, propagates := range privileges {
			out[at][p] = propagates != 0
		}
	}
	return out
}

func vmPath(vmid int) string { return "/vms/" + strconv.Itoa(vmid) }

// readRights reads what the credentials may do.
func (r *reader) readRights(ctx context.Context) error {
	var own rights
	if err := r.get(ctx, "/access/permissions", &own); err != nil {
		return err
	}
	r.rights = own.plain()
	r.who = &cluster.Access{Rights: maps.Clone(r.rights)} // more are added while r.rights is read
	r.who.User, r.who.Token = r.config.identity()
	return nil
}

// readTags reads which tags the credentials may set. Those who may change the system of the
// nodes may set all, and others see the rules with Sys.Audit only.
func (r *reader) readTags(ctx context.Context) {
	if r.rights.Has("/", cluster.SysModify) || !r.rights.Has("/", cluster.SysAudit) {
		return
	}
	var options struct {
		Allowed    []string `json:"allowed-tags"`
		Registered []string `json:"registered-tags"`
		Access     struct {
			Allow string `json:"user-allow"`
		} `json:"user-tag-access"`
	}
	if err := r.get(ctx, "/cluster/options", &options); err != nil {
		return // nothing needs it but the check of which tags may be set
	}
	tags := cluster.Tags{Free: options.Access.Allow == "" || options.Access.Allow == "free", Registered: options.Registered}
	if !tags.Free {
		tags.Allowed = options.Allowed
	}
	if !tags.Free || len(tags.Registered) > 0 {
		r.tags = &tags
	}
}

// mayUpdate reports whether the credentials have the privileges that most updates of the
// wanted VMs that exist may need.
func (r *reader) mayUpdate() bool {
	for vmid := range r.vmids {
		lacks := func(privilege string) bool { return !r.rights.Has(vmPath(vmid), privilege) }
		if r.guests[vmid] != nil && slices.ContainsFunc(cluster.UpdatePrivileges, lacks) {
			return false
		}
	}
	for _, at := range r.wanted.Paths {
		if strings.HasPrefix(at, "/storage/") && !r.rights.Has(at, cluster.AllocateSpace) ||
			strings.HasPrefix(at, "/sdn/") && !r.rights.Has(at, cluster.SDNUse) {
			return false
		}
	}
	return true
}

// access returns who the credentials are, with what their user may do and the access
// control list, which are read when they are needed first. It sends up to three requests.
func (r *reader) access(ctx context.Context) *cluster.Access {
	a := r.who
	if r.known {
		return a
	}
	r.known = true
	if a.Token != "" && a.User != "root@pam" { // root has every privilege
		var own struct {
			Privsep number `json:"privsep"`
		}
		// Most tokens may not read this; then the commands cover both cases.
		if err := r.get(ctx, "/access/users/"+a.User+"/token/"+a.Token, &own); err == nil {
			separate := own.Privsep != 0
			a.Privsep = &separate
		}
		var ofUser rights
		if err := r.get(ctx, "/access/permissions?userid="+a.User, &ofUser); err == nil {
			a.OfUser = ofUser.plain()
		}
	}
	r.readACL(ctx, a)
	return a
}

// readACL reads the entries of the access control list that concern the credentials.
// Without Sys.Audit on /access the list has no entry at all, which proves nothing.
func (r *reader) readACL(ctx context.Context, a *cluster.Access) {
	var list []struct {
		Path      string `json:"path"`
		Type      string `json:"type"`
		To        string `json:"ugid"`
		Role      string `json:"roleid"`
		Propagate number `json:"propagate"`
	}
	if !r.rights.Has("/access", cluster.SysAudit) || r.get(ctx, "/access/acl", &list) != nil {
		return
	}
	a.Entries = []cluster.ACL{}
	for _, e := range list {
		if e.Type == "group" || e.To == a.User || e.To == a.User+"!"+a.Token {
			a.Entries = append(a.Entries, cluster.ACL{Path: e.Path, Type: e.Type, To: e.To, Role: e.Role, Propagate: e.Propagate != 0})
		}
	}
	slices.SortFunc(a.Entries, func(x, y cluster.ACL) int {
		return strings.Compare(x.Path+" "+x.Type+x.To+" "+x.Role, y.Path+" "+y.Type+y.To+" "+y.Role)
	})
}

// missing returns the gap of a missing privilege, with the command that grants it.
func (r *reader) missing(ctx context.Context, at, privilege, reason string) cluster.Gap {
	a := r.access(ctx)
	return cluster.Gap{Path: at, Privilege: privilege, Reason: reason + a.Explain(at, privilege), Fix: a.Command(at, privilege)}
}
