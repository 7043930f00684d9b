package files

import (
	"strings"
	"testing"
)

// TestReserved: where only generated files may be, Compare refuses others, links and copies
// among them, and leaves them where they are.
func TestReserved(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, tree{
		"modules/vm/main.tf":             ours("wanted"),
		"modules/vm/x_override.tf":       "mine\n",
		"modules/vm/link.tf":             "-> ../../x",
		"modules/vm/copy.tf":             ours("a copy"),
		"modules/vm/edited.tf":           ours("altered"),
		"modules/vm/stale.tf":            ours("old"),
		"modules/vm/README.md":           "mine\n",
		"modules/vm/.terraform.lock.hcl": "mine\n",
		"stacks/imports/x.tf":            ours("not managed"),
		"stacks/imports/edited.tf":       ours("altered"),
	})
	o := options()
	o.Managed = func(p string) bool { return !strings.Contains(p, "/imports/") }
	o.Reserved = func(p string) bool { return strings.HasSuffix(p, ".tf") || strings.HasSuffix(p, ".hcl") }
	changes, err := Compare(root, []File{{Path: "modules/vm/main.tf", Body: []byte(ours("wanted"))}}, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		line := string(c.Kind) + " " + c.Path
		if c.Edited {
			line += " edited"
		}
		got = append(got, line)
	}
	const want = "refused modules/vm/copy.tf\nrefused modules/vm/edited.tf edited\nrefused modules/vm/link.tf\nremoved modules/vm/stale.tf\nrefused modules/vm/x_override.tf\nrefused stacks/imports/edited.tf edited"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
