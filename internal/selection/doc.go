// Package selection turns what a command line names, a stack, STACK/KEY, STACK/GROUP or a
// member, into VMs of the project, each with the guest of the cluster that it certainly is.
//
// It reads nothing. A guest is a VM by the evidence of package cluster, never by its VMID
// alone: a VM without such a guest says why.
package selection
