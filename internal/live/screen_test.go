package live_test

import (
	"strings"
	"sync"
	"testing"
)

// A screen is a terminal: it shows what is written to it, as one that wraps lines, and
// wraps them again when its width changes. It knows the sequences that the rows need,
// and fails for any other.
type screen struct {
	t             *testing.T
	mu            sync.Mutex
	width, height int
	lines         []string // all lines that were written, without wrapping
	row, col      int      // of the cursor: a line, and a column of it, which counts on where the line is wrapped
	top           int      // the first line in the window; those above are not reached any more
}

func newScreen(t *testing.T, width, height int) *screen {
	return &screen{t: t, width: width, height: height, lines: []string{""}}
}

// Size is that of the window.
func (s *screen) Size() (width, height int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.width, s.height, nil
}

func (s *screen) resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.width, s.height = width, height
	s.scroll()
}

// scroll moves lines out of the window that it has no room for.
func (s *screen) scroll() {
	rows := 0
	for i := len(s.lines) - 1; i >= s.top; i-- {
		if rows += s.rowsOf(s.lines[i]); rows > s.height {
			s.top = i + 1
		}
	}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		switch r := text[i]; r {
		case '\n':
			s.row, s.col = s.row+1, 0
			if s.row == len(s.lines) {
				s.lines = append(s.lines, "")
				s.scroll()
			}
		case '\r':
			s.col -= s.col % s.width
		case '\x1b':
			end := i + 2
			for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == ';') {
				end++
			}
			if text[i+1] != '[' || end == len(text) {
				s.t.Errorf("the terminal got %q", string(text[i:]))
				return len(p), nil
			}
			s.sequence(string(text[i+2:end]), text[end])
			i = end
		default:
			line := []rune(s.lines[s.row])
			for len(line) <= s.col {
				line = append(line, ' ')
			}
			line[s.col] = r
			s.lines[s.row] = string(line)
			s.col++
		}
	}
	return len(p), nil
}

func (s *screen) sequence(argument string, command rune) {
	switch {
	case command == 'A' && argument == "": // up by one row, not beyond the window
		switch {
		case s.col >= s.width:
			s.col -= s.width
		case s.row > s.top:
			s.row--
			s.col += (s.rowsOf(s.lines[s.row]) - 1) * s.width
		}
	case command == 'K' && argument == "": // clear from the cursor to the end of the row
		line := []rune(s.lines[s.row])
		if end := s.col - s.col%s.width + s.width; len(line) > end {
			s.t.Errorf("a row in the middle of %q is cleared", string(line))
		}
		s.lines[s.row] = string(line[:min(s.col, len(line))])
	case command == 'm':
	default:
		s.t.Errorf("the terminal got the escape sequence %q %q", argument, command)
	}
}

func (s *screen) rowsOf(line string) int { return 1 + max(len([]rune(line))-1, 0)/s.width }

// String is what the window shows, without empty lines at its end.
func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(strings.Join(s.lines[s.top:], "\n"), "\n ") + "\n"
}

// all is what was ever written and not replaced, with what has left the window.
func (s *screen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// check fails if a line does not fit into the window, or if there are more lines than
// that.
func (s *screen) check(what string, above int) {
	s.t.Helper()
	text := s.String()
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n >= s.width {
			s.t.Errorf("%s: %d columns of %d: %s", what, n, s.width, line)
		}
	}
	if n := strings.Count(text, "\n"); n-above > s.height-1 {
		s.t.Errorf("%s: %d lines of %d\n%s", what, n, s.height, text)
	}
}
