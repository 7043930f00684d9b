package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A UnitRun is what a run of Terragrunt did with a unit.
type UnitRun struct {
	Name   string
	Result string // succeeded, failed, early exit, excluded
	Reason string
	Cause  string
}

// ResultOf is what a run did with a unit; empty if it did nothing with it.
func ResultOf(units []UnitRun, name string) string {
	i := slices.IndexFunc(units, func(u UnitRun) bool { return u.Name == name })
	if i < 0 {
		return ""
	}
	return units[i].Result
}

// AnyFailed reports whether a unit was not run to its end.
func AnyFailed(units []UnitRun) bool {
	return slices.ContainsFunc(units, func(u UnitRun) bool { return u.Result != "succeeded" && u.Result != "excluded" })
}

// Unattended are the variables that keep Terragrunt from prompts and colors, and limit how
// many units run at once, unless the environment says so. What it prints names its unit.
func (t *Tools) Unattended() []string {
	out := []string{"TG_NON_INTERACTIVE=true", "TG_NO_COLOR=true", "TG_LOG_FORMAT=pretty", "TG_TF_FORWARD_STDOUT=false",
		"TG_DETAILED_EXITCODE=false", "TG_TIPS_DISABLED=true", "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TF_CLI_ARGS_plan="}
	if value(t.Env, "TG_PARALLELISM") == "" {
		out = append(out, fmt.Sprintf("TG_PARALLELISM=%d", max(4, 2*runtime.NumCPU())))
	}
	return out
}

// maxReport bounds a report that is read.
const maxReport = 64 << 20

// ReadReport reads the report that a run of Terragrunt has written. Without one there are
// no units: then what it printed says why.
func ReadReport(file string) ([]UnitRun, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Size() > maxReport {
		err = fmt.Errorf("it has %d bytes", info.Size())
	}
	var units []UnitRun
	if err == nil {
		var body []byte
		if body, err = os.ReadFile(file); err == nil {
			err = json.Unmarshal(body, &units)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the report of Terragrunt: %w", err)
	}
	for i := range units {
		units[i].Name = filepath.Base(units[i].Name)
	}
	return units, nil
}

// A StackPlan is the plans of a stack's units as JSON files, FOLDER/UNIT/tfplan.json.
type StackPlan struct {
	Folder string
	Units  []UnitRun
	Log    string // everything that was printed
	Code   int
}

// File is the plan of a unit.
func (p *StackPlan) File(unit string) string {
	return filepath.Join(p.Folder, ".terragrunt-stack", unit, "tfplan.json")
}

// Problem is why a unit was not planned.
func (p *StackPlan) Problem(unit string) string {
	var own strings.Builder
	for l := range strings.Lines(p.Log) {
		if strings.Contains(l, "/"+unit+"] ") {
			own.WriteString(l)
		}
	}
	return Problems(cmp.Or(own.String(), p.Log))
}

// PlanStack plans all units of a stack at once, without a lock and without writing a
// state. files is a private folder for the plans.
func (t *Tools) PlanStack(ctx context.Context, stack, files string, environ ...string) (*StackPlan, error) {
	p := &StackPlan{Folder: filepath.Join(files, "json")}
	report := filepath.Join(files, "report.json")
	r, err := t.With(append(t.Unattended(), environ...)...).Run(ctx, stack, "terragrunt",
		"stack", "run", "plan", "--out-dir", filepath.Join(files, "plans"), "--json-out-dir", p.Folder,
		"--report-file", report, "--report-format", "json", "--", "-input=false", "-lock=false")
	if err != nil {
		return nil, err
	}
	p.Log, p.Code = r.Text(), r.Code
	p.Units, err = ReadReport(report)
	return p, err
}
