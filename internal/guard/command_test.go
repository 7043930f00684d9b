package guard

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// TestMisled: arguments and variables that a person does not see in a command must
// not make it use another state, or turn an apply into a destroy.
func TestMisled(t *testing.T) {
	apply := func(value string) map[string]string { return map[string]string{"TF_CLI_ARGS_apply": value} }
	for _, c := range []struct {
		line      string
		env       map[string]string
		unit      string // empty for the VM unit
		variables []string
		typed     string
		environ   string // of Terragrunt
		own       bool
		workspace string
		backend   string
		want      string // in the reason; empty if there is none
	}{
		{line: "apply -auto-approve -target=this"},
		{line: "apply", env: apply("-destroy=false -parallelism=4 -lock-timeout 5m")},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS_destroy": "-state=x", "TF_CLI_ARGS_plan": "-destroy", "TF_CLI_ARGS_init": "-upgrade"}},
		{line: "apply", env: map[string]string{"TF_WORKSPACE": "default"}, workspace: "dev"},
		{line: "apply", workspace: "default"},
		{line: "apply", env: apply("-parallelism=4 --destroy"), want: "TF_CLI_ARGS_apply turns every apply into a destroy"},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS": "-destroy=true"}, want: "TF_CLI_ARGS turns every apply into a destroy"},
		{line: "apply", env: apply("-replace this"), want: "TF_CLI_ARGS_apply makes every apply replace"},
		{line: "apply", env: apply("-target=this"), want: "TF_CLI_ARGS_apply makes every apply skip"},
		{line: "apply", env: apply("-state-out=x"), want: "TF_CLI_ARGS_apply names another state"},
		{line: "apply", env: apply("-var vms={}"), want: "TF_CLI_ARGS_apply sets variables"},
		{line: "apply", env: apply("-var-file=x.tfvars"), want: "TF_CLI_ARGS_apply sets variables"},
		{line: "apply", env: apply("-parallelism 4 plan"), want: "TF_CLI_ARGS_apply gives every run a plan file"},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS_init": "-backend-config=path=x"}, want: "TF_CLI_ARGS_init names another backend"},
		{line: "destroy", env: map[string]string{"TF_CLI_ARGS_init": "-backend-config path=x"}, want: "TF_CLI_ARGS_init names another backend"},
		{line: "apply -replace=this"}, // a person asks for it, and the plan is judged
		{line: "apply -replace=this", unit: "dns-a", want: "-replace makes this apply replace"},
		{line: "apply -target=this", unit: "dns", want: "-target makes this apply skip"},
		{line: "destroy -exclude this", unit: "dns-a", want: "-exclude makes this destroy skip"},
		{line: "apply -destroy", want: "-destroy turns this apply into a destroy"},
		{line: "apply -no-color -destroy", unit: "dns-a", want: "-destroy turns this apply into a destroy"},
		{line: "destroy -auto-approve", typed: "terragrunt stack run apply --queue-ignore-errors -- -destroy", want: "-destroy turns this apply into a destroy"},
		{line: "destroy -auto-approve", typed: "terragrunt stack run destroy"},
		{line: "apply -var-file x", want: "-var-file sets variables"},
		{line: "apply -backend-config=x", want: "-backend-config names another backend"},
		{line: "destroy", env: map[string]string{"TF_CLI_ARGS": "-destroy"}},
		{line: "destroy", env: map[string]string{"TF_CLI_ARGS_destroy": "-state=x"}, want: "TF_CLI_ARGS_destroy names another state"},
		{line: "apply -state x", want: "-state names another state"},
		{line: "apply -state-out=x", want: "-state-out names another state"},
		{line: "apply", variables: []string{"vms"}, want: "TF_VAR_vms sets a variable of the unit"},
		{line: "destroy", variables: []string{"proxmox"}, want: "TF_VAR_proxmox sets a variable of the unit"},
		{line: "apply", env: map[string]string{"TF_WORKSPACE": "dev"}, want: "TF_WORKSPACE names workspace dev"},
		{line: "apply", workspace: "dev", want: "workspace dev is selected"},
		{line: "apply", env: apply("-refresh=false")},
		{line: "apply", env: apply("-refresh-only"), want: "TF_CLI_ARGS_apply makes every apply change nothing"},
		{line: "apply", env: map[string]string{"TF_CLI_ARGS_output": "-state=x"}, want: "TF_CLI_ARGS_output names another state"},
		{line: "apply", environ: "TG_SOURCE=/x", want: "TG_SOURCE names another module"},
		{line: "destroy", environ: "TERRAGRUNT_CONFIG=/x", want: "TERRAGRUNT_CONFIG names another configuration"},
		{line: "apply", environ: "TG_SOURCE= TG_NO_DEPENDENCY_OUTPUTS=false TG_WORKING_DIR=/x TG_FILTER=x TG_NEW=1"},
		{line: "apply", typed: "terragrunt apply --source ../x", want: "--source names another module"},
		{line: "apply", typed: "terragrunt --config=x.hcl apply", want: "--config names another configuration"},
		{line: "apply", typed: "terragrunt run --source-update -- apply -config=x"},
		{line: "apply", environ: "STACKGEN_LATER=dns STACKGEN_EVENTS=/x", own: true},
		{line: "apply", environ: "STACKGEN_LATER=dns", want: "STACKGEN_LATER is a variable of stackgen"},
		{line: "apply", environ: "STACKGEN_EVENTS=/x", want: "STACKGEN_EVENTS is a variable of stackgen"},
		{line: "apply", environ: "STACKGEN_STARTING=/x", own: true, want: "STACKGEN_STARTING is a variable of stackgen"},
		{line: "apply", backend: "path is /x", want: "initialized with another backend"},
	} {
		command := command(c.line, c.env)
		command.Unit.Unit = cmp.Or(c.unit, lock.UnitVM)
		command.Variables, command.Typed, command.Workspace, command.Backend = c.variables, strings.Fields(c.typed), c.workspace, c.backend
		command.Environ, command.Own = strings.Fields(c.environ), c.own
		f, err := command.Misled()
		switch {
		case err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.want == "" && f != nil:
			t.Errorf("%+v: %+v", c, f)
		case c.want != "" && (f == nil || !strings.Contains(said(f), c.want) || len(f.Steps) == 0):
			t.Errorf("%+v: %+v", c, f)
		}
	}
	c := command("apply", nil) // terragrunt itself has no command workspace
	c.Workspace = "dev"
	if f, err := c.Misled(); err != nil || !strings.Contains(f.Steps[0].Lines[0].String(), "terragrunt run -- workspace select default") {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := command("apply", map[string]string{"TF_CLI_ARGS": "-var 'a"}).Misled(); err == nil {
		t.Error("an open quote is no error")
	}
}

// TestUnitVariables: the hooks name the variables of the table.
func TestUnitVariables(t *testing.T) {
	body, err := os.ReadFile("../../templates/root.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if want := `in ["` + strings.Join(UnitVariables, `", "`) + `"] :`; !strings.Contains(string(body), want) {
		t.Errorf("root.hcl lacks %s", want)
	}
}

func command(line string, env map[string]string) Command {
	return Command{Unit: tf.VMUnit("lab"), Args: strings.Fields(line), Env: func(name string) string { return env[name] }}
}

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		line string
		env  map[string]string
		want bool
	}{
		{"apply -no-color", nil, true},
		{"destroy", nil, true},
		{"apply -no-color -auto-approve -input=false", nil, false},
		{"apply -no-color /tmp/plan", nil, false},
		{"apply", map[string]string{"TF_CLI_ARGS_apply": "-auto-approve"}, false},
		{"apply -input=false", nil, false},
		{"apply", map[string]string{"TG_NON_INTERACTIVE": "true"}, false},
	} {
		if got := command(c.line, c.env).Waits() != nil; got != c.want {
			t.Errorf("%s with %v: %v", c.line, c.env, got)
		}
	}
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
		"apply -json-into=/e/vm.jsonl -no-color -auto-approve /d/p": "/d/p",
		"apply -json-into /e/vm.jsonl":                              "",
	} {
		if got := command(line, nil).SavedPlan(); got != want {
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
		{"apply -json-into=/e/vm.jsonl -parallelism=4 -auto-approve", "", "-parallelism=4"},
	} {
		got, err := command(c.line, map[string]string{"TF_CLI_ARGS_" + strings.Fields(c.line)[0]: c.variable}).PlanArgs()
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s with %q: %q, %v; want %q", c.line, c.variable, strings.Join(got, " "), err, c.want)
		}
	}
	if _, err := command("apply", map[string]string{"TF_CLI_ARGS_apply": "-var 'a"}).PlanArgs(); err == nil {
		t.Error("an open quote is no error")
	}
}
