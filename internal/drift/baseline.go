package drift

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/secret"
	"stackgen/schema"
)

// A Baseline is the differences that people know of and permit for some time.
type Baseline struct {
	Entries []Entry
	file    string
	src     []byte
}

// An Entry is one known difference. It has an attribute with the values of both sides, or
// the verdict on something as a whole.
type Entry struct {
	schema.Pos
	At        string // STACK/KEY of a VM, STACK/UNIT or STACK/UNIT/KEY of anything else
	Attribute string // disk.scsi0.size
	Real      string
	Spec      string
	Verdict   string // gone
	Reason    string
	Expires   string // the last day: 2026-12-31

	expires schema.Pos
}

// same reports whether two entries are about the same difference.
func (e *Entry) same(other *Entry) bool {
	return e.At == other.At && e.Attribute == other.Attribute && e.Real == other.Real && e.Spec == other.Spec && e.Verdict == other.Verdict
}

// String names what an entry is about.
func (e *Entry) String() string { return e.At + " " + cmp.Or(e.Attribute, e.Verdict) }

// ParseBaseline reads a baseline. An empty src is an empty baseline. The Baseline is nil
// exactly when there are problems.
func ParseBaseline(file string, src []byte) (*Baseline, []schema.Problem) {
	b := &Baseline{file: file, src: src}
	if strings.TrimSpace(string(src)) == "" {
		return b, nil
	}
	root, problems := schema.ParseYAML(file, src)
	if len(problems) > 0 {
		return nil, problems
	}
	p := &baselineParser{}
	if root.Shape != schema.ShapeMap {
		p.fail(root, schema.CodeType, "a baseline is a map of version and known, but this is %s", root.Shape)
		return nil, p.problems
	}
	p.keys(root, "version", "known")
	if v := root.Get("version"); v.Str() != "1" {
		p.fail(cmpNode(v, root), schema.CodeValue, "a baseline begins with version: 1")
	}
	known := root.Get("known")
	if known != nil && known.Shape != schema.ShapeList && known.Shape != schema.ShapeNull {
		p.fail(known, schema.CodeType, "known takes a list, but this is %s", known.Shape)
	}
	for _, n := range known.List() {
		if e, ok := p.entry(n); ok {
			if i := slices.IndexFunc(b.Entries, func(o Entry) bool { return o.same(&e) }); i >= 0 {
				p.fail(n, schema.CodeValue, "%s is known at %s already", e.String(), b.Entries[i].Pos)
			}
			b.Entries = append(b.Entries, e)
		}
	}
	if len(p.problems) > 0 {
		return nil, schema.SortProblems(p.problems)
	}
	return b, nil
}

func cmpNode(n, fallback *schema.Node) *schema.Node {
	if n != nil {
		return n
	}
	return fallback
}

// A baselineParser reads entries and collects their problems.
type baselineParser struct{ problems []schema.Problem }

func (p *baselineParser) fail(at *schema.Node, code, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	p.problems = append(p.problems, schema.Problem{Pos: at.Pos, Severity: schema.SeverityError, Code: code, Message: message})
}

// keys refuses keys that are not known.
func (p *baselineParser) keys(n *schema.Node, known ...string) {
	for _, key := range n.Keys {
		if !slices.Contains(known, key.Text) {
			p.fail(key, schema.CodeUnknownKey, "unknown key %q; known keys: %s", key.Text, strings.Join(known, ", "))
		}
	}
}

// entry reads one entry.
func (p *baselineParser) entry(n *schema.Node) (Entry, bool) {
	before := len(p.problems)
	if n.Shape != schema.ShapeMap {
		p.fail(n, schema.CodeType, "an entry is a map, but this is %s", n.Shape)
		return Entry{}, false
	}
	p.keys(n, "at", "attribute", "real", "spec", "verdict", "reason", "expires")
	text := func(key string, required bool) string {
		v := n.Get(key)
		switch {
		case v == nil && required:
			p.fail(n, schema.CodeMissingKey, "the entry lacks the key %q", key)
		case v != nil && (len(v.Items) > 0 || v.Shape == schema.ShapeMap || v.Shape == schema.ShapeList):
			p.fail(v, schema.CodeType, "%s takes text, but this is %s", key, v.Shape)
		}
		return v.Str()
	}
	e := Entry{Pos: n.Pos, At: text("at", true), Attribute: text("attribute", false), Real: text("real", false), Spec: text("spec", false),
		Verdict: text("verdict", false), Reason: text("reason", true), Expires: text("expires", true)}
	if v := n.Get("expires"); v != nil {
		e.expires = v.Pos
		if !IsDate(e.Expires) {
			p.fail(v, schema.CodeValue, "expires takes a date such as 2026-12-31, but this is %q", e.Expires)
		}
	}
	if (e.Attribute == "") == (e.Verdict == "") {
		p.fail(n, schema.CodeMissingKey, "the entry needs attribute or verdict, and not both")
	}
	if n.Has("reason") && strings.TrimSpace(e.Reason) == "" {
		p.fail(n.Get("reason"), schema.CodeValue, "the reason is empty")
	}
	return e, len(p.problems) == before
}

var date = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// IsDate reports whether a text is a day such as 2026-12-31.
func IsDate(text string) bool {
	if !date.MatchString(text) {
		return false
	}
	year, _ := strconv.Atoi(text[:4]) // all are digits
	month, _ := strconv.Atoi(text[5:7])
	day, _ := strconv.Atoi(text[8:])
	days := []int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days[1] = 29
	}
	return month >= 1 && month <= 12 && day >= 1 && day <= days[month-1]
}

// entryOf is the entry that makes a finding known, if one can.
func entryOf(f *finding.Finding) (Entry, bool) {
	c := f.Change
	if c == nil || f.Severity == finding.Failed || f.Type == finding.Guest {
		return Entry{}, false
	}
	e := Entry{At: f.Stack + "/" + f.Key, Attribute: c.Attribute, Real: public(c, c.Real), Spec: public(c, c.Spec)}
	if f.Type != finding.VM {
		e.At = strings.TrimSuffix(f.Stack+"/"+f.Unit+"/"+f.Key, "/")
	}
	if c.Attribute == "" {
		if f.Kind == finding.Unknown {
			return Entry{}, false // what it is about is not known either
		}
		e.Verdict = string(f.Kind)
	}
	return e, true
}

// public is a value as a file may have it.
func public(c *finding.Change, value string) string {
	if c.Sensitive || value != "" && secret.In(value) {
		return "(secret)"
	}
	return value
}

// Apply marks the findings that the baseline knows: until its entry expires, a known
// difference does not count. today is a day such as 2026-12-31. complete reports whether
// all differences of a stack are among the findings. unused are the entries of such stacks
// that no finding has any more, except for those about something of which a finding says that
// it is not known.
func (b *Baseline) Apply(found []finding.Finding, today string, complete func(stack string) bool) (unused []Entry) {
	used, unknown := map[int]bool{}, map[string]bool{} // by At, or by stack if it is not about a VM
	for i := range found {
		if f := &found[i]; f.Kind == finding.Unknown && f.Type == finding.VM {
			unknown[f.Stack+"/"+f.Key] = true
		} else if f.Kind == finding.Unknown {
			unknown[f.Stack] = true
		}
		own, ok := entryOf(&found[i])
		if !ok {
			continue
		}
		n := slices.IndexFunc(b.Entries, func(e Entry) bool { return e.same(&own) })
		if n < 0 {
			continue
		}
		used[n] = true
		e := &b.Entries[n]
		change := *found[i].Change
		change.Known = &finding.Known{Reason: e.Reason, Expires: e.Expires, Expired: e.Expires < today}
		found[i].Change = &change
		if !change.Known.Expired {
			found[i].Severity = finding.OK
		}
	}
	for i, e := range b.Entries {
		stack, _, _ := strings.Cut(e.At, "/")
		if !used[i] && complete(stack) && !unknown[stack] && !unknown[e.At] {
			unused = append(unused, e)
		}
	}
	return unused
}
