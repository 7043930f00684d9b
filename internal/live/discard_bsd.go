//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package live

import (
	"os"

	"golang.org/x/sys/unix"
)

// forRead selects what can be read.
const forRead = 1

// discard removes what was typed on a terminal and not read.
func discard(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, forRead)
}
