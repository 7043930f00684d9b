package proxmox

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"stackgen/internal/secret"
)

// A Status is a response with a status of 300 or above.
type Status struct {
	Code   int
	Reason string
}

func (s *Status) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", s.Code, s.Reason))
}

// statusCode returns the HTTP status of an error, or 0.
func statusCode(err error) int {
	var s *Status
	if errors.As(err, &s) {
		return s.Code
	}
	return 0
}

// Refused reports whether Proxmox VE itself has answered that it does not do what was asked for. A status of a proxy
// between it and its node does not say that.
func Refused(err error) bool {
	code := statusCode(err)
	return code >= http.StatusBadRequest && (code <= http.StatusInternalServerError || code == http.StatusNotImplemented)
}

// A clusterError is an error without secrets. It wraps its cause for errors.As;
// the text of the cause may contain secrets and must not be printed.
type clusterError struct {
	text string
	err  error
}

func (e *clusterError) Error() string { return e.text }
func (e *clusterError) Unwrap() error { return e.err }

// explain says what went wrong with a request and how to fix it, without
// secrets. errors.As still finds the Status.
func (c *client) explain(request string, err error) error {
	var s *Status
	var asURL *url.Error
	if errors.As(err, &asURL) {
		err = asURL.Err
	}
	var dial *net.OpError
	var noTLS tls.RecordHeaderError
	var otherName x509.HostnameError
	host := strings.TrimPrefix(c.config.Endpoint, "https://")
	switch {
	case errors.As(err, &s) && s.Code == http.StatusUnauthorized:
		return &clusterError{fmt.Sprintf("%s rejects the credentials of %s (401): they are wrong, expired or revoked; "+
			"check the PROXMOX_VE_ variables", host, c.config.Who()), err}
	case errors.As(err, &s) && s.Code == http.StatusMovedPermanently:
		return &clusterError{fmt.Sprintf("%s responds with a redirect: it is not a Proxmox VE API", host), err}
	case errors.As(err, &s):
		return &clusterError{c.redact(fmt.Sprintf("%s: %s", request, s)), err}
	case errors.As(err, &noTLS), errors.Is(err, http.ErrSchemeMismatch):
		return &clusterError{fmt.Sprintf("%s does not respond with TLS: check the port of the endpoint, which is 8006 on a node", host), err}
	case errors.As(err, &otherName): // its authority would not help
		return &clusterError{c.redact(fmt.Sprintf("the certificate of %s is for other names: %v. "+
			"Write one of these names or addresses into the endpoint", host, otherName)), err}
	case isTLSError(err):
		return &clusterError{c.redact(fmt.Sprintf("%s has no trusted certificate: %v. "+
			"Set proxmox.ca_file in the spec to its certificate authority (/etc/pve/pve-root-ca.pem on any node)", host, err)), err}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &clusterError{c.redact(fmt.Sprintf("%s cannot be reached: %v; "+
			"check the network, such as a VPN, and the endpoint", host, dial)), err}
	}
	return &clusterError{c.redact(fmt.Sprintf("%s: %v", request, err)), err}
}

// redact removes the credentials from a text, in case a server repeats them.
func (c *client) redact(text string) string {
	for _, s := range []secret.Text{c.config.Token, c.config.Ticket, c.config.CSRF, c.config.Password, c.config.OTP} {
		if s.Set() {
			text = strings.ReplaceAll(text, s.Reveal(), secret.Redacted)
		}
	}
	if _, uuid, ok := strings.Cut(c.config.Token.Reveal(), "="); ok && uuid != "" {
		text = strings.ReplaceAll(text, uuid, secret.Redacted)
	}
	return text
}

// silence is why a node does not answer, in the words of the node that was asked.
func silence(err error) string {
	var s *Status
	if errors.As(err, &s) && s.Reason != "" {
		return s.Reason
	}
	return err.Error()
}
