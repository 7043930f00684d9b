//go:build unix

package real

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/schema"
)

// oneOpinion fails unless preflight, the guard and drift say the same of each VM: what an apply
// changes of it, with what effect, and whether that is refused and why. args are for preflight and
// drift, which otherwise make plans of their own; the guard reads the plan that its hook would make.
func (w *faultCase) oneOpinion(args ...string) {
	w.Helper()
	preflight := w.verdicts(args...)
	var drift driftReport
	said := w.stackgen(append([]string{"drift", "--format", "json"}, args...)...)
	start := strings.Index(said.output, "{")
	if start < 0 || json.NewDecoder(strings.NewReader(said.output[start:])).Decode(&drift) != nil {
		w.Fatalf("drift: exit %d\n%s", said.code, said.output)
	}
	refused, compared, early := w.guardRefuses(), 0, false
	for _, f := range preflight { // then the guard refuses before it reads the plan
		early = early || f.Stops() && f.Kind != finding.WouldHarm && f.Kind != finding.WouldDestroy && f.Kind != finding.CannotCreate
	}
	for key, f := range preflight {
		blocked := f.Stops()
		if why, is := refused[key]; is != blocked && !(early && blocked) || is && !strings.HasPrefix(why, string(f.Kind)+" ") || is && !strings.HasSuffix(why, f.Says) {
			w.Errorf("%s: preflight says %s %s: %s, and the guard says %q", key, f.Severity, f.Kind, f.Says, why)
		}
		own := drift.of(key)
		byDrift := slices.ContainsFunc(own, func(d finding.Finding) bool { return d.Stops() })
		if blocked != byDrift && f.Kind != finding.Busy { // a lock ends, and is no difference
			w.Errorf("%s: preflight says %s %s: %s, and drift blocks: %v", key, f.Severity, f.Kind, f.Says, byDrift)
		}
		if blocked && f.Kind != finding.WouldHarm {
			continue // something else than its changes blocks it
		}
		is, want := changesOf(own), updatesOf(&f)
		if !slices.Equal(is, want) {
			w.Errorf("%s: preflight says\n%s\nand drift says\n%s", key, strings.Join(want, "\n"), strings.Join(is, "\n"))
		}
		compared += len(want)
	}
	if compared < 10 {
		w.Errorf("%d changes are compared: that proves little", compared)
	}
	w.Logf("preflight, guard and drift agree about %d VMs and %d changes; %d VMs are refused", len(preflight), compared, len(refused))
}

// updatesOf are the changes of a finding of preflight, other than those of the state alone, and other than what the provider
// writes or removes beside them: drift says what differs.
func updatesOf(f *finding.Finding) (out []string) {
	for _, u := range f.Updates {
		if !slices.Contains([]string{effect.Settles, effect.Dropped, effect.Beside}, u.Does) {
			out = append(out, fmt.Sprintf("%s: %s -> %s, %s", u.Name, u.Was, u.Is, u.Does))
		}
	}
	slices.Sort(out)
	return out
}

// changesOf are the same of findings of drift, without what waits for a restart already.
func changesOf(own []finding.Finding) (out []string) {
	unsent := []string{"", string(schema.Noise), string(schema.Creation), string(schema.Migrate), string(schema.ProviderOnly)}
	for _, f := range own {
		if c := f.Change; c != nil && c.Does != "" && c.Real+c.Spec != "" && c.Does != effect.Settles && !slices.Contains(unsent, c.Effect) {
			out = append(out, fmt.Sprintf("%s: %s -> %s, %s", c.Property, c.Real, c.Spec, c.Does))
		}
	}
	slices.Sort(out)
	return out
}

var refusedVM = regexp.MustCompile(`(?m)^(?:blocked|failed) +(\S+) +live/(\S+): (?:VM|container).*?  (\S.*)$`)

// guardRefuses are the VMs that the guard refuses to apply, by their keys: the verdict, and why.
func (w *faultCase) guardRefuses() map[string]string {
	w.Helper()
	out, plans := map[string]string{}, w.TempDir()
	w.must(w.run("stacks/live", nil, "terragrunt", "stack", "run", "plan", "--non-interactive", "--json-out-dir", plans))
	r := w.stackgen("guard", "--verbose", "--plan", plans, "live/proxmox-vm", "--", "apply")
	for _, m := range refusedVM.FindAllStringSubmatch(r.output, -1) {
		out[m[2]] = m[1] + " " + m[3]
	}
	if (r.code == 3) != (len(out) > 0) {
		w.Errorf("guard: exit %d\n%s", r.code, r.output)
	}
	return out
}
