package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sync/errgroup"

	"stackgen/internal/cluster"
)

// The limits of a lookup.
const (
	maxConcurrent = 16
	tryTimeout    = 2 * time.Second
	maxTries      = 2
)

// A Question is a name and the server to query for it.
type Question struct {
	Name   string // with its final dot
	Server string // host name or address
	Port   int
	Key    Key // signs the query; unsigned if its secret is empty
}

func (q Question) address() string { return net.JoinHostPort(q.Server, strconv.Itoa(q.Port)) }

// Lookup returns the record of each name, sorted by name. A failed query is the
// Error of its record; Lookup itself never fails. After a server has not
// responded once, it gets no further queries.
func Lookup(ctx context.Context, questions []Question) []cluster.Record {
	return lookup(ctx, questions, tryTimeout)
}

func lookup(ctx context.Context, questions []Question, timeout time.Duration) []cluster.Record {
	r := &resolver{timeout: timeout, down: map[string]string{}}
	out := make([]cluster.Record, len(questions))
	wildcards := map[Question]*cluster.Record{}
	var queries []func()
	for i, q := range questions {
		queries = append(queries, func() { out[i] = r.query(ctx, q) })
		if wild, ok := wildcard(q); ok && wildcards[wild] == nil {
			record := &cluster.Record{}
			wildcards[wild] = record
			queries = append(queries, func() { *record = r.query(ctx, wild) })
		}
	}
	concurrently(queries)
	var probes []func()
	for i, q := range questions {
		wild, ok := wildcard(q)
		if w := wildcards[wild]; ok && hasAnswer(out[i]) && sameAnswer(*w, out[i]) {
			probes = append(probes, func() { out[i].Wildcard = r.synthesised(ctx, q, *w) })
		}
	}
	concurrently(probes)
	slices.SortFunc(out, func(x, y cluster.Record) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// synthesised reports whether the answer for a name comes from a wildcard record.
// If the name exists, the wildcard does not match the names below it.
func (r *resolver) synthesised(ctx context.Context, q Question, wild cluster.Record) bool {
	q.Name = "_stackgen." + q.Name
	below := r.query(ctx, q)
	return below.Error == "" && sameAnswer(below, wild)
}

func hasAnswer(r cluster.Record) bool { return len(r.Addresses) > 0 || r.CNAME != "" }

func sameAnswer(a, b cluster.Record) bool {
	return slices.Equal(a.Addresses, b.Addresses) && a.CNAME == b.CNAME
}

// wildcard returns the question for the wildcard record that matches a name.
func wildcard(q Question) (Question, bool) {
	host, parent, ok := strings.Cut(q.Name, ".")
	if !ok || parent == "" || host == "*" {
		return Question{}, false
	}
	q.Name = "*." + parent
	return q, true
}

// concurrently calls all functions, at most maxConcurrent at the same time.
func concurrently(calls []func()) {
	var g errgroup.Group
	g.SetLimit(maxConcurrent)
	for _, call := range calls {
		g.Go(func() error { call(); return nil })
	}
	_ = g.Wait() // no call returns an error
}

// A resolver sends queries and remembers the servers that do not respond.
type resolver struct {
	timeout time.Duration // of one try

	mu   sync.Mutex
	down map[string]string // error by address
}

func (r *resolver) query(ctx context.Context, q Question) cluster.Record {
	rec := cluster.Record{Name: q.Name, Server: q.address()}
	r.mu.Lock()
	rec.Error = r.down[q.address()]
	r.mu.Unlock()
	if rec.Error != "" {
		return rec
	}
	answer, err := r.exchange(ctx, q)
	switch {
	case q.Key.rejected(err):
		rec.Error = q.address() + " " + q.Key.explain(err)
	case err != nil:
		rec.Error = q.address() + " does not respond: " + cause(err)
		r.mu.Lock()
		r.down[q.address()] = rec.Error
		r.mu.Unlock()
	case answer.Rcode == dns.RcodeSuccess, answer.Rcode == dns.RcodeNameError:
		if !answer.Authoritative {
			rec.Error = q.address() + " is not authoritative for it"
			return rec
		}
		fill(&rec, answer)
	default:
		rec.Error = fmt.Sprintf("%s responds with %s", q.address(), dns.RcodeToString[answer.Rcode])
	}
	return rec
}

// fill copies the answers whose owner is the queried name itself.
func fill(r *cluster.Record, answer *dns.Msg) {
	for _, rr := range answer.Answer {
		if !strings.EqualFold(rr.Header().Name, r.Name) {
			continue
		}
		switch rr := rr.(type) {
		case *dns.A:
			r.Addresses, r.TTL = append(r.Addresses, rr.A.String()), int(rr.Hdr.Ttl)
		case *dns.CNAME:
			r.CNAME, r.TTL = rr.Target, int(rr.Hdr.Ttl)
		}
	}
	slices.Sort(r.Addresses)
}

// exchange sends a query over UDP, and over TCP if the response is truncated.
func (r *resolver) exchange(ctx context.Context, q Question) (answer *dns.Msg, err error) {
	m := new(dns.Msg).SetQuestion(q.Name, dns.TypeA)
	m.RecursionDesired = false
	for range maxTries {
		answer, _, err = q.Key.client("udp", r.timeout).ExchangeContext(ctx, q.Key.sign(m), q.address())
		if err == nil || ctx.Err() != nil || q.Key.rejected(err) {
			break
		}
	}
	if err == nil && answer.Truncated {
		answer, _, err = q.Key.client("tcp", r.timeout).ExchangeContext(ctx, q.Key.sign(m), q.address())
	}
	return answer, err
}

// cause returns an error text that is the same in every run: without the local
// port.
func cause(err error) string {
	var op *net.OpError
	var lookup *net.DNSError
	switch {
	case errors.As(err, &lookup):
		return "its host name cannot be resolved"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &op) && op.Err != nil:
		return op.Err.Error()
	}
	return err.Error()
}
