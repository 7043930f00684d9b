//go:build unix

package real

import (
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// pastedGrant is a line of discover that grants a permission.
var pastedGrant = regexp.MustCompile(`(?m)^ +(pveum .*)$`)

// auditor grants a path to the user, or to the token.
func auditor(path string) pvesim.Grant {
	return pvesim.Grant{Path: path, To: "ci@pve", Role: "PVEAuditor"}
}

func tokenAuditor(path string) pvesim.Grant {
	return pvesim.Grant{Path: path, Type: "token", To: "ci@pve!t", Role: "PVEAuditor"}
}

func none(path string) pvesim.Grant { return pvesim.Grant{Path: path, To: "ci@pve", Role: "NoAccess"} }

// A partialToken is a token that cannot see everything.
type partialToken struct {
	version string
	privsep bool
	acl     []pvesim.Grant
	before  string // what is seen before
	agent   bool   // VM 503 has an agent, and the token cannot query it
}

var partialTokens = map[string]partialToken{
	"one pool":                      {acl: []pvesim.Grant{auditor("/pool/web")}, before: "3 VMs in no spec"},
	"one pool, separate token":      {privsep: true, acl: []pvesim.Grant{auditor("/pool/web"), tokenAuditor("/pool/web")}, before: "3 VMs in no spec"},
	"one pool, token of an auditor": {privsep: true, acl: []pvesim.Grant{auditor("/"), tokenAuditor("/pool/web")}, before: "3 VMs in no spec"},
	"one VM":                        {acl: []pvesim.Grant{auditor("/vms/505")}, before: "1 VM in no spec"},
	"no VM":                         {acl: []pvesim.Grant{auditor("/nodes")}, before: "nothing to add"},
	"nothing":                       {before: "nothing to add"},
	"VMs taken away":                {acl: []pvesim.Grant{auditor("/"), none("/vms")}, before: "nothing to add"},
	"one VM taken away":             {acl: []pvesim.Grant{auditor("/"), none("/vms/505")}, before: "6 VMs in no spec"},
	"agents, 8.4":                   {acl: []pvesim.Grant{auditor("/")}, agent: true, before: "6 VMs in no spec"},
	"agents, 8.4, separate token":   {privsep: true, acl: []pvesim.Grant{auditor("/"), tokenAuditor("/")}, agent: true, before: "6 VMs in no spec"},
	"agents, 9":                     {version: "9", acl: []pvesim.Grant{{Path: "/", To: "ci@pve", Role: "Few"}}, agent: true, before: "6 VMs in no spec"},
	"one pool, then agents, 9":      {version: "9", acl: []pvesim.Grant{auditor("/pool/web")}, agent: true, before: "3 VMs in no spec"},
}

// TestDiscoverPastesGrants runs discover with tokens that cannot see everything, pastes the
// lines with pveum that it prints, and runs it again. Then it sees every guest.
func TestDiscoverPastesGrants(t *testing.T) {
	t.Parallel()
	for name, c := range partialTokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, nil)
			sim := p.simulateSeed(c.seed(t))
			w := &faultCase{T: t, dir: p.dir, sim: sim, tools: p.tools}
			w.startHost()
			p.tools = w.tools.With("PROXMOX_VE_API_TOKEN=ci@pve!t=secret-of-ci")
			p.pasteGrants(c.before)
		})
	}
}

// seed is the cluster with the token.
func (c *partialToken) seed(t *testing.T) *pvesim.Seed {
	t.Helper()
	seed, err := pvesim.HandmadeSeed()
	check(t, err)
	if c.version != "" {
		seed.Version = c.version
	}
	seed.Roles = append(seed.Roles, &pvesim.Role{ID: "Few", Privileges: []string{"VM.Audit", "Sys.Audit", "Pool.Audit"}})
	seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: "secret-of-ci", Privsep: c.privsep}}})
	for i := range c.acl {
		seed.ACL = append(seed.ACL, &c.acl[i])
	}
	for _, g := range seed.Guests {
		if g.VMID == 503 && c.agent {
			g.Config["agent"], g.Agent.Mode = "1", "present"
		}
	}
	return seed
}

// pasteGrants pastes what discover prints until it prints no more, and then wants all VMs.
func (p *project) pasteGrants(before string) {
	p.Helper()
	said := p.run("", stackgen, "discover").Text()
	p.contains(said, before)
	lines := pastedGrant.FindAllStringSubmatch(said, -1)
	if len(lines) == 0 {
		p.Fatalf("no line with pveum is printed\n%s", said)
	}
	for rounds := 1; len(lines) > 0; rounds++ {
		if rounds > 2 { // the second is for agents of VMs that the first one shows
			p.Fatalf("after %d rounds of pasting, discover prints\n%s", rounds, said)
		}
		for _, line := range lines {
			p.succeeds("", "sh", "-c", line[1])
			p.Log(strings.TrimSpace(line[1]))
		}
		said = p.run("", stackgen, "discover").Text()
		lines = pastedGrant.FindAllStringSubmatch(said, -1)
	}
	p.contains(said, "7 VMs in no spec", "the cluster has 11 guests: 7 VMs, 0 containers, 4 templates")
}
