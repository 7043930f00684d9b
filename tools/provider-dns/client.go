package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// fudge is the allowed difference of both clocks, in seconds.
const fudge = 300

// algorithms maps values of key_algorithm to names of the protocol.
var algorithms = map[string]string{"hmac-sha1": dns.HmacSHA1, "hmac-sha256": dns.HmacSHA256, "hmac-sha512": dns.HmacSHA512}

var (
	errNoServer = errors.New("update server is not set")
	errHalfAKey = errors.New(`when using authentication, "key_name", "key_secret" and "key_algorithm" should be non empty`)
)

// A client queries and updates one server. It signs queries and updates.
type client struct {
	server         string
	transport      string
	timeout        time.Duration
	retries        int
	key, algorithm string
	secret         map[string]string
}

// newClient creates a client from the arguments of the update block.
func newClient(given map[string]string) (*client, error) {
	c := &client{server: net.JoinHostPort(given["server"], orElse(given["port"], "53")), transport: orElse(given["transport"], "udp")}
	var err error
	if c.retries, err = strconv.Atoi(orElse(given["retries"], "3")); err != nil {
		return nil, fmt.Errorf("invalid retries: %w", err)
	}
	if c.timeout, err = duration(orElse(given["timeout"], "0")); err != nil {
		return nil, fmt.Errorf("invalid timeout: %w", err)
	}
	name, algorithm, secret := given["key_name"], given["key_algorithm"], given["key_secret"]
	switch {
	case name == "" && algorithm == "" && secret == "":
		return c, nil
	case name == "" || algorithm == "" || secret == "":
		return nil, errHalfAKey
	case !dns.IsFqdn(name):
		return nil, errors.New(`"key_name" should be fully-qualified`)
	case algorithms[algorithm] == "":
		return nil, fmt.Errorf("Unknown HMAC algorithm: %s", algorithm) //nolint:staticcheck // the message of the real provider
	}
	c.key, c.algorithm = strings.ToLower(name), algorithms[algorithm]
	c.secret = map[string]string{c.key: secret}
	return c, nil
}

func orElse(given, otherwise string) string {
	if given == "" {
		return otherwise
	}
	return given
}

// duration parses a duration or a number of seconds.
func duration(text string) (time.Duration, error) {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	return time.ParseDuration(text)
}

// send sends a message and returns the answer. It retries after a timeout or a server
// failure, and over TCP after a truncated answer.
func (c *client) send(ctx context.Context, m *dns.Msg) (*dns.Msg, error) {
	if c == nil {
		return nil, errNoServer
	}
	m.RecursionDesired = false
	transport := c.transport
	for left := c.retries; ; left-- {
		signed := m.Copy()
		if c.key != "" {
			signed.SetTsig(c.key, c.algorithm, fudge, time.Now().Unix())
		}
		answer, _, err := (&dns.Client{Net: transport, Timeout: c.timeout, TsigSecret: c.secret}).ExchangeContext(ctx, signed, c.server)
		var silent net.Error
		switch {
		case left > 0 && errors.As(err, &silent) && silent.Timeout():
		case err != nil:
			return nil, err
		case left > 0 && answer.Rcode == dns.RcodeServerFailure:
		case answer.Truncated && strings.HasPrefix(transport, "udp"):
			transport = "tcp" + strings.TrimPrefix(transport, "udp")
			left = c.retries + 1
		default:
			return answer, nil
		}
	}
}

// ask queries the records of a name and type.
func (c *client) ask(ctx context.Context, name string, kind uint16) ([]dns.RR, error) {
	answer, err := c.send(ctx, new(dns.Msg).SetQuestion(name, kind))
	if err != nil {
		return nil, err
	}
	switch answer.Rcode {
	case dns.RcodeSuccess:
		return answer.Answer, nil
	case dns.RcodeNameError:
		return nil, nil
	}
	return nil, refusal(answer.Rcode)
}

// update sends an update, which the server applies as a whole or not at all.
func (c *client) update(ctx context.Context, m *dns.Msg) error {
	answer, err := c.send(ctx, m)
	if err == nil && answer.Rcode != dns.RcodeSuccess {
		err = refusal(answer.Rcode)
	}
	return err
}

// refusal is a response code as an error: 5 (REFUSED).
func refusal(code int) error { return fmt.Errorf("%d (%s)", code, dns.RcodeToString[code]) }

// zoneOf is the zone of a name: the closest name above it with an SOA.
func (c *client) zoneOf(ctx context.Context, name string) (string, error) {
	for at, end := 0, false; !end; at, end = dns.NextLabel(name, at) {
		found, err := c.ask(ctx, name[at:], dns.TypeSOA)
		if err != nil {
			return "", err
		}
		if len(found) > 0 && found[0].Header().Rrtype == dns.TypeSOA {
			return found[0].Header().Name, nil
		}
	}
	return "", fmt.Errorf("no zone of the server has the name %s", name)
}
