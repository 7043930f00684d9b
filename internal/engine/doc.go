// Package engine runs OpenTofu, Terragrunt and Terraform and hands back what
// they said. It is the only package of the program that starts processes; for
// tests, package dnstest starts a DNS server.
//
// It never interprets what it runs: a tool that ends with an error has a result
// like any other.
package engine
