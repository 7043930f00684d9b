package pvesim_test

import (
	"os"
	"testing"
	"time"
)

// soak returns the duration in PVESIM_SOAK, or zero.
func soak(t testing.TB) time.Duration {
	t.Helper()
	v := os.Getenv("PVESIM_SOAK")
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		t.Fatalf("PVESIM_SOAK: %v", err)
	}
	return d
}
