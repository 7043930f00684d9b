package tf

import (
	"strings"
	"testing"
)

// TestParsePlanRefuses names what is wrong with a file that is no plan, and what to do.
func TestParsePlanRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"":                         "the file is empty; give the output of `tofu show -json PLANFILE`",
		"\n\n":                     "the file is empty; give the output of `tofu show -json PLANFILE`",
		`{"format_version":"9.0"}`: "its format is 9.0, which this version of stackgen does not know: use a newer stackgen, or make the plan with an older OpenTofu",
		"{":                        "it is not a plan: unexpected end of JSON input",
		`{"format_version":"1.2"}`: "it is not a plan; give the output of `tofu show -json PLANFILE`",
		`{}`:                       "it is not a plan: ",
		"\x00":                     "it is not a plan: invalid character",
	} {
		if _, err := ParsePlan([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", body, err, want)
		}
	}
}
