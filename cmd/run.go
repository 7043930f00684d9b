package cmd

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/shirou/gopsutil/v4/process"
	"github.com/urfave/cli/v2"

	"stackgen/internal/cluster"
	"stackgen/internal/disk"
	"stackgen/internal/guard"
	"stackgen/internal/report"
)

// runFile is what the units of a Terragrunt run share, beside them in the folder
// that Terragrunt makes for them and `terragrunt stack clean` removes.
const runFile = "stackgen-run.json"

// runPatience is how long the other units wait for the one that looks.
const runPatience = lookTime + time.Minute

// A seen is what the first unit of a Terragrunt run has seen, before the run
// changed anything. It holds no secrets: of a state, only what verdicts need.
type seen struct {
	Process   int32             `json:"process"` // Terragrunt's
	Started   int64             `json:"started"` // in ms since 1970
	Inventory json.RawMessage   `json:"inventory"`
	Units     []runUnit         `json:"units"`
	Refused   map[string]string `json:"refused"` // what was refused already -> the unit that said why
}

type runUnit struct {
	guard.UnitID
	guard.UnitState
}

// lookOnce is look, shared by all units of the run that started this process.
func (g *guarded) lookOnce(c *cli.Context) (err error) {
	dir := filepath.Join(g.project.StackDir(g.unit.Stack), ".terragrunt-stack")
	of, ok := parent()
	hook := os.Getenv("TG_CTX_HOOK_NAME") != "" // else a shell may have started it, which outlives a look
	if _, missing := os.Stat(dir); !ok || !hook || missing != nil || c.IsSet("inventory") {
		return g.look(c)
	}
	ctx, cancel := context.WithTimeout(c.Context, runPatience)
	defer cancel()
	unlock, err := disk.Lock(ctx, dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, unlock()) }()
	g.file = filepath.Join(dir, runFile)
	if g.recall(of) {
		return nil
	}
	if err := g.look(c); err != nil {
		return err
	}
	g.seen = of
	for _, u := range append(g.units(), g.others()...) {
		g.seen.Units = append(g.seen.Units, runUnit{u, g.input.State[u]})
	}
	if g.seen.Inventory, err = g.input.Inventory.Encode(); err != nil {
		return err
	}
	return g.remember()
}

// recall takes what this run has seen already. Anything wrong with the file is
// as good as no file: there is another look then.
func (g *guarded) recall(of seen) bool {
	body, err := os.ReadFile(g.file)
	if err != nil {
		return false
	}
	var was seen
	if json.Unmarshal(body, &was) != nil || was.Process != of.Process || !near(was.Started, of.Started) {
		return false
	}
	inv, err := cluster.Decode(g.file, was.Inventory)
	if err != nil {
		return false
	}
	g.seen, g.input.Inventory = was, inv
	for _, u := range was.Units {
		g.input.State[u.UnitID] = u.UnitState
	}
	return true
}

// near reports whether two times of one start are the same: systems compute them
// from a clock that may be set meanwhile.
func near(a, b int64) bool { return max(a, b)-min(a, b) < 2000 }

func (g *guarded) remember() error {
	return disk.WritePrivate(g.file, func(w io.Writer) error { return json.NewEncoder(w).Encode(g.seen) })
}

// parent identifies the process that started this one. A number alone would not
// do: numbers come back.
func parent() (seen, bool) {
	p, err := process.NewProcess(int32(os.Getppid()))
	if err != nil {
		return seen{}, false
	}
	started, err := p.CreateTime()
	return seen{Process: p.Pid, Started: started}, err == nil
}

// refusedBefore says that another unit of this run was refused for the same, and
// reports whether one was.
func (g *guarded) refusedBefore() bool {
	by := g.seen.Refused[g.args[0]]
	if by != "" {
		_ = report.Printf(g.out, "stackgen guard refuses the %s of %s: see the findings of %s\n", g.args[0], g.unit, by)
	}
	return by != ""
}

// refuse notes that everything was said, for the other units of the run.
func (g *guarded) refuse() error {
	if g.file == "" {
		return nil
	}
	if g.seen.Refused == nil {
		g.seen.Refused = map[string]string{}
	}
	g.seen.Refused[g.args[0]] = g.unit.String()
	return g.remember()
}
