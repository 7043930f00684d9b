package cmd

import (
	"context"
	"errors"
	"os/signal"
	"slices"
	"strings"

	"stackgen/internal/deploy"
	"stackgen/internal/live"
)

// errInterrupted is an interrupt before anything was written.
var errInterrupted = errors.New("interrupted; nothing was written")

// errNotSent is an interrupt before anything was sent to the cluster.
var errNotSent = errors.New("interrupted; nothing was sent")

// confirm asks a question on a terminal, and reports whether the answer is yes. An interrupt
// is an error, so that the person reads that nothing was written.
func (e *env) confirm(ctx context.Context, question string) (bool, error) {
	line, err := e.ask(ctx, question)
	return err == nil && slices.Contains([]string{"y", "yes"}, strings.ToLower(line)), err
}

// ask is the answer to a question on a terminal.
func (e *env) ask(ctx context.Context, question string) (string, error) {
	ctx, stop := signal.NotifyContext(ctx, deploy.Ends()...)
	defer stop()
	line, err := live.Ask(ctx, e.in, e.errOut, question)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return line, err
}
