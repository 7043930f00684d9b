package replay

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"strings"

	"stackgen/internal/pvesim"
)

// webFile is what one exchange of a recording shows of the file at a URL. What it does not
// show is empty.
type webFile struct {
	status      string
	failure     pvesim.Failure
	reason      string // of the failure
	length      int64
	mime        string
	disposition string
	sums        map[string]string
	misfit      pvesim.Image // why the server refused it as an image
	refused     bool
}

// web stands in for the servers that the recorded nodes reached: it returns the file that
// the recording shows at a URL.
func (p *player) web(f pvesim.Fetch) *pvesim.Remote {
	now := p.s.lastFetch(p.now, f)
	e, file := p.s.Exchanges[now], p.s.webFile(now, f.URL)
	hop := pvesim.Hop{URL: f.URL, Status: cmp.Or(file.status, "200 OK"), Failure: file.failure, Reason: file.reason}
	if file.failure != pvesim.NoFailure {
		hop.Status = ""
	}
	r := &pvesim.Remote{Hops: []pvesim.Hop{hop}, Length: file.length, Type: file.mime, Disposition: file.disposition}
	id := e.volumeOf()
	size := p.s.sizeOf(id, now)
	if r.Length == 0 && f.Unpack == "" {
		r.Length = size
	}
	image := file.misfit
	if !file.refused {
		image = pvesim.Image{Format: strings.TrimPrefix(path.Ext(id), "."), Size: p.s.diskOf(id), OVF: true}
	}
	r.Content = &pvesim.Content{Size: r.Length, Sums: file.sums, Image: image}
	if f.Unpack != "" {
		r.Unpacked = &pvesim.Content{Size: size, Sums: map[string]string{}, Image: image}
	}
	return r
}

// lastFetch returns the last exchange that makes a node fetch a URL: its task runs later.
func (s *Scenario) lastFetch(now int, f pvesim.Fetch) int {
	call := "/download-url"
	if f.Head {
		call = "/query-url-metadata"
	}
	for i := now; i >= 0; i-- {
		if e := s.Exchanges[i]; strings.HasSuffix(e.api(), call) && e.str("url") == f.URL {
			return i
		}
	}
	return now
}

// webFile merges what the recording shows of the file at a URL: of an exchange first, and then
// of the others, the nearest first, as long as they show the same file.
func (s *Scenario) webFile(now int, url string) webFile {
	out := s.shown(now, url)
	for d := 1; d < len(s.Exchanges); d++ {
		for _, i := range []int{now + d, now - d} {
			if i >= 0 && i < len(s.Exchanges) {
				out.add(s.shown(i, url))
			}
		}
	}
	return out
}

// add takes what another exchange shows of the same file.
func (f *webFile) add(o webFile) {
	differs := f.length > 0 && o.length > 0 && f.length != o.length || f.status != "" && o.status != "" && f.status != o.status ||
		f.failure != o.failure && (f.status != "" || o.status != "")
	if differs {
		return
	}
	f.status, f.failure, f.reason = cmp.Or(f.status, o.status), cmp.Or(f.failure, o.failure), cmp.Or(f.reason, o.reason)
	f.length, f.mime, f.disposition = cmp.Or(f.length, o.length), cmp.Or(f.mime, o.mime), cmp.Or(f.disposition, o.disposition)
	for k, v := range o.sums {
		if f.sums[k] == "" {
			f.sums[k] = v
		}
	}
	if o.refused && !f.refused {
		f.misfit, f.refused = o.misfit, true
	}
}

var (
	badResponse   = regexp.MustCompile(`^invalid server response: '(?:500 Can't connect to \S+ \((.*)\)|(.*))'`)
	connectFailed = regexp.MustCompile(`^(?:download failed: )?Connecting to .*\.\.\. failed: (.*)\.$`)
	awaited       = regexp.MustCompile(`^HTTP request sent, awaiting response\.\.\. (.*)$`)
	lengthLine    = regexp.MustCompile(`^Length: (\d+)(?: \(\S+\))?(?: \[(.*)\])?$`)
	gotSum        = regexp.MustCompile(`^checksum mismatch: got '([0-9a-f]+)' != expect '[^']*'(, aborting)?$`)
)

// shown returns what one exchange shows of the file at a URL.
func (s *Scenario) shown(i int, url string) webFile {
	e, out := s.Exchanges[i], webFile{sums: map[string]string{}}
	if e.str("url") != url {
		return out
	}
	if strings.HasSuffix(e.api(), "/query-url-metadata") {
		out.fromMetadata(e)
	}
	if !strings.HasSuffix(e.api(), "/download-url") || !e.ok() {
		return out
	}
	exit := s.exitStatus(i)
	out.fromLog(append(s.taskLog(i), exit))
	algorithm := e.str("checksum-algorithm")
	kept := s.keeps(i)
	if sum := strings.ToLower(e.str("checksum")); sum != "" && exit == "OK" {
		out.sums[algorithm] = sum
	}
	if m := gotSum.FindStringSubmatch(exit); m != nil && m[2] == "" {
		out.sums[algorithm] = m[1]
	}
	if exit == "OK" && !kept {
		out.status = "200 OK"
	}
	// A later refusal to replace the file that this call made shows its checksum.
	for j := i + 1; j < len(s.Exchanges) && exit == "OK"; j++ {
		later := s.Exchanges[j]
		if later.volumeOf() != e.volumeOf() {
			continue
		}
		if m := gotSum.FindStringSubmatch(s.exitStatus(j)); m != nil && m[2] != "" {
			out.sums[later.str("checksum-algorithm")] = m[1]
		}
	}
	return out
}

func (f *webFile) fromMetadata(e *Exchange) {
	if m := badResponse.FindStringSubmatch(e.Reason); m != nil {
		if f.status = m[2]; m[1] != "" {
			f.failure, f.reason = pvesim.NotConnected, m[1]
		}
		return
	}
	if !e.ok() {
		return
	}
	m, _ := e.data().(map[string]any)
	f.status, f.length = "200 OK", int64(number(m["size"]))
	f.mime, _ = m["mimetype"].(string)
	if name, ok := m["filename"].(string); ok && name != path.Base(strings.SplitN(e.str("url"), "?", 2)[0]) {
		f.disposition = `attachment; filename="` + name + `"`
	}
}

// fromLog reads the log of a download, and its exit status as the last line.
func (f *webFile) fromLog(lines []string) {
	for _, l := range lines {
		if m := connectFailed.FindStringSubmatch(l); m != nil {
			f.failure, f.reason = pvesim.NotConnected, m[1]
		}
		if m := awaited.FindStringSubmatch(l); m != nil {
			f.status = m[1]
		}
		if m := lengthLine.FindStringSubmatch(l); m != nil {
			f.length, f.mime = int64(number(m[1])), m[2]
		}
		if l == "download failed: exit code 8" {
			f.status = cmp.Or(f.status, "404 Not Found")
		}
		if strings.HasPrefix(l, "failed to verify file: ") {
			f.refused, f.misfit = true, pvesim.Image{Format: "raw", Backing: strings.Contains(l, "backing file"),
				Data: strings.Contains(l, "data-file"), Parts: strings.Contains(l, "multiple")}
			if f.misfit.Backing || f.misfit.Data {
				f.misfit.Format = "qcow2"
			}
			if f.misfit.Parts {
				f.misfit.Format = "vmdk"
			}
		}
	}
}

// keeps reports whether a download found the file on the storage.
func (s *Scenario) keeps(i int) bool {
	exit := s.exitStatus(i)
	kept := strings.HasPrefix(exit, "refusing to override") || strings.HasSuffix(exit, ", aborting")
	for _, l := range s.taskLog(i) {
		kept = kept || strings.HasPrefix(l, "calculating checksum of existing file...")
	}
	return kept
}

// volumeOf returns the volume that an upload or a download makes, or "".
func (e *Exchange) volumeOf() string {
	parts := strings.Split(e.api(), "/")
	if e.Method != http.MethodPost || len(parts) != 6 || parts[5] != "download-url" && parts[5] != "upload" {
		return ""
	}
	name := e.str("filename")
	return parts[4] + ":" + e.str("content") + "/" + unusableInName.ReplaceAllString(path.Base(name), "_")
}

var unusableInName = regexp.MustCompile(`[^a-zA-Z0-9_.-]`)

// exitStatus returns the exit status of the task that an exchange started, or "" if no
// request shows it.
func (s *Scenario) exitStatus(i int) string {
	in := &inferred{s: s}
	return in.exitStatus(s.Exchanges[i])
}

// taskLog returns the log of the task that an exchange started, as far as a request shows it.
func (s *Scenario) taskLog(i int) []string {
	upid, _ := s.Exchanges[i].data().(string)
	if !upidPattern.MatchString(upid) {
		return nil
	}
	var out []string
	for _, x := range s.Exchanges[i+1:] {
		if strings.Contains(strings.ReplaceAll(x.Path, "%21", "!"), upid) && strings.HasSuffix(x.Path, "/log") {
			for _, line := range x.list() {
				out = append(out, fmt.Sprint(line["t"]))
			}
		}
	}
	return out
}

// sizeOf returns the size of a file in the first list after an exchange that has it, or that
// of any list.
func (s *Scenario) sizeOf(id string, after int) int64 {
	var out int64
	for i, x := range s.Exchanges {
		if x.Method != http.MethodGet || !strings.HasSuffix(x.api(), "/content") || out > 0 && i > after {
			continue
		}
		for _, m := range x.list() {
			if m["volid"] == id {
				out = int64(number(m["size"]))
			}
		}
	}
	return out
}

var madeDisk = regexp.MustCompile(`successfully created disk '.*\bsize=([0-9.]+[KMGT]?)`)

// diskOf returns the size of the disk in an image: as its attributes show it, or as a drive
// that was filled from it.
func (s *Scenario) diskOf(id string) int64 {
	for i, x := range s.Exchanges {
		if m, ok := x.data().(map[string]any); ok && x.Method == http.MethodGet && strings.HasSuffix(x.api(), "/content/"+id) {
			return int64(number(m["size"]))
		}
		for _, key := range x.importsOf(id) {
			if size := s.importedSize(i, key); size > 0 {
				return size
			}
		}
	}
	return 0
}

// importsOf returns the drives that a request fills from an image.
func (e *Exchange) importsOf(id string) []string {
	var out []string
	for k := range maps.Keys(e.form) {
		if strings.Contains(","+e.str(k)+",", ",import-from="+id+",") {
			out = append(out, k)
		}
	}
	return out
}

// importedSize returns the size of a drive that a request filled from an image: in the log of
// its task, or in the configuration.
func (s *Scenario) importedSize(i int, key string) int64 {
	for _, l := range s.taskLog(i) {
		if m := madeDisk.FindStringSubmatch(l); m != nil && strings.HasPrefix(l, key+":") {
			return sizeIn(m[1])
		}
	}
	vmid := s.Exchanges[i].str("vmid")
	if _, _, id, _ := s.Exchanges[i].guest(); id != 0 {
		vmid = fmt.Sprint(id)
	}
	for _, x := range s.Exchanges[i+1:] {
		_, _, id, rest := x.guest()
		if fmt.Sprint(id) == vmid && rest == "/resize" && x.str("disk") == key {
			return 0
		}
		if conf, ok := x.data().(map[string]any); ok && fmt.Sprint(id) == vmid && rest == "/config" && x.Method == http.MethodGet {
			if m := sizeOption.FindStringSubmatch(fmt.Sprint(conf[key])); m != nil {
				return sizeIn(m[1])
			}
		}
	}
	return 0
}

var sizeOption = regexp.MustCompile(`\bsize=([0-9.]+[KMGT]?)`)

func sizeIn(text string) int64 {
	n, err := pvesim.ParseSize(text)
	if err != nil {
		return 0
	}
	return int64(n)
}
