package engine

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// signalsTwice: the event reaches the whole group at once, and Terragrunt forwards none.
const signalsTwice = false

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt sends Ctrl-Break to the group: a group of its own ignores Ctrl-C.
func interrupt(p *os.Process) error {
	call := syscall.NewLazyDLL("kernel32.dll").NewProc("GenerateConsoleCtrlEvent")
	if ok, _, err := call.Call(syscall.CTRL_BREAK_EVENT, uintptr(p.Pid)); ok == 0 {
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
