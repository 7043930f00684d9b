package real

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A bucketServer is the part of S3 that a state needs: objects by path, and conditional
// creation.
type bucketServer struct {
	sync.Mutex
	objects map[string][]byte
	seen    []string // method and path of every write
}

func (b *bucketServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.Lock()
	defer b.Unlock()
	body, found := b.objects[r.URL.Path]
	switch {
	case r.Method == http.MethodPut && found && r.Header.Get("If-None-Match") == "*":
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	case r.Method == http.MethodPut:
		b.objects[r.URL.Path], _ = io.ReadAll(r.Body)
		w.Header().Set("ETag", `"0"`)
	case r.Method == http.MethodDelete:
		delete(b.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Query().Has("list-type") || r.URL.Query().Has("prefix"):
		fmt.Fprint(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>states</Name><IsTruncated>false</IsTruncated></ListBucketResult>`)
	case !found:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
	default:
		_, _ = w.Write(body) // a client that is gone reports its own error
	}
	if r.Method == http.MethodPut || r.Method == http.MethodDelete {
		b.seen = append(b.seen, r.Method+" "+r.URL.Path)
	}
}

// TestS3State checks that states have the right keys in the bucket, that each is locked
// while it is written, and that units read the state of others.
func TestS3State(t *testing.T) {
	t.Parallel()
	bucket := &bucketServer{objects: map[string][]byte{}}
	server := httptest.NewServer(bucket)
	t.Cleanup(server.Close)
	p := newStack(t, strings.Replace(s3Spec, "http://127.0.0.1:1", server.URL, 1)+"dns: {zone: example.org, server: 127.0.0.1}\n")
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "vms: {a: {}}", "vms: {a: {meta: {address: 10.0.0.7}}}", 1))
	p.render()
	p.useTerraformData()
	p.all("live", "apply")
	state := "/states/team/prod/live/dns-a/tofu.tfstate"
	if !strings.Contains(string(bucket.objects[state]), "10.0.0.7") {
		t.Errorf("%s contains %s", state, bucket.objects[state])
	}
	for _, unit := range []string{"proxmox-vm", "dns-a"} {
		key := "/states/team/prod/live/" + unit + "/tofu.tfstate"
		for _, write := range []string{"PUT " + key + ".tflock", "PUT " + key, "DELETE " + key + ".tflock"} {
			if !slices.Contains(bucket.seen, write) {
				t.Errorf("no %s among\n%s", write, strings.Join(bucket.seen, "\n"))
			}
		}
	}
	if n := len(bucket.objects); n != 2 {
		t.Errorf("the bucket has %d objects, want two states", n)
	}
	if p.exists(".state") {
		t.Error("there is local state as well")
	}
}
