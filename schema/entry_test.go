package schema

import (
	"strings"
	"testing"
)

// TestOwnEntry: what is written about one guest is about no other one, also where its group has its name.
func TestOwnEntry(t *testing.T) {
	for _, c := range []struct{ path, key, want string }{
		{"vms.web1", "web1", "vms.web1"},
		{"containers.web1", "web1", "containers.web1"},
		{"teacher", "teacher", "teacher"},
		{"groups.web", "web1", "groups.web.overrides.web1"},
		{"groups.web.overrides.web1", "web1", "groups.web.overrides.web1"},
		{"groups.web1", "web1", "groups.web1.overrides.web1"},
		{"groups.web1.overrides.web1", "web1", "groups.web1.overrides.web1"},
		{"students", "bo", "students.overrides.bo"},
		{"students.overrides.bo", "bo", "students.overrides.bo"},
	} {
		if got := strings.Join((&VM{Path: c.path, Key: c.key}).OwnEntry(), "."); got != c.want {
			t.Errorf("%s in %s: got %s, want %s", c.key, c.path, got, c.want)
		}
	}
}
