//go:build !windows

package live

import "os"

// moves reports whether a terminal moves its cursor by escape sequences.
func moves(*os.File) bool { return true }
