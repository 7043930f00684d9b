package cmd

import (
	"strings"
	"testing"
)

func TestSavedPlan(t *testing.T) {
	for line, want := range map[string]string{
		"apply":                            "",
		"apply -auto-approve":              "",
		"apply -auto-approve /tmp/p":       "/tmp/p",
		"apply -target this":               "",
		"apply -target=this plan":          "plan",
		"apply -var a=b plan":              "plan",
		"apply -var a=b":                   "",
		"apply --var-file f":               "",
		"apply -parallelism 4 -no-color p": "p",
		"destroy p":                        "",
	} {
		if got := savedPlan(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestPlanArgs(t *testing.T) {
	for _, c := range []struct{ line, variable, want string }{
		{"apply -no-color -auto-approve -input=false", "", ""},
		{"apply -auto-approve -target x -parallelism=4", "", "-target x -parallelism=4"},
		{"apply -lock-timeout 5m -backup b -state-out=s -refresh=false", "", "-refresh=false"},
		{"destroy -auto-approve", "-var 'a=b'", "-destroy -var a=b"},
		{"apply", "-destroy -auto-approve=true", "-destroy"},
	} {
		got, err := planArgs(strings.Fields(c.line), c.variable)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s with %q: %q, %v; want %q", c.line, c.variable, strings.Join(got, " "), err, c.want)
		}
	}
	if _, err := planArgs([]string{"apply"}, "-var 'a"); err == nil {
		t.Error("a quote that does not end is taken")
	}
}
