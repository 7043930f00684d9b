package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/report"
	"stackgen/internal/report/sample"
)

// change is a finding about one attribute of one VM.
func change(key string, k finding.Kind, s finding.Severity, c finding.Change) finding.Finding {
	return finding.Finding{Address: finding.Address{Stack: "lab", Unit: "proxmox-vm", Type: finding.VM, Key: key}, Kind: k, Severity: s,
		Object: finding.Object{VMID: 100, Node: "pve1", Change: &c}, Reason: finding.Why("because of " + finding.Code(k))}
}

func printed(t *testing.T, r *report.Drift, o report.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Print(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestDriftAnswer: the first line says whether to worry.
func TestDriftAnswer(t *testing.T) {
	hand, spec := finding.Change{Cause: finding.ByHand}, finding.Change{Cause: finding.BySpec}
	known := finding.Change{Cause: finding.ByHand, Known: &finding.Known{Reason: "r", Expires: "2030-01-01"}}
	expired := finding.Change{Property: "cores", Cause: finding.ByHand, Known: &finding.Known{Reason: "r", Expires: "2020-01-01", Expired: true}}
	for want, fs := range map[string][]finding.Finding{
		"no drift: 2 VMs are as their specs say":                                nil,
		"no drift: 2 VMs are as their specs say; 1 that an apply leaves":        {change("a", finding.Noise, finding.OK, hand)},
		"no drift: 2 VMs are as their specs say, except for 1 known difference": {change("a", finding.DiskLoss, finding.Blocked, known)},
		"safe: 3 changes are harmless: an apply sets 1 back; an apply makes 1 that the specs ask for (1 with a restart); 1 that an apply leaves": {
			change("a", finding.Live, finding.Outdated, hand), change("b", finding.Restart, finding.Outdated, spec), change("b", finding.Noise, finding.Outdated, hand)},
		"safe: 1 change is harmless: 1 that an apply leaves":                                    {change("a", finding.Noise, finding.Outdated, finding.Change{Cause: finding.NotKnown, Real: "x"})},
		"safe: 2 changes are harmless: 2 waiting for a restart already":                         {change("a", finding.Pending, finding.Outdated, finding.Change{Cause: finding.NotKnown}), change("b", finding.Pending, finding.Outdated, finding.Change{Cause: finding.ByHand, Real: "4", Spec: "4"})},
		"safe: 1 change is harmless: an apply sets 1 back (1 after the next restart)":           {change("a", finding.Pending, finding.Outdated, finding.Change{Cause: finding.ByHand, Real: "4", Spec: "2"})},
		"safe: 1 change is harmless: an apply sets 1 back":                                      {change("a", finding.Live, finding.Outdated, expired), change("a", finding.Live, finding.Outdated, known)},
		"blocked: 1 of 2 changes would harm (1 replace); do not apply":                          {change("a", finding.Live, finding.Outdated, hand), change("a", finding.Replace, finding.Blocked, spec)},
		"blocked: 1 of 1 change would harm or cannot be judged (1 unknown); do not apply":       {change("a", finding.Unknown, finding.Blocked, spec)},
		"blocked: 1 of 2 changes would harm (1 gone), and 1 could not be checked; do not apply": {change("a", finding.Gone, finding.Blocked, hand), change("b", finding.Unknown, finding.Failed, hand)},
		"unknown: 1 thing could not be checked; do not apply":                                   {change("b", finding.Unknown, finding.Failed, hand)},
		"safe: 2 changes are harmless: 1 destroyed, which the specs permit; 1 created":          {change("a", finding.Destroy, finding.Outdated, spec), change("b", finding.Create, finding.Outdated, spec)},
		"safe: 2 changes are harmless: 1 imported; 1 moved, which stay":                         {change("a", finding.Import, finding.Outdated, spec), change("b", finding.Moved, finding.Outdated, hand)},
		"blocked: 1 of 1 change would harm (1 brand-new); do not apply":                         {change("a", "brand-new", finding.Blocked, hand)},
	} {
		r := report.NewDrift(fs, nil)
		r.VMs = []finding.ScopeVM{{Stack: "lab", Key: "a"}, {Stack: "lab", Key: "b"}}
		if first, _, _ := strings.Cut(printed(t, r, report.Options{}), "\n"); first != want {
			t.Errorf("got  %s\nwant %s", first, want)
		}
	}
}

// TestDriftText: the worst first, alike ones in one row, steps that follow each other once,
// and at the end what is known and what no spec has.
func TestDriftText(t *testing.T) {
	var fs []finding.Finding
	for i := range 5 {
		f := change(fmt.Sprintf("web%d", i), finding.Restart, finding.Outdated, finding.Change{Property: "memory", Cause: finding.ByHand})
		f.Because("Proxmox VE has 10240 MiB, specs/lab.yaml:%d:20 says 8192", i)
		f.Next("to set it back, apply", "stackgen apply specs/lab.yaml")
		fs = append(fs, f)
	}
	tags := change("db", finding.Live, finding.Outdated, finding.Change{Property: "tags", Cause: finding.ByHand, By: []finding.Act{{Time: "2026-11-20T08:00:00Z", User: "root@pam", Task: "qmconfig"}},
		Known: &finding.Known{Expires: "2026-10-31", Expired: true}})
	tags.Next("to set it back, apply", "stackgen apply specs/lab.yaml")
	lost := change("db", finding.DiskLoss, finding.Blocked, finding.Change{Property: "scsi1", Cause: finding.ByHand})
	known := change("db", finding.Live, finding.Outdated, finding.Change{Known: &finding.Known{Expires: "2026-12-31"}})
	r := report.NewDrift(append(fs, tags, lost, known), []string{"a note"})
	r.Coverage = finding.Coverage{Managed: 6, Unmanaged: []finding.Unmanaged{{VMID: 150, Name: "old"}}, Steps: []finding.Step{finding.Do("write specs for them", "stackgen discover 150")}}
	want := `blocked: 1 of 7 changes would harm (1 disk-loss); do not apply
blocked disk-loss  lab/db scsi1: VM 100 on pve1  because of disk-loss
safe    restart    lab: 5 VMs                    because of restart
    web0, web1, web2 and 2 more
    changes: memory (--verbose prints the values)
safe    live       lab/db tags: VM 100 on pve1   because of live
    task log: qmconfig by root@pam, 2026-11-20T08:00:00Z
  for web0, web1, web2 and 3 more:
  > to set it back, apply
      stackgen apply specs/lab.yaml
1 known difference (baseline), 1 expired: lab/db tags (2026-10-31)
coverage: specs manage 6 of 7 guests of their pools, tags and VMID ranges; not in specs: 150 old
  > write specs for them: stackgen discover 150
note: a note
`
	if got := printed(t, r, report.Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDriftJSON: the fields that docs/drift.md describes, and no value of a secret.
func TestDriftJSON(t *testing.T) {
	r := sample.Drift(42, 30)
	secret := change("a", finding.Restart, finding.Outdated, finding.Change{Property: "cloud_init.password", Real: "tr0ub4dor", Spec: "tr0ub4dor", Applied: "tr0ub4dor", Accept: "tr0ub4dor", Sensitive: true})
	r2 := report.NewDrift(append(r.Findings.Findings, secret), nil)
	out := printed(t, r2, report.Options{Format: "json"})
	if strings.Contains(out, "tr0ub4dor") || secret.Change.Real == "" {
		t.Error("a secret is printed, or was removed from the finding of the caller")
	}
	var got struct {
		Version int
		Answer  string
		Total   int
		Exit    int
		Counts  []finding.Count
		Verdict []finding.Finding `json:"verdicts"`
		VMs     *[]finding.ScopeVM
		Units   *[]finding.ScopeUnit
		Nodes   *[]finding.ScopeNode
		Cover   struct{ Unmanaged *[]finding.Unmanaged } `json:"coverage"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range got.Counts {
		n += c.N
	}
	if got.Version != 1 || got.Exit != 3 || got.Total != 27 || n != 27 || len(got.Verdict) != 31 || !strings.HasPrefix(got.Answer, "blocked: ") {
		t.Errorf("got version %d, exit %d, total %d, counts of %d, %d verdicts, answer %q", got.Version, got.Exit, got.Total, n, len(got.Verdict), got.Answer)
	}
	if got.VMs == nil || got.Units == nil || got.Nodes == nil || got.Cover.Unmanaged == nil {
		t.Error("an empty list is null")
	}
}

// TestDriftMarkdown: GitHub does not show a summary of more than 1 MiB, so a longer one is
// cut where a row or step ends, and says how much is missing.
func TestDriftMarkdown(t *testing.T) {
	for _, n := range []int{0, 30, 5000} {
		out := printed(t, sample.Drift(500, n), report.Options{Format: "markdown", Verbose: true})
		cut := strings.Contains(out, "more rows not shown here")
		if len(out) > 1<<20 || cut != (n == 5000) || strings.Count(out, "```")%2 != 0 || !strings.Contains(out, "specs manage 500 of 502") {
			t.Errorf("%d findings: %d bytes, cut: %v", n, len(out), cut)
		}
	}
}

// TestDriftSARIF: a result has the line of the spec, and what a baseline knows is
// suppressed.
func TestDriftSARIF(t *testing.T) {
	r := sample.Drift(42, 30)
	var got struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Locations []struct {
					PhysicalLocation struct{ Region struct{ StartLine int } }
				}
				Suppressions []struct{ Kind, Justification string }
			}
		}
	}
	if err := json.Unmarshal([]byte(printed(t, r, report.Options{Format: "sarif"})), &got); err != nil {
		t.Fatal(err)
	}
	levels, placed, suppressed := map[string]int{}, 0, 0
	for i, result := range got.Runs[0].Results {
		f := r.Findings.Findings[i]
		if rules := got.Runs[0].Tool.Driver.Rules; rules[result.RuleIndex].ID != result.RuleID || result.RuleID != string(f.Kind) {
			t.Errorf("%s has the rule %s", f.Kind, rules[result.RuleIndex].ID)
		}
		if len(result.Locations) > 0 && result.Locations[0].PhysicalLocation.Region.StartLine == f.Change.At.Line {
			placed++
		}
		levels[result.Level]++
		suppressed += len(result.Suppressions)
	}
	if levels["error"] != 8 || levels["warning"] != 19 || levels["note"] != 3 || placed != 26 || suppressed != 1 {
		t.Errorf("got %v, %d with the line, %d suppressed", levels, placed, suppressed)
	}
}

// TestDriftJUnit: every change that an apply would make is a case that failed.
func TestDriftJUnit(t *testing.T) {
	var got struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
	}
	if err := xml.Unmarshal([]byte(printed(t, sample.Drift(42, 30), report.Options{Format: "junit"})), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "stackgen drift" || got.Tests != 29 || got.Failures != 26 {
		t.Errorf("got %+v", got)
	}
}

// TestDriftGitHub: what blocks is an error at the line of its spec.
func TestDriftGitHub(t *testing.T) {
	out := printed(t, sample.Drift(42, 1), report.Options{Format: "github"})
	for _, want := range []string{"blocked: 1 of 1 change would harm (1 disk-loss); do not apply\n", "::error file=specs/homelab.yaml,line=14,col=13,title=disk-loss::homelab/cache01 scsi1: VM 2103 on pve4: an apply would detach"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nhas no %s", out, want)
		}
	}
}
