package real

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A realS3Server is versitygw, a server of S3 that keeps its objects as files:
// what is in a bucket, locks included, can be seen without asking it.
type realS3Server struct {
	url string
	dir string // of the bucket named states
}

// realVersity starts one of the tools' with an empty bucket, and ends it with
// the test.
func realVersity(t *testing.T) *realS3Server {
	t.Helper()
	binary, err := realTools(t).Path("versitygw")
	if err != nil {
		t.Fatalf("%v: run make tools", err)
	}
	root, side := t.TempDir(), t.TempDir()
	s := &realS3Server{dir: filepath.Join(root, "states")}
	check(t, os.Mkdir(s.dir, 0o755))
	for range 5 { // the port that was free may be taken before it is bound
		free, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		address := free.Addr().String()
		check(t, free.Close())
		var said bytes.Buffer
		c := exec.Command(binary, "--port", address, "--quiet", "posix", "--sidecar", side, root)
		c.Env = []string{"ROOT_ACCESS_KEY=test", "ROOT_SECRET_KEY=test", "VGW_REGION=eu-central-1"}
		c.Stdout, c.Stderr = &said, &said
		check(t, c.Start())
		ended := make(chan struct{})
		go func() { _ = c.Wait(); close(ended) }()
		if answers(address, ended) {
			s.url = "http://" + address
			t.Cleanup(func() { _ = c.Process.Kill(); <-ended })
			return s
		}
		t.Logf("versitygw on %s: %s", address, said.String())
	}
	t.Fatal("versitygw does not start")
	return nil
}

// answers waits until a server takes connections, or has ended.
func answers(address string, ended <-chan struct{}) bool {
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// objects are the names of the states and locks in the bucket.
func (s *realS3Server) objects(t *testing.T) []string {
	t.Helper()
	var found []string
	check(t, filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(d.Name(), "tofu.tfstate") {
			rel, _ := filepath.Rel(s.dir, path)
			found = append(found, filepath.ToSlash(rel))
		}
		return err
	}))
	return found
}

// A gate stands in front of a cluster and holds back every clone until it is
// opened.
type gate struct {
	*httptest.Server
	open   chan struct{}
	opened sync.Once
	came   chan string // the VMID of every clone that was asked for
}

func realGate(t *testing.T, cluster string) *gate {
	t.Helper()
	to, err := url.Parse(cluster)
	check(t, err)
	g := &gate{open: make(chan struct{}), came: make(chan string, 100)}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // a simulator's certificate is its own
	g.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/clone") {
			body, err := io.ReadAll(r.Body)
			form, _ := url.ParseQuery(string(body))
			if err != nil {
				return
			}
			g.came <- form.Get("newid")
			r.Body = io.NopCloser(bytes.NewReader(body))
			<-g.open
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	t.Cleanup(g.pass) // first: Close waits for requests
	return g
}

func (g *gate) pass() { g.opened.Do(func() { close(g.open) }) }

// runner makes another checkout of a project, as another machine would have it.
func (p *realProject) runner() *realProject {
	p.Helper()
	dir, err := filepath.EvalSymlinks(p.TempDir())
	check(p.T, err)
	check(p.T, os.CopyFS(dir, os.DirFS(p.dir)))
	return &realProject{T: p.T, dir: dir, tools: p.tools.With("HOME="+p.TempDir(), "TMPDIR="+p.TempDir())}
}

// TestRealTwoRunners: two machines with one project and one bucket apply at
// once. The state is locked while the first one clones; the second is refused,
// and has made nothing. When it runs again, all is there already.
func TestRealTwoRunners(t *testing.T) {
	s3 := realVersity(t)
	one := realNew(t, map[string]string{"specs/live.yaml": fmt.Sprintf(`apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
backend: {type: s3, bucket: states, region: eu-central-1, endpoint: "%s", path_style: true}
pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms: {a: {}, b: {}}
`, s3.url)})
	sim := one.realCluster()
	one.render()
	g := realGate(t, sim.URL())
	one.tools = one.tools.With("PROXMOX_VE_ENDPOINT=" + g.URL + "/")
	two := one.runner()
	const state, lock = "live/proxmox-vm/tofu.tfstate", "live/proxmox-vm/tofu.tfstate.tflock"
	apply := []string{"stack", "run", "apply", "--non-interactive"}

	first := make(chan string, 1)
	go func() {
		r, err := one.tools.Run(t.Context(), filepath.Join(one.dir, "stacks", "live"), "terragrunt", apply...)
		first <- fmt.Sprintf("exit %d, error %v\n%s", r.Code, err, r.Text())
	}()
	asked := []string{one.came(g, first), one.came(g, first)}
	slices.Sort(asked)
	if got := s3.objects(t); !slices.Contains(got, lock) || slices.Contains(got, state) {
		t.Fatalf("while the first runner clones, the bucket holds %v, want the lock and no state of the VMs yet", got)
	}
	two.bad("stacks/live", "terragrunt", apply, "Error acquiring the state lock")
	if got := s3.objects(t); !slices.Contains(got, lock) || slices.Contains(got, state) {
		t.Errorf("after the second runner was refused, the bucket holds %v", got)
	}
	if len(g.came) > 0 || fmt.Sprint(asked) != "[300 301]" {
		t.Errorf("clones were asked for of %v, and %d more after that", asked, len(g.came))
	}
	g.pass()
	if said := <-first; !strings.HasPrefix(said, "exit 0, error <nil>") {
		t.Fatalf("the first runner: %s", said)
	}
	lineage, serial := realStateHas(t, s3, state, "a", "b")

	two.says(two.good("stacks/live", "terragrunt", apply...), "Apply complete! Resources: 0 added, 0 changed, 0 destroyed.")
	for _, p := range []*realProject{one, two} {
		p.says(p.good("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive"), "No changes.")
	}
	if again, later := realStateHas(t, s3, state, "a", "b"); again != lineage || later < serial {
		t.Errorf("the state %s, serial %d, was replaced by %s, serial %d", lineage, serial, again, later)
	}
	if got := s3.objects(t); fmt.Sprint(got) != "[live/proxmox-pool/tofu.tfstate live/proxmox-vm/tofu.tfstate]" {
		t.Errorf("the bucket holds %v, want two states and no lock", got)
	}
	if len(g.came) > 0 {
		t.Errorf("the second runner has asked for another clone, of %s", <-g.came)
	}
	w := &world{t: t, sim: sim}
	if got, want := fmt.Sprint(w.guests()), "[qemu/123 qemu/300 qemu/301 qemu/9000 qemu/9002]"; got != want {
		t.Errorf("on the cluster are %s, want %s", got, want)
	}
}

// came waits for a clone to be asked for; an apply that ends before has failed.
func (p *realProject) came(g *gate, ended <-chan string) string {
	p.Helper()
	select {
	case id := <-g.came:
		return id
	case said := <-ended:
		p.Fatalf("the apply has ended without a clone: %s", said)
	}
	return ""
}

// realStateHas fails unless a state in the bucket is whole and holds exactly
// these VMs, and returns its lineage and serial.
func realStateHas(t *testing.T, s3 *realS3Server, object string, keys ...string) (string, int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s3.dir, filepath.FromSlash(object)))
	check(t, err)
	var state struct {
		Lineage   string
		Serial    int
		Resources []struct {
			Type      string
			Instances []struct {
				Key string `json:"index_key"`
			}
		}
	}
	check(t, json.Unmarshal(text, &state))
	var got []string
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			got = append(got, i.Key)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, keys) {
		t.Errorf("the state holds the VMs %v, want %v", got, keys)
	}
	return state.Lineage, state.Serial
}
