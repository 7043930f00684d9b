package check

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"stackgen/internal/cluster"
	"stackgen/internal/files"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

const (
	// runFile is what the units of a Terragrunt run share. It is beside them, in the
	// folder that Terragrunt makes.
	runFile = "stackgen-run.json"

	// judgedFile says beside it which units the run has judged.
	judgedFile = "stackgen-judged.json"

	// runTimeout is how long a unit waits for the one that reads the cluster.
	runTimeout = clusterTimeout + time.Minute

	maxRun = maxInventory + maxState
)

// A sharedRun is what the first unit of a Terragrunt run read, before the run
// changed anything. It holds no secret: of a state, only what verdicts need.
type sharedRun struct {
	Process   int32             `json:"process"` // Terragrunt's
	Started   int64             `json:"started"` // in ms since 1970
	Inventory json.RawMessage   `json:"inventory"`
	Units     []runUnit         `json:"units"`
	Refused   map[string]string `json:"refused"` // command -> the unit that has the reasons

	file string
}

type runUnit struct {
	tf.Unit
	tf.State
}

// lookOnce is read, once for all units of the run that started this process.
func (h *Hook) lookOnce(ctx context.Context) (err error) {
	dir := filepath.Join(h.Project.StackDir(h.Unit.Stack), ".terragrunt-stack")
	run := parentRun()
	if _, missing := os.Stat(dir); run == nil || !hooked() || missing != nil || h.sources.Inventory != "" {
		return h.read(ctx, Config{Destroy: !h.applies() || h.grant != nil})
	}
	waiting, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	unlock, err := files.Lock(waiting, dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	again, err := run.again(filepath.Join(dir, judgedFile), h.command.Args[0]+" "+h.Unit.String())
	if err != nil {
		return err
	}
	run.file = filepath.Join(dir, runFile)
	switch h.shared = h.load(run); {
	case h.shared && again:
		h.State = tf.States{}
		return h.read(ctx, Config{Destroy: !h.applies() || h.grant != nil})
	case h.shared:
		return nil
	}
	if err := h.read(ctx, Config{Destroy: !h.applies() || h.grant != nil}); err != nil {
		return err
	}
	byName := func(a, b tf.Unit) int { return strings.Compare(a.String(), b.String()) }
	for _, u := range slices.SortedFunc(maps.Keys(h.State), byName) {
		run.Units = append(run.Units, runUnit{u, h.State[u]})
	}
	if run.Inventory, err = h.Inventory.Encode(); err != nil {
		return err
	}
	h.run = run
	return run.save()
}

// A judgedRun says which units of a Terragrunt run were judged, each with its command.
type judgedRun struct {
	Process int32    `json:"process"`
	Started int64    `json:"started"`
	Judged  []string `json:"judged"`
}

// again reports whether the run has judged a unit before, and records that it does. Terragrunt runs a unit again after errors
// that it expects to pass, such as a timeout: what the first attempt has changed was read before it.
func (r *sharedRun) again(file, unit string) (bool, error) {
	var was judgedRun
	body, err := files.Read(file, maxBegun)
	if err != nil || json.Unmarshal(body, &was) != nil || was.Process != r.Process || !sameStart(was.Started, r.Started) {
		was = judgedRun{Process: r.Process, Started: r.Started}
	}
	if slices.Contains(was.Judged, unit) {
		return true, nil
	}
	was.Judged = append(was.Judged, unit)
	return false, files.WritePrivate(file, func(w io.Writer) error { return json.NewEncoder(w).Encode(was) })
}

// lookOnceMore reads the cluster again, and judges with it the containers of the unit, whose apply is
// about to create some: the provider takes a container that has got the VMID for the one that it
// creates. What is not theirs is judged as it was read with the states.
func (h *Hook) lookOnceMore(ctx context.Context, r *Result) error {
	now, err := ReadCluster(ctx, h.Project, h.sources)
	if err != nil {
		return err
	}
	var vmids []int
	for _, e := range h.containers() {
		vmids = append(vmids, e.Value.VMID)
	}
	h.Inventory = h.Inventory.Replaced(now, vmids)
	r.Inventory = h.Inventory
	return h.rules(ctx, r)
}

// createsContainers reports whether the run is an apply of containers that are in no state.
func (h *Hook) createsContainers() bool {
	if h.Unit.Unit != lock.UnitContainer || !h.applies() || h.sources.Inventory != "" {
		return false
	}
	return slices.ContainsFunc(h.containers(), func(e lock.Entry[lock.VM]) bool {
		return !slices.ContainsFunc(h.State[h.Unit].Resources, func(r tf.Resource) bool { return r.Key == e.Key })
	})
}

// containers are those that the stack has.
func (h *Hook) containers() []lock.Entry[lock.VM] {
	return slices.DeleteFunc(slices.Clone(h.Project.Lock.Stacks.Get(h.Unit.Stack).VMs), func(e lock.Entry[lock.VM]) bool {
		return !e.Value.IsContainer() || e.Value.Status != lock.Live
	})
}

// load reads what the run has read already. If the file is missing or wrong in any
// way, this unit reads everything again.
func (h *Hook) load(run *sharedRun) bool {
	body, err := files.Read(run.file, maxRun)
	if err != nil {
		return false
	}
	saved := &sharedRun{file: run.file}
	if json.Unmarshal(body, saved) != nil || saved.Process != run.Process || !sameStart(saved.Started, run.Started) {
		return false
	}
	inv, err := cluster.Decode(run.file, saved.Inventory)
	if err != nil {
		return false
	}
	h.run, h.Inventory = saved, inv
	for _, u := range saved.Units {
		h.State[u.Unit] = u.State
	}
	return true
}

// sameStart reports whether two times may be of one start: systems compute them
// from a clock that may be set in between.
func sameStart(a, b int64) bool { return max(a, b)-min(a, b) < 2000 }

// began is when this process began.
var began = time.Now()

// started is when the run began; zero if that is not known. Linux counts from the
// second in which it was booted, so Started may be up to a second early, and a lock
// that another run took in that second would look like one of this run. It is as early
// for this process, whose begin is known.
func (r *sharedRun) started() time.Time {
	if r == nil {
		return time.Time{}
	}
	out := time.UnixMilli(r.Started)
	if own, err := process.NewProcess(int32(os.Getpid())); err == nil {
		if created, err := own.CreateTime(); err == nil {
			out = out.Add(max(0, min(time.Second, began.Sub(time.UnixMilli(created)))))
		}
	}
	return out
}

func (r *sharedRun) save() error {
	return files.WritePrivate(r.file, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
}

// parentRun identifies the process that started this one, by its number and its
// start: numbers are used again. It is nil if the system does not tell.
func parentRun() *sharedRun {
	p, err := process.NewProcess(int32(os.Getppid()))
	if err != nil {
		return nil
	}
	started, err := p.CreateTime()
	if err != nil {
		return nil
	}
	return &sharedRun{Process: p.Pid, Started: started}
}

// terragrunt is the command line and the working directory of the run that started
// this process, or nothing if the system does not tell.
func terragrunt() (args []string, dir string) {
	p, err := process.NewProcess(int32(os.Getppid()))
	if err != nil || !hooked() {
		return nil, ""
	}
	args, _ = p.CmdlineSlice() // an error is the same as nothing
	dir, _ = p.Cwd()
	return args, dir
}

// ownRun reports whether `stackgen apply` or `stackgen destroy` started the run of
// Terragrunt that started this process, or the system does not tell. That command may have
// been killed since, and what it started may be a wrapper, such as that of a version manager.
func (h *Hook) ownRun() bool {
	_, err := process.NewProcess(int32(os.Getppid()))
	return err != nil || h.startedBy() != nil
}

// A recordedRun is what the record of who applies a stack says of the command and of the run of
// Terragrunt that it started last.
type recordedRun struct {
	Process     int32    `json:"process"`
	Started     int64    `json:"started"`
	Work        []string `json:"work"` // private folders, its own first
	Tool        int32    `json:"tool"`
	ToolStarted int64    `json:"tool_started"`
}

// recorded is the record of who applies the stack, or nil.
func (h *Hook) recorded() *recordedRun {
	var who recordedRun
	body, err := files.Read(RecordFile(h.Project.Root, h.Unit.Stack, "apply"), maxHolder)
	if err != nil || json.Unmarshal(body, &who) != nil {
		return nil
	}
	return &who
}

// otherRun reports whether a command applies the stack now that did not start this process: what is recorded to be created is its.
func (h *Hook) otherRun() bool {
	who := h.recorded()
	works := func(pid int32, at int64) bool {
		p, err := process.NewProcess(pid)
		if pid == 0 || err != nil {
			return false
		}
		started, err := p.CreateTime()
		return err == nil && sameStart(at, started)
	}
	return who != nil && h.startedBy() == nil && (works(who.Process, who.Started) || works(who.Tool, who.ToolStarted))
}

// startedBy is the recorded run if it started this process, or nil. A command records its run of
// Terragrunt once that has started, and a hook may come before that: then the command itself tells.
func (h *Hook) startedBy() *recordedRun {
	who := h.recorded()
	if who == nil {
		return nil
	}
	p, err := process.NewProcess(int32(os.Getppid()))
	for ; err == nil; p, err = p.Parent() {
		started, unknown := p.CreateTime()
		is := func(pid int32, at int64) bool { return p.Pid == pid && unknown == nil && sameStart(at, started) }
		if is(who.Tool, who.ToolStarted) || is(who.Process, who.Started) {
			return who
		}
	}
	return nil
}

// maxHolder bounds the record of who applies a stack.
const maxHolder = 1 << 16

// interrupted is the error of a unit whose run was interrupted before the unit began.
func interrupted() error {
	if file := os.Getenv(guard.InterruptedVariable); file != "" {
		if _, err := os.Stat(file); err == nil {
			return errors.New("the run was interrupted before this unit began; run the same command again to do the rest")
		}
	}
	return nil
}

// partialRun reports whether a run has not all units of a stack, as far as the
// command line of Terragrunt tells.
func partialRun() bool {
	if os.Getenv(guard.LaterVariable) != "" {
		return false
	}
	args, dir := terragrunt()
	return strings.Contains(dir, ".terragrunt-stack") || len(args) > 0 && !wholeRun(args, os.Environ())
}

// wholeRun reports whether a command line of Terragrunt runs all units of a stack.
func wholeRun(args, environ []string) bool {
	if guard.SelectsPart(args[1:], environ) {
		return false
	}
	return slices.Contains(args, "stack") || slices.Contains(args, "--all") || slices.Contains(args, "-a")
}

// refusedBy is the unit of the run for which the same command was refused, or empty.
func (r *sharedRun) refusedBy(command string) string {
	if r == nil {
		return ""
	}
	return r.Refused[command]
}

// refuse records a refusal for the other units of the run.
func (r *sharedRun) refuse(command string, unit tf.Unit) error {
	if r == nil {
		return nil
	}
	if r.Refused == nil {
		r.Refused = map[string]string{}
	}
	r.Refused[command] = unit.String()
	return r.save()
}
