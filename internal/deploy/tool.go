package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"stackgen/internal/engine"
	"stackgen/internal/files"
	"stackgen/internal/guard"
)

// maxLog bounds what a run of Terragrunt prints and reports, as far as it is read.
const maxLog = 256 << 20

// errInterrupted ends a command that a person interrupted.
var errInterrupted = errors.New("interrupted")

// unchanged is said of an interrupt before anything was applied.
const unchanged = "interrupted; nothing was changed"

// A toolRun is a run of Terragrunt that has ended.
type toolRun struct {
	code  int
	log   string // everything that it printed
	units []engine.UnitRun
}

// result is what the run did with a unit; empty if it did nothing with it.
func (r *toolRun) result(unit string) string { return engine.ResultOf(r.units, unit) }

// failed reports whether anything went wrong. The exit code does not say: Terragrunt
// ends with 0 if it was interrupted.
func (r *toolRun) failed() bool { return r.code != 0 || engine.AnyFailed(r.units) }

// terragrunt runs Terragrunt in a folder of a stack until it ends by itself. An interrupt
// of this command makes it stop as soon as it can. folder is a private folder for what it
// prints and reports.
func (r *run) terragrunt(s *stack, dir, folder string, env []string, args ...string) (*toolRun, error) {
	if r.ctx.Err() != nil {
		return nil, errInterrupted
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own
	env = slices.Concat(r.tools.Unattended(), env,
		[]string{guard.InterruptedVariable + "=" + r.interrupted(), guard.ShownVariable + "=" + r.shown()})
	p, err := r.tools.With(env...).Start(dir, log, "terragrunt", args...)
	if err != nil {
		return nil, err
	}
	noted := s.hold.runs(p.ID())
	r.until(p)
	code, err := p.Wait()
	if err := errors.Join(err, noted); err != nil {
		return nil, err
	}
	out := &toolRun{code: code}
	body, err := files.Read(log.Name(), maxLog)
	if err != nil {
		return nil, fmt.Errorf("cannot read what Terragrunt printed: %w", err)
	}
	out.log = string(body)
	if out.units, err = engine.ReadReport(filepath.Join(folder, "report.json")); err != nil {
		return nil, err
	}
	return out, nil
}

// until waits until a process has ended. The first signal interrupts OpenTofu, the second
// one says what is waited for, and the third one kills everything.
func (r *run) until(p *engine.Process) {
	failed := make(chan error, 1)
	for n := 0; ; { // no signal came before the process was started, or it came just now
		select {
		case <-p.Ended():
			return
		case err := <-failed:
			r.say("OpenTofu was not interrupted, and ends what it was started for: %s", err)
			continue
		case <-r.signals.after(n):
		}
		n++
		switch n {
		case 1:
			r.interrupt(p, failed)
		case 2:
			r.say("still waiting for what has begun; a third interrupt kills it, and may leave VMs that no state has")
		case 3:
			r.say("killed; run the same command again to complete what was left")
			_ = p.Kill() // it may have ended
		}
	}
}

// interrupt lets the run of a process begin nothing more: the hooks of its units refuse,
// and OpenTofu ends what it has begun.
func (r *run) interrupt(p *engine.Process, failed chan<- error) {
	const text = "interrupted: OpenTofu starts nothing more, and ends what it has begun"
	if r.view != nil {
		r.view.Interrupted(text)
	} else {
		r.say(text)
	}
	if err := os.WriteFile(r.interrupted(), nil, 0o600); err != nil {
		r.say("units that have not begun may begin: %s", err)
	}
	go func() {
		if err := p.Interrupt(); err != nil {
			failed <- err
		}
	}()
}

// interrupted is a file that exists once a person has interrupted the command.
func (r *run) interrupted() string { return filepath.Join(r.work, "interrupted") }

// shown is a folder for the JSON of the plans that are confirmed, for the guard of their units.
func (r *run) shown() string { return filepath.Join(r.work, "shown") }

// filters are the arguments that limit a run to a part of the units.
func filters(only, without []string) []string {
	var out []string
	for _, u := range only {
		out = append(out, "--filter", "./"+generated+"/"+u)
	}
	if len(only) == 0 {
		for _, u := range without {
			out = append(out, "--filter", "!./"+generated+"/"+u)
		}
	}
	return out
}

// problems are the errors in what a tool printed, without the prefixes of its lines.
func problems(log string) string { return engine.Problems(log) }

// background is a context for what must be done after an interrupt, too.
func (r *run) background() context.Context { return context.WithoutCancel(r.ctx) }
