package cluster

import (
	"strings"
	"testing"
)

// TestGrants: a role is granted where the token has its other privileges, because an
// entry on a deeper path would take them away; NoAccess is removed, because a role
// beside it changes nothing.
func TestGrants(t *testing.T) {
	yes, no := true, false
	all := func(propagates bool, privileges ...string) map[string]bool {
		out := map[string]bool{}
		for _, p := range privileges {
			out[p] = propagates
		}
		return out
	}
	onRoot := Rights{"/": all(true, VMAudit), "/vms": all(true, VMAudit), "/storage": all(true, VMAudit)}
	for name, c := range map[string]struct {
		access Access
		at     string
		want   string // the paths and grantees of the lines
	}{
		"all privileges come from the root": {Access{User: "ci@pve", Token: "t", Privsep: &no, Rights: onRoot}, "/vms/9000", "/ users"},
		"nothing is granted":                {Access{User: "ci@pve", Token: "t", Privsep: &no, Rights: Rights{}}, "/vms/9000", "/vms/9000 users"},
		"the path has an entry of its own": {Access{User: "ci@pve", Token: "t", Privsep: &no,
			Rights: Rights{"/": all(true, VMAudit), "/vms": all(true, VMAudit), "/vms/9000": all(true, VMAudit, PoolAudit)}}, "/vms/9000", "/vms/9000 users"},
		"the path has no privileges, and those above it have": {Access{User: "ci@pve", Token: "t", Privsep: &no,
			Rights: Rights{"/": all(true, VMAudit), "/vms": all(true, VMAudit), "/vms/9000": {}}}, "/vms/9000", "/vms/9000 users NoAccess"},
		"NoAccess is recorded for the token only": {Access{User: "ci@pve", Token: "t", Privsep: &yes, Rights: Rights{"/vms/9000": {}}, OfUser: Rights{"/vms": all(true, VMClone)},
			Entries: []ACL{{"/", "user", "ci@pve", "all", true}, {"/", "token", "ci@pve!t", "all", true}, {"/vms/9000", "token", "ci@pve!t", NoAccess, true}}}, "/vms/9000", "/vms/9000 tokens NoAccess"},
		"an entry that does not propagate gives nothing below": {Access{User: "ci@pve", Token: "t", Privsep: &no, Rights: Rights{"/": all(false, VMAudit)},
			Entries: []ACL{{"/", "user", "ci@pve", "all", false}}}, "/vms/9000", "/vms/9000 users"},
		"privsep=1, and the user has the privilege": {Access{User: "ci@pve", Token: "t", Privsep: &yes, Rights: onRoot, OfUser: Rights{"/vms": all(true, VMClone)}}, "/vms/9000", "/ tokens"},
		"privsep is not known":                      {Access{User: "ci@pve", Token: "t", Rights: Rights{}}, "/vms/9000", "/vms/9000 tokens, /vms/9000 users"},
		"the token has no entries, so privsep is 0": {Access{User: "ci@pve", Token: "t", Rights: onRoot, Entries: []ACL{{"/", "user", "ci@pve", "all", true}}}, "/vms/9000", "/ users"},
		"a token of root":                           {Access{User: "root@pam", Token: "t", Rights: Rights{}}, "/vms/9000", "/vms/9000 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, line := range c.access.Grants([]Missing{{c.at, VMClone, "clone"}}) {
				f := strings.Fields(line)
				if f[1] == "role" {
					continue
				}
				what := f[3] + " " + strings.TrimPrefix(f[4], "--")
				if f[7] == NoAccess {
					what += " " + NoAccess
				}
				got = append(got, what)
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}
