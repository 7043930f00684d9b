package schema

import "github.com/hashicorp/go-version"

// floors are the oldest versions that the output runs on, with older versions
// that a constraint must not allow. OpenTofu 1.10 introduced lock files in S3;
// Terragrunt 1.1 made autoinclude stable.
var floors = map[string]struct {
	floor string
	below []string
}{
	"opentofu":   {"1.10", []string{"1.9.99", "1.9.0", "1.8.0", "1.7.0", "1.6.0", "1.0.0"}},
	"terragrunt": {"1.1", []string{"1.0.99", "1.0.0", "0.99.0", "0.80.0", "0.1.0"}},
}

// engine refuses a constraint that allows versions which cannot run the output.
func (j *joiner) engine(n *Node, what string) {
	c, err := version.NewConstraint(n.Text)
	if err != nil {
		j.errorAt(n, "engine."+what, CodeValue, "", "%q is not a version constraint", n.Text)
		return
	}
	for _, old := range floors[what].below {
		if c.Check(version.Must(version.NewVersion(old))) {
			j.errorAt(n, "engine."+what, CodeEngine, `write ">= `+floors[what].floor+`" or a narrower constraint`,
				"%q allows versions of %s before %s, which cannot run the rendered project", n.Text, what, floors[what].floor)
			return
		}
	}
}
