package live

import (
	"os"

	"golang.org/x/sys/windows"
)

// moves reports whether a terminal moves its cursor by escape sequences. That of
// Windows does from Windows 10 on, when it is told to.
func moves(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
