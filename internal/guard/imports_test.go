package guard

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"stackgen/templates"
)

// TestImportingOfTheUnit: the guard finds the VMs that an import file names by the pattern of
// the unit that is rendered.
func TestImportingOfTheUnit(t *testing.T) {
	unit, err := fs.ReadFile(templates.FS, "units/proxmox-vm/terragrunt.hcl")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(unit), "regexall(")
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		t.Fatal(err)
	}
	pattern, err := strconv.Unquote(quoted)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.NewReplacer("(", "", ")", "").Replace(pattern); importing.String() != want {
		t.Errorf("the guard looks for %s, the unit for %s", importing, want)
	}
}
