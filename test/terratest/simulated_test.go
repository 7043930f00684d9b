package terratest

import (
	"errors"
	"os"

	"stackgen/test/terratest/simulator"
)

// simulated is what the simulator's own cluster is called in the variables with
// which a user names a genuine one.
var simulated = map[string]string{
	"STACKGEN_TEST_NODE": "pve1", "STACKGEN_TEST_NODE2": "pve2", "STACKGEN_TEST_TEMPLATE": "9002", "STACKGEN_TEST_STORAGE": "local-lvm",
	"STACKGEN_TEST_BRIDGE": "vmbr0", "STACKGEN_TEST_VMIDS": "6000-6099", "STACKGEN_TEST_PREFIX": "sgtest",
}

// simulate sets the environment up for a cluster that is simulated. It returns
// what ends it. This is all that knows of a simulator.
func simulate() (stop func() error, err error) {
	sim, err := simulator.Start()
	if err != nil {
		return nil, err
	}
	for _, variables := range []map[string]string{simulated, sim.Env} {
		for name, value := range variables {
			if err := os.Setenv(name, value); err != nil {
				return nil, errors.Join(err, sim.Stop())
			}
		}
	}
	return sim.Stop, nil
}
