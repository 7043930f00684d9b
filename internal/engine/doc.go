// Package engine runs OpenTofu, Terragrunt and Terraform and hands back what
// they said. It is the only package that starts processes.
//
// It never interprets what it runs: a tool that ends with an error has a result
// like any other.
package engine
