package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"stackgen/internal/disk"
	"stackgen/internal/engine"
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
// of this command makes it stop as soon as it can. files is a private folder for what it
// prints and reports.
func (r *run) terragrunt(s *stack, dir, files string, env []string, args ...string) (*toolRun, error) {
	if r.ctx.Err() != nil {
		return nil, errInterrupted
	}
	if err := os.MkdirAll(files, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(files, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own
	p, err := r.tools.With(slices.Concat(r.tools.Unattended(), env)...).Start(dir, log, "terragrunt", args...)
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
	body, err := disk.Read(log.Name(), maxLog)
	if err != nil {
		return nil, fmt.Errorf("cannot read what Terragrunt printed: %w", err)
	}
	out.log = string(body)
	if out.units, err = engine.ReadReport(filepath.Join(files, "report.json")); err != nil {
		return nil, err
	}
	return out, nil
}

// until waits until a process has ended. The first signal interrupts it, the second one
// says what is waited for, and the third one kills it.
func (r *run) until(p *engine.Process) {
	for n := r.signals.count(); ; n++ {
		select {
		case <-p.Ended():
			return
		case <-r.signals.after(n):
		}
		switch n {
		case 0:
			const text = "interrupted: OpenTofu starts nothing more, and ends what it has begun"
			if r.view != nil {
				r.view.Interrupted(text)
			} else {
				r.say(text)
			}
			go func() { _ = p.Interrupt() }() // it may have ended
		case 1:
			r.say("still waiting for what has begun; a third interrupt kills it, and may leave VMs that no state has")
		case 2:
			r.say("killed; run the same command again to complete what was left")
			_ = p.Kill() // it may have ended
		}
	}
}

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
