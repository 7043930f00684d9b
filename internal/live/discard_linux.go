package live

import (
	"os"

	"golang.org/x/sys/unix"
)

// discard removes what was typed on a terminal and not read.
func discard(f *os.File) error { return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
