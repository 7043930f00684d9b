//go:build unix

package real

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/dnstest"
	"stackgen/internal/pvesim"
)

// keepFaults are VMs that report no address: their records stay as they are, and all
// other records are right after the apply.
func keepFaults() []fault {
	records := func(mode string) *faultWorld {
		return &faultWorld{build: func(w *faultCase) { stackWithRecords(w, mode) }, fresh: true}
	}
	return []fault{
		fault{name: "VM with a record stopped by hand, another one has a new address", world: records("per-vm"), event: both(stopVM, keepsRecord, readdressB)}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
		fault{name: "VM with a record stopped by hand, `dns.mode: per-stack`", world: records("per-stack"), event: both(stopVM, keepsRecord, readdressB)}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
		fault{name: "agent of a VM with a record silent, and its timeout is 5 s", world: records("per-vm"), event: both(silenceAgent, keepsRecord, readdressB)}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
		fault{name: "new VM whose agent is silent, and its timeout is 5 s", world: records("per-stack"), event: addSilentVM}.succeedsInBoth("1 added, 0 changed, 0 destroyed", 303),
		fault{name: "state lost, VM with a record stopped by hand", world: records("per-vm"), event: both(stopVM, keepsRecord, loseState)}.fixedByImport("adopt a b c live-a.lab.test. live-b.lab.test. live-c.lab.test.", noState, "5 imported, 0 added"),
	}
}

// stackWithRecords is the stack live with DNS records, applied.
func stackWithRecords(w *faultCase, mode string) {
	w.Helper()
	s, err := dnstest.Start(context.Background(), dnstest.Options{})
	check(w.T, err)
	w.Cleanup(func() { check(w.T, s.Close()) })
	w.dns, w.tools = s, w.tools.With(s.Env()...)
	w.settings("")
	dns := fmt.Sprintf("dns: {zone: lab.test, server: %s, port: %d, tsig: {key_name: %s, algorithm: %s}, mode: %s}\n", s.Addr, s.Port, s.KeyName, s.Algorithm, mode)
	w.spec(strings.NewReplacer("vms:\n", dns+"vms:\n", "  a: {", "  a: {agent: {timeout: 5s}, ").Replace(faultSpec)+faultLast, true)
	w.must(w.apply())
	w.must(w.stackgen("resolve"))
}

// keepsRecord fails at the end of the test unless the record of a is what it is now.
func keepsRecord(w *faultCase) {
	w.Helper()
	was, err := w.dns.Lookup("live-a")
	check(w.T, err)
	if len(was) != 1 {
		w.Fatalf("the record is %v before the fault", was)
	}
	w.Cleanup(func() {
		if is, err := w.dns.Lookup("live-a"); err != nil || !slices.Equal(is, was) {
			w.Errorf("the record is %v (%v), before %v", is, err, was)
		}
	})
}

// readdressB gives b another address. At the end of the test its record has that one.
func readdressB(w *faultCase) {
	w.Helper()
	w.change(301, func(g *pvesim.Guest) {
		mac := strings.SplitN(strings.TrimPrefix(g.Config["net0"], "virtio="), ",", 2)[0]
		g.Agent.Interfaces = []pvesim.AgentInterface{{Name: "eth0", MAC: mac, Addresses: []string{"10.0.0.77/24"}}}
	})
	w.Cleanup(func() {
		if is, err := w.dns.Lookup("live-b"); err != nil || !slices.Equal(is, []string{"10.0.0.77"}) {
			w.Errorf("the record of the other VM is %v (%v)", is, err)
		}
	})
}

// addSilentVM adds a VM to the spec whose guest has no agent. It gets no record.
func addSilentVM(w *faultCase) {
	w.Helper()
	w.change(9000, func(g *pvesim.Guest) { g.Agent.Mode = "silent" })
	w.editSpec(faultLast, faultLast+"  d: {node: pve1, agent: {timeout: 5s}}\n")
	w.Cleanup(func() {
		if is, err := w.dns.Lookup("live-d"); err != nil || len(is) > 0 {
			w.Errorf("the record of a VM that reports no address is %v (%v)", is, err)
		}
	})
}
