package pvesim_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

func started(t testing.TB, o pvesim.Options) *pvesim.Server {
	t.Helper()
	s, err := pvesim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func client(maxConns int) *http.Client {
	// The certificate is self-signed.
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13},
		MaxIdleConnsPerHost: maxConns}}
}

// A response is a response whose body has been read and closed.
type response struct {
	code   int
	status string
	tls    uint16
	body   string
}

func get(c *http.Client, s *pvesim.Server, path string) (response, error) {
	req, err := http.NewRequest(http.MethodGet, s.URL()+"/api2/json"+path, nil)
	if err != nil {
		return response{}, err
	}
	req.Header.Set("Authorization", "PVEAPIToken="+s.Token())
	resp, err := c.Do(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Status, resp.TLS.Version, string(body)}, err
}

func TestReasonPhraseIsMessage(t *testing.T) {
	s := started(t, pvesim.Options{})
	resp, err := get(client(1), s, "/nodes/pve1/qemu/555/config")
	if err != nil {
		t.Fatal(err)
	}
	want := "500 Configuration file 'nodes/pve1/qemu-server/555.conf' does not exist"
	if resp.status != want {
		t.Errorf("status line %q, want %q", resp.status, want)
	}
	if resp.tls != tls.VersionTLS13 {
		t.Errorf("TLS version %x", resp.tls)
	}
	if !strings.Contains(resp.body, `"message":"Configuration file`) {
		t.Errorf("body %s", resp.body)
	}
}

func TestConnectionReset(t *testing.T) {
	s := started(t, pvesim.Options{})
	if err := s.AddFault(&pvesim.Fault{Path: "/cluster/resources", Count: 1, Do: pvesim.DoReset}); err != nil {
		t.Fatal(err)
	}
	if _, err := get(client(1), s, "/cluster/resources"); err == nil {
		t.Error("an incomplete response was read without error")
	}
	if _, err := get(client(1), s, "/cluster/resources"); err != nil {
		t.Errorf("next request: %v", err)
	}
}

func TestLogHasNoSecrets(t *testing.T) {
	var mu sync.Mutex
	var out bytes.Buffer
	s := started(t, pvesim.Options{Log: lockedWriter{&mu, &out}})
	if _, err := get(client(1), s, "/version"); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	_, secret, _ := strings.Cut(s.Token(), "=")
	if strings.Contains(out.String(), secret) || !strings.Contains(out.String(), `"path":"/api2/json/version"`) {
		t.Errorf("log: %s", out.String())
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// bigSeed is the default cluster with a thousand additional guests.
func bigSeed(t testing.TB, n int) *pvesim.Seed {
	t.Helper()
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		vmid := 10000 + i
		seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: vmid, Node: fmt.Sprintf("pve%d", 1+i%3), Running: i%2 == 0,
			Config: map[string]string{"name": fmt.Sprintf("vm-%d", i), "memory": "512", "cores": "1", "tags": "load",
				"scsi0": fmt.Sprintf("local-lvm:vm-%d-disk-0,size=4G", vmid)}})
	}
	return seed
}

// TestManyClients runs briefly; with PVESIM_SOAK=60s it is a soak test.
func TestManyClients(t *testing.T) {
	span := 2 * time.Second
	if v := soak(t); v > 0 {
		span = v
	}
	s := started(t, pvesim.Options{Seed: bigSeed(t, 200)})
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	c := client(100)
	var wg sync.WaitGroup
	errs := make(chan error, 100)
	for i := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; ctx.Err() == nil; n++ {
				if err := visit(c, s, i, n); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	t.Logf("%d requests", s.Counters().Requests)
}

func visit(c *http.Client, s *pvesim.Server, i, n int) error {
	vmid := 10000 + (i*7+n)%200
	node := fmt.Sprintf("pve%d", 1+(vmid-10000)%3)
	paths := []string{"/cluster/resources?type=vm", fmt.Sprintf("/nodes/%s/qemu/%d/config", node, vmid), "/nodes", "/cluster/nextid"}
	if n%5 == 4 {
		return write(c, s, fmt.Sprintf("/nodes/%s/qemu/%d/config", node, vmid), fmt.Sprintf("description=%d-%d", i, n))
	}
	resp, err := get(c, s, paths[n%len(paths)])
	if err == nil && resp.code != http.StatusOK {
		err = fmt.Errorf("%s: %s", paths[n%len(paths)], resp.status)
	}
	return err
}

func write(c *http.Client, s *pvesim.Server, path, form string) error {
	req, err := http.NewRequest(http.MethodPut, s.URL()+"/api2/json"+path, strings.NewReader(form))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "PVEAPIToken="+s.Token())
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, bufio.NewReader(resp.Body)); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("PUT %s: %s", path, resp.Status)
	}
	return nil
}

func BenchmarkClusterResources1000(b *testing.B) {
	s := started(b, pvesim.Options{Seed: bigSeed(b, 1000)})
	c := client(1)
	b.ResetTimer()
	for b.Loop() {
		if _, err := get(c, s, "/cluster/resources"); err != nil {
			b.Fatal(err)
		}
	}
}
