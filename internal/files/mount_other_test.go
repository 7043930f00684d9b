//go:build unix && !linux

package files

import "testing"

func mountSmall(t *testing.T, _ string) {
	t.Skip("needs Linux's tmpfs")
}
