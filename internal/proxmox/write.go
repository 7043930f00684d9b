package proxmox

import (
	"context"
	"net/http"
	"regexp"
)

// A write is a kind of request that changes something. The transport sends only those that
// the context of the request allows.
type write struct {
	method string
	path   *regexp.Regexp
}

// allowed is the context key of the kind of write that a request may be.
type allowed struct{}

// in is a context in which requests may be this write.
func (w write) in(ctx context.Context) context.Context { return context.WithValue(ctx, allowed{}, w) }

// mayWrite reports whether a request is a write that its context allows.
func mayWrite(r *http.Request) bool {
	w, ok := r.Context().Value(allowed{}).(write)
	return ok && r.Method == w.method && w.path.MatchString(r.URL.Path)
}
