package dnstest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// kinds are the servers that the cases run on: both, where named is installed.
func kinds(t *testing.T) []Kind {
	t.Helper()
	if _, err := namedPath(); err != nil {
		t.Logf("%v: the cases run on the server inside the process only", err)
		return []Kind{InProcess}
	}
	t.Log("named is installed: the cases run on it and on the server inside the process")
	return []Kind{Named, InProcess}
}

// each runs a case on every kind of server.
func each(t *testing.T, do func(t *testing.T, s *Server), records ...string) {
	t.Helper()
	for _, kind := range kinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			s, err := Start(context.Background(), Options{Zone: "lab.test", Records: records, Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			do(t, s)
		})
	}
}

// has fails unless a name has these addresses.
func has(t *testing.T, s *Server, name string, want ...string) {
	t.Helper()
	got, err := s.Lookup(name)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s is %v (%v), want %v", name, got, err, want)
	}
}

func TestLookup(t *testing.T) {
	each(t, func(t *testing.T, s *Server) {
		has(t, s, "web", "192.0.2.1", "192.0.2.2")
		has(t, s, "WEB.lab.test.", "192.0.2.1", "192.0.2.2")
		has(t, s, "alias", "192.0.2.1", "192.0.2.2")
		has(t, s, "x.apps", "192.0.2.9")
		has(t, s, "y.x.apps", "192.0.2.9")
		has(t, s, "fixed.apps", "192.0.2.8")
		has(t, s, "none")
		has(t, s, "text")
		has(t, s, "apps")
		if _, err := s.Lookup("elsewhere.test."); err == nil {
			t.Error("it answers for another zone")
		}
		if ttl, err := s.TTL("web"); ttl != 60 || err != nil {
			t.Errorf("TTL %d %v, want 60", ttl, err)
		}
	}, "web 60 IN A 192.0.2.1", "web 60 IN A 192.0.2.2", "alias IN CNAME web", "*.apps IN A 192.0.2.9", "fixed.apps IN A 192.0.2.8", "text IN TXT hello")
}

// TestAnswers checks codes, authority and number of answers to unsigned queries over UDP.
func TestAnswers(t *testing.T) {
	each(t, func(t *testing.T, s *Server) {
		for _, line := range []string{
			"web.lab.test. A NOERROR true 1",
			"text.lab.test. A NOERROR true 0",
			"none.lab.test. A NXDOMAIN true 0",
			"up.lab.test. A NOERROR true 0",
			"lab.test. SOA NOERROR true 1",
			"elsewhere.test. A REFUSED false 0",
			"alias.lab.test. A NOERROR true 2",
			"alias.lab.test. CNAME NOERROR true 1",
			"alias.lab.test. SOA NOERROR true 1",
			"lost.lab.test. A NXDOMAIN true 1",
			"*.lab.test. A NXDOMAIN true 0",
			"x.web.lab.test. A NXDOMAIN true 0",
		} {
			f := strings.Fields(line)
			answer := s.plain(t, new(dns.Msg).SetQuestion(f[0], dns.StringToType[f[1]]))
			if got := fmt.Sprint(f[0], " ", f[1], " ", dns.RcodeToString[answer.Rcode], " ", answer.Authoritative, " ", len(answer.Answer)); got != line {
				t.Errorf("got  %s\nwant %s", got, line)
			}
		}
	}, "web IN A 192.0.2.1", "text IN TXT hello", "a.up IN A 192.0.2.3", "alias IN CNAME web", "lost IN CNAME nowhere")
}

// plain sends a message without a signature over UDP.
func (s *Server) plain(t *testing.T, m *dns.Msg) *dns.Msg {
	t.Helper()
	m.RecursionDesired = false
	answer, _, err := (&dns.Client{Timeout: 5 * time.Second}).Exchange(m, s.address())
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestUpdates checks what an update changes, and what it does not.
func TestUpdates(t *testing.T) {
	each(t, func(t *testing.T, s *Server) {
		do := func(want int, change func(m *dns.Msg)) {
			t.Helper()
			m := new(dns.Msg).SetUpdate(s.Zone)
			change(m)
			answer, err := s.exchange(context.Background(), m)
			notAuth := want == dns.RcodeNotAuth && errors.Is(err, dns.ErrAuth) // the library's error for that code
			if err != nil && !notAuth || answer.Rcode != want {
				t.Fatalf("%v %v, want %s", err, answer, dns.RcodeToString[want])
			}
		}
		a := func(name, address string) []dns.RR {
			rr, err := record(s.Zone, name+" 300 IN A "+address)
			if err != nil {
				t.Fatal(err)
			}
			return []dns.RR{rr}
		}
		do(0, func(m *dns.Msg) { m.Insert(a("new", "192.0.2.1")) })
		do(0, func(m *dns.Msg) { m.Insert(a("new", "192.0.2.1")) })
		has(t, s, "new", "192.0.2.1")
		do(0, func(m *dns.Msg) { m.Insert(a("new", "192.0.2.2")) })
		has(t, s, "new", "192.0.2.1", "192.0.2.2")
		do(0, func(m *dns.Msg) { m.Remove(a("new", "192.0.2.1")); m.Insert(a("new", "192.0.2.3")) })
		has(t, s, "new", "192.0.2.2", "192.0.2.3")
		do(0, func(m *dns.Msg) { m.RemoveRRset(a("new", "192.0.2.1")) })
		has(t, s, "new")
		do(0, func(m *dns.Msg) { m.RemoveRRset(a("new", "192.0.2.1")) })
		do(0, func(m *dns.Msg) { m.Insert(a("alias", "192.0.2.1")) })
		has(t, s, "alias", "192.0.2.7")
		do(0, func(m *dns.Msg) { m.Insert(a("*.apps", "192.0.2.5")) })
		has(t, s, "x.apps", "192.0.2.5")
		do(0, func(m *dns.Msg) { m.Insert(a("@", "192.0.2.6")) })
		has(t, s, "@", "192.0.2.6")
		do(dns.RcodeNotZone, func(m *dns.Msg) {
			m.Insert(append(a("late", "192.0.2.1"), &dns.A{Hdr: dns.RR_Header{Name: "elsewhere.test.", Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(192, 0, 2, 1)}))
		})
		has(t, s, "late")
		do(dns.RcodeNotAuth, func(m *dns.Msg) { m.Question[0].Name = "elsewhere.test." })
		s.prerequisites(t, do, a)
		if err := s.Remove("web"); err != nil {
			t.Error(err)
		}
		has(t, s, "web")
		if err := s.Add("web 77 IN A 192.0.2.1", "web 99 IN A 192.0.2.2"); err != nil {
			t.Error(err)
		}
		if ttl, err := s.TTL("web"); ttl != 99 || err != nil {
			t.Errorf("TTL %d %v, want the last one, 99", ttl, err)
		}
	}, "web IN A 192.0.2.7", "alias IN CNAME web")
}

func (s *Server) prerequisites(t *testing.T, do func(int, func(*dns.Msg)), a func(string, string) []dns.RR) {
	t.Helper()
	do(dns.RcodeYXDomain, func(m *dns.Msg) { m.NameNotUsed(a("web", "192.0.2.7")); m.Insert(a("web", "192.0.2.8")) })
	do(dns.RcodeNameError, func(m *dns.Msg) { m.NameUsed(a("none", "192.0.2.7")) })
	do(dns.RcodeYXRrset, func(m *dns.Msg) { m.RRsetNotUsed(a("web", "192.0.2.7")) })
	do(dns.RcodeNXRrset, func(m *dns.Msg) { m.RRsetUsed(a("none", "192.0.2.7")) })
	do(dns.RcodeNXRrset, func(m *dns.Msg) { m.Used(a("web", "192.0.2.8")) })
	has(t, s, "web", "192.0.2.7")
	do(0, func(m *dns.Msg) { m.Used(a("web", "192.0.2.7")); m.Insert(a("web", "192.0.2.8")) })
	has(t, s, "web", "192.0.2.7", "192.0.2.8")
}

// TestKeys checks that an update without a valid signature changes nothing, and that
// both servers answer with the same codes.
func TestKeys(t *testing.T) {
	other := base64.StdEncoding.EncodeToString([]byte("another secret, of the same length"))
	each(t, func(t *testing.T, s *Server) {
		send := func(m *dns.Msg, key, algorithm, secret string, at time.Time) (*dns.Msg, error) {
			c := &dns.Client{Timeout: 5 * time.Second}
			if key != "" {
				m.SetTsig(key, algorithm, 300, at.Unix())
				c.TsigSecret = map[string]string{key: secret}
			}
			answer, _, err := c.Exchange(m, s.address())
			return answer, err
		}
		update := func() *dns.Msg {
			m := new(dns.Msg).SetUpdate(s.Zone)
			rr, _ := record(s.Zone, "new 300 IN A 192.0.2.1")
			m.Insert([]dns.RR{rr})
			return m
		}
		now := time.Now()
		for _, tc := range []struct {
			what, key, algorithm, secret string
			at                           time.Time
			rcode                        int
			err                          string
		}{
			{"no key", "", "", "", now, dns.RcodeRefused, ""},
			{"wrong secret", s.KeyName, dns.HmacSHA256, other, now, 0, "bad authentication"},
			{"wrong name", "other.", dns.HmacSHA256, s.Secret, now, 0, "bad authentication"},
			{"wrong algorithm", s.KeyName, dns.HmacSHA512, s.Secret, now, 0, "bad authentication"},
			{"wrong clock", s.KeyName, dns.HmacSHA256, s.Secret, now.Add(-time.Hour), 0, "bad"},
		} {
			for what, m := range map[string]*dns.Msg{"update": update(), "question": new(dns.Msg).SetQuestion("web."+s.Zone, dns.TypeA)} {
				answer, err := send(m, tc.key, tc.algorithm, tc.secret, tc.at)
				switch {
				case tc.key == "" && what == "question":
					if err != nil || len(answer.Answer) != 1 {
						t.Errorf("an unsigned question: %v %v", answer, err)
					}
				case tc.err == "":
					if err != nil || answer.Rcode != tc.rcode {
						t.Errorf("%s, %s: %v %v, want %s", tc.what, what, err, answer, dns.RcodeToString[tc.rcode])
					}
				case err == nil || !strings.Contains(err.Error(), tc.err):
					t.Errorf("%s, %s: %v, want %s\n%v", tc.what, what, err, tc.err, answer)
				}
			}
		}
		has(t, s, "new")
	}, "web IN A 192.0.2.7")
}

// TestLongAnswers checks that an answer larger than a datagram comes over TCP.
func TestLongAnswers(t *testing.T) {
	var records []string
	for i := range 60 {
		records = append(records, fmt.Sprintf("many IN A 192.0.2.%d", i+1))
	}
	each(t, func(t *testing.T, s *Server) {
		if answer := s.plain(t, new(dns.Msg).SetQuestion("many."+s.Zone, dns.TypeA)); !answer.Truncated {
			t.Errorf("not truncated: %d records", len(answer.Answer))
		}
		if got, err := s.Lookup("many"); len(got) != 60 || err != nil {
			t.Errorf("%d records over TCP: %v", len(got), err)
		}
	}, records...)
}
