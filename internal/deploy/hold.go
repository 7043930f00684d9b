package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"stackgen/internal/check"
	"stackgen/internal/files"
	"stackgen/internal/project"
)

// generated is the folder that Terragrunt makes in a stack, and that Git ignores.
const generated = project.GeneratedDir

// A holder is who applies or destroys a stack, for another one that wants to.
type holder struct {
	Process int32     `json:"process"`
	Started int64     `json:"started"` // of the process, in ms since 1970
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
	Command string    `json:"command"`
	Work    []string  `json:"work"` // private folders, its own first, then those of killed ones

	Tool        int32 `json:"tool,omitempty"` // the run of Terragrunt that it started last
	ToolStarted int64 `json:"tool_started,omitempty"`
}

// A hold keeps other applies of a stack out. The system releases it when this process
// ends in any way.
type hold struct {
	holder
	file   string
	unlock func() error
	made   bool    // the command makes the folder that Terragrunt generates
	before *holder // who was killed while it had the stack, or nil
}

// maxHolder bounds the file.
const maxHolder = 1 << 16

// takeHold takes the hold of a stack of a project, whose folder is dir. The error names who
// has it.
func takeHold(root, stack, dir string, me holder) (*hold, error) {
	unlock, by, err := files.TryLock(dir)
	if err != nil {
		return nil, err
	}
	h := &hold{holder: me, file: check.RecordFile(root, stack, "apply"), unlock: unlock}
	other := readHolder(h.file)
	if unlock == nil {
		return nil, inUse(stack, other, by)
	}
	if other != nil && other.Host == me.Host && other.Process != me.Process && alive(other.Process, other.Started) {
		return nil, errors.Join(inUse(stack, other, ""), unlock()) // of another checkout, whose folder of states is this one or was copied
	}
	if h.before = other; other != nil { // it counts until this one has waited for it
		h.Tool, h.ToolStarted, h.Work = other.Tool, other.ToolStarted, append(h.Work, other.Work...)
	}
	if _, err := os.Stat(filepath.Join(dir, generated)); err != nil {
		h.made = true
	}
	if err := h.save(); err != nil {
		return nil, errors.Join(err, h.release())
	}
	return h, nil
}

// Hold keeps applies of stacks out while another command changes their VMs, until release is
// called. line is that command, for those who wait. Of a stack that is not rendered, nothing
// can be applied. The error names who applies one.
func Hold(p *project.Project, stacks []string, line string) (release func() error, err error) {
	var held []*hold
	release = func() error {
		var errs []error
		for _, h := range held {
			errs = append(errs, h.release())
		}
		return errors.Join(errs...)
	}
	host, _ := os.Hostname() // for people
	self := int32(os.Getpid())
	for _, stack := range stacks {
		dir, err := filepath.Abs(p.StackDir(stack))
		if err != nil {
			return nil, errors.Join(err, release())
		}
		if _, missing := os.Stat(dir); missing != nil {
			continue
		}
		h, err := takeHold(p.Root, stack, dir, holder{Process: self, Started: startOf(self), Host: host, Since: time.Now(), Command: line})
		if err != nil {
			return nil, errors.Join(err, release())
		}
		if held = append(held, h); h.before != nil && h.before.Host == host && h.before.left() {
			return nil, errors.Join(inUse(stack, h.before, ""), release())
		}
	}
	return release, nil
}

// inUse is the error of a stack that another process holds.
func inUse(stack string, owner *holder, by string) error {
	if owner == nil { // it has the lock and is about to write who it is
		return fmt.Errorf("another stackgen%s applies or destroys %s; wait until it has ended", by, stack)
	}
	return fmt.Errorf("another stackgen is busy with %s: `%s`, process %d on %s, since %s; wait until it has ended",
		stack, owner.Command, owner.Process, owner.Host, owner.Since.Local().Format("2006-01-02 15:04:05"))
}

// readHolder reads who holds or held a stack, or nil.
func readHolder(file string) *holder {
	body, err := files.Read(file, maxHolder)
	if err != nil {
		return nil
	}
	h := &holder{}
	if json.Unmarshal(body, h) != nil || h.Process == 0 {
		return nil
	}
	return h
}

func (h *hold) save() error { return check.WriteRecord(h.file, h.holder) }

// runs records which run of Terragrunt goes on if this process is killed.
func (h *hold) runs(pid int) error {
	h.Tool, h.ToolStarted = int32(pid), startOf(int32(pid))
	return h.save()
}

// release ends the hold, and removes its record unless a run of Terragrunt still works: one
// that a killed holder started and this process did not wait for, or one of this process.
func (h *hold) release() error {
	var err error
	switch {
	case h.before != nil && h.before.Host == h.Host && h.before.left():
		h.holder = *h.before
		err = h.save()
	case !h.left():
		_ = check.RemoveRecord(h.file) // without it, the lock says enough
	}
	return errors.Join(err, h.unlock())
}

// left reports whether a run of Terragrunt that a killed stackgen started still runs.
func (h *holder) left() bool {
	return h != nil && h.Tool != 0 && alive(h.Tool, h.ToolStarted)
}

// alive reports whether a process that started at a time still runs. Numbers of
// processes are used again.
func alive(pid int32, started int64) bool {
	p, err := process.NewProcess(pid)
	if err != nil {
		return false
	}
	if status, err := p.Status(); err == nil && len(status) > 0 && status[0] == process.Zombie {
		return false
	}
	now, err := p.CreateTime()
	return err == nil && max(now, started)-min(now, started) < 2000
}

// startOf is when a process started, or zero if the system does not tell.
func startOf(pid int32) int64 {
	p, err := process.NewProcess(pid)
	if err != nil {
		return 0
	}
	started, _ := p.CreateTime() // zero with an error
	return started
}
