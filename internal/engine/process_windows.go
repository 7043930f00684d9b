package engine

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Interrupt sends Ctrl-Break to the group, which OpenTofu takes for an interrupt: a group of
// its own ignores Ctrl-C.
func (p *Process) Interrupt() error {
	call := syscall.NewLazyDLL("kernel32.dll").NewProc("GenerateConsoleCtrlEvent")
	if ok, _, err := call.Call(syscall.CTRL_BREAK_EVENT, uintptr(p.ID())); ok == 0 {
		return err
	}
	return nil
}

func killGroup(p *os.Process) error {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() != nil {
		return p.Kill()
	}
	return nil
}
