package real

import (
	"encoding/base64"
	"strings"
	"testing"

	"stackgen/internal/dnstest"
)

const dnsOne = "vms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n"

// TestRealDNSKey: what is wrong with the key is told by the provider, changes nothing
// and never shows the secret.
func TestRealDNSKey(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		p := dnsNew(t, kind, "DNS\n"+dnsOne)
		right := p.tools
		other := base64.StdEncoding.EncodeToString([]byte("another secret"))
		for _, tc := range []struct{ secret, spec, says string }{
			{other, p.spec, "bad authentication"},
			{"no base64!", p.spec, "illegal base64 data"},
			{"", p.spec, "should be non empty"},
			{p.server.Secret, strings.Replace(p.spec, p.server.KeyName, "other.", 1), "bad authentication"},
			{p.server.Secret, strings.Replace(p.spec, p.server.Algorithm, "hmac-sha512", 1), "bad authentication"},
			{p.server.Secret, strings.Replace(p.spec, "lab.test", "elsewhere.test", 1), "bad authentication"}, // not a zone of the server's
			{"", p.spec[:strings.Index(p.spec, ", tsig")], "5 (REFUSED)"},
		} {
			p.tools = right.With("DNS_UPDATE_KEYSECRET=" + tc.secret)
			was := p.spec
			p.spec = tc.spec
			p.respec("DNS\n" + dnsOne)
			said := p.bad("stacks/live", "terragrunt", []string{"stack", "run", "apply"}, tc.says)
			if tc.secret != "" && strings.Contains(said, tc.secret) {
				t.Errorf("the secret is in what was said:\n%s", said)
			}
			p.spec = was
			p.has("web")
		}
		p.tools = right
		p.respec("DNS\n" + dnsOne)
		p.apply()
		p.has("web", "10.0.0.7")
		p.leaks()
	})
}

// TestRealDNSDown: without its server nothing is changed, and the state keeps what it
// had.
func TestRealDNSDown(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		p := dnsNew(t, kind, "DNS\n"+dnsOne)
		p.apply()
		before := p.read(".state/live/dns-a/tofu.tfstate")
		if err := p.server.Close(); err != nil {
			t.Fatal(err)
		}
		p.respec("DNS\n" + strings.Replace(dnsOne, "10.0.0.7", "10.0.0.8", 1))
		p.bad("stacks/live", "terragrunt", []string{"stack", "run", "apply"}, "connection refused")
		if p.read(".state/live/dns-a/tofu.tfstate") != before {
			t.Error("the state has changed")
		}
	})
}

// TestRealDNSNoAddress: a VM without an address has no record, and the message names
// the guest agent. The records of the others are published where each VM has a unit.
func TestRealDNSNoAddress(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		for _, mode := range []string{"per-vm", "per-stack"} {
			p := dnsNew(t, kind, "DNS, mode: "+mode+"\nvms:\n  mute: {}\n  loud: {name: loud, meta: {address: 10.0.0.7}}\n")
			p.bad("stacks/live", "terragrunt", []string{"stack", "run", "apply"},
				"VM mute has reported no IPv4 address, so its record live-mute cannot be published.", "QEMU guest agent", "static address")
			p.has("live-mute")
			p.has("loud", map[string][]string{"per-vm": {"10.0.0.7"}}[mode]...)
		}
	})
}

// TestRealDNSInTheWay: what DNS has already. The provider adds to an address, so that
// both are answered until the next apply, and it fails at an alias.
func TestRealDNSInTheWay(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		p := dnsNew(t, kind, "DNS\nvms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n  b: {name: alias, cloud_init: {ipv4: 10.0.0.8/24}}\n",
			"web IN A 10.9.9.9", "alias IN CNAME web", "taken IN A 10.0.0.9")
		p.bad("stacks/live", "terragrunt", []string{"stack", "run", "apply"}, "didn't get a A record")
		p.has("web", "10.0.0.7", "10.9.9.9")
		p.bad("stacks/live", "terragrunt", []string{"stack", "run", "plan"}, "didn't get a A record") // as long as the alias is there
		if err := p.server.Remove("alias"); err != nil {
			t.Fatal(err)
		}
		p.respec("DNS\nvms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n  b: {name: second, cloud_init: {ipv4: 10.0.0.8/24}}\n  c: {name: taken, cloud_init: {ipv4: 10.0.0.10/24}}\n")

		// With an import there is one address at no time but the VM's or the old one.
		p.write("stacks/live/imports/dns-c.tf", "import {\n  to = dns_a_record_set.this[\"taken\"]\n  id = \"taken.lab.test.\"\n}\n")
		said := p.apply()
		p.says(said, "1 imported, 0 added, 1 changed, 0 destroyed")
		p.has("web", "10.0.0.7")
		p.has("taken", "10.0.0.10")
		p.remove("stacks/live/imports")
		p.quiet(4)
	})
}
