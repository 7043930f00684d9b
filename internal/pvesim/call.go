package pvesim

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stackgen/internal/pvesim/schema"
)

// call is one request while it is processed.
type call struct {
	s      *Server
	w      *cluster
	method string
	path   string // after the format, with a leading slash
	entry  string // the node that received the request
	node   string // the node the call is about
	who    *identity
	m      *schema.Method
	args   map[string]string // from the path
	values schema.Values     // from query and body
	p      map[string]string // validated parameters
	since  time.Time         // first attempt, for calls that wait
	shown  map[int]*published
	file   *Content // of an upload
	visit  *visit   // a request for a URL that the call waits for
}

// raw returns a parameter before validation.
func (c *call) raw(name string) string {
	if v, ok := c.args[name]; ok {
		return v
	}
	switch v := c.values[name].(type) {
	case string:
		return v
	case nil:
		return ""
	case interface{ String() string }:
		return v.String()
	}
	return ""
}

func (c *call) has(name string) bool { _, ok := c.p[name]; return ok }

func (c *call) flag(name string) bool { return c.p[name] == "1" }

func (c *call) vmid() int { return atoi(c.p["vmid"]) }

// configOptions returns the parameters except others, which are no options of a
// configuration.
func (c *call) configOptions(others ...string) map[string]string {
	out := cloneMap(c.p)
	for _, k := range others {
		delete(out, k)
	}
	return out
}

// checkDigest returns an error if the guest has changed since the caller read it.
func (c *call) checkDigest(g *Guest) error {
	if d := c.p["digest"]; d != "" && d != g.digest() {
		return failf("checksum mismatch (file change by other user?)")
	}
	return nil
}

func itoa(n int) string { return strconv.Itoa(n) }

// request is a request from the network or from the same process.
type request struct {
	method string
	path   string // still escaped
	query  string
	header http.Header
	body   []byte
	chunks bool
	entry  string
	shown  map[int]*published // used for lists instead of the latest reports, if set
	file   *Content           // of an upload, once the body is read
}

// parseForm splits a form as the server does: an unencoded semicolon separates
// parameters, an unencoded equals sign ends the value.
func parseForm(s string) schema.Values {
	out := schema.Values{}
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '&' || r == ';' }) {
		fields := strings.Split(part, "=")
		name := unescapeForm(fields[0])
		value := ""
		if len(fields) > 1 {
			value = unescapeForm(fields[1])
		}
		switch old := out[name].(type) {
		case nil:
			out[name] = value
		case []any:
			out[name] = append(old, value)
		default:
			out[name] = []any{old, value}
		}
	}
	return out
}

func unescapeForm(s string) string {
	v, err := url.QueryUnescape(s)
	if err != nil {
		return s
	}
	return v
}
