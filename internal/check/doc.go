// Package check turns a project, the cluster, states and plans into findings. It reads
// each of them once for a command, and once for all units of a Terragrunt run, joins
// them, and has the pure packages judge them. [Session.Run] is this pipeline, and a
// [Config] is what one command needs of it.
//
// It decides nothing about VMs, and it prints nothing: it returns what was found,
// and tells its progress to one function.
package check
