// Package check turns a project, the cluster, states and plans into what the
// pure packages judge. It reads each of them once for a command, and once for all
// units of a Terragrunt run.
//
// It decides nothing about VMs, and it prints nothing: it returns what was found,
// and tells its progress to one function.
package check
