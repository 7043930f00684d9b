package pvesim

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"
)

func downloadHandlers() map[string]handler {
	return map[string]handler{
		"GET /nodes/{node}/query-url-metadata":              queryURL,
		"POST /nodes/{node}/storage/{storage}/download-url": downloadURL,
		"POST /nodes/{node}/storage/{storage}/upload":       upload,
	}
}

// visit is a request for a URL that runs beside the simulation.
type visit struct {
	done   chan struct{}
	remote *Remote // once it is done
	cancel context.CancelFunc
}

// visit starts a request for a URL. Options.Web responds at once.
func (s *Server) visit(f Fetch) *visit {
	ctx, cancel := context.WithCancel(s.ctx)
	v := &visit{done: make(chan struct{}), cancel: cancel}
	if s.opts.Web != nil {
		v.remote = s.opts.Web(f)
		close(v.done)
		return v
	}
	s.wg.Go(func() {
		defer cancel()
		v.remote = fetch(ctx, f)
		close(v.done)
	})
	return v
}

func (v *visit) ended() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

// outside is the error of a handler that waits for something outside of the simulation:
// the call is tried again when it is done.
type outside struct{ done <-chan struct{} }

func (*outside) Error() string { return "the call waits for a server" }

// urlName is the last part of the path of a URL.
var urlName = regexp.MustCompile(`^[^?]+/([^?/]*)(?:\?.*)?$`)

// dispositionName is the name of the file in the header Content-Disposition.
var dispositionName = regexp.MustCompile(`filename="([^"]*)"|filename=([^;]*)`)

// queryURL returns what the server of a URL says about its file.
func queryURL(c *call) (any, error) {
	if c.visit == nil {
		c.visit = c.s.visit(Fetch{URL: c.p["url"], Head: true, Verify: c.p["verify-certificates"] != "0"})
	}
	if !c.visit.ended() {
		return nil, &outside{c.visit.done}
	}
	r := c.visit.remote
	h := r.Hops[len(r.Hops)-1]
	if h.Failure != NoFailure {
		return nil, failf("invalid server response: '500 Can't connect to %s (%s)'", hostOf(h.URL), h.Reason)
	}
	if code, _, _ := strings.Cut(h.Status, " "); code != "200" {
		return nil, failf("invalid server response: '%s'", h.Status)
	}
	out := object{}
	name := ""
	if m := dispositionName.FindStringSubmatch(r.Disposition); m != nil {
		name = cmp.Or(m[1], m[2])
	} else if m := urlName.FindStringSubmatch(c.p["url"]); m != nil {
		name = m[1]
	}
	if name != "" {
		out["filename"] = name
	}
	if r.Length > 0 {
		out["size"] = r.Length
	}
	if kind, _, _ := strings.Cut(r.Type, ";"); kind != "" {
		out["mimetype"] = kind
	}
	return out, nil
}

// hostOf returns the host and the port of a URL.
func hostOf(from string) string {
	u, err := url.Parse(from)
	if err != nil {
		return from
	}
	return u.Hostname() + ":" + portOf(u)
}

// fileKind is a content type whose files clients may add: where they are, and which
// names they have.
type fileKind struct {
	dir   string
	name  *regexp.Regexp
	wrong string
}

func fileKinds() map[string]fileKind {
	return map[string]fileKind{
		"iso":    {"template/iso", regexp.MustCompile(`(?i)[^/]+\.(?:iso|img)$`), "wrong file extension"},
		"vztmpl": {"template/cache", regexp.MustCompile(`(?i)[^/]+\.tar\.(gz|xz|zst|bz2)$`), "wrong file extension"},
		"import": {"import", regexp.MustCompile(`[a-zA-Z0-9\-.+=_]+\.(ova|qcow2|raw|vmdk)$`), "invalid filename or wrong extension"},
	}
}

// newFile is a file that a client adds to a storage.
type newFile struct {
	c       *call
	storage *Storage
	content string
	name    string
	format  string // of an image
	path    string
}

var (
	folders  = regexp.MustCompile(`^.*[/\\]`)
	unusable = regexp.MustCompile(`[^a-zA-Z0-9_.-]`)
)

// newFile checks the storage, the content type and the name of a file. refused is the error
// of a storage without the content type.
func (c *call) newFile(notFiles, refused string) (*newFile, error) {
	s, err := c.w.checkStorage(c.p["storage"], c.node)
	if err != nil {
		return nil, err
	}
	if !s.fileBased() {
		return nil, failf(notFiles, s.Type)
	}
	f := &newFile{c: c, storage: s, content: c.p["content"]}
	if refused != "" && !s.allowsContent(f.content) {
		return nil, failf(refused, s.ID, f.content)
	}
	f.name = unusable.ReplaceAllString(folders.ReplaceAllString(strings.TrimSuffix(c.p["filename"], "\n"), ""), "_")
	kind := fileKinds()[f.content]
	m := kind.name.FindStringSubmatch(f.name)
	if m == nil {
		return nil, badParam("filename", "%s", kind.wrong)
	}
	if f.content == "import" {
		f.format = m[1]
	}
	f.path = s.imagePath() + "/" + kind.dir + "/" + f.name
	return f, nil
}

func (f *newFile) id() string { return f.storage.ID + ":" + f.content + "/" + f.name }

// listed returns the format of the file in lists.
func (f *newFile) listed() string {
	switch f.content {
	case "iso":
		return "iso"
	case "vztmpl":
		return "t" + strings.TrimPrefix(path.Ext(f.name), ".")
	}
	return f.format
}

// write makes the file. It replaces an existing one.
func (f *newFile) write(content *Content) {
	w := f.c.w
	if old := w.volumeOn(f.c.node, f.id()); old != nil {
		w.removeVolume(old)
	}
	v := &Volume{ID: f.id(), Node: f.c.node, Size: Size(content.Size), Format: f.listed(), Content: f.content, Sums: content.Sums}
	if f.content == "import" {
		v.Disk = Size(content.Image.Size)
	}
	w.addVolume(v)
}

// full reports whether the storage has no space for some bytes.
func (f *newFile) full(size int64) bool {
	_, avail := f.c.w.usage(f.c.node, f.storage)
	return f.storage.Full || size > avail
}

// download is the task that fetches a file from a URL.
type download struct {
	*newFile
	url       string
	algorithm string
	checksum  string
	unpack    string
	verify    bool
	wk        *worker
	visit     *visit
}

func downloadURL(c *call) (any, error) {
	f, err := c.newFile("can't upload to storage type '%s', not a file based storage!", "storage '%s' is not configured for content-type '%s'")
	if err != nil {
		return nil, err
	}
	d := &download{newFile: f, url: c.p["url"], algorithm: c.p["checksum-algorithm"], checksum: c.p["checksum"],
		unpack: c.p["compression"], verify: c.p["verify-certificates"] != "0", wk: &worker{}}
	d.wk.steps = []step{d.begin, d.wait, d.finish}
	d.wk.cancel = "download failed: got interrupted by signal"
	d.wk.undo = func() {
		if d.visit != nil {
			d.visit.cancel()
		}
	}
	return c.w.fork(c.node, "download", f.name, c.who, d.wk), nil
}

// begin looks for an existing file, and requests the URL if there is none.
func (d *download) begin() (pause, error) {
	switch {
	case d.unpack != "" && d.content != "iso":
		return pause{}, failf("decompression not supported for %s", d.content)
	case d.unpack == "lzo" || d.unpack == "zst":
		return pause{}, failf("the simulator does not decompress %s", d.unpack)
	}
	d.wk.logf("downloading %s to %s", d.url, d.path)
	old := d.c.w.volumeOn(d.c.node, d.id())
	switch {
	case old == nil:
		d.visit = d.c.s.visit(Fetch{URL: d.url, Verify: d.verify, Unpack: d.unpack})
		return pause{}, nil
	case d.checksum == "":
		return pause{}, failf("refusing to override existing file '%s'", d.path)
	case !strings.EqualFold(old.Sums[d.algorithm], d.checksum):
		d.wk.log("calculating checksum of existing file...")
		return pause{}, failf("checksum mismatch: got '%s' != expect '%s', aborting", old.Sums[d.algorithm], d.checksum)
	}
	d.wk.log("calculating checksum of existing file...OK, got correct file already, no need to download")
	return pause{main: true}, nil
}

// pollInterval is how often a task looks whether a server has responded.
const pollInterval = 50 * time.Millisecond

// wait waits for the response of the server.
func (d *download) wait() (pause, error) {
	if d.visit == nil {
		return pause{}, nil
	}
	if !d.visit.ended() {
		d.wk.next = d.wait
		return pause{d: pollInterval}, nil
	}
	return pause{main: true}, nil
}

// finish checks the file, unpacks it and gives it its name.
func (d *download) finish() (pause, error) {
	if d.visit == nil {
		return pause{}, nil
	}
	r, tmp := d.visit.remote, d.path+".tmp_dwnl."+itoa(d.wk.task.PID)
	tool := &wget{now: d.c.w.now}
	tool.run(r, tmp, r.Content != nil && d.full(r.Content.Size), d.verify)
	lines, failure := tool.outcome()
	d.wk.logOutput(lines...)
	if failure != "" {
		return pause{}, failf("download failed: %s", failure)
	}
	content := r.Content
	if err := d.verifySum(content); err != nil {
		return pause{}, err
	}
	if d.unpack != "" {
		plain := d.path + ".tmp_dcom." + itoa(d.wk.task.PID)
		d.wk.logf("decompressing %s to %s", tmp, plain)
		if r.Broken != "" || r.Unpacked == nil {
			return pause{}, failf("command '%s %s' failed: exit code 1", map[string]string{"gz": "zcat", "bz2": "bzcat -q"}[d.unpack], tmp)
		}
		content, tmp = r.Unpacked, plain
	}
	printed, reason := content.Image.unfit(tmp, d.format)
	d.wk.logOutput(printed...)
	if reason != "" && d.content != "vztmpl" {
		return pause{}, failf("failed to verify file: %s", reason)
	}
	d.write(content)
	d.wk.logf("download of '%s' to '%s' finished", d.url, d.path)
	return pause{}, nil
}

// verifySum compares the checksum of the file with the one of the call.
func (d *download) verifySum(content *Content) error {
	switch got := content.Sums[d.algorithm]; {
	case d.checksum == "":
		return nil
	case strings.EqualFold(got, d.checksum):
		d.wk.log("calculating checksum...OK, checksum verified")
		return nil
	default:
		d.wk.log("calculating checksum...")
		return failf("checksum mismatch: got '%s' != expect '%s'", got, d.checksum)
	}
}

// upload copies a file that the client sends, in a task. It replaces an existing one.
func upload(c *call) (any, error) {
	f, err := c.newFile("can't upload to storage type '%s'", "")
	switch {
	case err != nil:
		return nil, err
	case c.file == nil:
		return nil, failf("missing temporary file name")
	case !f.storage.allowsContent(f.content):
		return nil, failf("storage '%s' does not support '%s' content", f.storage.ID, f.content)
	}
	wk := &worker{}
	d := &download{newFile: f, algorithm: c.p["checksum-algorithm"], checksum: c.p["checksum"], wk: wk}
	wk.steps = []step{func() (pause, error) {
		tmp := c.p["tmpfilename"]
		wk.logf("starting file import from: %s", tmp)
		if err := d.verifySum(c.file); err != nil {
			return pause{}, err
		}
		printed, reason := c.file.Image.unfit(tmp, f.format)
		wk.logOutput(printed...)
		if reason != "" && f.content != "vztmpl" {
			return pause{}, failf("%s", reason)
		}
		wk.logf("target node: %s", c.node)
		wk.logf("target file: %s", f.path)
		wk.logf("file size is: %d", c.file.Size)
		wk.logf("command: cp -- %s %s", tmp, f.path)
		if f.full(c.file.Size) {
			return pause{}, failf("import failed: cp: error writing '%s': No space left on device", f.path)
		}
		f.write(c.file)
		wk.log("finished file import successfully")
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	return c.w.fork(c.node, "imgcopy", "", c.who, wk), nil
}
