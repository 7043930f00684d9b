package proxmox

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// unreachable fails the test when a request is sent.
type unreachable struct{ t *testing.T }

func (u unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	u.t.Errorf("%s %s was sent", r.Method, r.URL.Path)
	return nil, http.ErrAbortHandler
}

func TestWritesAreNotSent(t *testing.T) {
	w := &transport{base: unreachable{t}, now: time.Now, wait: wait}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		r, err := http.NewRequestWithContext(t.Context(), method, "https://pve.example:8006/api2/json/nodes/pve1/qemu", strings.NewReader("vmid=100"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := w.RoundTrip(r)
		if err == nil || !strings.Contains(err.Error(), "stackgen sends only reads") {
			t.Errorf("%s gives %v", method, err)
		}
		if res != nil {
			_ = res.Body.Close()
		}
	}
	if n := w.count.Load(); n != 0 {
		t.Errorf("%d requests counted", n)
	}
}
