package dnstest

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// A zone is served by the server inside the process.
type zone struct {
	mu      sync.Mutex
	name    string
	records []dns.RR
	keyName string
}

// inProcess starts the server inside this process.
func (s *Server) inProcess(ctx context.Context, records []dns.RR) error {
	udp, tcp, err := listen(s.Port)
	if err != nil {
		return err
	}
	s.Port = tcp.Addr().(*net.TCPAddr).Port
	z := &zone{name: strings.ToLower(s.Zone), records: records, keyName: s.KeyName}
	secrets := map[string]string{s.KeyName: s.Secret}
	var servers []*dns.Server
	failed := make(chan error, 2)
	for _, server := range []*dns.Server{{PacketConn: udp}, {Listener: tcp}} {
		server.Handler, server.TsigSecret, server.MsgAcceptFunc = z, secrets, accept
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		servers = append(servers, server)
		go func() { failed <- server.ActivateAndServe() }()
		<-started // Shutdown has no effect on a server that has not started
	}
	s.stop = func() error {
		err := errors.Join(servers[0].Shutdown(), servers[1].Shutdown())
		return errors.Join(err, <-failed, <-failed)
	}
	if err := s.await(ctx, nil); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// accept also accepts updates, which the library refuses by default.
func accept(h dns.Header) dns.MsgAcceptAction {
	const response = 1 << 15
	if h.Bits&response != 0 {
		return dns.MsgIgnore
	}
	return dns.MsgAccept
}

// ServeDNS answers one message.
func (z *zone) ServeDNS(w dns.ResponseWriter, r *dns.Msg) {
	z.mu.Lock()
	defer z.mu.Unlock()
	m := new(dns.Msg).SetReply(r)
	signature, wrong := z.signature(w, r)
	switch {
	case wrong != 0:
		m.Rcode = dns.RcodeNotAuth
	case len(r.Question) != 1:
		m.Rcode = dns.RcodeFormatError
	case r.Opcode == dns.OpcodeUpdate:
		m.Rcode = z.update(r, signature != nil)
	case r.Opcode == dns.OpcodeQuery:
		z.answer(m)
	default:
		m.Rcode = dns.RcodeNotImplemented
	}
	if w.LocalAddr().Network() == "udp" {
		size := dns.MinMsgSize
		if o := r.IsEdns0(); o != nil {
			size = int(max(o.UDPSize(), dns.MinMsgSize))
		}
		m.Truncate(size)
	}
	if signature != nil {
		m.SetTsig(signature.Hdr.Name, signature.Algorithm, 300, time.Now().Unix())
		m.IsTsig().Error = wrong
	}
	_ = w.WriteMsg(m) // it fails if the client is gone
}

// signature is the signature of a message, or nil, and its error code.
func (z *zone) signature(w dns.ResponseWriter, r *dns.Msg) (*dns.TSIG, uint16) {
	t := r.IsTsig()
	switch {
	case t == nil:
		return nil, 0
	case !strings.EqualFold(t.Hdr.Name, z.keyName), !strings.EqualFold(t.Algorithm, dns.HmacSHA256):
		return t, dns.RcodeBadKey
	case errors.Is(w.TsigStatus(), dns.ErrTime):
		return t, dns.RcodeBadTime
	case w.TsigStatus() != nil:
		return t, dns.RcodeBadSig
	}
	return t, 0
}

// answer answers a question from the zone.
func (z *zone) answer(m *dns.Msg) {
	q := m.Question[0]
	name := strings.ToLower(q.Name)
	if !dns.IsSubDomain(z.name, name) {
		m.Rcode = dns.RcodeRefused
		return
	}
	m.Authoritative = true
	for range z.records { // at most one step for each alias
		owner, exists := z.owner(name)
		if !exists {
			m.Rcode = dns.RcodeNameError
		}
		next := ""
		for _, rr := range z.at(owner) {
			if rr.Header().Rrtype != q.Qtype && rr.Header().Rrtype != dns.TypeCNAME && q.Qtype != dns.TypeANY {
				continue
			}
			out := dns.Copy(rr)
			out.Header().Name = name
			m.Answer = append(m.Answer, out)
			if alias, ok := rr.(*dns.CNAME); ok && q.Qtype != dns.TypeCNAME {
				next = strings.ToLower(alias.Target)
			}
		}
		if next == "" || !dns.IsSubDomain(z.name, next) {
			break
		}
		name = next
	}
	if len(m.Answer) == 0 {
		m.Ns = append(m.Ns, z.of(z.name, dns.TypeSOA)...)
	}
}

// owner is the name whose records answer for a name: its own, or the wildcard of
// the closest name above that exists.
func (z *zone) owner(name string) (owner string, exists bool) {
	below := func(parent string) bool {
		for _, rr := range z.records {
			if dns.IsSubDomain(parent, strings.ToLower(rr.Header().Name)) {
				return true
			}
		}
		return false
	}
	if below(name) {
		return name, true
	}
	for at, end := dns.NextLabel(name, 0); !end; at, end = dns.NextLabel(name, at) {
		if parent := name[at:]; below(parent) {
			return "*." + parent, len(z.at("*."+parent)) > 0
		}
	}
	return name, false
}

// at are the records of a name.
func (z *zone) at(name string) []dns.RR { return z.of(name, dns.TypeANY) }

// of are the records of a name and type.
func (z *zone) of(name string, kind uint16) []dns.RR {
	var out []dns.RR
	for _, rr := range z.records {
		if strings.EqualFold(rr.Header().Name, name) && (kind == dns.TypeANY || rr.Header().Rrtype == kind) {
			out = append(out, rr)
		}
	}
	return out
}
