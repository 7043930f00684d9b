package proxmox

import (
	"net/http"
	"strings"
	"testing"
)

// unreached fails when a request gets through.
type unreached struct{ t *testing.T }

func (u unreached) RoundTrip(r *http.Request) (*http.Response, error) {
	u.t.Errorf("%s %s got through", r.Method, r.URL.Path)
	return nil, http.ErrAbortHandler
}

func TestWritesDoNotLeave(t *testing.T) {
	w := &wire{base: unreached{t}, pause: wait}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		r, err := http.NewRequestWithContext(t.Context(), method, "https://pve.example:8006/api2/json/nodes/pve1/qemu", strings.NewReader("vmid=100"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := w.RoundTrip(r)
		if err == nil || !strings.Contains(err.Error(), "stackgen only reads") {
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
