package engine

import (
	"testing"
	"time"
)

func TestParseLock(t *testing.T) {
	const text = `
Error: Error acquiring the state lock

Error message: resource temporarily unavailable
Lock Info:
  ID:        2fccce0c-a0b0-3bf6-2f57-88a14a2c5e1a
  Path:      /srv/lab/.state/live/proxmox-vm/tofu.tfstate
  Operation: OperationTypeApply
  Who:       ann@runner-1
  Version:   1.12.6
  Created:   2026-11-21 23:57:15.486472534 +0000 UTC
  Info:      
`
	got := parseLock(text)
	want := StateLock{ID: "2fccce0c-a0b0-3bf6-2f57-88a14a2c5e1a", Operation: "OperationTypeApply", Who: "ann@runner-1",
		Created: time.Date(2026, 11, 21, 23, 57, 15, 486472534, time.UTC)}
	if got == nil || got.ID != want.ID || got.Operation != want.Operation || got.Who != want.Who || !got.Created.Equal(want.Created) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := parseLock("Error: No state file was found"); got != nil {
		t.Errorf("another error is the lock %+v", got)
	}
}
