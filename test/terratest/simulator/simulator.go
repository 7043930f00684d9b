// Package simulator runs `stackgen sim` as a process, like a user.
package simulator

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// wrapper stops the simulator when its standard input is closed, which the system does
// however the parent process ends.
const wrapper = `stackgen sim --listen 127.0.0.1:0 "$@" </dev/null & sim=$!
cat >/dev/null
kill $sim
wait $sim`

// A Simulator is a running `stackgen sim`.
type Simulator struct {
	Env   map[string]string // the variables it printed
	cmd   *exec.Cmd
	stdin io.Closer
	said  strings.Builder
}

// Start starts the stackgen on PATH with arguments for `stackgen sim`.
func Start(args ...string) (*Simulator, error) {
	s := &Simulator{Env: map[string]string{}, cmd: exec.Command("sh", append([]string{"-c", wrapper, "sh"}, args...)...)}
	s.cmd.Stderr = &s.said
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // an interrupt is for the parent, which stops it
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.stdin = stdin
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.read(stdout); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// read reads the variables that the simulator prints, up to the last one.
func (s *Simulator) read(stdout io.Reader) error {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		name, value, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		if !ok {
			return fmt.Errorf("stackgen sim prints %q", lines.Text())
		}
		s.Env[name] = strings.Trim(value, "'")
		if name == "PROXMOX_VE_INSECURE" {
			return nil
		}
	}
	return errors.Join(errors.New("stackgen sim prints no variables"), lines.Err())
}

// Stop stops the simulator.
func (s *Simulator) Stop() error {
	err := s.stdin.Close()
	if wait := s.cmd.Wait(); wait != nil {
		return fmt.Errorf("stackgen sim: %w\n%s", wait, s.said.String())
	}
	return err
}
