package progress

import (
	"regexp"
	"strconv"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/shell"
)

// A cause is a message of the provider, of Proxmox VE or of OpenTofu, with what it
// means and what to do about it. Words are replaced in why, what and lines: $1 by what
// the pattern caught, {vmid}, {node}, {key} and {stack} by those of the row, {where} by
// its node and {from} by that of its template, even if they are not known. A line
// that needs what is not known is left out. What says where a line runs if it does not
// run in the project's folder.
type cause struct {
	kind    Kind // only for rows of this kind; empty for all
	pattern *regexp.Regexp
	why     string
	what    string
	lines   []string
	of      func(item Item) int // whose VMID the pattern must catch first; 0 is anybody's
	answer  bool                // of the API: not looked for in the log of a task, in which programs of the node say the same
}

// taskLog is what the provider writes between the error of a task and its log.
const taskLog = "task log:"

// reason adds the first cause that fits a message.
func reason(t *Trouble, item Item, text string) {
	answer, _, _ := strings.Cut(text, taskLog)
	for i := range causes {
		c := &causes[i]
		if c.kind != "" && c.kind != item.Kind {
			continue
		}
		said := text
		if c.answer {
			said = answer
		}
		m := c.pattern.FindStringSubmatch(said)
		if m == nil || c.of != nil && c.of(item) != 0 && m[1] != strconv.Itoa(c.of(item)) {
			continue
		}
		t.Why, _ = filled(c.why, item, m, func(s string) string { return s })
		what, _ := filled(c.what, item, m, func(s string) string { return s })
		var lines []string
		for _, l := range c.lines {
			if line, ok := filled(l, item, m, shell.Word); ok {
				lines = append(lines, line)
			}
		}
		t.Next = append(t.Next, finding.Do(what, lines...))
		return
	}
}

// filled replaces the words of a text. ok is false if one of them is not known.
func filled(text string, item Item, m []string, quote func(string) string) (out string, ok bool) {
	ok = true
	values := map[string]string{
		"{key}": item.Key, "{stack}": item.Stack, "{node}": item.Node, "{vmid}": "",
		"{tool}": item.Guest.Tool(), "{ha}": item.Guest.HA(),
		"{where}": "its node", "{from}": "the node of its template",
	}
	if item.Node != "" {
		values["{where}"] = "node " + item.Node
	}
	if item.From != "" {
		values["{from}"] = "node " + item.From
	}
	if item.VMID != 0 {
		values["{vmid}"] = strconv.Itoa(item.VMID)
	}
	out = word.ReplaceAllStringFunc(text, func(w string) string {
		value := values[w]
		if n, err := strconv.Atoi(strings.TrimPrefix(w, "$")); err == nil && n < len(m) {
			value = m[n]
		}
		if value == "" {
			ok = false
			return "?"
		}
		return quote(value)
	})
	return out, ok
}

var word = regexp.MustCompile(`\$\d|\{(?:key|stack|node|vmid|tool|ha|where|from)\}`)

func is(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern) }
