package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Process is a tool that runs until it ends by itself. It is in a process group of its
// own: a terminal does not interrupt it, and it goes on if this program is killed.
type Process struct {
	command *exec.Cmd
	tofu    string // the name of the program that it runs for OpenTofu
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
	c.Dir, c.Env, c.Stdout, c.Stderr, c.SysProcAttr = dir, t.environ(), output, output, ownGroup()
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", name, err)
	}
	p := &Process{command: c, tofu: programName(t.command()), ended: make(chan struct{})}
	go func() {
		p.err = c.Wait()
		close(p.ended)
	}()
	return p, nil
}

// programName is the name of a program without its folder.
func programName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

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

// Kill ends the process and all that it has started, at once.
func (p *Process) Kill() error {
	err := killGroup(p.command.Process)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
