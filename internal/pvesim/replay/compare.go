package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// varying lists values that differ between any two runs: only their type is
// compared.
func varying(key string) bool {
	switch key {
	case "digest", "config_digest", "pid", "pstart", "starttime", "endtime", "uptime", "cpu", "mem", "disk", "netin", "netout",
		"diskread", "diskwrite", "ctime", "used", "avail", "free", "used_fraction", "ssl_fingerprint", "pve_fp", "loadavg", "memory_used",
		"timestamp", "idle", "wait", "time", "snaptime", "value", "ticket", "CSRFPreventionToken", "uid", "iowait", "memused",
		"rootused", "flags", "mhz", "model", "hvm", "kversion", "release_kernel", "dns1", "mac_address":
		return true
	}
	return false
}

var (
	macs     = regexp.MustCompile(`(?i)\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b`)
	uuids    = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	stamps   = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b`)
	dates    = regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b`)
	creation = regexp.MustCompile(`creation-qemu=[^,]+,ctime=\d+`)
	tmpFile  = regexp.MustCompile(`\.conf\.tmp\.\d+`)
	tool     = regexp.MustCompile(`^qemu-img\.debian: `)
	spent    = regexp.MustCompile(`\(duration \d\d:\d\d:\d\d\)`)
	speed    = regexp.MustCompile(`(average migration speed: )\S+ \S+( - downtime )\d+( ms)`)
	saved    = regexp.MustCompile(`(completed saving the VM state in )\S+(, saved )\S+ \S+`)
	vmState  = regexp.MustCompile(`(transferred )\S+ \S+( VM-state)`)
	copied   = regexp.MustCompile(`^((?:Number of|Total|Literal data|Matched data|File list)[a-z ]*: )[\d,.].*`)
	sent     = regexp.MustCompile(`^(sent \d|total size is).*`)
	digits   = regexp.MustCompile(`[\d.,]+`)
	unpacked = regexp.MustCompile(`^Total bytes read: .*$`)
	instance = regexp.MustCompile(`instance-id: [0-9a-f]{40}`)
	hidden   = regexp.MustCompile(`(?m)^password: .*$`)
	extents  = regexp.MustCompile(`\(\d+ extents\)`)
	tmpName  = regexp.MustCompile(`\.tmp_(dwnl|dcom)\.\d+`)
	uploaded = regexp.MustCompile(`/var/tmp/pveupload-[0-9a-f]+`)
	loaded   = regexp.MustCompile(`^(STAMP) \(\S+ [KMG]?B/s\) - `)
	dots     = regexp.MustCompile(`^( *\d+K[ .]* *\d+%) *[\d.]+[KMG]?(=| )[\d.a-z]+$`)
	progress = regexp.MustCompile(`^transferred .* of .*\(\d+\.\d+%\)$|bytes .*copied|^STAMP \d+\+\d+ records (in|out)$`)
)

func normal(s string) string {
	s = upidPattern.ReplaceAllString(s, "UPID:$1:$5:$6:$7:")
	s = macs.ReplaceAllString(s, "MAC")
	s = uuids.ReplaceAllString(s, "UUID")
	s = stamps.ReplaceAllString(s, "STAMP")
	s = dates.ReplaceAllString(s, "DATE")
	s = creation.ReplaceAllString(s, "creation")
	s = tmpFile.ReplaceAllString(s, ".conf.tmp.N")
	s = tool.ReplaceAllString(s, "qemu-img: ")
	s = spent.ReplaceAllString(s, "(duration)")
	s = copied.ReplaceAllString(s, "${1}N")
	s = sent.ReplaceAllStringFunc(s, func(line string) string { return digits.ReplaceAllString(line, "N") })
	s = unpacked.ReplaceAllString(s, "Total bytes read: N")
	s = speed.ReplaceAllString(s, "${1}N${2}N${3}")
	s = saved.ReplaceAllString(s, "${1}N${2}N")
	s = vmState.ReplaceAllString(s, "${1}N${2}")
	s = tmpName.ReplaceAllString(s, ".tmp_$1.N")
	s = uploaded.ReplaceAllString(s, "/var/tmp/pveupload-N")
	s = loaded.ReplaceAllString(s, "$1 (speed) - ")
	s = dots.ReplaceAllString(s, "$1 speed")
	s = hidden.ReplaceAllString(s, "password: HIDDEN")
	s = instance.ReplaceAllString(s, "instance-id: ID")
	return extents.ReplaceAllString(s, "(N extents)")
}

// comparison collects the differences of one exchange.
type comparison struct {
	p   *player
	e   *Exchange
	out []string
}

func compare(p *player, e *Exchange, resp pvesim.Response, got any) []string {
	c := &comparison{p: p, e: e}
	if resp.Status != e.Status {
		c.addf("status: want %d %s, got %d %s", e.Status, e.Reason, resp.Status, resp.Reason)
		return c.out
	}
	if resp.Reason != e.Reason && normal(resp.Reason) != normal(e.Reason) {
		c.addf("reason: want %q, got %q", e.Reason, resp.Reason)
	}
	if resp.Type != e.RespType {
		c.addf("type: want %q, got %q", e.RespType, resp.Type)
	}
	want := e.Response
	if want == nil {
		want = ""
	}
	c.value("", "", want, got)
	return c.out
}

func (c *comparison) addf(format string, args ...any) {
	c.out = append(c.out, fmt.Sprintf(format, args...))
}

func (c *comparison) value(path, key string, want, got any) {
	if kindOf(want) != kindOf(got) {
		c.addf("%s: want %s %s, got %s %s", path, kindOf(want), short(want), kindOf(got), short(got))
		return
	}
	switch w := want.(type) {
	case map[string]any:
		c.object(path, w, got.(map[string]any))
	case []any:
		c.list(path, key, w, got.([]any))
	case string:
		c.text(path, key, w, got.(string))
	default:
		if !c.varies(path, key) && fmt.Sprint(want) != fmt.Sprint(got) {
			c.addf("%s: want %v, got %v", path, want, got)
		}
	}
}

// varies reports whether a value differs between any two runs, by key and by
// place.
func (c *comparison) varies(path, key string) bool {
	if varying(key) {
		return true
	}
	api := c.e.api()
	if strings.HasSuffix(api, "/certificates/info") && (key == "fingerprint" || key == "pem" || key == "notbefore" || key == "notafter") {
		return true
	}
	if strings.HasSuffix(api, "/status") && strings.Count(api, "/") == 3 {
		return true // the load of a node
	}
	if strings.HasPrefix(path, ".data.blockstat.") {
		return true // the counters of a drive
	}
	if key == "cert" && strings.HasSuffix(api, "/vncproxy") {
		return true
	}
	return key == "size" && strings.HasSuffix(api, "/content") && strings.Contains(path, "snippets") || key == "size" && c.e.Scenario == ""
}

func (c *comparison) text(path, key, want, got string) {
	switch {
	case varying(key) || want == "TOKEN" || want == "PASSWORD":
		return
	case c.varies(path, key) && key != "status":
		return
	case (key == "inet" || key == "ip-address") && strings.HasSuffix(c.e.api(), "/interfaces") && c.p.dynamic(want, got):
		return
	case key == "content" || key == "privs":
		if sortedCSV(want) != sortedCSV(got) {
			c.addf("%s: want %s, got %s", path, want, got)
		}
		return
	}
	if want != got && normal(want) != normal(got) {
		c.addf("%s: want %q, got %q", path, want, got)
	}
}

func sortedCSV(s string) string {
	parts := strings.Split(s, ",")
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func (c *comparison) object(path string, want, got map[string]any) {
	keys := map[string]bool{}
	for k := range want {
		keys[k] = true
	}
	for k := range got {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		w, inWant := want[k]
		g, inGot := got[k]
		at := path + "." + k
		switch {
		case c.byChance(path, k), k == "total" && c.historical():
		case !inGot:
			c.addf("%s: missing, want %s", at, short(w))
		case !inWant:
			c.addf("%s: not wanted, got %s", at, short(g))
		default:
			c.value(at, k, w, g)
		}
	}
}

// historical reports whether a total counts earlier events or progress lines.
func (c *comparison) historical() bool {
	if strings.HasSuffix(c.e.api(), "/tasks") {
		return strings.Contains(c.e.Auth, "root@pam")
	}
	for _, m := range c.e.list() {
		if t, ok := m["t"].(string); ok && progress.MatchString(t) {
			return true
		}
	}
	return false
}

// byChance reports whether the presence of a key depends on values that vary.
func (c *comparison) byChance(path, k string) bool {
	if strings.HasPrefix(path, ".data.lrm_status") && strings.HasSuffix(path, ".results") {
		return true // keyed by random ids
	}
	if strings.HasPrefix(path, ".data.blockstat.") && k == "idle_time_ns" {
		return true // of drives that were used
	}
	id, guest := strings.CutPrefix(k, "/vms/")
	return guest && c.e.api() == "/access/permissions" && path == ".data" && c.p.s.isForeign(c.p.one, number(id))
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case map[string]any:
		return "object"
	case []any:
		return "list"
	}
	return fmt.Sprintf("%T", v)
}

func short(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(b) > 100 {
		return string(b[:100]) + "…"
	}
	return string(b)
}
