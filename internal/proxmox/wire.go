package proxmox

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// The bounds of one request.
const (
	tries       = 3
	firstPause  = 250 * time.Millisecond
	tryTimeout  = 40 * time.Second // a proxying node gives up after 30
	patience    = 35 * time.Second // no further try begins after it
	maxBody     = 64 << 20
	ticketPath  = "/api2/json/access/ticket"
	statusDown  = 595 // the node's daemons do not answer
	statusLate  = 596 // the node has not answered in time
	serverFault = 500
)

// A Status is an answer other than yes.
type Status struct {
	Code   int
	Reason string
}

func (s *Status) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", s.Code, s.Reason))
}

// once is the key under which a context says that a request is not to be tried
// again.
type once struct{}

// A wire carries requests: it lets only reads through, counts them, tries them
// again where that may help, and turns refusals into errors that keep the code.
// go-proxmox alone would tell 401 from 403 no more.
type wire struct {
	base  http.RoundTripper
	count atomic.Int64
	pause func(context.Context, time.Duration) error
}

// RoundTrip answers one request with its whole body, or with an error.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	login := r.Method == http.MethodPost && r.URL.Path == ticketPath
	if r.Method != http.MethodGet && !login {
		return nil, fmt.Errorf("%s %s: stackgen only reads", r.Method, r.URL.Path)
	}
	var res *http.Response
	var err error
	began := time.Now()
	for try := range tries {
		if try > 0 {
			if werr := w.pause(r.Context(), firstPause<<(2*(try-1))); werr != nil {
				return nil, errors.Join(err, werr)
			}
		}
		if res, err = w.try(r); err == nil || login || r.Context().Value(once{}) != nil || time.Since(began) > patience || !transient(r.Context(), err) {
			break
		}
	}
	return res, err
}

// try sends a request once.
func (w *wire) try(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), tryTimeout)
	defer cancel()
	w.count.Add(1)
	res, err := w.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, fmt.Errorf("the answer broke off: %w", err)
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("the answer is larger than %d bytes", maxBody)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, &Status{Code: res.StatusCode, Reason: reason(res, body)}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// reason is why an answer is no: the reason phrase, or the message in the body.
func reason(res *http.Response, body []byte) string {
	var b struct {
		Message string            `json:"message"`
		Errors  map[string]string `json:"errors"`
	}
	// Some refusals have no body, or one that is no JSON.
	_ = json.Unmarshal(body, &b)
	text := strings.TrimSpace(b.Message)
	if text == "" {
		_, text, _ = strings.Cut(res.Status, " ")
	}
	return text
}

// transient reports whether asking again may help.
func transient(ctx context.Context, err error) bool {
	var s *Status
	if errors.As(err, &s) {
		switch s.Code {
		case statusDown, statusLate, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		case serverFault:
			return strings.Contains(s.Reason, "got timeout") || strings.Contains(s.Reason, "Connection") || strings.Contains(s.Reason, "unable to read")
		}
		return false
	}
	return ctx.Err() == nil && !untrusted(err)
}

// untrusted reports whether an error is about certificates or the TLS version,
// which no further try would mend.
func untrusted(err error) bool {
	var verify *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	return errors.As(err, &verify) || errors.As(err, &alert) || errors.As(err, &record) || strings.Contains(err.Error(), "tls: ")
}

// wait pauses for a while, or until the context ends.
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

// trust is the TLS side of a Config.
func (c Config) trust(readFile func(string) ([]byte, error)) (*tls.Config, error) {
	out := &tls.Config{MinVersion: c.MinTLS, InsecureSkipVerify: c.Insecure}
	if c.CAFile == "" || c.Insecure {
		return out, nil
	}
	pem, err := readFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("proxmox.ca_file: %w", err)
	}
	// The provider is given the file beside the system's authorities.
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("proxmox.ca_file: %s holds no certificate", c.CAFile)
	}
	out.RootCAs = pool
	return out, nil
}
