// Package pvesim simulates a Proxmox VE cluster in memory. A seed (YAML) defines
// nodes, storages, guests, pools, users and tokens; HTTPS requests get the responses
// of a genuine server, in status, reason phrase, text and type. Every response
// comes from the simulated state. Time comes from a clock and randomness from a
// seed number, so that runs are reproducible. The package never contacts a real
// cluster and never starts a program. It contacts other servers only when a client
// asks a node to download a URL, and keeps of a file no more than sizes and checksums.
//
//	sim, err := pvesim.New(pvesim.Options{})   // the default cluster, real time
//	err = sim.Start("127.0.0.1:0")             // HTTPS with its own certificate
//	cmd.Env = append(os.Environ(), sim.Env()...)
//	sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Count: 1, Do: pvesim.DoTimeout})
//	sim.Writes(100) // the number of writes to guest 100
//	sim.Save(file)  // the state, which can be loaded as a seed
//
// The paths below /_sim/ of the served address do the same over HTTP: POST faults,
// clock ({"advance":"10s"}, virtual clocks only) and node
// ({"node":"pve3","state":"lost"}), GET log and counters.
package pvesim
