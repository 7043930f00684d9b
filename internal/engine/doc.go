// Package engine runs OpenTofu, Terragrunt and Terraform, and returns the states
// and plans that they print. It is the only package of the program that starts
// processes; for tests, package dnstest starts a DNS server. For package deploy, it
// starts runs that may be interrupted, and follows the files of their events.
//
// It never interprets a state or a plan, and it never decides to apply one.
package engine
