package dns_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/dns"
	"stackgen/internal/dnstest"
	"stackgen/internal/secret"
)

func serve(t *testing.T, records ...string) *dnstest.Server {
	t.Helper()
	s, err := dnstest.Start(context.Background(), dnstest.Options{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask looks up one name.
func ask(s *dnstest.Server, name string, key dns.Key) cluster.Record {
	return dns.Lookup(context.Background(), []dns.Question{{Name: name, Server: s.Addr, Port: s.Port, Key: key}})[0]
}

// TestKey checks that a rejected key is reported, without its secret.
func TestKey(t *testing.T) {
	s := serve(t, "web IN A 192.0.2.7")
	other := base64.StdEncoding.EncodeToString([]byte("another secret"))
	for _, tc := range []struct{ name, algorithm, secret, want string }{
		{s.KeyName, s.Algorithm, s.Secret, ""},
		{s.KeyName, s.Algorithm, "", ""},
		{strings.ToUpper(s.KeyName), s.Algorithm, s.Secret, ""},
		{s.KeyName, s.Algorithm, other, "rejects the key"},
		{"other.", s.Algorithm, s.Secret, "rejects the key other. (hmac-sha256)"},
		{s.KeyName, "hmac-sha512", s.Secret, "rejects the key stackgen-test. (hmac-sha512)"},
		{s.KeyName, s.Algorithm, "no base64!", "is not base64"},
		{s.KeyName, "hmac-md5", "anything", ""},
	} {
		key := dns.Key{Name: tc.name, Algorithm: tc.algorithm, Secret: secret.New(tc.secret)}
		r := ask(s, "web.lab.test.", key)
		switch {
		case tc.want == "" && (r.Error != "" || fmt.Sprint(r.Addresses) != "[192.0.2.7]"):
			t.Errorf("%v: %v", key, r)
		case tc.want != "" && !strings.Contains(r.Error, tc.want):
			t.Errorf("%v: error %q, want %q", key, r.Error, tc.want)
		case tc.secret != "" && strings.Contains(r.Error, tc.secret):
			t.Errorf("the secret is in %q", r.Error)
		}
	}
}

// TestSecret checks that no format of a question contains the secret.
func TestSecret(t *testing.T) {
	q := dns.Question{Name: "web.", Key: dns.Key{Name: "key.", Secret: secret.New("swordfish")}}
	body, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if out := fmt.Sprintf(verb, q) + string(body); strings.Contains(out, "swordfish") || strings.Contains(out, fmt.Sprintf("%x", "swordfish")) {
			t.Errorf("%s: %s", verb, out)
		}
	}
}

// TestWildcard checks that a name that only a wildcard record matches does not
// exist, and that a name with the same address as the wildcard exists.
func TestWildcard(t *testing.T) {
	s := serve(t, "*.apps IN A 192.0.2.9", "same.apps IN A 192.0.2.9", "own.apps IN A 192.0.2.8", "* IN CNAME own.apps")
	for name, want := range map[string]bool{"x.apps": true, "same.apps": false, "own.apps": false, "*.apps": false, "apps": false, "free": true, "a.b.c": true} {
		if r := ask(s, name+".lab.test.", dns.Key{}); r.Wildcard != want || r.Error != "" {
			t.Errorf("%s: %+v, want wildcard %t", name, r, want)
		}
	}
}
