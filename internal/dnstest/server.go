package dnstest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/miekg/dns"
)

// A Kind is named, or the server inside the process.
type Kind string

// The kinds of server. Any is named if it is installed and starts.
const (
	Any       Kind = ""
	Named     Kind = "named"
	InProcess Kind = "in-process"
)

// The server's address, and its key's name and algorithm.
const (
	Addr      = "127.0.0.1"
	KeyName   = "stackgen-test."
	Algorithm = "hmac-sha256"
)

// Options of a server. The zero value serves lab.test.
type Options struct {
	Zone    string   // with or without its final dot
	Records []string // in the form of a zone file, names relative to the zone
	Kind    Kind
}

// A Server serves one zone. Its fields do not change.
type Server struct {
	Addr               string
	Port               int
	Zone               string // with its final dot
	KeyName, Algorithm string
	Secret             string // base64, generated for this server
	Kind               Kind
	Why                string // why named does not run, if the kind was Any

	stop func() error
}

// startTimeout is how long a server may take until it answers.
const startTimeout = 20 * time.Second

// Start starts a server and returns when it answers.
func Start(ctx context.Context, o Options) (*Server, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("no key: %w", err)
	}
	zone := dns.Fqdn(o.Zone)
	if o.Zone == "" {
		zone = "lab.test."
	}
	s := &Server{Addr: Addr, Zone: zone, KeyName: KeyName, Algorithm: Algorithm,
		Secret: base64.StdEncoding.EncodeToString(secret), Kind: o.Kind}
	records, err := parse(zone, o.Records)
	if err != nil {
		return nil, err
	}
	if o.Kind != InProcess {
		path, err := namedPath()
		if err == nil {
			err = s.named(ctx, path, records)
		}
		if err == nil || o.Kind == Named {
			s.Kind = Named
			return s, err
		}
		s.Why, s.Port = err.Error(), 0
	}
	s.Kind = InProcess
	return s, s.inProcess(ctx, records)
}

// parse reads records, and adds the SOA and the name server of the zone.
func parse(zone string, lines []string) ([]dns.RR, error) {
	lines = append([]string{"@ 300 IN SOA ns hostmaster 1 3600 600 86400 60", "@ 300 IN NS ns", "ns 300 IN A " + Addr}, lines...)
	var out []dns.RR
	for _, line := range lines {
		rr, err := record(zone, line)
		if err != nil {
			return nil, err
		}
		out = append(out, rr)
	}
	return out, nil
}

// record is one line of a zone file.
func record(zone, line string) (dns.RR, error) {
	rr, err := dns.NewRR("$ORIGIN " + zone + "\n$TTL 300\n" + line)
	if err == nil && rr == nil {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("record %q: %w", line, err)
	}
	return rr, nil
}

// Close stops the server. A second call does nothing.
func (s *Server) Close() error {
	stop := s.stop
	s.stop = nil
	if stop == nil {
		return nil
	}
	return stop()
}

// Restart starts a server that was closed, at the same port and with the same key. It has these records only.
func (s *Server) Restart(ctx context.Context, lines ...string) error {
	records, err := parse(s.Zone, lines)
	if err != nil {
		return err
	}
	if s.Kind == InProcess {
		return s.inProcess(ctx, records)
	}
	path, err := namedPath()
	if err != nil {
		return err
	}
	return s.namedOnce(ctx, path, records)
}

// Env is the environment variable from which clients of RFC 2136 read the secret.
func (s *Server) Env() []string { return []string{"DNS_UPDATE_KEYSECRET=" + s.Secret} }

// String describes the server.
func (s *Server) String() string {
	out := fmt.Sprintf("%s on %s for %s", s.Kind, s.address(), s.Zone)
	if s.Why != "" {
		out += " (" + s.Why + ")"
	}
	return out
}

func (s *Server) address() string { return net.JoinHostPort(s.Addr, strconv.Itoa(s.Port)) }

// Lookup returns the IPv4 addresses of a name, sorted. The name is relative to the
// zone, or has a final dot.
func (s *Server) Lookup(name string) ([]string, error) {
	answer, err := s.ask(name, dns.TypeA)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, rr := range answer {
		if a, ok := rr.(*dns.A); ok {
			out = append(out, a.A.String())
		}
	}
	slices.Sort(out)
	return out, nil
}

// TTL returns the TTL of a name's addresses, or 0 if it has none.
func (s *Server) TTL(name string) (int, error) {
	answer, err := s.ask(name, dns.TypeA)
	if err != nil || len(answer) == 0 {
		return 0, err
	}
	return int(answer[0].Header().Ttl), nil
}

func (s *Server) ask(name string, kind uint16) ([]dns.RR, error) {
	answer, err := s.exchange(context.Background(), new(dns.Msg).SetQuestion(s.fqdn(name), kind))
	switch {
	case err != nil:
		return nil, err
	case answer.Rcode != dns.RcodeSuccess && answer.Rcode != dns.RcodeNameError:
		return nil, fmt.Errorf("%s: %s", name, dns.RcodeToString[answer.Rcode])
	}
	return answer.Answer, nil
}

func (s *Server) fqdn(name string) string {
	switch {
	case dns.IsFqdn(name):
		return name
	case name == "@":
		return s.Zone
	}
	return name + "." + s.Zone
}

// Add adds records by hand, as lines of a zone file.
func (s *Server) Add(lines ...string) error {
	m := new(dns.Msg).SetUpdate(s.Zone)
	for _, line := range lines {
		rr, err := record(s.Zone, line)
		if err != nil {
			return err
		}
		m.Insert([]dns.RR{rr})
	}
	return s.update(m)
}

// Remove removes all records of a name.
func (s *Server) Remove(name string) error {
	m := new(dns.Msg).SetUpdate(s.Zone)
	m.RemoveName([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: s.fqdn(name), Rrtype: dns.TypeANY, Class: dns.ClassANY}}})
	return s.update(m)
}

func (s *Server) update(m *dns.Msg) error {
	answer, err := s.exchange(context.Background(), m)
	if err == nil && answer.Rcode != dns.RcodeSuccess {
		err = errors.New(dns.RcodeToString[answer.Rcode])
	}
	return err
}

// exchange sends a signed message. An answer signed with the same key proves that it
// comes from this server.
func (s *Server) exchange(ctx context.Context, m *dns.Msg) (*dns.Msg, error) {
	m.RecursionDesired = false
	m.SetTsig(s.KeyName, dns.HmacSHA256, 300, time.Now().Unix())
	c := &dns.Client{Net: "tcp", Timeout: 5 * time.Second, TsigSecret: map[string]string{s.KeyName: s.Secret}}
	answer, _, err := c.ExchangeContext(ctx, m, s.address())
	if err == nil && answer.IsTsig() == nil {
		err = errors.New("the answer is not signed")
	}
	return answer, err
}

// await queries the zone's SOA until the server answers or the process has ended.
func (s *Server) await(ctx context.Context, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		answer, err := s.exchange(ctx, new(dns.Msg).SetQuestion(s.Zone, dns.TypeSOA))
		if err == nil && answer.Authoritative && len(answer.Answer) == 1 {
			return nil
		}
		select {
		case <-ended:
			return errors.New("it has ended")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", errors.Join(err, ctx.Err()))
		case <-tick.C:
		}
	}
}

// freePort is a port that is free for UDP and TCP.
func freePort() (int, error) {
	udp, tcp, err := listen(0)
	if err != nil {
		return 0, err
	}
	return udp.LocalAddr().(*net.UDPAddr).Port, errors.Join(udp.Close(), tcp.Close())
}

// listen listens on a loopback port for UDP and TCP; 0 is any.
func listen(port int) (net.PacketConn, net.Listener, error) {
	for tries := 20; ; tries-- {
		tcp, err := net.Listen("tcp4", net.JoinHostPort(Addr, strconv.Itoa(port)))
		if err != nil {
			return nil, nil, err
		}
		udp, err := net.ListenPacket("udp4", tcp.Addr().String())
		if err == nil {
			return udp, tcp, nil
		}
		if closed := tcp.Close(); tries == 0 || closed != nil {
			return nil, nil, errors.Join(err, closed)
		}
	}
}
