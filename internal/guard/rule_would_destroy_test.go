package guard

import (
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

func destroyCases() []ruleCase {
	return []ruleCase{
		{"would-destroy: forgotten, and in state", both, func(s *scene) { s.entry.Status = lock.Forgotten }, "state rm"},
		{"none: forgotten, and in no state", onlyGuest, func(s *scene) { s.entry.Status = lock.Forgotten }, ""},
		{"would-destroy: several times in state", both, func(s *scene) {
			second := inState("web1", 100)
			second.Address = schema.VMAddress("protected", "web1")
			s.State[tf.VMUnit("lab")] = tf.State{Resources: []tf.Resource{*s.state(), second}}
		}, "protected"},
		{"would-destroy: no moved block", both, func(s *scene) { s.state().Address = schema.VMAddress("protected", "web1") }, "state mv"},
		{"would-destroy: another VMID in state", both, func(s *scene) { s.state().VMID = 300 }, "state rm"},
		{"would-destroy: another VMID in state", both, func(s *scene) { s.state().VMID = 300; s.retire() }, "state rm"},
		{"would-destroy: tainted", both, func(s *scene) { s.state().Tainted = true }, "untaint"},
		{"would-destroy: its profile prevents that", both, func(s *scene) { s.Destroy, s.Project.Profiles[0].PreventDestroy = true, true }, "retired: [web1]"},
	}
}
