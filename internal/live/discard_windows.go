package live

import (
	"os"

	"golang.org/x/sys/windows"
)

// discard removes what was typed on a terminal and not read.
func discard(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
