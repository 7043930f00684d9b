package check

import (
	"strings"
	"testing"
)

// TestMisled: what leads a run elsewhere is refused before anything is read.
func TestMisled(t *testing.T) {
	for _, c := range []struct{ command, environ, want string }{
		{"apply", "", ""},
		{"apply", "TF_WORKSPACE=dev TG_FILTER=x TG_QUEUE_EXCLUDE_DIR=y", "`unset TF_WORKSPACE TG_FILTER TG_QUEUE_EXCLUDE_DIR`"},
		{"apply", "TG_FILTER= TF_VAR_other=1 TF_VAR_vms=", ""},
		{"apply", "TF_VAR_vms={}", "TF_VAR_vms sets a variable of the unit"},
		{"apply", "TF_CLI_ARGS=-destroy", "TF_CLI_ARGS turns every apply into a destroy: `unset TF_CLI_ARGS`"},
		{"destroy", "TF_CLI_ARGS=-destroy", ""},
		{"apply", "TF_CLI_ARGS_apply=-target=this", "TF_CLI_ARGS_apply makes every apply skip"},
		{"apply", "TF_CLI_ARGS_destroy=-target=this", ""},
		{"destroy", "TF_CLI_ARGS_destroy=-target=this", "TF_CLI_ARGS_destroy makes every apply skip"},
		{"apply", "TF_CLI_ARGS_apply=-parallelism=2", ""},
		{"apply", "TG_NO_STACK_GENERATE=true", "unset TG_NO_STACK_GENERATE"},
		{"drift", "TG_NO_STACK_GENERATE=false TG_DOWNLOAD_DIR=/x TG_PARALLELISM=2", ""},
		{"drift", "TG_SOURCE=/x", "unset TG_SOURCE"},
		{"apply", "STACKGEN_STARTING=/x", "unset STACKGEN_STARTING"},
		{"drift", "TF_CLI_ARGS=-destroy TF_CLI_ARGS_apply=-destroy", "TF_CLI_ARGS turns every apply"},
		{"apply", "TF_CLI_ARGS=-refresh=false", "TF_CLI_ARGS keeps OpenTofu from looking at the cluster"},
		{"apply", "TF_CLI_ARGS_output=-state=x", "TF_CLI_ARGS_output names another state"},
		{"apply", "TF_CLI_ARGS='", "TF_CLI_ARGS cannot be split"},
	} {
		err := Misled(c.command, strings.Fields(c.environ))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s with %s: %v, want %q", c.command, c.environ, err, c.want)
		}
	}
}
