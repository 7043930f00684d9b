// Command stackgen renders specs of Proxmox VE stacks into OpenTofu and
// Terragrunt, and keeps applies from touching VMs that the specs did not name.
package main

import (
	"crypto/rand"
	"os"

	"stackgen/cmd"
)

func main() {
	os.Exit(cmd.Main(os.Args, rand.Reader, os.Stdin, os.Stdout, os.Stderr))
}
