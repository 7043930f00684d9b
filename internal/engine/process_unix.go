//go:build unix

package engine

import (
	"errors"
	"os"
	"syscall"
)

// signalsTwice: Terragrunt delays the first signal.
const signalsTwice = true

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }

// killGroup kills the group, whose number is that of its first process.
func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
