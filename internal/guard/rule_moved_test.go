package guard

import (
	"strings"
	"testing"
)

func movedCases() []ruleCase {
	manages := func(s *scene) {
		s.Project.Profiles[0].IgnoreChanges, s.guest().Node = []string{"started", "clone"}, "pve2"
	}
	ofProject := func(s *scene) {
		manages(s)
		s.Project.Profiles[0].File, s.Project.Profiles[0].PreventDestroy = "stackgen.yaml", true
	}
	return []ruleCase{
		{"moved", both, func(s *scene) { s.guest().Node = "pve2" }, ""},
		{"moved", both, func(s *scene) { manages(s); s.Destroy = true }, ""},
		{"moved: an apply would move it back", both, manages, "node: pve2"},
		{"moved: an apply would move it back", both, ofProject, "ignore_changes: [node_name, started]  # profiles.default"},
		{"moved: an import would replace it", onlyGuest, manages, "node: pve2"},
	}
}

// TestProfileOfOtherFile: the line for a profile is for the file that has the profile.
func TestProfileOfOtherFile(t *testing.T) {
	cases := movedCases()
	for _, c := range cases {
		if !strings.Contains(c.step, "# profiles.") {
			continue
		}
		j := newJudge(c.scene().Input)
		s := j.subject(j.places["lab"], &j.all[0])
		s.decide()
		if what := s.Steps[len(s.Steps)-1].What; !strings.HasSuffix(what, "write into stackgen.yaml") {
			t.Errorf("got %q", what)
		}
	}
}
