package live

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/mattn/go-runewidth"
)

// A console writes frames of rows to a terminal, each over the one before. It is the
// console writer of mpb, with three differences: it knows that a narrower window wraps
// the rows of the last frame, it begins each frame at the left margin, where Ctrl-C has
// left its echo, and it can remove the last frame.
type console struct {
	bytes.Buffer
	out      io.Writer
	terminal Terminal

	widths []int // of the rows of the last frame

	mu    sync.Mutex // guards above
	above []byte     // lines that are printed above the rows with the next frame
}

// IsTerminal and GetTermSize are for mpb.
func (c *console) IsTerminal() bool { return true }

// GetTermSize is the size of the terminal, or one that every terminal has.
func (c *console) GetTermSize() (width, height int, err error) {
	width, height, err = c.terminal.Size()
	if err != nil || width < 1 || height < 1 {
		return 80, 24, nil
	}
	return width, height, nil
}

// print prints lines above the rows.
func (c *console) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.above = append(c.above, text...)
}

// Flush replaces the last frame by the rows in the buffer.
func (c *console) Flush(int) error {
	frame := bytes.Clone(c.Bytes())
	c.Reset()
	c.mu.Lock()
	above := c.above
	c.above = nil
	c.mu.Unlock()
	erased := c.erase()
	c.widths = nil
	for row := range bytes.Lines(frame) {
		c.widths = append(c.widths, runewidth.StringWidth(plainText(string(row))))
	}
	_, err := c.out.Write(append(append(erased, above...), frame...))
	return err
}

// erase is what clears the last frame, row by row from the last to the first, and leaves
// the cursor there. A terminal wraps what it does not have room for any more. Clearing
// the rest of the screen at once would do the same, but tmux then moves it into its
// history if the frame begins at the top.
func (c *console) erase() []byte {
	if len(c.widths) == 0 {
		return nil
	}
	width, height, _ := c.GetTermSize()
	rows := 0
	for _, w := range c.widths {
		rows += 1 + max(w-1, 0)/width
	}
	return append([]byte("\r\x1b[K"), strings.Repeat("\x1b[A\x1b[K", min(rows, max(height-1, 1)))...)
}

// remove clears the last frame, and prints what still had to be printed above it.
func (c *console) remove() error {
	c.Reset()
	return c.Flush(0)
}

// plainText is a row without colors.
func plainText(row string) string {
	var out []rune
	escaped := false
	for _, r := range row {
		switch {
		case r == '\x1b':
			escaped = true
		case escaped:
			escaped = r != 'm'
		case r != '\n':
			out = append(out, r)
		}
	}
	return string(out)
}
