// Package rollout cuts the VMs of a rebuild into waves: those that are rebuilt again first, then
// canaries, then the others. It reads nothing and knows no clock.
package rollout
