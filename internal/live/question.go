package live

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"stackgen/internal/report"
)

// Ask asks a question, and returns the line that answers it, without spaces around it; it is
// empty at the end of the input. On a terminal, what was typed before the question is no
// answer: it is discarded. The error is that of the context if it ends first.
func Ask(ctx context.Context, in io.Reader, out io.Writer, question string) (string, error) {
	if f, ok := in.(*os.File); ok && IsTerminal(f) {
		if err := discard(f); err != nil {
			return "", fmt.Errorf("cannot ask: what was typed before the question cannot be discarded: %w", err)
		}
	}
	if err := report.Printf(out, "%s", question); err != nil {
		return "", err
	}
	got := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // without an answer it is empty
		got <- line
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-got:
		return strings.TrimSpace(line), nil
	}
}
