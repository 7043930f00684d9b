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

// An s3Server is versitygw, an S3 server that stores objects as files, so that tests
// can list a bucket, including locks, without a request.
type s3Server struct {
	url string
	dir string // of the bucket named states
}

// s3Secret is the secret key of the server.
const s3Secret = "the-secret-key-of-the-tests"

// startS3 starts versitygw with an empty bucket, and stops it after the test.
func startS3(t *testing.T) *s3Server {
	t.Helper()
	binary, err := findTools(t).Path("versitygw")
	if err != nil {
		t.Fatalf("%v: run make tools", err)
	}
	root, side := t.TempDir(), t.TempDir()
	s := &s3Server{dir: filepath.Join(root, "states")}
	check(t, os.Mkdir(s.dir, 0o755))
	for range 5 { // another process may take the free port first
		free, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		address := free.Addr().String()
		check(t, free.Close())
		var output bytes.Buffer
		c := exec.Command(binary, "--port", address, "--quiet", "posix", "--sidecar", side, root)
		c.Env = []string{"ROOT_ACCESS_KEY=test", "ROOT_SECRET_KEY=" + s3Secret, "VGW_REGION=eu-central-1"}
		c.Stdout, c.Stderr = &output, &output
		check(t, c.Start())
		ended := make(chan struct{})
		go func() { _ = c.Wait(); close(ended) }()
		if answers(address, ended) {
			s.url = "http://" + address
			t.Cleanup(func() { _ = c.Process.Kill(); <-ended })
			return s
		}
		t.Logf("versitygw on %s: %s", address, output.String())
	}
	t.Fatal("versitygw does not start")
	return nil
}

// answers waits until a server accepts connections, or has ended.
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
func (s *s3Server) objects(t *testing.T) []string {
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

// A cloneGate is a proxy of a cluster that delays every clone until it is opened.
type cloneGate struct {
	*httptest.Server
	open      chan struct{}
	opened    sync.Once
	requested chan string // the VMID of every requested clone
}

func newCloneGate(t *testing.T, cluster string) *cloneGate {
	t.Helper()
	to, err := url.Parse(cluster)
	check(t, err)
	g := &cloneGate{open: make(chan struct{}), requested: make(chan string, 100)}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the simulator's certificate is self-signed
	g.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/clone") {
			body, err := io.ReadAll(r.Body)
			form, _ := url.ParseQuery(string(body))
			if err != nil {
				return
			}
			g.requested <- form.Get("newid")
			r.Body = io.NopCloser(bytes.NewReader(body))
			<-g.open
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	t.Cleanup(g.pass) // first: Close waits for requests
	return g
}

func (g *cloneGate) pass() { g.opened.Do(func() { close(g.open) }) }

// runner copies a project, like a checkout on another machine.
func (p *project) runner() *project {
	p.Helper()
	dir, err := filepath.EvalSymlinks(p.TempDir())
	check(p.T, err)
	check(p.T, os.CopyFS(dir, os.DirFS(p.dir)))
	return &project{T: p.T, dir: dir, tools: p.tools.With("HOME="+p.TempDir(), "TMPDIR="+p.TempDir())}
}

// TestTwoRunners applies one project with one bucket from two machines at the same time.
// While the first one clones, the state is locked, and the second one is refused and
// creates nothing. A second apply finds everything created.
func TestTwoRunners(t *testing.T) {
	t.Parallel()
	s3 := startS3(t)
	one := newProject(t, map[string]string{"specs/live.yaml": fmt.Sprintf(`apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
backend: {type: s3, bucket: states, region: eu-central-1, endpoint: "%s", path_style: true}
pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms: {a: {}, b: {}}
`, s3.url)})
	sim := one.simulate()
	one.render()
	g := newCloneGate(t, sim.URL())
	one.tools = one.tools.With("PROXMOX_VE_ENDPOINT=" + g.URL + "/")
	two := one.runner()
	const state, lock = "live/proxmox-vm/tofu.tfstate", "live/proxmox-vm/tofu.tfstate.tflock"
	apply := []string{"stack", "run", "apply", "--non-interactive"}

	first := make(chan string, 1)
	go func() {
		r, err := one.tools.Run(t.Context(), filepath.Join(one.dir, "stacks", "live"), "terragrunt", apply...)
		first <- fmt.Sprintf("exit %d, error %v\n%s", r.Code, err, r.Text())
	}()
	asked := []string{one.nextClone(g, first), one.nextClone(g, first)}
	slices.Sort(asked)
	if got := s3.objects(t); !slices.Contains(got, lock) || slices.Contains(got, state) {
		t.Fatalf("while the first runner clones, the bucket has %v, want the lock and no state of the VMs yet", got)
	}
	two.fails("stacks/live", apply, "Error acquiring the state lock")
	if got := s3.objects(t); !slices.Contains(got, lock) || slices.Contains(got, state) {
		t.Errorf("after the second runner was refused, the bucket has %v", got)
	}
	if len(g.requested) > 0 || fmt.Sprint(asked) != "[300 301]" {
		t.Errorf("clones of %v were requested, and %d more after that", asked, len(g.requested))
	}
	g.pass()
	if output := <-first; !strings.HasPrefix(output, "exit 0, error <nil>") {
		t.Fatalf("the first runner: %s", output)
	}
	lineage, serial := checkState(t, s3, state, "a", "b")

	two.contains(two.succeeds("stacks/live", "terragrunt", apply...), "Apply complete! Resources: 0 added, 0 changed, 0 destroyed.")
	for _, p := range []*project{one, two} {
		p.contains(p.succeeds("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive"), "No changes.")
	}
	if again, later := checkState(t, s3, state, "a", "b"); again != lineage || later < serial {
		t.Errorf("the state %s, serial %d, was replaced by %s, serial %d", lineage, serial, again, later)
	}
	if got := s3.objects(t); fmt.Sprint(got) != "[live/proxmox-pool/tofu.tfstate live/proxmox-vm/tofu.tfstate]" {
		t.Errorf("the bucket has %v, want two states and no lock", got)
	}
	if len(g.requested) > 0 {
		t.Errorf("the second runner requested another clone: %s", <-g.requested)
	}
	w := &simulation{t: t, sim: sim}
	if got, want := fmt.Sprint(w.guests()), "[qemu/123 qemu/124 qemu/125 qemu/300 qemu/301 qemu/9000 qemu/9002 qemu/9010 qemu/9011]"; got != want {
		t.Errorf("the cluster has %s, want %s", got, want)
	}
}

// nextClone waits for the request of a clone, and fails if the apply ends first.
func (p *project) nextClone(g *cloneGate, ended <-chan string) string {
	p.Helper()
	select {
	case id := <-g.requested:
		return id
	case output := <-ended:
		p.Fatalf("the apply has ended without a clone: %s", output)
	}
	return ""
}

// checkState fails unless a state in the bucket is valid and has exactly these VMs. It
// returns the lineage and the serial.
func checkState(t *testing.T, s3 *s3Server, object string, keys ...string) (string, int) {
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
		t.Errorf("the state has the VMs %v, want %v", got, keys)
	}
	return state.Lineage, state.Serial
}
