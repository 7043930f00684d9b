package proxmox

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of one request.
const (
	maxTries      = 3
	firstPause    = 250 * time.Millisecond // before the second try; four times as long before the third
	tryTimeout    = 40 * time.Second       // longer than the 30 s after which a proxying node gives up
	lastTryBefore = 35 * time.Second       // no further try starts later than this after the first one
	maxBody       = 64 << 20               // bytes
	ticketPath    = "/api2/json/access/ticket"
)

// HTTP status codes of Proxmox VE that net/http does not name.
const (
	statusNodeDown    = 595 // the daemons of the node do not respond
	statusNodeTimeout = 596 // the node did not respond in time
)

// noRetry is the context key of a request that must not be sent twice.
type noRetry struct{}

// A transport sends requests: it rejects everything but reads, logins and the
// writes that their callers allow, counts requests, retries where that may help, and turns a status of 300 or above into
// a *Status. go-proxmox on its own does not distinguish 401 from 403.
type transport struct {
	base  http.RoundTripper
	count atomic.Int64
	now   func() time.Time
	wait  func(context.Context, time.Duration) error

	mu      sync.Mutex // guards the following
	issuer  pkix.Name  // of the certificate of the server that responded last
	address string     // its IP address, or that of a proxy
}

// server returns who issued the certificate of the server, and its IP address.
func (t *transport) server() (pkix.Name, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.issuer, t.address
}

// noteServer records who responds, as the connection of a request shows.
func (t *transport) noteServer(c httptrace.GotConnInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.address, _, _ = net.SplitHostPort(c.Conn.RemoteAddr().String())
	if secured, ok := c.Conn.(*tls.Conn); ok {
		if certs := secured.ConnectionState().PeerCertificates; len(certs) > 0 {
			t.issuer = certs[0].Issuer
		}
	}
}

// RoundTrip returns a response whose body has been read completely, or an error.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	login := r.Method == http.MethodPost && r.URL.Path == ticketPath
	write := mayWrite(r)
	if r.Method != http.MethodGet && !login && !write {
		return nil, fmt.Errorf("%s %s: stackgen does not send this write", r.Method, r.URL.Path)
	}
	start := t.now()
	for try := 1; ; try++ {
		res, err := t.try(r)
		once := login || write || r.Context().Value(noRetry{}) != nil
		if err == nil || once || try == maxTries || t.now().Sub(start) > lastTryBefore || !transient(r.Context(), err) {
			return res, err
		}
		if waitErr := t.wait(r.Context(), firstPause<<(2*(try-1))); waitErr != nil {
			return nil, errors.Join(err, waitErr)
		}
	}
}

// try sends a request once.
func (t *transport) try(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), tryTimeout)
	defer cancel()
	t.count.Add(1)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: t.noteServer})
	res, err := t.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, fmt.Errorf("the response is incomplete: %w", err)
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("the response is larger than %d bytes", maxBody)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, &Status{Code: res.StatusCode, Reason: reason(res, body)}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// reason returns the message in the body of an error response, or else the
// reason phrase.
func reason(res *http.Response, body []byte) string {
	var b struct {
		Message string `json:"message"`
	}
	// Some error responses have no body, or one that is not JSON.
	_ = json.Unmarshal(body, &b)
	text := strings.TrimSpace(b.Message)
	if text == "" {
		_, text, _ = strings.Cut(res.Status, " ")
	}
	return text
}

// transient reports whether a retry may help.
func transient(ctx context.Context, err error) bool {
	var s *Status
	if errors.As(err, &s) {
		switch s.Code {
		case statusNodeDown, statusNodeTimeout, http.StatusTooManyRequests,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		case http.StatusInternalServerError:
			return strings.Contains(s.Reason, "got timeout") || strings.Contains(s.Reason, "Connection") ||
				strings.Contains(s.Reason, "unable to read")
		}
		return false
	}
	return ctx.Err() == nil && !isTLSError(err)
}

// isTLSError reports whether an error is about certificates or the TLS version.
// Retries do not help against those.
func isTLSError(err error) bool {
	var verify *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	return errors.As(err, &verify) || errors.As(err, &alert) || errors.As(err, &record) || strings.Contains(err.Error(), "tls: ")
}

// wait pauses until d has passed or the context ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tlsConfig returns the TLS settings of a Config.
func (c Config) tlsConfig(readFile func(string) ([]byte, error)) (*tls.Config, error) {
	out := &tls.Config{MinVersion: c.MinTLS, InsecureSkipVerify: c.Insecure}
	if c.CAFile == "" || c.Insecure {
		return out, nil
	}
	pem, err := readFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("proxmox.ca_file: cannot read %s: %w", c.CAFile, err)
	}
	// The provider also trusts the authorities of the system.
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("proxmox.ca_file: %s contains no certificate", c.CAFile)
	}
	out.RootCAs = pool
	return out, nil
}
