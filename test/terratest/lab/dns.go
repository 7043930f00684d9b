package lab

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/miekg/dns"
)

// A Zone accepts the suites' records (RFC 2136) and answers queries.
type Zone struct {
	Name      string // with its final dot
	Server    string
	Port      int
	KeyName   string
	Algorithm string
	Secret    Secret
}

// algorithms maps the names of a spec to those of the protocol.
var algorithms = map[string]string{
	"hmac-md5": dns.HmacMD5, "hmac-sha1": dns.HmacSHA1,
	"hmac-sha256": dns.HmacSHA256, "hmac-sha512": dns.HmacSHA512,
}

// zone reads the variables of DNS, which are optional as a whole.
func (r *reader) zone() *Zone {
	if r.getenv("STACKGEN_TEST_DNS_ZONE") == "" && r.getenv("STACKGEN_TEST_DNS_SERVER") == "" {
		return nil
	}
	z := &Zone{
		Name:      dns.Fqdn(r.shaped("STACKGEN_TEST_DNS_ZONE", zoneShape, "a zone that takes updates, such as test.example.org", false)),
		Server:    r.shaped("STACKGEN_TEST_DNS_SERVER", idOrAddress, "the host or address of its primary server", false),
		Port:      53,
		KeyName:   r.shaped("STACKGEN_TEST_DNS_KEY_NAME", keyShape, "the name of a TSIG key with its final dot, such as ddnskey.", false),
		Algorithm: "hmac-sha256",
		Secret:    Secret(r.shaped("DNS_UPDATE_KEYSECRET", secretShape, "the secret of that key, in base64", true)),
	}
	if text := r.getenv("STACKGEN_TEST_DNS_PORT"); text != "" {
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port > 65535 {
			r.problem("STACKGEN_TEST_DNS_PORT is %q; it takes a port, or nothing for 53", text)
		}
		z.Port = port
	}
	if text := r.getenv("STACKGEN_TEST_DNS_ALGORITHM"); text != "" {
		if z.Algorithm = text; algorithms[text] == "" {
			r.problem("STACKGEN_TEST_DNS_ALGORITHM is %q; it takes hmac-md5, hmac-sha1, hmac-sha256 (the default) or hmac-sha512", text)
		}
	}
	return z
}

// Lookup queries the addresses of a name of the zone, sorted.
func (z *Zone) Lookup(ctx context.Context, name string) ([]string, error) {
	answer, err := z.ask(ctx, new(dns.Msg).SetQuestion(name+"."+z.Name, dns.TypeA))
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, rr := range answer.Answer {
		if a, ok := rr.(*dns.A); ok {
			addresses = append(addresses, a.A.String())
		}
	}
	slices.Sort(addresses)
	return addresses, nil
}

// Remove removes the addresses of a name.
func (z *Zone) Remove(ctx context.Context, name string) error {
	m := new(dns.Msg).SetUpdate(z.Name)
	m.RemoveRRset([]dns.RR{&dns.A{Hdr: dns.RR_Header{Name: name + "." + z.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}}})
	return z.update(ctx, m)
}

// check checks that the server serves the zone and accepts the key.
func (z *Zone) check(ctx context.Context) error {
	answer, err := z.ask(ctx, new(dns.Msg).SetQuestion(z.Name, dns.TypeSOA))
	if err != nil {
		return fmt.Errorf("STACKGEN_TEST_DNS_SERVER: %w", err)
	}
	if !answer.Authoritative || len(answer.Answer) == 0 {
		return fmt.Errorf("STACKGEN_TEST_DNS_SERVER %s does not serve the zone %s", z.Server, z.Name)
	}
	if err := z.update(ctx, new(dns.Msg).SetUpdate(z.Name)); err != nil {
		return fmt.Errorf("STACKGEN_TEST_DNS_SERVER %s rejects the key of STACKGEN_TEST_DNS_KEY_NAME and DNS_UPDATE_KEYSECRET: %w", z.Server, err)
	}
	return nil
}

func (z *Zone) update(ctx context.Context, m *dns.Msg) error {
	m.SetTsig(z.KeyName, algorithms[z.Algorithm], 300, time.Now().Unix())
	_, err := z.ask(ctx, m)
	return err
}

// ask sends a message. An answer other than success or "no such name" is an error.
func (z *Zone) ask(ctx context.Context, m *dns.Msg) (*dns.Msg, error) {
	client := &dns.Client{Net: "tcp", Timeout: 10 * time.Second, TsigSecret: map[string]string{z.KeyName: string(z.Secret)}}
	answer, _, err := client.ExchangeContext(ctx, m, net.JoinHostPort(z.Server, strconv.Itoa(z.Port)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", z.Server, err)
	}
	if answer.Rcode != dns.RcodeSuccess && answer.Rcode != dns.RcodeNameError {
		return nil, fmt.Errorf("%s answers %s", z.Server, dns.RcodeToString[answer.Rcode])
	}
	return answer, nil
}
