package project

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRemoveLeft: what Terragrunt generated for a stack that left the project goes. A folder with a state stays: stackgen has its
// states elsewhere, so somebody wrote that stack, and it may be the only copy.
func TestRemoveLeft(t *testing.T) {
	root := t.TempDir()
	for stack, state := range map[string]string{"gone": ".terraform/terraform.tfstate", "own": "terraform.tfstate", "cached": ".terragrunt-cache/a/b/terraform.tfstate"} {
		file := filepath.Join(root, "stacks", stack, GeneratedDir, "vm", filepath.FromSlash(state))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&Project{Root: root}).RemoveLeft(); err != nil {
		t.Fatal(err)
	}
	for stack, stays := range map[string]bool{"gone": false, "own": true, "cached": true} {
		if _, err := os.Stat(filepath.Join(root, "stacks", stack)); (err == nil) != stays {
			t.Errorf("%s: %v", stack, err)
		}
	}
}
