package real

import (
	"encoding/base64"
	"strings"
	"testing"

	"stackgen/internal/dnstest"
)

const dnsOne = "vms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n"

// TestDNSKey checks that an apply with a wrong key fails, changes nothing and does not
// show the secret.
func TestDNSKey(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		p := newDNSProject(t, kind, "DNS\n"+dnsOne)
		right := p.tools
		withoutKey, _, _ := strings.Cut(p.spec, ", tsig")
		other := base64.StdEncoding.EncodeToString([]byte("another secret"))
		for _, tc := range []struct{ secret, spec, contains string }{
			{other, p.spec, "bad authentication"},
			{"no base64!", p.spec, "illegal base64 data"},
			{"", p.spec, "should be non empty"},
			{p.server.Secret, strings.Replace(p.spec, p.server.KeyName, "other.", 1), "bad authentication"},
			{p.server.Secret, strings.Replace(p.spec, p.server.Algorithm, "hmac-sha512", 1), "bad authentication"},
			{p.server.Secret, strings.Replace(p.spec, "lab.test", "elsewhere.test", 1), "bad authentication"}, // not a zone of the server's
			{"", withoutKey, "5 (REFUSED)"},
		} {
			p.tools = right.With("DNS_UPDATE_KEYSECRET=" + tc.secret)
			was := p.spec
			p.spec = tc.spec
			p.respec("DNS\n" + dnsOne)
			output := p.fails("stacks/live", []string{"stack", "run", "apply"}, tc.contains)
			if tc.secret != "" && strings.Contains(output, tc.secret) {
				t.Errorf("the secret is in the output:\n%s", output)
			}
			p.spec = was
			p.has("web")
		}
		p.tools = right
		p.respec("DNS\n" + dnsOne)
		p.apply()
		p.has("web", "10.0.0.7")
		p.noSecretInFiles()
	})
}

// TestDNSServerDown checks that an apply without its DNS server fails and keeps the state.
func TestDNSServerDown(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		p := newDNSProject(t, kind, "DNS\n"+dnsOne)
		p.apply()
		before := p.read(".state/live/dns-a/tofu.tfstate")
		if err := p.server.Close(); err != nil {
			t.Fatal(err)
		}
		p.respec("DNS\n" + strings.Replace(dnsOne, "10.0.0.7", "10.0.0.8", 1))
		p.fails("stacks/live", []string{"stack", "run", "apply"}, "connection refused")
		if p.read(".state/live/dns-a/tofu.tfstate") != before {
			t.Error("the state has changed")
		}
	})
}

// TestDNSExistingRecords applies over records that exist. The provider adds an address,
// so clients receive both until the next apply, and it fails on an alias.
func TestDNSExistingRecords(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		p := newDNSProject(t, kind, "DNS\nvms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n  b: {name: alias, cloud_init: {ipv4: 10.0.0.8/24}}\n",
			"web IN A 10.9.9.9", "alias IN CNAME web", "taken IN A 10.0.0.9")
		p.fails("stacks/live", []string{"stack", "run", "apply"}, "didn't get a A record")
		p.has("web", "10.0.0.7", "10.9.9.9")
		p.fails("stacks/live", []string{"stack", "run", "plan"}, "didn't get a A record") // as long as the alias is there
		if err := p.server.Remove("alias"); err != nil {
			t.Fatal(err)
		}
		p.respec("DNS\nvms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n  b: {name: second, cloud_init: {ipv4: 10.0.0.8/24}}\n  c: {name: taken, cloud_init: {ipv4: 10.0.0.10/24}}\n")

		// With an import, clients receive either the old address or the new one.
		p.write("stacks/live/imports/dns-c.tf", "import {\n  to = dns_a_record_set.this[\"taken\"]\n  id = \"taken.lab.test.\"\n}\n")
		output := p.apply()
		p.contains(output, "1 imported, 0 added, 1 changed, 0 destroyed")
		p.has("web", "10.0.0.7")
		p.has("taken", "10.0.0.10")
		p.remove("stacks/live/imports")
		p.emptyPlans(4)
	})
}
