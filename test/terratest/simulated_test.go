package terratest

import (
	"context"
	"errors"
	"os"
	"strconv"

	"stackgen/internal/dnstest"
	"stackgen/test/terratest/simulator"
)

// simulated are the variables of a real cluster, with the values for the simulator's.
var simulated = map[string]string{
	"STACKGEN_TEST_NODE": "pve1", "STACKGEN_TEST_NODE2": "pve2", "STACKGEN_TEST_TEMPLATE": "9002", "STACKGEN_TEST_STORAGE": "local-lvm",
	"STACKGEN_TEST_BRIDGE": "vmbr0", "STACKGEN_TEST_VMIDS": "6000-6099", "STACKGEN_TEST_PREFIX": "sgtest",
}

// simulate starts a simulated cluster and a DNS server, and sets the environment for
// them. It returns a function that stops them. No other function knows the simulator.
func simulate() (stop func() error, err error) {
	sim, err := simulator.Start()
	if err != nil {
		return nil, err
	}
	zone, err := dnstest.Start(context.Background(), dnstest.Options{})
	if err != nil {
		return nil, errors.Join(err, sim.Stop())
	}
	stop = func() error { return errors.Join(zone.Close(), sim.Stop()) }
	here.names = map[dnstest.Kind]string{dnstest.Named: "BIND", dnstest.InProcess: "in-process"}[zone.Kind]
	for _, variables := range []map[string]string{simulated, sim.Env, records2136(zone)} {
		for name, value := range variables {
			if err := os.Setenv(name, value); err != nil {
				return nil, errors.Join(err, stop())
			}
		}
	}
	return stop, nil
}

// records2136 are the variables that name a DNS server.
func records2136(zone *dnstest.Server) map[string]string {
	return map[string]string{
		"STACKGEN_TEST_DNS_ZONE": zone.Zone, "STACKGEN_TEST_DNS_SERVER": zone.Addr, "STACKGEN_TEST_DNS_PORT": strconv.Itoa(zone.Port),
		"STACKGEN_TEST_DNS_KEY_NAME": zone.KeyName, "STACKGEN_TEST_DNS_ALGORITHM": zone.Algorithm, "DNS_UPDATE_KEYSECRET": zone.Secret,
	}
}
