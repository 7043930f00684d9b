package drift

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/schema"
)

// baselineHead begins a new baseline.
const baselineHead = `# Differences between specs and cluster that are known, for "stackgen drift --baseline".
version: 1
known:
`

// Add returns the baseline with all differences that it does not know, and how many they
// are. Entries that have expired get the new date, and keep their reason. All other bytes
// stay as they are. today and expires are days such as 2026-12-31.
func (b *Baseline) Add(found []finding.Finding, today, reason, expires string) (body []byte, added int, err error) {
	src := string(b.src)
	news, renewed := b.additions(found, today, reason, expires)
	for n := range b.Entries {
		if renewed[n] {
			if src, err = renew(src, b.Entries[n], expires); err != nil {
				return nil, 0, err
			}
		}
	}
	if len(news) > 0 {
		if src, err = b.insert(src, news); err != nil {
			return nil, 0, err
		}
	}
	now, problems := ParseBaseline(b.file, []byte(src)) // before it is written
	if now == nil || len(now.Entries) != len(b.Entries)+len(news) {
		return nil, 0, fmt.Errorf("%s: it is written in a form that cannot be edited, so nothing was added%s", b.file, firstProblem(problems))
	}
	return []byte(src), len(news) + len(renewed), nil
}

// additions are the entries of differences that the baseline does not know, and which of its entries have expired.
func (b *Baseline) additions(found []finding.Finding, today, reason, expires string) (news []Entry, renewed map[int]bool) {
	renewed = map[int]bool{}
	for i := range found {
		e, ok := entryOf(&found[i])
		if !ok || found[i].Severity == finding.OK && found[i].Change.Known == nil {
			continue
		}
		e.Reason, e.Expires = reason, expires
		if n := slices.IndexFunc(b.Entries, func(o Entry) bool { return o.same(&e) }); n >= 0 {
			if b.Entries[n].Expires < today {
				renewed[n] = true
			}
		} else if !slices.ContainsFunc(news, func(o Entry) bool { return o.same(&e) }) {
			news = append(news, e)
		}
	}
	return news, renewed
}

// firstProblem is what is wrong with a file that an edit made.
func firstProblem(problems []schema.Problem) string {
	if len(problems) == 0 {
		return ""
	}
	return ": " + problems[0].Message
}

// renew replaces the date of an entry.
func renew(src string, e Entry, expires string) (string, error) {
	out, err := edit.Replace([]byte(src), e.expires.Line, e.expires.Col, e.Expires, expires)
	if err != nil {
		return "", fmt.Errorf("%s: the date is written in a form that cannot be edited: write %s by hand", e.expires, expires)
	}
	return string(out), nil
}

// insert adds entries behind the last one.
func (b *Baseline) insert(src string, news []Entry) (string, error) {
	if strings.TrimSpace(src) == "" {
		return baselineHead + entryLines(news, "  ", "\n"), nil
	}
	root, problems := schema.ParseYAML(b.file, []byte(src))
	if len(problems) > 0 {
		return "", fmt.Errorf("%s", problems[0])
	}
	newline := "\n"
	if strings.Contains(src, "\r\n") {
		newline = "\r\n"
	}
	if !strings.HasSuffix(src, "\n") {
		src += newline
	}
	known := root.Get("known")
	switch {
	case known == nil:
		return src + "known:" + newline + entryLines(news, "  ", newline), nil
	case root.Keys[len(root.Keys)-1].Text != "known":
		return "", fmt.Errorf("%s: write known as the last key, so that entries can be added behind it", known.Pos)
	case len(known.Items) == 0 && known.Shape == schema.ShapeNull:
		return src + entryLines(news, "  ", newline), nil
	case len(known.Items) == 0:
		return "", fmt.Errorf("%s: write `known:` without brackets, so that entries can be added below it", known.Pos)
	}
	line := edit.Lines([]byte(src))[known.Items[0].Line-1]
	indent, _, ok := strings.Cut(line, "- ")
	if !ok || strings.Trim(indent, " ") != "" {
		return "", fmt.Errorf("%s: write each entry on lines of its own, so that others can be added below them", known.Pos)
	}
	return src + entryLines(news, indent, newline), nil
}

// entryLines are entries as YAML.
func entryLines(entries []Entry, indent, newline string) string {
	var b strings.Builder
	for _, e := range entries {
		sep := "- "
		for _, v := range []struct {
			key, text string
			keep      bool
		}{{"at", e.At, true}, {"attribute", e.Attribute, false}, {"real", e.Real, e.Attribute != ""}, {"spec", e.Spec, e.Attribute != ""},
			{"verdict", e.Verdict, false}, {"reason", e.Reason, true}, {"expires", e.Expires, true}} {
			if v.text != "" || v.keep {
				b.WriteString(indent + sep + v.key + ": " + quoted(v.key, v.text) + newline)
				sep = "  "
			}
		}
	}
	return b.String()
}

// plain is text that needs no quotes in YAML.
var plain = regexp.MustCompile(`^[a-z][a-z0-9_/.-]*$`)

// quoted is a text in quotes; names and dates need none.
func quoted(key, text string) string {
	if key == "expires" || key == "verdict" || (key == "at" || key == "attribute") && plain.MatchString(text) {
		return text
	}
	return strconv.Quote(strings.ToValidUTF8(text, "\ufffd")) // what YAML cannot have as it is, or ends a line in it, is escaped
}
