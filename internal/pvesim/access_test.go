package pvesim_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// step is a request and a part of its response.
type step struct{ method, path, form, want string }

// run sends requests and compares their responses.
func (b *testSim) run(token string, steps []step) {
	b.t.Helper()
	for _, s := range steps {
		r := b.as(token, s.method, s.path, s.form)
		if got := r.Reason + " " + string(r.Body); !strings.Contains(got, s.want) {
			b.t.Errorf("%s %s %s: %d %s, want %q", s.method, s.path, s.form, r.Status, got, s.want)
		}
	}
}

// TestRolesGroupsAndUsers makes, changes and removes them.
func TestRolesGroupsAndUsers(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.run(b.sim.Token(), []step{
		{"POST", "/access/roles", "roleid=student&privs=VM.Audit VM.Console", `{"data":null}`},
		{"POST", "/access/roles", "roleid=pvestudent&privs=VM.Audit", "cannot use role ID starting with the (case-insensitive) 'PVE' namespace"},
		{"POST", "/access/roles", "roleid=x&privs=VM.Nope", `"privs":"invalid format - invalid privilege 'VM.Nope'\n"`},
		{"POST", "/access/roles", "roleid=x y&privs=VM.Audit", "role name 'x y' contains invalid characters"},
		{"PUT", "/access/roles/student", "privs=VM.Backup&append=1", `{"data":null}`},
		{"GET", "/access/roles/student", "", `{"data":{"VM.Audit":1,"VM.Backup":1,"VM.Console":1}}`},
		{"GET", "/access/roles/none", "", "role 'none' does not exist"},
		{"PUT", "/access/roles/PVEAdmin", "privs=VM.Audit", "auto-generated role 'PVEAdmin' cannot be modified"},
		{"DELETE", "/access/roles/PVEAdmin", "", "auto-generated role 'PVEAdmin' cannot be deleted"},

		{"POST", "/access/groups", "groupid=class&comment=lesson 1", `{"data":null}`},
		{"POST", "/access/groups", "groupid=class", "create group failed: group 'class' already exists"},
		{"PUT", "/access/groups/class", "comment=lesson 2", `{"data":null}`},
		{"PUT", "/access/groups/none", "comment=x", "update group failed: group 'none' does not exist"},

		{"POST", "/access/users", "userid=anna@pve&groups=class&password=12345678&email=anna@example.org&firstname=Anna&expire=1900000000", `{"data":null}`},
		{"POST", "/access/users", "userid=anna@pve", "create user failed: user 'anna@pve' already exists"},
		{"POST", "/access/users", "userid=ben", "value 'ben' does not look like a valid user name"},
		{"POST", "/access/users", "userid=ben@pve&password=short", "value must be at least 8 characters long"},
		{"POST", "/access/users", "userid=ben@pve&groups=none", "create user failed: no such group 'none'"},
		{"POST", "/access/users", "userid=ben@pve&email=ben", "value does not look like a valid email address"},
		{"POST", "/access/users", "userid=ben@other&password=12345678", "create user failed: auth domain 'other' does not exist"},
		{"POST", "/access/users", "userid=ben@other", `{"data":null}`},
		{"GET", "/access/users/anna@pve", "", `"expire":1900000000,"firstname":"Anna","groups":["class"],"tokens":null}`},
		{"PUT", "/access/users/anna@pve", "comment=student&email=", `{"data":null}`},
		{"GET", "/access/users/anna@pve", "", `"comment":"student","email":"","enable":1`},
		{"PUT", "/access/users/none@pve", "comment=x", "no such user ('none@pve')"},
		{"GET", "/access/groups/class", "", `{"data":{"comment":"lesson 2","members":["anna@pve"]}}`},
		{"GET", "/access/groups", "", `[{"comment":"lesson 2","groupid":"class","users":"anna@pve"}]`},
		{"GET", "/access/users?enabled=0", "", `{"data":[]}`},
		{"GET", "/access/users?full=1", "", `{"enable":1,"expire":0,"groups":"","tokens":null,"userid":"ben@other"}`},

		{"POST", "/access/users/anna@pve/token/tok", "privsep=0&expire=1900000000", `"info":{"expire":"1900000000","privsep":"0"}`},
		{"PUT", "/access/users/anna@pve/token/tok", "privsep=1&comment=ci&expire=0", `{"data":{"comment":"ci","expire":0,"privsep":1}}`},
		{"PUT", "/access/users/anna@pve/token/none", "privsep=1", "no such token 'none' for user 'anna@pve'"},
		{"PUT", "/access/password", "userid=anna@pve&password=87654321", "(URI '/access/password' not available with API token, need proper ticket."},

		{"PUT", "/access/acl", "path=/vms/300&roles=student&groups=class", `{"data":null}`},
		{"PUT", "/access/acl", "path=/vms/300&roles=student&groups=none", "ACL update failed: group 'none' does not exist"},
		{"PUT", "/access/acl", "path=/vms/300&roles=student", "either 'users', 'groups' or 'tokens' is required."},
		{"PUT", "/access/acl", "path=/nowhere&roles=student&groups=class", "invalid ACL path '/nowhere'"},
		{"PUT", "/access/acl", "path=/nowhere&roles=student&groups=class&delete=1", `{"data":null}`},
		{"DELETE", "/access/groups/class", "", `{"data":null}`},
		{"DELETE", "/access/groups/class", "", "delete group failed: group 'class' does not exist"},
		{"GET", "/access/acl", "", `{"data":[]}`},
		{"GET", "/access/users/anna@pve", "", `"groups":[]`},
		{"DELETE", "/access/users/anna@pve", "", `{"data":null}`},
		{"DELETE", "/access/users/anna@pve", "", "no such user ('anna@pve')"},
	})
}

// TestExpiredUsersAndTokens checks that neither tickets nor tokens of users who expired or
// were disabled are valid.
func TestExpiredUsersAndTokens(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*pvesim.User)
	}{
		{"disabled", func(u *pvesim.User) { u.Disabled = true }},
		{"expired", func(u *pvesim.User) { u.Expire = epoch().Unix() - 1 }},
		{"expired token", func(u *pvesim.User) { u.Tokens[0].Expire = epoch().Unix() - 1 }},
	} {
		seed, err := pvesim.DefaultSeed()
		if err != nil {
			t.Fatal(err)
		}
		u := &pvesim.User{ID: "anna@pve", Password: "12345678", Tokens: []*pvesim.Token{{ID: "t", Secret: "s"}}}
		seed.Users = append(seed.Users, u)
		b := newTestSim(t, pvesim.Options{Seed: seed, NoAuthDelay: true})
		if r := b.as("anna@pve!t=s", "GET", "/version", ""); r.Status != 200 {
			t.Fatalf("a valid token: %d %s", r.Status, r.Reason)
		}
		c.change(u)
		if r := b.as("anna@pve!t=s", "GET", "/version", ""); r.Status != 401 {
			t.Errorf("%s: the token: %d %s", c.name, r.Status, r.Reason)
		}
		want := 401
		if c.name == "expired token" {
			want = 200
		}
		login := pvesim.Request{Method: "POST", Path: "/api2/json/access/ticket", Body: []byte("username=anna%40pve&password=12345678"),
			Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
		if r := b.sim.Do(context.Background(), login); r.Status != want {
			t.Errorf("%s: the login: %d %s, want %d", c.name, r.Status, r.Reason, want)
		}
	}
}

// TestNarrowAdministrators checks what those may change who have rights on single groups,
// VMs or pools.
func TestNarrowAdministrators(t *testing.T) {
	for _, c := range []struct{ path, privs, method, call, form, want string }{
		{"/access/groups/class", "User.Modify", "PUT", "/access/users/anna@pve", "groups=class", ""},
		{"/access/groups/class", "User.Modify", "PUT", "/access/users/ben@pve", "groups=class", "Permission check failed"},
		{"/access/groups/class", "User.Modify", "PUT", "/access/users/anna@pve", "groups=other", "/access/groups/other, User.Modify"},
		{"/access/groups/class", "User.Modify", "GET", "/access/users/anna@pve", "", ""},
		{"/access", "Realm.AllocateUser", "POST", "/access/users", "userid=new@pve", "/access/groups, User.Modify"},
		{"/access", "Realm.AllocateUser,User.Modify", "POST", "/access/users", "userid=new@pve", ""},
		{"/vms/300", "VM.Allocate,VM.Audit", "PUT", "/access/acl", "path=/vms/300&roles=PVEVMUser&users=anna@pve", "requires 'Permissions.Modify' or superset of privileges"},
		{"/vms/300", "VM.Allocate,VM.Audit", "PUT", "/access/acl", "path=/vms/300&roles=Narrow&users=anna@pve", ""},
		{"/vms/300", "VM.Audit", "PUT", "/access/acl", "path=/vms/300&roles=Narrow&users=anna@pve", "(/vms/300, Permissions.Modify|VM.Allocate)"},
		{"/vms/300", "VM.Allocate", "PUT", "/access/acl", "path=/vms/300&roles=NoAccess&users=anna@pve", "Cannot add role 'NoAccess'"},
		{"/pool/p", "Pool.Allocate,Pool.Audit", "GET", "/access/acl", "", `"path":"/pool/p"`},
	} {
		seed, err := pvesim.DefaultSeed()
		if err != nil {
			t.Fatal(err)
		}
		seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: "s"}}},
			&pvesim.User{ID: "anna@pve", Groups: []string{"class"}}, &pvesim.User{ID: "ben@pve"})
		seed.Groups = append(seed.Groups, &pvesim.Group{ID: "class"}, &pvesim.Group{ID: "other"})
		seed.Roles = append(seed.Roles, &pvesim.Role{ID: "Narrow", Privileges: strings.Split(c.privs, ",")})
		seed.ACL = append(seed.ACL, &pvesim.Grant{Path: c.path, To: "ci@pve", Role: "Narrow"})
		b := newTestSim(t, pvesim.Options{Seed: seed})
		r := b.as("ci@pve!t=s", c.method, c.call, c.form)
		got := r.Reason + string(r.Body)
		if refused := !strings.HasPrefix(c.want, `"`) && c.want != ""; (r.Status != 200) != refused || !strings.Contains(got, c.want) {
			t.Errorf("%s on %s: %s %s %s: %d %s, want %q", c.privs, c.path, c.method, c.call, url.QueryEscape(c.form), r.Status, got, c.want)
		}
	}
}

// TestBackupRights checks that the storage of a backup is checked first, and a guest in the task.
func TestBackupRights(t *testing.T) {
	for _, c := range []struct{ privs, form, want string }{
		{"VM.Backup", "vmid=123", "(/storage/local, Datastore.AllocateSpace)"},
		{"Datastore.AllocateSpace", "vmid=123", "403 Permission check failed (/vms/123, VM.Backup)"},
		{"Datastore.AllocateSpace", "all=1", "OK"},
		{"Datastore.AllocateSpace,VM.Backup", "vmid=123", "OK"},
	} {
		seed, err := pvesim.DefaultSeed()
		if err != nil {
			t.Fatal(err)
		}
		seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: "s"}}})
		seed.Roles = append(seed.Roles, &pvesim.Role{ID: "Narrow", Privileges: strings.Split(c.privs, ",")})
		seed.ACL = append(seed.ACL, &pvesim.Grant{Path: "/", To: "ci@pve", Role: "Narrow"})
		b := newTestSim(t, pvesim.Options{Seed: seed})
		r := b.as("ci@pve!t=s", "POST", "/nodes/pve3/vzdump", c.form)
		end := r.Reason
		if r.Status == 200 {
			end = b.wait(upidIn(string(r.Body)))
		}
		if !strings.Contains(end, c.want) {
			t.Errorf("%s with %s ended %q, want %q", c.form, c.privs, end, c.want)
		}
	}
}
