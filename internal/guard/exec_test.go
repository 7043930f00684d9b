package guard

import (
	"strings"
	"testing"
)

// TestExec: what `terragrunt exec` runs counts as an apply, unless the command line shows a
// command of OpenTofu.
func TestExec(t *testing.T) {
	for line, want := range map[string]string{
		"": "apply true",
		"terragrunt exec --in-download-dir -- tofu apply -auto-approve -target=x": "apply -auto-approve -target=x true",
		"terragrunt exec -- /opt/tofu.exe destroy":                                "destroy true",
		"terragrunt exec -- terraform show -json":                                 "show -json false",
		"terragrunt exec -- tofu -chdir=/x destroy":                               "apply true",
		"terragrunt exec -- tofu":                                                 "apply true",
		"terragrunt exec --":                                                      "apply true",
		"terragrunt exec -- sh -c tofu-apply":                                     "apply true",
		"terragrunt exec tofu apply":                                              "apply true",
	} {
		args, judged := Exec(strings.Fields(line))
		got := strings.Join(args, " ") + map[bool]string{true: " true", false: " false"}[judged]
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
