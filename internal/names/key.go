package names

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// A Key signs questions, as the provider signs everything it sends: whether the
// server takes the key is known before an apply has made the first VM.
type Key struct {
	Name, Algorithm string
	Secret          Secret
}

// A Secret is the key's secret in base64. It never prints.
type Secret string

// Format hides the secret, whatever the verb.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "(hidden)") }

// MarshalText hides it from JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte("(hidden)"), nil }

// clocks is how far apart, in seconds, the clocks of both sides may be.
const clocks = 300

// sign is the message with its signature.
func (k Key) sign(m *dns.Msg) *dns.Msg {
	if !k.signs() {
		return m
	}
	out := m.Copy()
	out.SetTsig(k.name(), dns.Fqdn(k.Algorithm), clocks, time.Now().Unix())
	return out
}

// signs reports whether questions are signed. MD5 is left to the provider.
func (k Key) signs() bool { return k.Secret != "" && k.Algorithm != "hmac-md5" }

func (k Key) name() string { return strings.ToLower(dns.Fqdn(k.Name)) }

func (k Key) client(network string) *dns.Client {
	c := &dns.Client{Net: network, Timeout: timeout}
	if k.signs() {
		c.TsigSecret = map[string]string{k.name(): string(k.Secret)}
	}
	return c
}

// refused reports whether an error is the key's, not the server's.
func (k Key) refused(err error) bool {
	var notBase64 base64.CorruptInputError
	return k.signs() && (errors.Is(err, dns.ErrAuth) || errors.Is(err, dns.ErrSig) || errors.Is(err, dns.ErrTime) || errors.Is(err, dns.ErrKeyAlg) || errors.As(err, &notBase64))
}

// reason says what is wrong with the key, as far as that is told.
func (k Key) reason(err error) string {
	var notBase64 base64.CorruptInputError
	if errors.As(err, &notBase64) {
		return "was not asked: what DNS_UPDATE_KEYSECRET holds is no base64"
	}
	return fmt.Sprintf("does not take the key %s (%s): the secret in DNS_UPDATE_KEYSECRET, the key's name or its algorithm is another there, or the clocks are more than five minutes apart", k.Name, k.Algorithm)
}
