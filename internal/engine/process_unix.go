//go:build unix

package engine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// interruptEvery is how often Interrupt looks for what Terragrunt still starts.
const interruptEvery = 200 * time.Millisecond

// Interrupt makes OpenTofu end what it has begun, begin nothing more and save the state,
// and returns when the process has ended. Each OpenTofu gets one signal, also those that
// are started meanwhile: with a second one it quits without saving the state. Terragrunt
// gets none: it would kill OpenTofu 30 seconds later.
func (p *Process) Interrupt() error {
	sent := map[int32]bool{}
	tick := time.NewTicker(interruptEvery)
	defer tick.Stop()
	for {
		found, err := p.tofus()
		if err != nil {
			return err
		}
		for _, pid := range found {
			if !sent[pid] {
				_ = syscall.Kill(int(pid), syscall.SIGINT) // it may have ended
			}
			sent[pid] = true
		}
		select {
		case <-p.ended:
			return nil
		case <-tick.C:
		}
	}
}

// tofus are the processes of OpenTofu that the process has started, also through a hook.
// One that has started another one is a wrapper, such as that of a version manager, and
// is left out: it may pass on a signal that the other one gets, too.
func (p *Process) tofus() ([]int32, error) {
	all, err := process.Pids()
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	children := map[int32][]int32{}
	for _, pid := range all {
		if parent, err := (&process.Process{Pid: pid}).Ppid(); err == nil { // else it has ended
			children[parent] = append(children[parent], pid)
		}
	}
	var below func(pid int32) []int32
	below = func(pid int32) (out []int32) {
		for _, child := range children[pid] {
			found := below(child)
			if name, err := (&process.Process{Pid: child}).Name(); len(found) == 0 && err == nil && isTofu(name, p.tofu) {
				found = []int32{child}
			}
			out = append(out, found...)
		}
		return out
	}
	return below(int32(p.ID())), nil
}

// isTofu reports whether a process has the name of OpenTofu or Terraform, such as tofu or
// tofu-1.12, or of the program that runs for it. Providers are terraform-provider-NAME.
func isTofu(name, program string) bool {
	terraform := strings.HasPrefix(name, "terraform") && !strings.HasPrefix(name, "terraform-")
	return name == program || strings.HasPrefix(name, "tofu") || terraform
}

// killGroup kills the group, whose number is that of its first process.
func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
