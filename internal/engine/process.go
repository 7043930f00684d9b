package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// A Process is a tool that runs until it ends by itself. It is in a process group of its
// own: a terminal does not interrupt it, and it goes on if this program is killed.
type Process struct {
	command *exec.Cmd
	ended   chan struct{}
	err     error
}

// Start starts a tool in a folder. What it prints goes into a file, which it can write
// to even if this program is killed.
func (t *Tools) Start(dir string, output *os.File, name string, args ...string) (*Process, error) {
	path, err := t.Path(name)
	if err != nil {
		return nil, err
	}
	c := exec.Command(path, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr, c.SysProcAttr = dir, t.Env, output, output, ownGroup()
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", name, err)
	}
	p := &Process{command: c, ended: make(chan struct{})}
	go func() {
		p.err = c.Wait()
		close(p.ended)
	}()
	return p, nil
}

// ID is the number of the process.
func (p *Process) ID() int { return p.command.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits for the end, and returns the exit code.
func (p *Process) Wait() (int, error) {
	<-p.ended
	var exit *exec.ExitError
	if errors.As(p.err, &exit) || p.err == nil {
		return p.command.ProcessState.ExitCode(), nil
	}
	return 0, fmt.Errorf("cannot run %s: %w", p.command.Path, p.err)
}

// forwardTime is how long Terragrunt needs to get ready for a second signal.
const forwardTime = 400 * time.Millisecond

// Interrupt makes Terragrunt start nothing more, and interrupt OpenTofu once: it ends what
// it has begun, and saves the state. Terragrunt forwards a signal after 15 seconds, and
// the second one at once. A signal to the whole group would reach OpenTofu twice, which
// makes it quit without saving the state.
func (p *Process) Interrupt() error {
	if err := p.interrupt(); err != nil || !signalsTwice {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(forwardTime):
		return p.interrupt()
	}
}

func (p *Process) interrupt() error {
	err := interrupt(p.command.Process)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Kill ends the process and all that it has started, at once.
func (p *Process) Kill() error {
	err := killGroup(p.command.Process)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
