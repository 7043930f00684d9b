package report

import (
	"net/url"
	"path"
	"slices"

	"stackgen/schema"
)

// SARIF 2.1.0, as far as we say something in it:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex *int            `json:"ruleIndex,omitempty"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`

		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

func newSARIF(problems []schema.Problem) sarifLog {
	run := newSARIFRun()
	for _, c := range schema.Codes {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{c.Code, sarifText{c.Doc}})
	}
	for _, p := range problems {
		run.Results = append(run.Results, newSARIFResult(cleanProblem(p)))
	}
	return newSARIFLog(run)
}

func newSARIFRun() sarifRun {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver.Name = "stackgen"
	return run
}

func newSARIFLog(run sarifRun) sarifLog {
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func newSARIFResult(p schema.Problem) sarifResult {
	r := sarifResult{RuleID: p.Code, Level: string(p.Severity), Message: sarifText{withFix(p)}}
	if i := slices.IndexFunc(schema.Codes, func(c schema.CodeDoc) bool { return c.Code == p.Code }); i >= 0 {
		r.RuleIndex = &i
	}
	if p.File == "" {
		return r
	}
	at := sarifPhysical{ArtifactLocation: sarifArtifact{fileURI(p.File)}}
	if p.Line > 0 {
		at.Region = &sarifRegion{StartLine: p.Line, StartColumn: max(p.Col, 1)}
	}
	r.Locations = []sarifLocation{{at}}
	return r
}

// fileURI is a relative reference for a relative path: viewers resolve it
// against the repository.
func fileURI(file string) string {
	u := url.URL{Path: path.Clean(file)}
	if path.IsAbs(file) {
		u.Scheme = "file"
	}
	return u.String()
}
