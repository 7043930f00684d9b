package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Exchange is one recorded request and its response.
type Exchange struct {
	Scenario string          `json:"scenario"`
	Seq      int             `json:"seq"`
	Client   string          `json:"client"`
	Note     string          `json:"note"`
	Via      string          `json:"via"`
	T        float64         `json:"t"`
	Dur      float64         `json:"dur"`
	Auth     string          `json:"auth"`
	Method   string          `json:"method"`
	Path     string          `json:"path"`
	Query    map[string]any  `json:"query"`
	ReqType  string          `json:"req_type"`
	RawForm  json.RawMessage `json:"form"`
	Status   int             `json:"status"`
	Reason   string          `json:"reason"`
	RespType string          `json:"resp_type"`
	Response any             `json:"response"`

	lab  bool // the response names a node of the three-node cluster
	form map[string]any
	text string
}

// Scenario contains the exchanges of one file in order.
type Scenario struct {
	Name      string
	Exchanges []*Exchange
}

// Load reads every recording in a folder and skips other files.
func Load(dir string) ([]*Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl*"))
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	slices.Sort(files)
	var out []*Scenario
	for _, f := range files {
		s, err := loadFile(f)
		if err != nil {
			return nil, err
		}
		if len(s.Exchanges) > 0 {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no recordings in %s", dir)
	}
	return out, nil
}

func loadFile(file string) (*Scenario, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if raw, err = io.ReadAll(z); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	s := &Scenario{Name: strings.TrimSuffix(name, ".jsonl")}
	sc := bufio.NewScanner(bytes.NewReader(raw))
	sc.Buffer(nil, 64<<20)
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		e := &Exchange{}
		dec := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if e.Method == "" || e.Status == 0 {
			continue
		}
		e.lab = bytes.Contains(sc.Bytes(), []byte(`"pve1"`)) || bytes.Contains(sc.Bytes(), []byte(`/pve1"`))
		if err := e.readForm(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		s.Exchanges = append(s.Exchanges, e)
	}
	// The sequence numbers follow completion; the server saw the requests in the order of their start.
	sort.SliceStable(s.Exchanges, func(i, j int) bool { return s.Exchanges[i].arrival() < s.Exchanges[j].arrival() })
	s.Exchanges = refusedLast(s.Exchanges)
	return s, sc.Err()
}

// refusedLast moves each clone that a lock refused behind one of the same container that came
// almost at the same time and got the lock.
func refusedLast(list []*Exchange) []*Exchange {
	for i := 0; i+1 < len(list); i++ {
		e, next := list[i], list[i+1]
		_, _, vmid, rest := e.guest()
		_, _, other, what := next.guest()
		if e.Reason == "CT is locked (disk)" && next.ok() && vmid == other && rest == "/clone" && what == rest && next.T <= e.T+e.Dur {
			list[i], list[i+1] = next, e
		}
	}
	return list
}

func (e *Exchange) readForm() error {
	e.form = map[string]any{}
	raw := bytes.TrimSpace(e.RawForm)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	switch raw[0] {
	case '"':
		return json.Unmarshal(raw, &e.text)
	case '{':
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		return dec.Decode(&e.form)
	}
	e.text = string(raw)
	return nil
}

// str returns a form or query value as text, or "".
func (e *Exchange) str(name string) string {
	for _, m := range []map[string]any{e.form, e.Query} {
		if v, ok := m[name]; ok && v != nil {
			return fmt.Sprint(v)
		}
	}
	return ""
}

// arrival returns when a request reaches the node that handles it: proxying
// from another node takes a moment.
func (e *Exchange) arrival() float64 {
	if e.Via != "" && strings.HasPrefix(e.api(), "/nodes/") && !strings.HasPrefix(e.api(), "/nodes/"+e.Via) {
		return e.T + 0.02
	}
	return e.T
}

// api returns the path after the format.
func (e *Exchange) api() string {
	p := strings.TrimPrefix(e.Path, "/api2/json")
	return strings.TrimSuffix(p, "/")
}

var guestPath = regexp.MustCompile(`^/nodes/([^/]+)/(qemu|lxc)/(\d+)(/.*)?$`)

// guest splits the path of a call about one guest.
func (e *Exchange) guest() (node, kind string, vmid int, rest string) {
	m := guestPath.FindStringSubmatch(e.api())
	if m == nil {
		return "", "", 0, ""
	}
	vmid, err := strconv.Atoi(m[3])
	if err != nil {
		return "", "", 0, ""
	}
	return m[1], m[2], vmid, m[4]
}

// task returns the UPID in the path and its parts, or nil.
func (e *Exchange) task() []string {
	return upidPattern.FindStringSubmatch(strings.ReplaceAll(e.Path, "%21", "!"))
}

// creates reports whether a request creates a guest.
func (e *Exchange) creates(vmid int) bool {
	id := strconv.Itoa(vmid)
	return e.Method == http.MethodPost && e.ok() &&
		(e.str("newid") == id || createsGuest(e.api()) && e.str("vmid") == id)
}

// createsGuest reports whether a path is that of new guests of a node.
func createsGuest(api string) bool {
	return strings.HasSuffix(api, "/qemu") || strings.HasSuffix(api, "/lxc")
}

// data returns the data of the response.
func (e *Exchange) data() any {
	m, ok := e.Response.(map[string]any)
	if !ok {
		return nil
	}
	return m["data"]
}

func (e *Exchange) list() []map[string]any {
	var out []map[string]any
	items, _ := e.data().([]any)
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// ended returns the exit status of the task in the response.
func (e *Exchange) ended() string {
	m, ok := e.data().(map[string]any)
	if !ok || m["exitstatus"] == nil {
		return e.Reason
	}
	return fmt.Sprint(m["exitstatus"])
}

func (e *Exchange) ok() bool { return e.Status == 200 }

var upidPattern = regexp.MustCompile(`UPID:([^:\s]+):([0-9A-F]{8}):([0-9A-F]{8,9}):([0-9A-F]{8}):([^:\s]+):([^:\s]*):([^:\s"]+):`)

// start returns the time at which the scenario begins: from the seconds in its UPIDs, or
// else a fixed time.
func (s *Scenario) start() time.Time {
	var first, from, until float64
	for _, e := range s.Exchanges {
		id, _ := e.data().(string)
		if data, ok := e.data().(map[string]any); ok && e.Method == http.MethodPost {
			id = fmt.Sprint(data["upid"])
		}
		m := upidPattern.FindStringSubmatch(id)
		if m == nil {
			continue
		}
		sec, err := strconv.ParseInt(m[4], 16, 64)
		if err != nil {
			continue
		}
		if at := float64(sec) - e.T; first == 0 {
			first, from, until = at+0.5, at-e.Dur, at+1
		} else if a, b := max(from, at-e.Dur), min(until, at+1); a < b {
			from, until = a, b
		}
	}
	switch {
	case first == 0:
		return time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	case first < from || first >= until:
		first = (from + 3*until) / 4 // a worker begins early in the time of its request
	}
	return time.UnixMilli(int64(first * 1000)).UTC()
}

func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
