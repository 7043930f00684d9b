package pvesim

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Request is a request within the process.
type Request struct {
	Method  string
	Path    string
	Header  http.Header
	Body    []byte
	Chunked bool
	Node    string // the node that receives the request, by default the first
}

// Response is the response to a Request.
type Response struct {
	Status int
	Reason string
	Type   string
	Body   []byte
}

// listener implements HTTP/1.1 itself: net/http cannot send a custom reason
// phrase, which clients of Proxmox VE read.
type listener struct {
	s    *Server
	node string
	ln   net.Listener
	tls  *tls.Config

	mu    sync.Mutex
	conns map[net.Conn]bool
	wg    sync.WaitGroup
}

func newListener(s *Server, node, listen string) (*listener, error) {
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return &listener{s: s, node: node, ln: ln, conns: map[net.Conn]bool{},
		tls: &tls.Config{Certificates: []tls.Certificate{s.w.served(node)}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}}, nil
}

func (l *listener) serve() {
	for {
		c, err := l.ln.Accept()
		if err != nil {
			break
		}
		l.mu.Lock()
		l.conns[c] = true
		l.mu.Unlock()
		l.wg.Add(1)
		go func() {
			defer l.wg.Done()
			l.handle(c)
			l.mu.Lock()
			delete(l.conns, c)
			l.mu.Unlock()
		}()
	}
	l.wg.Wait()
}

func (l *listener) close() error {
	err := l.ln.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		// The peer may already have closed it.
		_ = c.Close()
	}
	return err
}

// peekedConn is a connection whose first byte has been peeked.
type peekedConn struct {
	net.Conn
	r *bufio.Reader
}

func (p *peekedConn) Read(b []byte) (int, error) { return p.r.Read(b) }

func (l *listener) handle(raw net.Conn) {
	defer func() { _ = raw.Close() }()
	br := bufio.NewReader(raw)
	first, err := br.Peek(1)
	if err != nil {
		return
	}
	if first[0] != 0x16 {
		l.redirect(raw, br)
		return
	}
	conn := tls.Server(&peekedConn{raw, br}, l.tls)
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(r)
		if err != nil || !l.answer(raw, conn, req) {
			return
		}
	}
}

// redirect is the response of the TLS port to plain HTTP.
func (l *listener) redirect(raw net.Conn, br *bufio.Reader) {
	req, err := http.ReadRequest(br)
	if err != nil {
		return
	}
	resp := &reply{status: 301, reason: "Moved Permanently", location: "https://" + req.Host + req.RequestURI, closing: true}
	_, _ = raw.Write(resp.encode())
}

// maxBody limits the size of a request body, in bytes.
const maxBody = 64 << 20

// answer serves one request. It returns false to close the connection.
func (l *listener) answer(raw net.Conn, conn net.Conn, req *http.Request) bool {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if err != nil {
		return false
	}
	if len(body) > maxBody {
		r := plainReply(413, "the simulator takes at most 64 MiB in a request")
		r.closing = true
		_, _ = conn.Write(r.encode())
		return false
	}
	path, query, _ := strings.Cut(req.RequestURI, "?")
	resp := l.s.serve(l.s.ctx, &request{method: req.Method, path: path, query: query, header: req.Header, body: body,
		chunks: len(req.TransferEncoding) > 0, entry: l.node})
	if req.Close || resp.status == 401 {
		resp.closing = true
	}
	out := resp.encode()
	if resp.reset {
		_, _ = conn.Write(out[:len(out)/2])
		if tcp, ok := raw.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return false
	}
	_, err = conn.Write(out)
	return err == nil && !resp.closing
}

// reply is a response before it is written.
type reply struct {
	status   int
	reason   string
	kind     string
	body     []byte
	location string
	closing  bool
	reset    bool
}

func (r *reply) encode() []byte {
	var b bytes.Buffer
	reason := r.reason
	if i := strings.IndexAny(reason, "\r\n"); i >= 0 {
		reason = reason[:i]
	}
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", r.status, reason)
	b.WriteString("Cache-Control: max-age=0\r\n")
	if r.closing {
		b.WriteString("Connection: close\r\n")
	} else {
		b.WriteString("Connection: Keep-Alive\r\n")
	}
	fmt.Fprintf(&b, "Date: %s\r\nPragma: no-cache\r\nServer: pve-api-daemon/3.0\r\n", time.Now().UTC().Format(http.TimeFormat))
	if r.location != "" {
		fmt.Fprintf(&b, "Location: %s\r\n", r.location)
	}
	if r.kind != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", r.kind)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(r.body))
	b.Write(r.body)
	return b.Bytes()
}
