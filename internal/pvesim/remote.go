package pvesim

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// Fetch is a request of a node for a URL.
type Fetch struct {
	URL    string
	Head   bool   // without the body
	Verify bool   // the certificate of the server
	Unpack string // the compression of the body, gz or bz2, which the node unpacks
}

// Remote is what a node finds at a URL.
type Remote struct {
	Hops        []Hop  // the requests: more than one if the server redirects
	Length      int64  // of the body, -1 if the server does not say
	Type        string // MIME type
	Disposition string
	Content     *Content // of the body, nil without one
	Unpacked    *Content // the same after unpacking
	Broken      string   // why the body could not be read or unpacked
}

// Hop is one request for a URL and its response.
type Hop struct {
	URL     string
	Name    string   // of the host that was resolved, empty for an address
	IPs     []string // of the name
	Status  string   // as in "200 OK", empty without a response
	Failure Failure  // why there is no response
	Reason  string   // the text of the failure
}

// Failure is the kind of a failed request.
type Failure string

// The kinds of failed requests.
const (
	NoFailure    Failure = ""
	NotResolved  Failure = "not resolved"
	NotConnected Failure = "not connected"
	NotTrusted   Failure = "not trusted"
	NoResponse   Failure = "no response"
)

// Content is what the simulator keeps of a file: not its bytes.
type Content struct {
	Size  int64
	Sums  map[string]string // checksums by algorithm
	Image Image
}

// checksums returns a hash for each algorithm of the API.
func checksums() map[string]hash.Hash {
	return map[string]hash.Hash{"md5": md5.New(), "sha1": sha1.New(), "sha224": sha256.New224(), "sha256": sha256.New(),
		"sha384": sha512.New384(), "sha512": sha512.New()}
}

// fetch requests a URL from the network.
func fetch(ctx context.Context, f Fetch) *Remote {
	r := &Remote{Length: -1}
	transport := &http.Transport{DisableCompression: true, DialContext: (&net.Dialer{}).DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: !f.Verify}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	method := http.MethodGet
	if f.Head {
		method = http.MethodHead
	}
	const maxRedirects = 20
	for next := f.URL; next != "" && len(r.Hops) <= maxRedirects; {
		next = r.hop(ctx, client, method, next, f)
	}
	return r
}

// hop requests one URL, and returns the URL that the response redirects to, or "".
func (r *Remote) hop(ctx context.Context, client *http.Client, method, from string, f Fetch) string {
	h := Hop{URL: from}
	defer func() { r.Hops = append(r.Hops, h) }()
	req, err := http.NewRequestWithContext(ctx, method, from, nil)
	if err != nil {
		h.Failure, h.Reason = NotResolved, "Name or service not known"
		return ""
	}
	if name := req.URL.Hostname(); net.ParseIP(name) == nil {
		h.Name = name
		h.IPs, _ = net.DefaultResolver.LookupHost(ctx, name) // a failure is that of the request below
	}
	resp, err := client.Do(req)
	if err != nil {
		h.Failure, h.Reason = failureOf(err)
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	h.Status = resp.Status
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		if u, err := url.Parse(to); err == nil {
			return req.URL.ResolveReference(u).String()
		}
	}
	r.Length, r.Type, r.Disposition = resp.ContentLength, resp.Header.Get("Content-Type"), resp.Header.Get("Content-Disposition")
	if !f.Head && resp.StatusCode == http.StatusOK {
		r.read(resp.Body, f.Unpack)
	}
	return ""
}

// failureOf returns why a request has no response, in the words of the C library.
func failureOf(err error) (Failure, string) {
	var unknown *net.DNSError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return NotResolved, "Name or service not known"
	case errors.As(err, &untrusted):
		return NotTrusted, "certificate verify failed"
	case errors.Is(err, syscall.ECONNREFUSED):
		return NotConnected, "Connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH):
		return NotConnected, "No route to host"
	case errors.Is(err, syscall.ENETUNREACH):
		return NotConnected, "Network is unreachable"
	case errors.Is(err, syscall.ETIMEDOUT):
		return NotConnected, "Connection timed out"
	}
	return NoResponse, "Connection reset by peer"
}

// read reads a body to its end, and unpacks it.
func (r *Remote) read(body io.Reader, unpack string) {
	packed := newReading()
	if unpack == "" {
		if _, err := io.Copy(packed, body); err != nil {
			r.Broken = err.Error()
		}
		r.Content = packed.content()
		return
	}
	plain, err := unpacked(io.TeeReader(body, packed), unpack)
	if err == nil {
		out := newReading()
		if _, err = io.Copy(out, plain); err == nil {
			r.Unpacked = out.content()
		}
	}
	if err != nil {
		r.Broken = err.Error()
	}
	if _, err := io.Copy(packed, body); err != nil {
		r.Broken = err.Error()
	}
	r.Content = packed.content()
}

// unpacked returns a reader of what a compressed file contains.
func unpacked(r io.Reader, compression string) (io.Reader, error) {
	switch compression {
	case "gz":
		return gzip.NewReader(r)
	case "bz2":
		return bzip2.NewReader(r), nil
	}
	return nil, fmt.Errorf("no program for %s", compression)
}

// reading is a writer that keeps what the simulator needs of a file.
type reading struct {
	size int64
	head bytes.Buffer
	sums map[string]hash.Hash
	tar  *tarNames
}

func newReading() *reading { return &reading{sums: checksums(), tar: newTarNames()} }

func (r *reading) Write(p []byte) (int, error) {
	r.size += int64(len(p))
	if left := headerSize - r.head.Len(); left > 0 {
		r.head.Write(p[:min(left, len(p))])
	}
	for _, h := range r.sums {
		_, _ = h.Write(p) // a hash never fails
	}
	r.tar.write(p)
	return len(p), nil
}

func (r *reading) content() *Content {
	out := &Content{Size: r.size, Sums: map[string]string{}, Image: imageOf(r.head.Bytes(), r.size)}
	for name, h := range r.sums {
		out.Sums[name] = fmt.Sprintf("%x", h.Sum(nil))
	}
	names := r.tar.close()
	out.Image.Archive = len(names) > 0
	for _, name := range names {
		out.Image.OVF = out.Image.OVF || strings.HasSuffix(name, ".ovf")
	}
	return out
}
