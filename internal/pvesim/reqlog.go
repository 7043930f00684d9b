package pvesim

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stackgen/internal/pvesim/schema"
)

// Entry is one request in the log. It contains no parameter values and no
// credentials.
type Entry struct {
	N      int       `json:"n"`
	Time   time.Time `json:"time"`
	Node   string    `json:"node"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	Who    string    `json:"who,omitempty"`
	VMID   int       `json:"vmid,omitempty"`
	Params []string  `json:"params,omitempty"`
	Status int       `json:"status"`
	Reason string    `json:"reason,omitempty"`
	Millis float64   `json:"ms"`
	Write  bool      `json:"write,omitempty"`
	Fault  string    `json:"fault,omitempty"`
}

// Counters contains the numbers of requests.
type Counters struct {
	Requests int            `json:"requests"`
	Writes   int            `json:"writes"`
	ByMethod map[string]int `json:"by_method"`
	ByStatus map[int]int    `json:"by_status"`
}

// keepEntries limits the log in memory; the counters have no limit.
const keepEntries = 10000

type requestLog struct {
	mu     sync.Mutex
	out    io.Writer
	n      int
	ring   []Entry
	writes map[int]int
	count  Counters
}

func (l *requestLog) add(s *Server, r *request, resp *reply, began time.Time, f *Fault) {
	e := Entry{Time: began.UTC(), Node: r.entry, Method: r.method, Path: r.path, Status: resp.status, Reason: resp.reason,
		Millis: float64(s.clk.Now().Sub(began).Microseconds()) / 1000, Write: r.method != "GET", Who: whoOf(r)}
	if f != nil {
		e.Fault = f.label()
	}
	values, early := readValues(r)
	if early == nil {
		e.Params = slices.Sorted(maps.Keys(values))
	}
	touched := touches(r.path, values)
	if len(touched) > 0 {
		e.VMID = touched[0]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	e.N = l.n
	if len(l.ring) >= keepEntries {
		l.ring = append(l.ring[:0], l.ring[keepEntries/2:]...)
	}
	l.ring = append(l.ring, e)
	l.tally(e, touched)
	if l.out != nil {
		if line, err := json.Marshal(e); err == nil {
			// A failed write to the log must not prevent the response.
			_, _ = l.out.Write(append(line, '\n'))
		}
	}
}

func (l *requestLog) tally(e Entry, touched []int) {
	if l.writes == nil {
		l.writes = map[int]int{}
		l.count.ByMethod, l.count.ByStatus = map[string]int{}, map[int]int{}
	}
	l.count.Requests++
	l.count.ByMethod[e.Method]++
	l.count.ByStatus[e.Status]++
	if e.Write {
		l.count.Writes++
		for _, id := range touched {
			l.writes[id]++
		}
	}
}

func whoOf(r *request) string {
	if t, ok := tokenHeader(r.header.Get("Authorization")); ok {
		id, _, _ := strings.Cut(t, "=")
		return id
	}
	if t := cookieTicket(r.header); t != "" {
		if parts := strings.SplitN(t, ":", 3); len(parts) == 3 {
			return parts[1]
		}
	}
	return ""
}

// touches returns the guests that a request is about, from path and parameters.
func touches(path string, values schema.Values) []int {
	var out []int
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if (s == "qemu" || s == "lxc") && i+1 < len(segments) {
			if id, err := strconv.Atoi(segments[i+1]); err == nil {
				out = append(out, id)
			}
		}
	}
	for _, k := range []string{"vmid", "newid", "vms", "sid"} {
		text, _ := values[k].(string)
		for _, part := range schema.SplitList(text) {
			if id, err := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(part, "vm:"), "ct:")); err == nil {
				out = append(out, id)
			}
		}
	}
	return out
}

// Requests returns the latest requests, oldest first.
func (s *Server) Requests() []Entry {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return append([]Entry{}, s.log.ring...)
}

// Writes returns the number of requests other than GET about a guest.
func (s *Server) Writes(vmid int) int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.writes[vmid]
}

// Counters returns the numbers of requests since the start or the last reset.
func (s *Server) Counters() Counters {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	c := s.log.count
	c.ByMethod, c.ByStatus = map[string]int{}, map[int]int{}
	for k, v := range s.log.count.ByMethod {
		c.ByMethod[k] = v
	}
	for k, v := range s.log.count.ByStatus {
		c.ByStatus[k] = v
	}
	return c
}

// ResetLog clears requests and counters.
func (s *Server) ResetLog() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.ring, s.log.writes, s.log.count = nil, nil, Counters{}
}
