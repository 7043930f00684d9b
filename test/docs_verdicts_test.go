package test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/finding"
)

// TestDocsVerdicts compares the tables of docs/findings.md with package finding: the
// severities with their exit codes, the kinds and their order, and the keys of JSON.
func TestDocsVerdicts(t *testing.T) {
	page := string(read(t, "../docs/findings.md"))
	var kinds, severities []string
	for _, k := range finding.Kinds {
		kinds = append(kinds, string(k))
	}
	for _, s := range []finding.Severity{finding.OK, finding.Outdated, finding.Failed, finding.Blocked} {
		severities = append(severities, s.String()+"` | "+string('0'+rune(s)))
	}
	if got := firstCells(page, "| kind | meaning |"); !slices.Equal(got, kinds) {
		t.Errorf("docs/findings.md has the kinds\n%q, and package finding has\n%q", got, kinds)
	}
	for _, s := range severities {
		if !strings.Contains(page, "\n| `"+s+" |") {
			t.Errorf("docs/findings.md does not have the severity %s", s)
		}
	}
	keys := jsonKeys(reflect.TypeFor[finding.Finding]())
	got := firstCells(page, "| key | value |")
	slices.Sort(keys)
	slices.Sort(got)
	if !slices.Equal(got, keys) {
		t.Errorf("docs/findings.md has the keys\n%q, and a finding in JSON has\n%q", got, keys)
	}
	_, section, _ := strings.Cut(page, "\n## JSON\n")
	for _, of := range []reflect.Type{reflect.TypeFor[finding.Update](), reflect.TypeFor[finding.Difference](), reflect.TypeFor[finding.Step]()} {
		for _, key := range jsonKeys(of) {
			if !strings.Contains(section, "`"+key+"`") {
				t.Errorf("docs/findings.md does not describe the key %s of %s", key, of.Name())
			}
		}
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// firstCells are the words in code style in the first column of a table.
func firstCells(page, header string) []string {
	_, table, _ := strings.Cut(page, "\n"+header+"\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var out []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// jsonKeys are the keys of a struct in JSON, with those of the structs in it that have none.
func jsonKeys(of reflect.Type) []string {
	var out []string
	for i := range of.NumField() {
		f := of.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			out = append(out, jsonKeys(f.Type)...)
		case key != "-":
			out = append(out, key)
		}
	}
	return out
}
