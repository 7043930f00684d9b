package guard

import (
	"strings"
	"testing"
)

// TestMisled: arguments and variables that a person does not see in a command must
// not make it use another state, or turn an apply into a destroy.
func TestMisled(t *testing.T) {
	for _, c := range []struct {
		line      string
		env       map[string]string
		workspace string
		want      string // in the reason; empty if there is none
	}{
		{line: "apply -auto-approve -target=this"},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS_apply": "-destroy=false -state-out=x -parallelism=4"}},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS_destroy": "-state=x"}},
		{line: "apply", env: map[string]string{"TF_WORKSPACE": "default"}, workspace: "dev"},
		{line: "apply", workspace: "default"},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS_apply": "-parallelism=4 --destroy"}, want: "TF_CLI_ARGS_apply turns every apply into a destroy"},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS": "-destroy=true"}, want: "TF_CLI_ARGS turns every apply into a destroy"},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS_apply": "-replace this"}, want: "TF_CLI_ARGS_apply makes every apply replace"},
		{line: "apply -replace=this"}, // the plan of this apply is judged
		{line: "destroy", env: map[string]string{"TF_CLI_ARGS": "-destroy"}},
		{line: "destroy", env: map[string]string{"TF_CLI_ARGS_destroy": "-state=x"}, want: "TF_CLI_ARGS_destroy names another state"},
		{line: "apply -state x", want: "-state names another state"},
		{line: "apply", env: map[string]string{"TF_WORKSPACE": "dev"}, want: "TF_WORKSPACE names workspace dev"},
		{line: "apply", workspace: "dev", want: "workspace dev is selected"},
	} {
		f, err := command(c.line, c.env, c.workspace).Misled()
		switch {
		case err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.want == "" && f != nil:
			t.Errorf("%+v: %+v", c, f)
		case c.want != "" && (f == nil || !strings.Contains(f.Reason, c.want) || len(f.Steps) == 0):
			t.Errorf("%+v: %+v", c, f)
		}
	}
	if _, err := command("apply", map[string]string{"TF_CLI_ARGS": "-var 'a"}, "").Misled(); err == nil {
		t.Error("an open quote is no error")
	}
}

func command(line string, env map[string]string, workspace string) Command {
	return Command{Args: strings.Fields(line), Env: func(name string) string { return env[name] }, Workspace: workspace}
}

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
		if got := command(line, nil, "").SavedPlan(); got != want {
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
		got, err := command(c.line, map[string]string{"TF_CLI_ARGS_" + strings.Fields(c.line)[0]: c.variable}, "").PlanArgs()
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s with %q: %q, %v; want %q", c.line, c.variable, strings.Join(got, " "), err, c.want)
		}
	}
	if _, err := command("apply", map[string]string{"TF_CLI_ARGS_apply": "-var 'a"}, "").PlanArgs(); err == nil {
		t.Error("an open quote is no error")
	}
}
