package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"stackgen/internal/check"
	"stackgen/internal/engine"
	"stackgen/internal/finding"
	"stackgen/internal/live"
	"stackgen/internal/project"
	"stackgen/internal/report"
)

// A Request is what a person asks for.
type Request struct {
	Paths    []string
	Stacks   []string            // exactly these stacks; nil for those of the paths
	Part     map[string][]string // of a destroy: the keys of VMs, by their stacks; nil for whole stacks
	Leave    []string            // of these, the VMs whose members leave their class, as STACK/KEY
	Line     string              // the command line, to be repeated from here
	DryRun   bool                // end after the summary
	Then     []string            // stacks that the same command applies next, after a summary and a question of their own
	Created  *[]string           // gets the VMs that a dry run of an apply would create, as STACK/KEY; or nil
	Yes      bool                // the answer, given before the question
	Terminal bool                // somebody can answer
	In       io.Reader
	Out      io.Writer // results
	ErrOut   io.Writer // progress, questions and errors
	Options  report.Options
	View     *live.View // of what is done after the answer
}

// A run is one command.
type run struct {
	Request
	command  string // apply, destroy or rebuild
	p        *project.Project
	tools    *engine.Tools
	ctx      context.Context // done at the first signal
	signals  *signals
	stacks   []*stack
	work     string // a private folder
	events   bool   // OpenTofu writes events
	undo     func() error
	healed   []finding.Finding // about containers that were removed from their states
	gaveMACs bool              // it has given clones of an earlier run their MAC addresses
	applied  bool              // the command was confirmed, or has written what it found
	failed   bool              // something was not done
	blocked  bool              // the guard refused a stack, or more was planned than was announced
	began    time.Time
	view     *live.View // while something is shown

	explained atomic.Bool // OpenTofu has reported an error of the run that was started last

	out, errOut       io.Writer    // what Out and ErrOut are otherwise, while something is shown
	results, messages bytes.Buffer // what goes there when it is not shown any more
}

// A stack is one of the stacks that the command works on.
type stack struct {
	name, dir string
	root      string // of the project
	hold      *hold
	runs      int       // of Terragrunt, so far
	locked    time.Time // since when this command waits for a lock of its state that no process is known to hold

	second     map[string][]string // disks that a second apply adds, by the keys of their VMs
	hidden     map[string]bool     // VMs that a second apply gives NUMA nodes again
	unfinished check.Begun         // VMs that applies began to create and did not complete
	stopped    check.Stopped       // guests that runs have stopped and not started again
	restarts   map[string]int      // guests that the plans restart, by their keys, with their VMIDs
	waits      map[string]int      // guests with settings of cloud-init that wait for a restart, by their keys, with their VMIDs
	outdated   bool                // the plan of its VMs is from before their outputs were written again
	later      []string            // VMs that a run has left, which are completed after an exchange of disks
	end        string              // what is said of it at the end, if it was verified
	clones     []string            // the keys of containers that this command has cloned
	halted     []string            // VMs, as STACK/KEY, that a rebuild has begun to shut down
}

// An ended is the end of a command that has said why.
type ended struct{ exit finding.Severity }

func (e ended) Error() string { return fmt.Sprintf("exit %d", int(e.exit)) }

// Check reports what makes the request impossible, before anything is read.
func (q Request) Check() error {
	if q.DryRun || q.Yes || q.Terminal {
		return nil
	}
	return errors.New("nobody can confirm this here: standard input is no terminal. Give --yes to confirm it in advance; nothing was written")
}

// begin takes the holds of all selected stacks and finds the tools.
func begin(ctx context.Context, command string, p *project.Project, q Request) (r *run, err error) {
	r = &run{Request: q, command: command, p: p, began: time.Now()}
	r.ctx, r.signals = listen(ctx)
	if r.work, err = os.MkdirTemp("", "stackgen-"+command+"-"); err != nil {
		r.signals.stop()
		return nil, fmt.Errorf("cannot make a folder for plans: %w", err)
	}
	if err := r.prepare(); err != nil {
		if r.ctx.Err() != nil {
			err = errors.New(unchanged)
		}
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// applies reports whether the command is an apply. A rebuild applies plans, too, but only of what it replaces or completes.
func (r *run) applies() bool { return r.command == "apply" }

// tool is the command of OpenTofu with which this one changes something.
func (r *run) tool() string {
	if r.command == "destroy" {
		return r.command
	}
	return "apply"
}

func (r *run) prepare() (err error) {
	if r.tools, err = engine.Find(r.p.Root, os.Environ()); err != nil {
		return err
	}
	if _, err := r.tools.Path("terragrunt"); err != nil {
		return err
	}
	if err := check.Misled(r.tool(), r.tools.Env); err != nil {
		return err
	}
	r.tools = r.tools.With(withOwnFolder(r.tools.Env)...)
	if r.events, err = r.tools.WritesEvents(r.ctx); err != nil {
		return err
	}
	host, _ := os.Hostname() // for people
	me := holder{
		Process: int32(os.Getpid()), Started: startOf(int32(os.Getpid())), Host: host,
		Since: time.Now(), Command: r.Line, Work: []string{r.work},
	}
	for _, s := range r.p.SelectedStacks() {
		dir, err := filepath.Abs(r.p.StackDir(s.Name))
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(dir, "terragrunt.stack.hcl")); err != nil {
			return fmt.Errorf("stack %s is not rendered: run `stackgen render`, then run the same command again", s.Name)
		}
		h, err := takeHold(r.p.Root, s.Name, dir, me)
		if err != nil {
			return err
		}
		one := &stack{name: s.Name, dir: dir, root: r.p.Root, hold: h}
		r.stacks = append(r.stacks, one)
		if err := r.outlive(one); err != nil {
			return err
		}
		if one.unfinished, err = check.ReadBegun(one.root, one.name); err != nil {
			return err
		}
		if one.stopped, err = check.ReadStopped(one.root, one.name); err != nil {
			return err
		}
	}
	return nil
}

// withOwnFolder is a PATH on which the units' hooks find this program, after all others.
func withOwnFolder(environ []string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	path := ""
	for _, e := range environ {
		if value, ok := strings.CutPrefix(e, "PATH="); ok {
			path = value
		}
	}
	return []string{"PATH=" + path + string(filepath.ListSeparator) + filepath.Dir(self)}
}

// outlive waits until the run of Terragrunt has ended that a killed stackgen has left
// behind: it goes on and creates VMs.
func (r *run) outlive(s *stack) error {
	before := s.hold.before
	if before == nil || before.Host != s.hold.Host {
		return nil
	}
	for said := false; before.left(); said = true {
		if !said {
			r.say("`%s`, process %d, was killed, and the Terragrunt run that it started goes on; waiting until it has ended (process %d)",
				before.Command, before.Process, before.Tool)
		}
		if err := r.pause(); err != nil {
			return err
		}
	}
	var errs []error
	for _, dir := range before.Work {
		if isWork(dir) {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}

// isWork reports whether a path can be the private folder of a command.
func isWork(dir string) bool {
	for _, command := range []string{"apply", "destroy", "rebuild"} {
		if ok, _ := filepath.Match(filepath.Join(os.TempDir(), "stackgen-"+command+"-*"), dir); ok {
			return true
		}
	}
	return false
}

// pauseTime is the time between two checks of something that is waited for.
const pauseTime = 500 * time.Millisecond

// pause waits a moment, or returns that a person interrupted it.
func (r *run) pause() error {
	select {
	case <-r.ctx.Done():
		return errInterrupted
	case <-time.After(pauseTime):
		return nil
	}
}

// close releases everything.
func (r *run) close() error {
	errs := []error{r.keepStopped()}
	for _, s := range r.stacks {
		errs = append(errs, s.hold.release())
	}
	r.signals.stop()
	return errors.Join(append(errs, os.RemoveAll(r.work))...)
}

// sources are where the command reads: the cluster and the backends.
func (r *run) sources() check.Sources {
	return check.Sources{Destroys: r.command == "destroy", Progress: func(text string) { r.say("%s", text) }}
}

// files is a private folder for the next run of Terragrunt in a stack.
func (r *run) files(s *stack) string {
	s.runs++
	return filepath.Join(r.work, s.name, fmt.Sprint(s.runs))
}

// finish turns how a command ended into its exit code.
func (r *run) finish(err error) (finding.Severity, error) {
	var end ended
	shown, exit := r.view != nil, finding.OK
	switch {
	case errors.As(err, &end):
		exit = end.exit
	case r.blocked && r.ctx.Err() == nil:
		exit = finding.Blocked
	case err != nil || r.failed || r.ctx.Err() != nil:
		exit = finding.Failed
	}
	if failed := r.endView(exit); failed != nil && !errors.Is(failed, syscall.EPIPE) { // a reader that is gone reads no error
		return finding.Failed, failed
	}
	if exit != finding.OK {
		defer r.sayHealed()
	}
	switch {
	case errors.As(err, &end):
		return end.exit, nil
	case shown && r.ctx.Err() != nil: // the view has said it
		return finding.Failed, nil
	case r.ctx.Err() != nil:
		r.sayUnchanged("interrupted")
		return finding.Failed, nil
	case err != nil:
		return finding.Failed, err
	}
	return exit, nil
}
