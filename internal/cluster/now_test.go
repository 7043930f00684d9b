package cluster

import (
	"maps"
	"testing"
)

// TestNow: a running guest has none of the changes that wait for its next start.
func TestNow(t *testing.T) {
	c := &Config{Raw: map[string]string{"memory": "4096", "net1": "virtio", "cipassword": "**********", "cores": "2"}, Pending: []Pending{
		{Key: "memory", Value: "2048", New: "4096"}, {Key: "net1", New: "virtio"}, {Key: "scsi1", Value: "ssd:1", Delete: true}, {Key: "cipassword"},
	}}
	want := map[string]string{"memory": "2048", "scsi1": "ssd:1", "cipassword": "**********", "cores": "2"}
	if got := c.Now(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
