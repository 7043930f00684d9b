package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMisleading finds the arguments and variables that make an apply a destroy,
// or make it use another state.
func TestMisleading(t *testing.T) {
	chosen := t.TempDir()
	if err := os.WriteFile(filepath.Join(chosen, "environment"), []byte("dev\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := t.TempDir()
	for _, c := range []struct {
		line string
		env  map[string]string
		want string // in the reason; empty if there is none
	}{
		{"apply -auto-approve -target=this", nil, ""},
		{"apply", map[string]string{"TF_CLI_ARGS_apply": "-destroy=false -state-out=x -parallelism=4"}, ""},
		{"apply", map[string]string{"TF_CLI_ARGS_destroy": "-state=x"}, ""},
		{"apply", map[string]string{"TF_WORKSPACE": "default", "TF_DATA_DIR": chosen}, ""},
		{"apply", map[string]string{"TF_CLI_ARGS_apply": "-parallelism=4 --destroy"}, "TF_CLI_ARGS_apply turns every apply into a destroy"},
		{"apply", map[string]string{"TF_CLI_ARGS": "-destroy=true"}, "TF_CLI_ARGS turns every apply into a destroy"},
		{"apply", map[string]string{"TF_CLI_ARGS_apply": "-replace this"}, "TF_CLI_ARGS_apply makes every apply replace"},
		{"apply -replace=this", nil, ""}, // said for this apply: the plan is judged
		{"destroy", map[string]string{"TF_CLI_ARGS": "-destroy"}, ""},
		{"destroy", map[string]string{"TF_CLI_ARGS_destroy": "-state=x"}, "TF_CLI_ARGS_destroy names another state"},
		{"apply -state x", nil, "-state names another state"},
		{"apply", map[string]string{"TF_WORKSPACE": "dev"}, "TF_WORKSPACE names workspace dev"},
		{"apply", map[string]string{"TF_DATA_DIR": chosen}, "workspace dev is selected"},
	} {
		getenv := func(name string) string {
			if name == "TF_DATA_DIR" && c.env[name] == "" {
				return none
			}
			return c.env[name]
		}
		f, err := misleading(strings.Fields(c.line), getenv)
		if err != nil || (f != nil) != (c.want != "") || f != nil && (!strings.Contains(f.Reason, c.want) || len(f.Steps) != 1) {
			t.Errorf("%s with %v: %+v, %v; want %q", c.line, c.env, f, err, c.want)
		}
	}
	if _, err := misleading([]string{"apply"}, func(string) string { return "-var 'a" }); err == nil {
		t.Error("an open quote is accepted")
	}
}
