// Package pvesim is a Proxmox VE cluster that exists only in memory: a seed
// (YAML) becomes nodes, storages, guests, pools, users and tokens, and HTTPS
// requests become the answers a genuine server gives, in status, reason phrase,
// text and type. Every answer comes from the simulated state. Time comes from a
// clock and chance from a seed number, so that a run can be repeated. It never
// contacts a real cluster and never starts a program.
package pvesim
