package real

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/dnstest"
)

// A dnsProject is a project whose real DNS units update a DNS server.
type dnsProject struct {
	*project
	server *dnstest.Server
	zone   string // of the server; lab.test if empty
	spec   string // the dns of its spec, without the closing brace
}

// dnsKinds are the servers that the cases run on: both if named is installed.
func dnsKinds(t *testing.T) []dnstest.Kind {
	t.Helper()
	s, err := dnstest.Start(t.Context(), dnstest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.Kind == dnstest.Named {
		return []dnstest.Kind{dnstest.Named, dnstest.InProcess}
	}
	return []dnstest.Kind{dnstest.InProcess}
}

// onEach runs a case on every kind of server, and logs which ones.
func onEach(t *testing.T, do func(t *testing.T, kind dnstest.Kind)) {
	t.Helper()
	t.Parallel()
	t.Logf("DNS servers: %v; provider: %s", dnsKinds(t), dnsProvider(t))
	for _, kind := range dnsKinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			do(t, kind)
		})
	}
}

// dnsProvider is the version of hashicorp/dns in .tools: 3.99.0 is the stand-in.
func dnsProvider(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(repository + "/.tools/providers/registry.opentofu.org/hashicorp/dns/*")
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no DNS provider in .tools: run make tools (%v)", err)
	}
	out := filepath.Base(found[len(found)-1])
	if out == "3.99.0" {
		out += ", the stand-in of tools/provider-dns"
	}
	return out
}

// newDNSProject creates a project with a DNS server. Its VMs are terraform_data; their
// address is in the spec or in their meta.
func newDNSProject(t *testing.T, kind dnstest.Kind, rest string, records ...string) *dnsProject {
	t.Helper()
	p := &dnsProject{project: newProject(t, nil)}
	p.serve(kind, records...)
	p.terraformData, p.realRecords = true, true
	p.respec(rest)
	return p
}

// serve starts the project's DNS server, and passes its key to the tools.
func (p *dnsProject) serve(kind dnstest.Kind, records ...string) {
	p.Helper()
	s, err := dnstest.Start(context.Background(), dnstest.Options{Kind: kind, Zone: p.zone, Records: records})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := s.Close(); err != nil {
			p.Error(err)
		}
	})
	p.server = s
	p.spec = fmt.Sprintf("dns: {zone: %s, server: %s, port: %d, tsig: {key_name: %s, algorithm: %s}", strings.TrimSuffix(s.Zone, "."), s.Addr, s.Port, s.KeyName, s.Algorithm)
	p.tools = p.tools.With(s.Env()...)
}

// dnsText is a spec in which DNS is replaced by the server's settings. The rest of
// such a line is added to them.
func (p *dnsProject) dnsText(rest string) string {
	var out []string
	for line := range strings.Lines(rest) {
		if more, ok := strings.CutPrefix(line, "DNS"); ok {
			line = p.spec + strings.TrimRight(more, "\n") + "}\n"
		}
		out = append(out, line)
	}
	return liveSpec("guard: off\n" + strings.Join(out, ""))
}

// respec replaces the spec and renders.
func (p *dnsProject) respec(rest string) {
	p.Helper()
	p.write("specs/live.yaml", p.dnsText(rest))
	p.render()
}

// has fails unless a name has these addresses.
func (p *dnsProject) has(name string, want ...string) {
	p.Helper()
	got, err := p.server.Lookup(name)
	if err != nil || !slices.Equal(got, want) {
		p.Errorf("%s is %v (%v), want %v", name, got, err, want)
	}
}

// apply applies the stack.
func (p *dnsProject) apply() string {
	p.Helper()
	return p.all("live", "apply")
}

// emptyPlans fails unless the plans of this many units are empty.
func (p *dnsProject) emptyPlans(units int) {
	p.Helper()
	output := p.all("live", "plan")
	if n := strings.Count(output, "No changes."); n != units {
		p.Errorf("%d units have no changes, want %d\n%s", n, units, output)
	}
}

// changed fails unless an apply took an action on this many records.
func (p *dnsProject) changed(output, what string, want int) {
	p.Helper()
	n := 0
	for line := range strings.Lines(output) {
		if strings.Contains(line, "dns_a_record_set.this[") && strings.Contains(line, what+"...") {
			n++
		}
	}
	if n != want {
		p.Errorf("%s: %d records, want %d\n%s", what, n, want, output)
	}
}

// noSecretInFiles fails if a file of the project contains the secret.
func (p *dnsProject) noSecretInFiles() {
	p.Helper()
	err := filepath.Walk(p.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return err
		}
		body, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(body), p.server.Secret) {
			p.Errorf("%s contains the secret", path)
		}
		return err
	})
	if err != nil {
		p.Error(err)
	}
}

const dnsThree = `vms:
  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}, dns: {records: [web, www, "*.web", "@"], ttl: 60}}
  b: {name: db, meta: {address: 10.0.0.8}}
  c: {name: silent, dns: false, meta: {address: 10.0.0.9}}
`

// TestDNSLifecycle creates, changes and destroys the records of a stack.
func TestDNSLifecycle(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		for _, mode := range []string{"per-vm", "per-stack"} {
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				dnsLife(t, kind, mode)
			})
		}
	})
}

func dnsLife(t *testing.T, kind dnstest.Kind, mode string) {
	dns, units := "DNS, mode: "+mode+"\n", map[string]int{"per-vm": 3, "per-stack": 2}[mode]
	p := newDNSProject(t, kind, dns+dnsThree)

	// A first plan publishes nothing; an apply never uses a mock.
	p.contains(p.all("live", "plan"), `"192.0.2.1"`, `"10.0.0.7"`)
	p.has("web")
	p.apply()
	for _, name := range []string{"web", "www", "anything.web", "@"} {
		p.has(name, "10.0.0.7")
	}
	p.has("db", "10.0.0.8")
	p.has("silent")
	if ttl, err := p.server.TTL("web"); ttl != 60 || err != nil {
		t.Errorf("the TTL is %d (%v), want 60", ttl, err)
	}
	p.emptyPlans(units)

	// A changed address is updated in place.
	p.respec(dns + strings.NewReplacer("10.0.0.7", "10.0.0.17", "10.0.0.8", "10.0.0.18").Replace(dnsThree))
	p.changed(p.apply(), "Modifying", 5)
	p.has("web", "10.0.0.17")
	p.has("any.web", "10.0.0.17")
	p.has("db", "10.0.0.18")

	// A changed TTL replaces the records.
	p.respec(dns + strings.NewReplacer("10.0.0.7", "10.0.0.17", "10.0.0.8", "10.0.0.18", "ttl: 60", "ttl: 61").Replace(dnsThree))
	p.apply()
	if ttl, err := p.server.TTL("www"); ttl != 61 || err != nil {
		t.Errorf("the TTL is %d (%v), want 61", ttl, err)
	}
	p.has("web", "10.0.0.17")
	p.emptyPlans(units)

	// A record was removed by hand: an apply publishes it again.
	if err := p.server.Remove("db"); err != nil {
		t.Fatal(err)
	}
	p.apply()
	p.has("db", "10.0.0.18")

	dnsEnd(p, dns)
}

// dnsEnd renames and retires VMs, and destroys the others.
func dnsEnd(p *dnsProject, dns string) {
	p.Helper()

	// A renamed VM keeps its record; that of a retired VM is destroyed.
	p.respec(dns + `renamed: {b: second}
retired: [a]
vms:
  second: {name: db, meta: {address: 10.0.0.18}}
  c: {name: silent, dns: false, meta: {address: 10.0.0.9}}
`)
	output := p.apply()
	p.changed(output, "Destroying", 4)
	p.changed(output, "Creating", 0)
	p.changed(output, "Modifying", 0)
	p.has("web")
	p.has("any.web")
	p.has("db", "10.0.0.18")
	p.noSecretInFiles()

	// The stack is destroyed twice.
	p.all("live", "destroy")
	p.has("db")
	p.all("live", "destroy")
}
