package names_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/dnstest"
	"stackgen/internal/names"
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

// ask asks one name.
func ask(s *dnstest.Server, name string, key names.Key) cluster.Record {
	return names.Ask(context.Background(), []names.Question{{Name: name, Server: s.Addr, Port: s.Port, Key: key}})[0]
}

// TestKey: a key that the server does not take is said before it is needed, and no
// secret is.
func TestKey(t *testing.T) {
	s := serve(t, "web IN A 192.0.2.7")
	other := base64.StdEncoding.EncodeToString([]byte("another secret"))
	for _, tc := range []struct{ name, algorithm, secret, says string }{
		{s.KeyName, s.Algorithm, s.Secret, ""},
		{s.KeyName, s.Algorithm, "", ""},
		{strings.ToUpper(s.KeyName), s.Algorithm, s.Secret, ""},
		{s.KeyName, s.Algorithm, other, "does not take the key"},
		{"other.", s.Algorithm, s.Secret, "does not take the key other. (hmac-sha256)"},
		{s.KeyName, "hmac-sha512", s.Secret, "does not take the key stackgen-test. (hmac-sha512)"},
		{s.KeyName, s.Algorithm, "no base64!", "no base64"},
		{s.KeyName, "hmac-md5", "anything", ""},
	} {
		key := names.Key{Name: tc.name, Algorithm: tc.algorithm, Secret: names.Secret(tc.secret)}
		r := ask(s, "web.lab.test.", key)
		switch {
		case tc.says == "" && (r.Error != "" || fmt.Sprint(r.Addresses) != "[192.0.2.7]"):
			t.Errorf("%v: %v", key, r)
		case tc.says != "" && !strings.Contains(r.Error, tc.says):
			t.Errorf("%v: error %q, want %q", key, r.Error, tc.says)
		case tc.secret != "" && strings.Contains(r.Error, tc.secret):
			t.Errorf("the secret is in %q", r.Error)
		}
	}
}

// TestSecret: whatever formats a question, the secret is not in it.
func TestSecret(t *testing.T) {
	q := names.Question{Name: "web.", Key: names.Key{Name: "key.", Secret: "swordfish"}}
	body, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if said := fmt.Sprintf(verb, q) + string(body); strings.Contains(said, "swordfish") || strings.Contains(said, fmt.Sprintf("%x", "swordfish")) {
			t.Errorf("%s: %s", verb, said)
		}
	}
}

// TestWildcard: a name that only a wildcard answers for does not exist; one with the
// wildcard's own address does.
func TestWildcard(t *testing.T) {
	s := serve(t, "*.apps IN A 192.0.2.9", "same.apps IN A 192.0.2.9", "own.apps IN A 192.0.2.8", "* IN CNAME own.apps")
	for name, want := range map[string]bool{"x.apps": true, "same.apps": false, "own.apps": false, "*.apps": false, "apps": false, "free": true, "a.b.c": true} {
		if r := ask(s, name+".lab.test.", names.Key{}); r.Wildcard != want || r.Error != "" {
			t.Errorf("%s: %+v, want wildcard %t", name, r, want)
		}
	}
}
