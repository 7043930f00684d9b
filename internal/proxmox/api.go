package proxmox

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	pve "github.com/luthermonson/go-proxmox"

	"stackgen/internal/files"
)

// maxConcurrent is the number of requests that may be open at the same time:
// pveproxy has three workers, which also serve other users.
const maxConcurrent = 16

const maxCertificates = 4 << 20 // of a file with certificates

// A client sends requests to one cluster. This file is the only one that imports
// go-proxmox. It uses the library for sessions, tokens and the envelope of
// responses, but not for lists, because its types lose what stackgen needs:
// ClusterResource has no lock and fails on a fractional CPU limit, IsTemplate
// decodes 0 as true, and Tasks fails for 10 s after a task ends.
type client struct {
	api       *pve.Client
	transport *transport
	config    Config
}

// open makes a client. It sends a request only to log in with a password.
func open(ctx context.Context, c Config) (*client, error) {
	tlsConfig, err := c.tlsConfig(func(file string) ([]byte, error) { return files.Read(file, maxCertificates) })
	if err != nil {
		return nil, err
	}
	t := &transport{now: c.now, wait: c.wait, base: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: tlsConfig, MaxIdleConnsPerHost: maxConcurrent, MaxConnsPerHost: maxConcurrent,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: time.Minute,
	}}
	out := &client{transport: t, config: c}
	options := []pve.Option{pve.WithHTTPClient(&http.Client{Transport: t}), pve.WithUserAgent("stackgen"),
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
			return nil, out.explain("POST /access/ticket", err)
		}
	}
	return out, nil
}

// close closes the idle connections.
func (c *client) close() {
	if t, ok := c.transport.base.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// get decodes the response of one path.
func (c *client) get(ctx context.Context, path string, into any) error {
	if err := c.api.Get(ctx, path, into); err != nil {
		return c.explain("GET "+path, err)
	}
	return nil
}

// put sends a write, whose response says nothing.
func (c *client) put(ctx context.Context, path string, body map[string]string) error {
	var none any
	if err := c.api.Put(ctx, path, body, &none); err != nil {
		return c.explain("PUT "+path, err)
	}
	return nil
}
