package cmd

import (
	"bufio"
	"context"
	"errors"
	"os/signal"
	"slices"
	"strings"

	"stackgen/internal/deploy"
	"stackgen/internal/report"
)

// confirm asks a question on a terminal, and reports whether the answer is yes. An interrupt
// is an error, so that the person reads that nothing was written.
func (e *env) confirm(ctx context.Context, question string) (bool, error) {
	ctx, stop := signal.NotifyContext(ctx, deploy.Ends()...)
	defer stop()
	if err := report.Printf(e.errOut, "%s", question); err != nil {
		return false, err
	}
	got := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(e.in).ReadString('\n') // without an answer it is empty
		got <- line
	}()
	select {
	case <-ctx.Done():
		return false, errors.New("interrupted; nothing was written")
	case line := <-got:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))), nil
	}
}
