package lock

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"stackgen/schema"
)

// TestEditedLock checks that values which are no decisions of stackgen are refused where
// they are: they become paths, names in files, and printed commands.
func TestEditedLock(t *testing.T) {
	const vm = "{vmid: 100, node: pve1}"
	for name, c := range map[string]struct{ old, edited, want string }{
		"stack outside":        {"  web:", "  ../web:", `"../web" is not the name`},
		"stack as an option":   {"  web:", "  -web:", `"-web" is not the name`},
		"unit outside":         {"proxmox-vm:", "../proxmox-vm:", `"../proxmox-vm" is not the name`},
		"key with a command":   {"      a:", "      $(id):", `"$(id)" is not the name`},
		"absolute spec":        {"specs/web.yaml", "/etc/passwd", `spec is "/etc/passwd", but it must be a path relative to the project`},
		"spec up and down":     {"specs/web.yaml", "specs/../../x.yaml", "spec is"},
		"spec is a folder":     {"specs/web.yaml", "../..", "spec is"},
		"spec with an escape":  {"specs/web.yaml", `"specs/\e[2J.yaml"`, "spec is"},
		"environment":          {"environment: prod", "environment: a/b", `environment is "a/b"`},
		"state key outside":    {"prod/web", "prod/../../web", `state_key is "prod/../../web", but it must be a path without . and ..`},
		"absolute state key":   {"prod/web", "/prod/web", "state_key is"},
		"state key, a command": {"prod/web", "$(id)", "state_key is"},
		"backend":              {"type: s3", "type: http", `type is "http", but it must be local or s3`},
		"bucket":               {"bucket: states", "bucket: '--recursive'", "bucket is"},
		"region":               {"region: eu-1", "region: 'eu 1'", "region is"},
		"endpoint of states":   {"https://s3.example.org", "https://user@s3.example.org", "endpoint is"},
		"path_style":           {"path_style: true", "path_style: 'yes'", `path_style is "yes", but it must be true or false`},
		"endpoint":             {"https://pve.example.org", "pve.example.org", "endpoint is"},
		"ca_file":              {"ca_file: ca.pem", `ca_file: "ca\u202e.pem"`, "ca_file is"},
		"zone":                 {"zone: example.org.", "zone: '*'", "zone is"},
		"server":               {"server: 192.0.2.53", "server: '-x'", "server is"},
		"port":                 {"port: 53", "port: 70000", "port is 70000, but it must be between 1 and 65535"},
		"key name":             {"key_name: ddns.", "key_name: ddns", "key_name is"},
		"algorithm":            {"algorithm: hmac-sha256", "algorithm: $(id)", "algorithm is"},
		"pool":                 {"pool: lab", "pool: a b", "pool is"},
		"lineage":              {"lineage: 9a7c", `lineage: "\e[2J"`, "lineage is"},
		"node of the cluster":  {"name: pve1", "name: pve_1", "name is"},
		"vmid 0":               {vm, "{vmid: 0}", "vmid is 0, but it must be between 100 and 999999999"},
		"vmid below 0":         {vm, "{vmid: -100}", "vmid is -100"},
		"vmid too large":       {vm, "{vmid: 1000000000}", "vmid is 1000000000"},
		"node":                 {vm, "{vmid: 100, node: pve1/qemu}", `node is "pve1/qemu"`},
		"clone":                {vm, "{vmid: 100, clone: auto}", `clone is "auto", but it must be full or linked`},
		"profile":              {vm, "{vmid: 100, profile: 'x\"]'}", "profile is"},
		"template":             {vm, "{vmid: 100, template: {vmid: 1}}", "vmid is 1, but"},
		"template's node":      {vm, "{vmid: 100, template: {vmid: 9000, node: ..}}", "node is"},
		"template's name":      {vm, "{vmid: 100, template: {vmid: 9000, name: 'a b'}}", "name is"},
		"mac":                  {vm, "{vmid: 100, macs: ['BC:24:11:00:00']}", "macs is"},
		"group mac":            {vm, "{vmid: 100, macs: ['BD:24:11:00:00:00']}", "macs is"},
		"mac in a list":        {vm, "{vmid: 100, macs: [[a]]}", "expected text, found a list"},
		"DNS unit":             {vm, "{vmid: 100, unit: ../a}", "unit is"},
		"member":               {vm, `{vmid: 100, member: "\u202e"}`, "member is"},
		"former profile":       {vm, "{vmid: 100, former: ['this\"]/a']}", "former is"},
		"former key":           {vm, "{vmid: 100, former: [default/../a]}", "former is"},
		"fingerprint":          {vm, `{vmid: 100, fingerprint: {uuid: "\u0000"}}`, "uuid is"},
		"mac that was seen":    {vm, "{vmid: 100, fingerprint: {macs: [a]}}", "macs is"},
		"address":              {vm, `{vmid: 100, addresses: ["\e[2J"]}`, "addresses is"},
		"gone":                 {vm, "{vmid: 100, gone: 1}", `gone is "1", but it must be true or false`},
		"status":               {vm, "{vmid: 100, status: moving}", `unknown status "moving"`},
		"project":              {"0f1e2d3c4b5a6978", "$(id)", "project is"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(edited, c.old) != 1 {
				t.Fatalf("the lock has %q %d times", c.old, strings.Count(edited, c.old))
			}
			src := strings.Replace(edited, c.old, c.edited, 1)
			l, problems := Read("lock", []byte(src))
			if l != nil || len(problems) == 0 {
				t.Fatal("it was read")
			}
			if got := strings.TrimPrefix(problems[0].Message, "the lock cannot be read: "); !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			before, _, _ := strings.Cut(edited, c.old)
			line := strings.Count(before, "\n") + 1
			if at := problems[0].Pos; at.Line != line || at.Col < 2 && name != "project" {
				t.Errorf("at %s, want line %d", at, line)
			}
		})
	}
	if l, problems := Read("lock", []byte(edited)); l == nil {
		t.Error(problems)
	}
}

// TestLockOfEarlierSpecs checks that a lock can be read whose spec had values that are
// refused now: the spec can be corrected only then.
func TestLockOfEarlierSpecs(t *testing.T) {
	for old, earlier := range map[string]string{"server: 192.0.2.53": "server: 300.1.1.1", "https://pve.example.org": "http://pve.example.org:99999/", "https://s3.example.org": "https://[::1]:9000"} {
		if l, problems := Read("lock", []byte(strings.Replace(edited, old, earlier, 1))); l == nil {
			t.Errorf("%s: %v", earlier, problems)
		}
	}
}

// edited is a lock that TestEditedLock edits.
const edited = `version: 3
project: 0f1e2d3c4b5a6978
stacks:
  web:
    spec: specs/web.yaml
    environment: prod
    state_key: prod/web
    backend: {type: s3, bucket: states, region: eu-1, endpoint: 'https://s3.example.org', path_style: true}
    proxmox: {endpoint: 'https://pve.example.org', ca_file: ca.pem}
    dns: {zone: example.org., server: 192.0.2.53, port: 53, key_name: ddns., algorithm: hmac-sha256}
    cluster: {ca: x, nodes: [{name: pve1}]}
    units:
      proxmox-vm: {pool: lab, lineage: 9a7c}
    vms:
      a: {vmid: 100, node: pve1}
`

// hostile are characters that break what is written without care.
var hostile = []string{"\x00", "\x1b[2J", "\x85", "\u00e4", "\xe4", "\u2028", "\u2029", "\u202e", "\ufeff", "\ufffd", "\ufffe", "\U0001f600", "\U0010ffff",
	"'", `"`, `\`, "${", "$(id)", "`", "%", "#", ": ", "- ", "? ", "! ", "&a", "*a", "|", ">", "{", "}", "[", "]", ",", "@", "<<", "~", "null", "true", "0x1", "1e3", "2001-01-01", " ", "\t", "\n", "\r\n", "a"}

// TestWhatIsWrittenCanBeRead writes locks with random text in every field. Each is read
// back as it was, or Bytes refuses to write it.
func TestWhatIsWrittenCanBeRead(t *testing.T) {
	written := 0
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		word := func() string {
			if random.IntN(4) > 0 {
				return ""
			}
			var b strings.Builder
			for range 1 + random.IntN(4) {
				b.WriteString(hostile[random.IntN(len(hostile))])
			}
			if random.IntN(20) == 0 {
				return strings.Repeat(b.String(), 5000)
			}
			return b.String()
		}
		one := func(fits string) string { // one field at a time has random text
			if random.IntN(30) == 0 {
				return word()
			}
			return fits
		}
		l := &Lock{Version: Version, Project: one(fmt.Sprintf("%016x", random.Uint64()))}
		v := VM{VMID: 100, Node: one("pve1"), Clone: one("full"), Profile: one("own"), Template: &Template{VMID: 9000, Node: one("pve1"), Name: one("t")}, MACs: []string{one("auto"), ""},
			Unit: one("dns-a"), Member: word(), Former: []Address{{one("default"), one("b")}}, Fingerprint: &Fingerprint{UUID: one("u"), MACs: []string{one("BC:24:11:00:00:01")}},
			Addresses: []string{one("192.0.2.1")}, Status: one(Retired)}
		s := Stack{Spec: one("specs/a.yaml"), Environment: one("prod"), StateKey: one("prod/a"), Backend: Backend{Type: one("s3"), Bucket: one("states"), Region: one("eu-1"), Endpoint: one("https://s3.example.org")},
			Proxmox: &Proxmox{Endpoint: one("https://pve.example.org"), CAFile: one("../ca.pem")}, DNS: &DNS{Zone: one("example.org."), Server: one("ns.example.org"), Port: 53, KeyName: one("k."), Algorithm: one("hmac-sha256")},
			Cluster: &Cluster{CA: one("ca"), Name: one("lab"), Nodes: []ClusterNode{{one("pve1"), one("192.0.2.1")}}}, Status: one(Live),
			Units: Ordered[Unit]{{one("dns-a"), Unit{Status: one(Moving), Pool: one("lab"), Lineage: one("l")}}}, VMs: Ordered[VM]{{one("a"), v}}}
		l.Stacks = Ordered[Stack]{{one("a"), s}}
		src, err := l.Bytes()
		if err != nil {
			if !strings.Contains(err.Error(), "nothing is written") {
				t.Fatalf("seed %d: %v", seed, err)
			}
			continue
		}
		written++
		back, problems := Read(File, src)
		if back == nil {
			t.Fatalf("seed %d: %v\n%s", seed, problems, src)
		}
		if got := back.Stacks[0].Value.VMs[0].Value.Member; got != v.Member {
			t.Errorf("seed %d: %q was read as %q", seed, v.Member, got)
		}
		if !utf8.Valid(src) {
			t.Errorf("seed %d: the lock is not UTF-8", seed)
		}
	}
	if written < 500 {
		t.Errorf("only %d locks were written", written)
	}
}

// TestNamesOfSpecsFitTheLock checks that every name that a spec may give to a member of a
// class can be written: else the render would fail.
func TestNamesOfSpecsFitTheLock(t *testing.T) {
	for _, name := range append(hostile, strings.Repeat("x", 100_000), "O'Brien, B.", "Zoë\tÅ", "a\nb") {
		fits, _ := schema.Matches("text", name)
		if !utf8.ValidString(name) {
			continue // readers of specs and rosters refuse it
		}
		l := &Lock{Version: Version, Stacks: Ordered[Stack]{{"a", Stack{Spec: "s", StateKey: "a", Backend: Backend{Type: "local"}, VMs: Ordered[VM]{{"a", VM{VMID: 100, Member: name}}}}}}}
		if _, err := l.Bytes(); (err == nil) != fits {
			t.Errorf("%.20q: a spec may have it: %v; the lock: %v", name, fits, err)
		}
	}
}

// TestTakesWhatSpecsTake: what a spec may say, the lock may have. Otherwise a render would end with a lock that it
// cannot read back.
func TestTakesWhatSpecsTake(t *testing.T) {
	for _, c := range []struct {
		spec, lock string
		texts      []string // in which each character is tried instead of the asterisk
	}{
		{"url", "endpoint", []string{"https://h*h/", "https://h/*", "http://h/a*b"}},
		{"endpoint", "endpoint", []string{"https://h*h:8006/", "https://h/*"}},
		{"url", "image url", []string{"https://h*h/", "https://h/*"}},
		{"host", "server", []string{"a*b", "*a", "a*"}},
		{"label", "name", []string{"a*b", "*a", "a*"}},
		{"key", "name", []string{"a*b", "*a", "a*"}},
		{"prefix", "state key", []string{"a*b", "*a", "a*"}},
		{"chosenmac", "chosen mac", []string{"BC:24:11:00:00:0*"}},
	} {
		for r := rune(1); r < 0x2100; r++ {
			for _, text := range c.texts {
				text = strings.ReplaceAll(text, "*", string(r))
				said, _ := schema.Matches(c.spec, text)
				if read, _ := matches(c.lock, text); said && !read {
					t.Errorf("%q is a %s, and no %s of the lock", text, c.spec, c.lock)
				}
			}
		}
	}
}
