// Command provider-dns is a stand-in for the OpenTofu provider hashicorp/dns in
// the tests of stackgen. It is not HashiCorp's provider and shares no code with
// it: that one cannot be built as a Go module.
//
// It has the same address, provider block and dns_a_record_set, and makes real
// updates (RFC 2136), signed with TSIG (RFC 8945). README.md lists what it
// supports. Do not use it for production zones.
package main

import (
	"flag"

	"github.com/hashicorp/terraform-plugin-sdk/v2/plugin"
)

func main() {
	debug := flag.Bool("debug", false, "run under a debugger")
	flag.Parse()
	plugin.Serve(&plugin.ServeOpts{
		ProviderFunc: provider,
		ProviderAddr: "registry.opentofu.org/hashicorp/dns",
		Debug:        *debug,
	})
}
