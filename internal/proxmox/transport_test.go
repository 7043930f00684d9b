package proxmox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// failing fails every request after a while of virtual time.
type failing struct {
	now   time.Time
	takes time.Duration
	err   error
	waits []time.Duration
}

func (f *failing) RoundTrip(*http.Request) (*http.Response, error) {
	f.now = f.now.Add(f.takes)
	return nil, f.err
}

func (f *failing) wait(_ context.Context, d time.Duration) error {
	f.now = f.now.Add(d)
	f.waits = append(f.waits, d)
	return nil
}

// send sends one request through a transport and returns its error.
func (f *failing) send(ctx context.Context, t *testing.T, method, path string) (tries int64, err error) {
	t.Helper()
	w := &transport{base: f, now: func() time.Time { return f.now }, wait: f.wait}
	r, err := http.NewRequestWithContext(ctx, method, "https://pve.example:8006"+path, strings.NewReader("vmid=100"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.RoundTrip(r)
	if res != nil {
		_ = res.Body.Close()
		t.Fatalf("%s %s: status %s, want an error", method, path, res.Status)
	}
	return w.count.Load(), err
}

// TestNoAnswer: what keeps a request from being answered says what to check.
func TestNoAnswer(t *testing.T) {
	c := &client{config: Config{Endpoint: "https://pve.example:8006"}}
	cert := &x509.Certificate{DNSNames: []string{"localhost", "pve1"}, Raw: []byte("any")}
	for _, x := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("i/o timeout")},
			"pve.example:8006 cannot be reached: dial tcp: i/o timeout; check the network, such as a VPN, and the endpoint"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
			"pve.example:8006 has no trusted certificate: tls: failed to verify certificate: x509: certificate signed by unknown authority. " +
				"Set proxmox.ca_file in the spec to its certificate authority (/etc/pve/pve-root-ca.pem on any node)"},
		{&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: cert, Host: "pve.example"}},
			"the certificate of pve.example:8006 is for other names: x509: certificate is valid for localhost, pve1, not pve.example. " +
				"Write one of these names or addresses into the endpoint"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"},
			"pve.example:8006 does not respond with TLS: check the port of the endpoint, which is 8006 on a node"},
		{http.ErrSchemeMismatch,
			"pve.example:8006 does not respond with TLS: check the port of the endpoint, which is 8006 on a node"},
	} {
		if got := c.explain("GET /version", &url.Error{Op: "Get", URL: "https://pve.example:8006", Err: x.err}).Error(); got != x.want {
			t.Errorf("got\n%s\nwant\n%s", got, x.want)
		}
	}
}

func TestWritesAreNotSent(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		f := &failing{err: http.ErrAbortHandler}
		if tries, err := f.send(t.Context(), t, method, "/api2/json/nodes/pve1/qemu"); tries != 0 || !strings.Contains(err.Error(), "stackgen does not send this write") {
			t.Errorf("%s: %d requests, error %v", method, tries, err)
		}
	}
}

// TestOnlyDefaultsAreWritten sends the write of WriteDefaults, once, and no other request
// with the same context.
func TestOnlyDefaultsAreWritten(t *testing.T) {
	ctx := optionsWrite.in(t.Context())
	for request, tries := range map[string]int64{
		"PUT /api2/json/nodes/pve1/qemu/500/config": 1, "POST /api2/json/nodes/pve1/qemu/500/config": 0, "PUT /api2/json/nodes/pve1/lxc/500/config": 0,
		"PUT /api2/json/nodes/pve1/qemu/500/resize": 0, "POST /api2/json/nodes/pve1/qemu/500/status/stop": 0, "DELETE /api2/json/nodes/pve1/qemu/500": 0,
	} {
		method, path, _ := strings.Cut(request, " ")
		f := &failing{err: &Status{Code: statusNodeDown}}
		if got, _ := f.send(ctx, t, method, path); got != tries {
			t.Errorf("%s: %d requests, want %d", request, got, tries)
		}
	}
}

func TestRetries(t *testing.T) {
	down, denied, lost := &Status{Code: statusNodeDown}, &Status{Code: http.StatusForbidden}, errors.New("connection reset by peer")
	const read, all = "/api2/json/version", "[250ms 1s]"
	for name, c := range map[string]struct {
		method, path string
		ctx          context.Context
		takes        time.Duration
		err          error
		tries        int64
		waits        string
	}{
		"node down":            {"GET", read, t.Context(), 0, down, 3, all},
		"connection lost":      {"GET", read, t.Context(), 0, lost, 3, all},
		"permission denied":    {"GET", read, t.Context(), 0, denied, 1, "[]"},
		"slow node":            {"GET", read, t.Context(), 20 * time.Second, down, 2, "[250ms]"},
		"node timeout":         {"GET", read, t.Context(), tryTimeout, down, 1, "[]"},
		"login":                {"POST", ticketPath, t.Context(), 0, down, 1, "[]"},
		"query without retry":  {"GET", read, context.WithValue(t.Context(), noRetry{}, true), 0, down, 1, "[]"},
		"untrusted connection": {"GET", read, t.Context(), 0, errors.New("tls: bad certificate"), 1, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &failing{takes: c.takes, err: c.err}
			tries, err := f.send(c.ctx, t, c.method, c.path)
			if tries != c.tries || fmt.Sprint(f.waits) != c.waits || !errors.Is(err, c.err) {
				t.Errorf("%d tries, waits %v, error %v; want %d tries, waits %s", tries, f.waits, err, c.tries, c.waits)
			}
		})
	}
}
