package dns

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"stackgen/internal/secret"
)

// A Key is a TSIG key that signs queries. The provider signs its updates with the
// same key, so a rejected key is found before an apply creates the first VM.
type Key struct {
	Name, Algorithm string
	Secret          secret.Text // base64
}

// fudge is the accepted difference between the clocks of both sides, in seconds.
const fudge = 300

// sign returns the message with its signature.
func (k Key) sign(m *dns.Msg) *dns.Msg {
	if !k.signs() {
		return m
	}
	out := m.Copy()
	out.SetTsig(k.fqdn(), dns.Fqdn(k.Algorithm), fudge, time.Now().Unix())
	return out
}

// signs reports whether queries are signed. The DNS library does not support MD5,
// so only the provider uses such a key.
func (k Key) signs() bool { return k.Secret.Set() && k.Algorithm != "hmac-md5" }

func (k Key) fqdn() string { return strings.ToLower(dns.Fqdn(k.Name)) }

func (k Key) client(network string, timeout time.Duration) *dns.Client {
	c := &dns.Client{Net: network, Timeout: timeout}
	if k.signs() {
		c.TsigSecret = map[string]string{k.fqdn(): k.Secret.Reveal()}
	}
	return c
}

// rejected reports whether an error is about the key and not about the server.
func (k Key) rejected(err error) bool {
	var notBase64 base64.CorruptInputError
	is := func(target error) bool { return errors.Is(err, target) }
	return k.signs() &&
		(slices.ContainsFunc([]error{dns.ErrAuth, dns.ErrSig, dns.ErrTime, dns.ErrKeyAlg}, is) || errors.As(err, &notBase64))
}

// explain says what is wrong with the key; the text follows the server's address.
func (k Key) explain(err error) string {
	var notBase64 base64.CorruptInputError
	if errors.As(err, &notBase64) {
		return "was not queried: DNS_UPDATE_KEYSECRET is not base64"
	}
	return fmt.Sprintf("rejects the key %s (%s): the secret in DNS_UPDATE_KEYSECRET, the name of the key or its algorithm differs, "+
		"or the clocks differ by more than five minutes", k.Name, k.Algorithm)
}
