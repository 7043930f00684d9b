package engine

import (
	"context"
	"regexp"
	"strings"
	"time"
)

// A StateLock is a lock of a state that a run holds, as OpenTofu describes it.
type StateLock struct {
	ID        string
	Operation string // such as OperationTypeApply
	Who       string // user@host
	Created   time.Time
}

// Lock is the lock that another process holds on the state of a backend, or nil. It
// asks OpenTofu, which knows whether the lock is still held, for a change of the state
// that it does not make.
func (t *Tools) Lock(ctx context.Context, backend []byte) (held *StateLock, err error) {
	err = t.inBackend(ctx, backend, func(own *Tools, dir string) error {
		// Any address does: OpenTofu takes the lock before it reads the state.
		r, err := own.With(quiet...).Run(ctx, dir, own.command(),
			"state", "rm", "-dry-run", "-lock-timeout=0s", "-no-color", "terraform_data.none")
		if err == nil && r.Code != 0 {
			held = parseLock(r.Text())
		}
		return err
	})
	return held, err
}

// lockLine is a line of OpenTofu's description of a lock.
var lockLine = regexp.MustCompile(`(?m)^[│\s]*(ID|Operation|Who|Created):[ \t]+(\S.*)$`)

// parseLock reads the description of a lock from an error. It returns nil if the error
// is another one.
func parseLock(output string) *StateLock {
	if !strings.Contains(output, "acquiring the state lock") {
		return nil
	}
	l := &StateLock{}
	for _, m := range lockLine.FindAllStringSubmatch(output, -1) {
		switch value := strings.TrimSpace(m[2]); m[1] {
		case "ID":
			l.ID = value
		case "Operation":
			l.Operation = value
		case "Who":
			l.Who = value
		case "Created": // of another version: zero
			l.Created, _ = time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", value)
		}
	}
	return l
}
