package deploy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"stackgen/internal/finding"
)

// lockGrace is how long a lock may need to end after the process that held it.
const lockGrace = 10 * time.Second

// usedBy says who of a killed run still uses the state of a unit, or nothing if this
// command does not wait for it: another person's run, and a lock in a bucket whose process
// has ended, which nothing releases.
func (r *run) usedBy(f *finding.Finding) string {
	i := slices.IndexFunc(r.stacks, func(st *stack) bool { return st.name == f.Stack })
	if i < 0 {
		return ""
	}
	st := r.stacks[i]
	if pid := orphanIn(filepath.Join(st.dir, generated)); pid != 0 {
		st.locked = time.Time{}
		return fmt.Sprintf("OpenTofu of a run whose Terragrunt was killed still uses the state of %s (process %d)", f.Address, pid)
	}
	if st.hold.before == nil {
		return ""
	}
	if st.locked.IsZero() {
		st.locked = time.Now()
	}
	if time.Since(st.locked) > lockGrace {
		return ""
	}
	return fmt.Sprintf("the state of %s is locked, as by the run that a killed stackgen began", f.Address)
}

// leftLock adds to a finding about a locked state that the run which had the lock was
// killed, if that is known.
func (r *run) leftLock(f *finding.Finding) {
	if f.Kind != finding.Busy || f.Type != finding.Unit {
		return
	}
	for _, st := range r.stacks {
		if b := st.hold.before; st.name == f.Stack && b != nil && b.Host == st.hold.Host && orphanIn(filepath.Join(st.dir, generated)) == 0 {
			f.Because("`%s` of %s was killed, and no OpenTofu of this stack runs on this computer: "+
				"it has probably left the lock behind", b.Command, b.Since.UTC().Format("2006-01-02 15:04:05 UTC"))
		}
	}
}

// orphanIn is an OpenTofu that works in a folder and that no Terragrunt waits for, or 0.
// Without the permission to see a process, it is not known.
func orphanIn(dir string) int32 {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return 0
	}
	all, _ := process.Processes() // none is known
	for _, p := range all {
		if !isCalled(p, "tofu", "terraform") {
			continue
		}
		if cwd, err := p.Cwd(); err != nil || !strings.HasPrefix(cwd, dir+string(filepath.Separator)) {
			continue
		}
		if parent, err := p.Parent(); err == nil && isCalled(parent, "terragrunt") {
			continue
		}
		if status, err := p.Status(); err == nil && slices.Contains(status, process.Zombie) {
			continue
		}
		return p.Pid
	}
	return 0
}

// isCalled reports whether the program of a process has one of some names.
func isCalled(p *process.Process, names ...string) bool {
	name, err := p.Name()
	return err == nil && slices.Contains(names, strings.TrimSuffix(strings.ToLower(name), ".exe"))
}
