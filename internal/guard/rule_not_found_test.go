package guard

import (
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

func fingerprint(uuid string) *lock.Fingerprint { return &lock.Fingerprint{UUID: uuid} }

func notFoundCases() []ruleCase {
	return []ruleCase{
		{"not-found: the spec adopts it", nowhere, func(s *scene) { s.spec.Adopt = true }, "adopt: {vmid: N}"},
		{"not-found: the import file imports it", nowhere, func(s *scene) {
			s.Imports = map[tf.Unit]Imports{tf.VMUnit("lab"): {schema.VMAddress("", "web1"): "pve1/100"}}
		}, "stackgen import-blocks"},
	}
}
