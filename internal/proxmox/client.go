package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	pve "github.com/luthermonson/go-proxmox"

	"stackgen/schema"
)

// atOnce bounds the requests under way: pveproxy has three workers, and others
// want to be served as well.
const atOnce = 16

// A client asks one cluster.
type client struct {
	api    *pve.Client
	wire   *wire
	config Config
}

// open makes a client; it sends nothing unless a password is to become a ticket.
func open(ctx context.Context, c Config) (*client, error) {
	trust, err := c.trust(os.ReadFile)
	if err != nil {
		return nil, err
	}
	w := &wire{pause: wait, base: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust, MaxIdleConnsPerHost: atOnce, MaxConnsPerHost: atOnce,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: time.Minute,
	}}
	out := &client{wire: w, config: c}
	options := []pve.Option{pve.WithHTTPClient(&http.Client{Transport: w}), pve.WithUserAgent("stackgen"),
		pve.WithLogger(&pve.LeveledLogger{})}
	switch {
	case c.Token.Set():
		id, secret, _ := strings.Cut(c.Token.Reveal(), "=")
		options = append(options, pve.WithAPIToken(id, secret))
	case c.Ticket.Set():
		options = append(options, pve.WithSession(c.Ticket.Reveal(), c.CSRF.Reveal()))
	default:
		options = append(options, pve.WithCredentials(&pve.Credentials{Username: c.Username, Password: c.Password.Reveal(), Otp: c.OTP.Reveal()}))
	}
	out.api = pve.NewClient(c.Endpoint+"/api2/json", options...)
	if !c.Token.Set() && !c.Ticket.Set() {
		if err := out.api.CreateSession(ctx); err != nil {
			return nil, out.explain("/access/ticket", err)
		}
	}
	return out, nil
}

// close ends the connections.
func (c *client) close() {
	if t, ok := c.wire.base.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// get reads one path.
func (c *client) get(ctx context.Context, path string, into any) error {
	if err := c.api.Get(ctx, path, into); err != nil {
		return c.explain(path, err)
	}
	return nil
}

// explain says what an error means and what to do, without secrets. The Status
// stays inside for those who ask.
func (c *client) explain(path string, err error) error {
	var s *Status
	var asURL *url.Error
	if errors.As(err, &asURL) {
		err = asURL.Err
	}
	var dial *net.OpError
	host := strings.TrimPrefix(c.config.Endpoint, "https://")
	switch {
	case errors.As(err, &s) && s.Code == http.StatusUnauthorized:
		return &problem{fmt.Sprintf("%s refuses the credentials of %s (401): they are wrong, expired or revoked; see the PROXMOX_VE_ variables", host, c.config.Who()), err}
	case errors.As(err, &s) && s.Code == http.StatusMovedPermanently:
		return &problem{fmt.Sprintf("%s answers with a redirect: it is no Proxmox VE API", host), err}
	case errors.As(err, &s):
		return &problem{c.clean(fmt.Sprintf("GET %s: %s", path, s)), err}
	case untrusted(err):
		return &problem{c.clean(fmt.Sprintf("%s cannot be trusted: %v. Set proxmox.ca_file in the spec to its certificate authority (/etc/pve/pve-root-ca.pem on any node)", host, err)), err}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &problem{c.clean(fmt.Sprintf("%s cannot be reached: %v", host, dial)), err}
	}
	return &problem{c.clean(fmt.Sprintf("GET %s: %v", path, err)), err}
}

// clean takes the credentials out of a text, should a server have put them in.
func (c *client) clean(text string) string {
	for _, s := range []Secret{c.config.Token, c.config.Ticket, c.config.CSRF, c.config.Password, c.config.OTP} {
		if s.Set() {
			text = strings.ReplaceAll(text, s.Reveal(), redacted)
		}
	}
	if _, secret, ok := strings.Cut(c.config.Token.Reveal(), "="); ok && secret != "" {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return schema.Printable(text)
}

// A problem is an error whose text is fit to be shown. What it wraps is there
// for errors.As and never printed.
type problem struct {
	text string
	err  error
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.err }

// code is the HTTP status an error is about, or 0.
func code(err error) int {
	var s *Status
	if errors.As(err, &s) {
		return s.Code
	}
	return 0
}
