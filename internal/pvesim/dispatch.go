package pvesim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"stackgen/internal/pvesim/schema"
)

const jsonType = "application/json;charset=UTF-8"

// serve responds to one request: it applies the latency and faults, and writes
// the log.
func (s *Server) serve(ctx context.Context, r *request) *reply {
	began := s.clk.Now()
	if strings.HasPrefix(r.path, controlPrefix) {
		return s.control(r)
	}
	if s.opts.Latency > 0 {
		if err := s.clk.WaitUntil(ctx, began.Add(s.opts.Latency)); err != nil {
			return &reply{status: 500, reason: "shutting down", closing: true}
		}
	}
	f := s.faults.pick(r)
	resp := s.serveWithFault(ctx, r, f)
	s.log.add(s, r, resp, began, f)
	return resp
}

// answer processes a request without faults.
func (s *Server) answer(ctx context.Context, r *request) *reply {
	format, path, early := splitPath(r)
	if early != nil {
		return early
	}
	values, early := readValues(r)
	if early != nil {
		return early
	}
	c := &call{s: s, w: s.w, method: r.method, path: path, entry: r.entry, values: values, shown: r.shown, file: r.file}
	data, err := s.process(ctx, c, r)
	if err != nil {
		var e *apiError
		if !errors.As(err, &e) {
			e = failf("%s", err.Error())
		}
		if e.delay > proxyTimeout { // the node's own proxy gives up, and the daemon goes on
			s.pause(ctx, proxyTimeout)
			return &reply{status: 596, reason: "Connection timed out"}
		}
		if e.delay > 0 && (e.status != 401 || !s.opts.NoAuthDelay) {
			if err := s.clk.WaitUntil(ctx, s.clk.Now().Add(e.delay)); err != nil {
				return &reply{status: 500, reason: "shutting down", closing: true}
			}
		}
		return e.reply(format)
	}
	return success(format, data)
}

// process runs the call until it does not have to wait any more.
func (s *Server) process(ctx context.Context, c *call, r *request) (any, error) {
	for {
		s.w.mu.Lock()
		now := s.clk.Now()
		s.w.advance(now)
		if c.since.IsZero() {
			c.since = now
		}
		data, err := s.try(c, r)
		next := s.w.next()
		s.w.mu.Unlock()
		var web *outside
		if errors.As(err, &web) {
			select {
			case <-web.done:
				continue
			case <-ctx.Done():
				return nil, failf("shutting down")
			}
		}
		var wait *waiting
		if !errors.As(err, &wait) {
			return data, err
		}
		deadline := c.since.Add(wait.timeout)
		if !now.Before(deadline) {
			return nil, wait.err
		}
		if next.IsZero() || next.After(deadline) {
			next = deadline
		}
		if err := s.clk.WaitUntil(ctx, next); err != nil {
			return nil, failf("shutting down")
		}
	}
}

// try runs the call once: authentication, routing, permissions, node,
// parameters, handler.
func (s *Server) try(c *call, r *request) (any, error) {
	segments := strings.FieldsFunc(c.path, func(r rune) bool { return r == '/' })
	m, args := s.api.Find(c.method, segments)
	open := m != nil && m.Permission != nil && m.Permission.User == "world"
	who, err := s.authenticate(r.header, r.method, open)
	if err != nil {
		return nil, err
	}
	c.who = who
	if m == nil {
		return nil, &apiError{status: 501, bodied: true, msg: fmt.Sprintf("Method '%s %s' not implemented", c.method, c.path)}
	}
	if who.token != "" && (open && c.method == "POST" || m.NoToken == 1) {
		return nil, fail(403, "Permission check failed (URI '%s' not available with API token, need proper ticket.\n)", c.path)
	}
	c.m, c.args = m, args
	if err := c.checkPermission(m); err != nil {
		return nil, err
	}
	if err := c.reach(); err != nil {
		return nil, err
	}
	all := schema.Values{}
	for k, v := range c.values {
		all[k] = v
	}
	for k, v := range args {
		all[k] = v
	}
	p, bad := m.Check(all)
	if bad != nil {
		return nil, badParams(bad)
	}
	c.p = p
	h := s.handlers[c.method+" "+m.Path]
	if h == nil {
		return nil, &apiError{status: 501, bodied: true, msg: fmt.Sprintf("Method '%s %s' not simulated", c.method, c.path)}
	}
	return h(c)
}

// reach finds the node that a call is about, and returns an error if it does
// not respond.
func (c *call) reach() error {
	name, ok := c.args["node"]
	if !ok {
		return nil
	}
	if name == "localhost" {
		name = c.entry
	}
	c.node = name
	if c.m.ProxyTo == "" {
		return nil
	}
	n := c.w.node(name)
	if n == nil {
		return failf("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", name, name)
	}
	if name == c.entry {
		return nil
	}
	switch n.State {
	case NodeDown:
		return &apiError{status: 595, msg: "Connection refused", bare: true}
	case NodeLost:
		rest := arpDelay - c.w.now.Sub(n.since)
		if rest > proxyTimeout {
			return &apiError{status: 595, msg: "Connection timed out", bare: true, delay: proxyTimeout}
		}
		return &apiError{status: 595, msg: "No route to host", bare: true, delay: max(rest, 3*time.Second)}
	}
	return nil
}

// splitPath splits the output format from the path of the call.
func splitPath(r *request) (format, path string, early *reply) {
	switch r.method {
	case "GET", "PUT", "POST", "DELETE":
	default:
		return "", "", &reply{status: 501, reason: fmt.Sprintf("method '%s' not available", r.method), closing: true}
	}
	rest, ok := strings.CutPrefix(r.path, "/api2/")
	if !ok {
		if r.path == "/" {
			return "", "", &reply{status: 200, reason: "OK", kind: "text/plain", body: []byte("stackgen sim: a simulated Proxmox VE cluster\n")}
		}
		msg := fmt.Sprintf("no such file '%s'", strings.TrimPrefix("/"+strings.TrimLeft(r.path, "/"), "/api2"))
		return "", "", &reply{status: 500, reason: msg, body: []byte(msg + "\n")}
	}
	if r.chunks {
		return "", "", plainReply(501, "chunked transfer encoding not supported")
	}
	format, path, _ = strings.Cut(rest, "/")
	path = "/" + strings.Trim(path, "/")
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if dec, err := url.PathUnescape(path); err == nil {
		path = dec
	}
	if format != "json" && format != "extjs" {
		return "", "", plainReply(501, fmt.Sprintf("no formatter for uri %s, %s", path, format))
	}
	return format, path, nil
}

func plainReply(status int, msg string) *reply {
	return &reply{status: status, reason: msg, body: []byte(msg)}
}

func success(format string, data any) *reply {
	out := object{"data": data}
	switch v := data.(type) {
	case text:
		return &reply{status: 200, reason: "OK", kind: "text/plain", body: []byte(v)}
	case counted:
		out["data"], out["total"] = v.data, v.total
	}
	if format == "extjs" {
		out["success"] = 1
	}
	return jsonReply(200, "OK", out)
}

func jsonReply(status int, reason string, v any) *reply {
	body, err := json.Marshal(v)
	if err != nil {
		return &reply{status: 500, reason: "unable to encode: " + err.Error()}
	}
	return &reply{status: status, reason: reason, kind: jsonType, body: body}
}

func (e *apiError) reply(format string) *reply {
	reason, _, _ := strings.Cut(e.msg, "\n")
	if e.bare {
		return &reply{status: e.status, reason: reason}
	}
	if e.plain {
		return plainReply(e.status, reason)
	}
	msg := e.msg + "\n"
	if e.bodied {
		msg = e.msg
	}
	out := object{"data": nil, "message": msg}
	if e.fields != nil {
		out["errors"] = e.fields
	}
	if format == "extjs" {
		out["status"], out["success"] = e.status, 0
		return jsonReply(200, "OK", out)
	}
	return jsonReply(e.status, reason, out)
}
