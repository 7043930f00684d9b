// Package pvesim is a Proxmox VE cluster that exists only in memory: a seed
// (YAML) becomes nodes, storages, guests, pools, users and tokens, and HTTPS
// requests become the answers a genuine server gives, in status, reason phrase,
// text and type. Every answer comes from the simulated state. Time comes from a
// clock and chance from a seed number, so that a run can be repeated. It never
// contacts a real cluster and never starts a program.
//
//	sim, err := pvesim.New(pvesim.Options{})   // the default cluster, real time
//	err = sim.Start("127.0.0.1:0")             // HTTPS with a certificate of its own
//	cmd.Env = append(os.Environ(), sim.Env()...)
//	sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Count: 1, Do: pvesim.DoTimeout})
//	sim.Writes(100) // how many writes were about guest 100
//	sim.Save(file)  // the state, which loads again as a seed
//
// The same can be had from outside below /_sim/ of the served address: POST
// faults, clock ({"advance":"10s"}, virtual clocks only) and node
// ({"node":"pve3","state":"lost"}), GET log and counters.
package pvesim
