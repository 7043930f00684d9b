package live

import (
	"io"
	"os"

	"github.com/vbauerster/cupwriter"
)

// TerminalOf is the terminal of an output, or nil if it is none or shows only lines.
func TerminalOf(out io.Writer) Terminal {
	f, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return nil
	}
	w := cupwriter.New(f, false)
	if !w.IsTerminal() || !moves(f) {
		return nil
	}
	return window{w}
}

// A window is the terminal of a file.
type window struct{ of *cupwriter.Writer }

func (w window) Size() (width, height int, err error) { return w.of.GetTermSize() }

// IsTerminal reports whether a person may read from or write to f.
func IsTerminal(f *os.File) bool { return cupwriter.New(f, false).IsTerminal() }
