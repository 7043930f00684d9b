package report

import (
	"stackgen/internal/finding"
)

// sarif is the report in SARIF: a rule for each verdict, and a result for each finding, at
// its line of a spec. What a baseline knows is suppressed.
func (r *Drift) sarif() sarifLog {
	run := newSARIFRun()
	at := map[finding.Kind]int{}
	for i, v := range verdicts {
		at[v.Kind] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{string(v.Kind), sarifText{v.Doc}})
	}
	for i := range r.Findings.Findings {
		f := &r.Findings.Findings[i]
		row := newRow(f)
		row.steps = f.Steps
		result := sarifResult{RuleID: string(f.Kind), Level: "warning", Message: sarifText{row.prose()}}
		if index, ok := at[f.Kind]; ok {
			result.RuleIndex = &index
		}
		switch {
		case f.Stops():
			result.Level = "error"
		case f.Severity == finding.OK:
			result.Level = "note"
		}
		if row.at != nil {
			region := &sarifRegion{row.at.Line, max(row.at.Column, 1)}
			result.Locations = []sarifLocation{{sarifPhysical{sarifArtifact{fileURI(row.at.File)}, region}}}
		}
		if isKnown(f) {
			result.Suppressions = []sarifSuppression{{"external", f.Change.Known.Reason}}
		}
		run.Results = append(run.Results, result)
	}
	return newSARIFLog(run)
}
