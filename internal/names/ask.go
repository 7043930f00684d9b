package names

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

	"stackgen/internal/cluster"
)

// The bounds of asking.
const (
	atOnce  = 16
	timeout = 2 * time.Second
	tries   = 2
)

// A Question is one name and the server to ask for it.
type Question struct {
	Name   string // with its final dot
	Server string // host or address
	Port   int
	Key    Key // to sign it with; none if its secret is empty
}

func (q Question) address() string { return net.JoinHostPort(q.Server, strconv.Itoa(q.Port)) }

// Ask asks for the addresses of names. What a server does not tell is an Error of
// its record, never one of Ask. A server that did not answer once is not asked
// again.
func Ask(ctx context.Context, questions []Question) []cluster.Record {
	a := &asker{dead: map[string]string{}}
	out := make([]cluster.Record, len(questions))
	wild := map[Question]*cluster.Record{}
	var all []func()
	for i, q := range questions {
		all = append(all, func() { out[i] = a.ask(ctx, q) })
		if star, ok := wildcard(q); ok && wild[star] == nil {
			r := &cluster.Record{}
			wild[star] = r
			all = append(all, func() { *r = a.ask(ctx, star) })
		}
	}
	inParallel(all)
	var probes []func()
	for i, q := range questions {
		star, ok := wildcard(q)
		if w := wild[star]; ok && says(out[i]) && same(*w, out[i]) {
			probes = append(probes, func() { out[i].Wildcard = a.synthesised(ctx, q, *w) })
		}
	}
	inParallel(probes)
	slices.SortFunc(out, func(x, y cluster.Record) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// synthesised reports whether the wildcard answers in the place of a name. A name
// that exists keeps the wildcard away from all names below it.
func (a *asker) synthesised(ctx context.Context, q Question, wild cluster.Record) bool {
	q.Name = "_stackgen." + q.Name
	below := a.ask(ctx, q)
	return below.Error == "" && same(below, wild)
}

// says reports whether there is an answer.
func says(r cluster.Record) bool { return len(r.Addresses) > 0 || r.CNAME != "" }

// same reports whether two names have the same answer.
func same(a, b cluster.Record) bool {
	return slices.Equal(a.Addresses, b.Addresses) && a.CNAME == b.CNAME
}

// wildcard is the question whose answer would stand in for a name.
func wildcard(q Question) (Question, bool) {
	host, parent, ok := strings.Cut(q.Name, ".")
	if !ok || parent == "" || host == "*" {
		return Question{}, false
	}
	q.Name = "*." + parent
	return q, true
}

func inParallel(all []func()) {
	var wg sync.WaitGroup
	queue := make(chan func())
	for range min(atOnce, len(all)) {
		wg.Go(func() {
			for do := range queue {
				do()
			}
		})
	}
	for _, do := range all {
		queue <- do
	}
	close(queue)
	wg.Wait()
}

// An asker remembers which servers do not answer.
type asker struct {
	mu   sync.Mutex
	dead map[string]string
}

func (a *asker) ask(ctx context.Context, q Question) cluster.Record {
	r := cluster.Record{Name: q.Name, Server: q.address()}
	a.mu.Lock()
	r.Error = a.dead[q.address()]
	a.mu.Unlock()
	if r.Error != "" {
		return r
	}
	answer, err := exchange(ctx, q)
	switch {
	case q.Key.refused(err):
		r.Error = q.address() + " " + q.Key.reason(err)
	case err != nil:
		r.Error = q.address() + " does not answer: " + cause(err)
		a.mu.Lock()
		a.dead[q.address()] = r.Error
		a.mu.Unlock()
	case answer.Rcode == dns.RcodeSuccess, answer.Rcode == dns.RcodeNameError:
		if !answer.Authoritative {
			r.Error = q.address() + " is not authoritative for it"
			return r
		}
		fill(&r, answer)
	default:
		r.Error = fmt.Sprintf("%s answers %s", q.address(), dns.RcodeToString[answer.Rcode])
	}
	return r
}

// fill takes the records of the very name that was asked for.
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

// exchange asks over UDP, and over TCP where the answer does not fit.
func exchange(ctx context.Context, q Question) (answer *dns.Msg, err error) {
	m := new(dns.Msg).SetQuestion(q.Name, dns.TypeA)
	m.RecursionDesired = false
	for range tries {
		if answer, _, err = q.Key.client("udp").ExchangeContext(ctx, q.Key.sign(m), q.address()); err == nil || ctx.Err() != nil || q.Key.refused(err) {
			break
		}
	}
	if err == nil && answer.Truncated {
		answer, _, err = q.Key.client("tcp").ExchangeContext(ctx, q.Key.sign(m), q.address())
	}
	return answer, err
}

// cause is an error in words that are the same from run to run: without the
// port this side happened to have.
func cause(err error) string {
	var op *net.OpError
	var lookup *net.DNSError
	switch {
	case errors.As(err, &lookup):
		return "its name cannot be resolved"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &op) && op.Err != nil:
		return op.Err.Error()
	}
	return err.Error()
}
