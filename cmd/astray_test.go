package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAstray: arguments and variables that nobody sees in a command must not
// lead a run to another state, or make a destroy of an apply.
func TestAstray(t *testing.T) {
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
		{"apply", map[string]string{"TF_CLI_ARGS_apply": "-parallelism=4 --destroy"}, "TF_CLI_ARGS_apply makes a destroy"},
		{"apply", map[string]string{"TF_CLI_ARGS": "-destroy=true"}, "TF_CLI_ARGS makes a destroy"},
		{"apply", map[string]string{"TF_CLI_ARGS_apply": "-replace this"}, "TF_CLI_ARGS_apply makes every apply replace"},
		{"apply -replace=this", nil, ""}, // said for this apply: the plan is judged
		{"destroy", map[string]string{"TF_CLI_ARGS": "-destroy"}, ""},
		{"destroy", map[string]string{"TF_CLI_ARGS_destroy": "-state=x"}, "TF_CLI_ARGS_destroy names another state"},
		{"apply -state x", nil, "-state names another state"},
		{"apply", map[string]string{"TF_WORKSPACE": "dev"}, "TF_WORKSPACE names workspace dev"},
		{"apply", map[string]string{"TF_DATA_DIR": chosen}, "workspace dev is chosen"},
	} {
		getenv := func(name string) string {
			if name == "TF_DATA_DIR" && c.env[name] == "" {
				return none
			}
			return c.env[name]
		}
		why, way, err := astray(strings.Fields(c.line), getenv)
		if err != nil || (why != "") != (c.want != "") || !strings.Contains(why, c.want) || (why != "") != (way != "") {
			t.Errorf("%s with %v: %q, %q, %v; want %q", c.line, c.env, why, way, err, c.want)
		}
	}
	if _, _, err := astray([]string{"apply"}, func(string) string { return "-var 'a" }); err == nil {
		t.Error("a quote that does not end is taken")
	}
}
