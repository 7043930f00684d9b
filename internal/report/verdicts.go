package report

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
)

// A verdict is a kind of change, and what it means for people.
type verdict struct {
	Kind   finding.Kind
	Letter string // its mark in a picture
	Doc    string
}

// verdicts are the kinds of changes that drift explains, the worst first.
var verdicts = []verdict{
	{finding.Destroy, "X", "an apply destroys it"},
	{finding.Replace, "R", "an apply destroys it and creates another one"},
	{finding.DiskLoss, "D", "an apply takes a disk or network device away, or empties it"},
	{finding.CreateOfExisting, "E", "an apply creates what exists already"},
	{finding.Gone, "G", "it was deleted, and an apply creates an empty one"},
	{finding.Forget, "F", "an apply removes it from the state and leaves it in the cluster"},
	{finding.Unknown, "?", "what an apply would do is not known"},
	{finding.Power, "P", "an apply starts it, stops it, or needs it off"},
	{finding.Restart, "r", "an apply restarts it"},
	{finding.Migrate, "g", "an apply moves it to the node of its spec"},
	{finding.Moved, "m", "it has another node, or another address in the state"},
	{finding.Create, "c", "an apply creates it"},
	{finding.Import, "i", "an apply imports it into the state"},
	{finding.Pending, "w", "it acts after the next restart, which an apply does not cause"},
	{finding.Live, "l", "it acts at once, without a restart"},
	{finding.ProviderOnly, "p", "it changes what the provider does, and nothing else"},
	{finding.Noise, "n", "it is only read: an apply changes nothing"},
}

// rankOf is where a kind is in the list of verdicts. One that is not in it is the worst.
func rankOf(k finding.Kind) int {
	return slices.IndexFunc(verdicts, func(v verdict) bool { return v.Kind == k })
}

func verdictOf(k finding.Kind) verdict {
	if i := rankOf(k); i >= 0 {
		return verdicts[i]
	}
	return verdict{k, "!", ""}
}

// causes are the causes of a change in words, those to look at first.
var causes = []struct {
	finding.Cause
	Word string
}{
	{finding.ByHand, "changed by hand"},
	{finding.ByBoth, "by hand, and in the spec"},
	{finding.NotKnown, "cause not known"},
	{finding.BySpec, "spec not applied yet"},
	{finding.ByNobody, "only in the state"},
}

func causeWord(c finding.Cause) string {
	for _, known := range causes {
		if known.Cause == c {
			return known.Word
		}
	}
	return string(c)
}

// answer is the first line: whether to worry.
func (r *Drift) answer() string {
	word, rest := r.verdict()
	return word + ": " + rest
}

// verdict is whether to worry, in a word and a sentence.
func (r *Drift) verdict() (word, rest string) {
	if other := r.OtherCluster(); other != "" {
		return "blocked", other
	}
	fresh := r.differences()
	refused := slices.DeleteFunc(slices.Clone(fresh), func(f finding.Finding) bool { return f.Severity != finding.Blocked })
	blocked := len(refused)
	failed := count(fresh, func(f *finding.Finding) bool { return f.Severity == finding.Failed })
	switch {
	case blocked > 0:
		does := "would harm"
		if count(refused, is(finding.Unknown)) > 0 {
			does = "would harm or cannot be judged"
		}
		kinds := Findings{Counts: counts(refused)}
		rest = fmt.Sprintf("%d of %s %s (%s)", blocked, Count(len(fresh), "change"), does, kinds.Summary())
		if failed > 0 {
			rest += fmt.Sprintf(", and %d could not be checked", failed)
		}
		return "blocked", rest + "; do not apply"
	case failed > 0:
		return "unknown", fmt.Sprintf("%s could not be checked; do not apply", Count(failed, "thing"))
	case r.Exit != finding.OK:
		are := "are"
		if len(fresh) == 1 {
			are = "is"
		}
		return "safe", fmt.Sprintf("%s %s harmless: %s", Count(len(fresh), "change"), are, does(fresh))
	}
	return "no drift", r.same()
}

// same says what has no difference.
func (r *Drift) same() string {
	known := len(r.Findings.Findings) - len(r.fresh())
	n, what := len(r.VMs), scopeGuests(r.VMs).String()
	if n == 0 {
		n, what = len(r.Units), Count(len(r.Units), "unit")
	}
	text := what + " are as their specs say"
	if n == 1 {
		text = what + " is as its spec says"
	}
	if known > 0 {
		text += ", except for " + Count(known, "known difference")
	}
	if fresh := r.fresh(); len(fresh) > 0 {
		text += "; " + does(fresh)
	}
	return text
}

// scopeGuests counts the guests that were looked at.
func scopeGuests(all []finding.ScopeVM) guest.Tally {
	return guest.Count(all, func(v finding.ScopeVM) guest.Kind { return kindIf(v.Container) })
}

// counts are how many findings have each verdict, the worst first.
func counts(fs []finding.Finding) []finding.Count {
	out := []finding.Count{}
	for _, f := range worstFirst(fs) {
		if n := len(out); n == 0 || out[n-1].Kind != f.Kind {
			out = append(out, finding.Count{Kind: f.Kind})
		}
		out[len(out)-1].N++
	}
	return out
}

// isLeft reports whether an apply leaves a value that somebody has changed, or may have.
func isLeft(f *finding.Finding) bool {
	c := f.Change
	return f.Kind == finding.Noise && c != nil && (c.Cause == finding.ByHand || c.Cause != finding.ByNobody && f.Severity == finding.Outdated)
}

// does says what an apply would do about safe changes, in a few words.
func does(fs []finding.Finding) string {
	groups := []struct {
		words string // with the number
		is    func(*finding.Finding) bool
	}{
		{"%d destroyed, which the specs permit", is(finding.Destroy, finding.Forget, finding.Replace)},
		{"%d created", func(f *finding.Finding) bool {
			return f.Kind == finding.Create || f.Kind == finding.Gone && f.Type == finding.Record
		}},
		{"%d imported", is(finding.Import)},
		{"%d migrated", is(finding.Migrate)},
		{"%d moved, which stay", is(finding.Moved)},
		{"%d waiting for a restart already", waits},
		{"%d that an apply leaves", isLeft},
		{"%d only in the state", func(f *finding.Finding) bool {
			return f.Kind == finding.Gone && f.Type != finding.Record || f.Kind == finding.ProviderOnly || f.Kind == finding.Noise && !isLeft(f)
		}},
	}
	var parts []string
	other := fs
	for _, g := range groups {
		if n := count(fs, g.is); n > 0 {
			parts = append(parts, fmt.Sprintf(g.words, n))
			other = slices.DeleteFunc(slices.Clone(other), func(f finding.Finding) bool { return g.is(&f) })
		}
	}
	bySpec := func(f finding.Finding) bool { return f.Change != nil && f.Change.Cause == finding.BySpec }
	spec := slices.DeleteFunc(slices.Clone(other), func(f finding.Finding) bool { return !bySpec(f) })
	back := slices.DeleteFunc(slices.Clone(other), bySpec)
	var first []string
	if n := len(back); n > 0 {
		first = append(first, fmt.Sprintf("an apply sets %d back%s", n, restarts(back)))
	}
	if n := len(spec); n > 0 {
		first = append(first, fmt.Sprintf("an apply makes %d that the specs ask for%s", n, restarts(spec)))
	}
	return strings.Join(append(first, parts...), "; ")
}

// restarts says how many of the changes restart a VM, or wait for that.
func restarts(fs []finding.Finding) string {
	var parts []string
	if n := count(fs, is(finding.Restart, finding.Power)); n > 0 {
		parts = append(parts, fmt.Sprintf("%d with a restart", n))
	}
	if n := count(fs, is(finding.Pending)); n > 0 {
		parts = append(parts, fmt.Sprintf("%d after the next restart", n))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// waits reports whether a change waits for a restart already, and no apply makes it.
func waits(f *finding.Finding) bool {
	return f.Kind == finding.Pending && f.Change != nil && (f.Change.Cause == finding.NotKnown || f.Change.Real == f.Change.Spec)
}

func is(kinds ...finding.Kind) func(*finding.Finding) bool {
	return func(f *finding.Finding) bool { return slices.Contains(kinds, f.Kind) }
}
