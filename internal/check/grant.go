package check

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shirou/gopsutil/v4/process"

	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
)

const (
	grantDir = "grants" // in the private folder of a command
	maxGrant = 1 << 20
)

// WriteGrant writes a grant into the private folder of a command, for one run that it starts. It
// returns the variable that names the grant to the hook of that run.
func WriteGrant(work string, g *guard.Grant) (variable string, err error) {
	dir := filepath.Join(work, grantDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot write a grant: %w", err)
	}
	name, err := os.MkdirTemp(dir, "") // a name that no other grant has had
	if err != nil {
		return "", fmt.Errorf("cannot write a grant: %w", err)
	}
	file := name + ".json"
	err = files.WritePrivate(file, func(w io.Writer) error { return json.NewEncoder(w).Encode(g) })
	return guard.GrantVariable + "=" + file, err
}

// Hex is the checksum in hexadecimal, as a grant has it.
func (s PlanSum) Hex() string { return hex.EncodeToString(s[:]) }

// takeGrant takes the grant that the environment names, so that no other process can use it. It
// counts only in the private folder of a command that lives, and that started this run. Without
// the variable there is none. The findings say why a grant is none.
func (h *Hook) takeGrant() ([]finding.Finding, error) {
	file := os.Getenv(guard.GrantVariable)
	if file == "" {
		return nil, nil
	}
	by := h.startedBy()
	if by == nil || len(by.Work) == 0 || !by.lives() || filepath.Dir(file) != filepath.Join(by.Work[0], grantDir) {
		return guard.RefuseGrant(h.Unit, finding.Why("grant-other-run")), nil
	}
	return h.take(file)
}

// take reads the file of a grant, after nobody else can.
func (h *Hook) take(file string) ([]finding.Finding, error) {
	taken := file + ".taken"
	switch err := os.Rename(file, taken); {
	case errors.Is(err, fs.ErrNotExist):
		return guard.RefuseGrant(h.Unit, finding.Why("grant-used")), nil
	case err != nil:
		return nil, fmt.Errorf("cannot take the grant of this run: %w", err)
	}
	body, err := files.Read(taken, maxGrant)
	if err != nil {
		return nil, fmt.Errorf("cannot read the grant of this run: %w", err)
	}
	g := &guard.Grant{}
	if err := json.Unmarshal(body, g); err != nil {
		return nil, fmt.Errorf("cannot read the grant of this run: %w", err)
	}
	if g.Unit != h.Unit {
		return guard.RefuseGrant(h.Unit, finding.Why("grant-other-unit", g.Unit)), nil
	}
	if h.command.SavedPlan() == "" {
		return guard.RefuseGrant(h.Unit, finding.Why("grant-other-plan")), nil
	}
	h.grant = g
	return nil, nil
}

// lives reports whether the command itself still runs.
func (r *recordedRun) lives() bool {
	p, err := process.NewProcess(r.Process)
	if err != nil {
		return false
	}
	started, err := p.CreateTime()
	return err == nil && sameStart(started, r.Started)
}

// judgeGranted judges a saved plan by its grant, and by what was found about the parts that the
// grant is about. The plan file is the one of the grant at this moment.
func (h *Hook) judgeGranted(ctx context.Context, r *Result) ([]finding.Finding, error) {
	found := h.grant.Concerning(r.Found)
	if h.grant.Kind == guard.GrantReplace { // a destroy does not need what was not rendered
		found = append(r.Unrendered, found...)
	}
	used, err := h.inUse(ctx, found, h.run.started())
	if err != nil || used != nil {
		return used, err
	}
	if finding.Exit(found) != finding.OK {
		return found, nil
	}
	judged, err := h.judgePlan(ctx, r)
	if err != nil {
		return nil, err
	}
	sum, err := SumPlan(h.command.SavedPlan())
	if err != nil {
		return nil, err
	}
	return append(h.grant.Concerning(judged), h.grant.Refuses(h.Unit, sum.Hex(), h.plans[h.Unit])...), nil
}
