// Command provider-dns is a stand-in for the OpenTofu provider hashicorp/dns,
// made for the tests of stackgen. It is not HashiCorp's provider and shares no
// code with it: that one cannot be built as a Go module.
//
// It has the same address, the same provider block and the same
// dns_a_record_set, and it does real updates (RFC 2136), signed with TSIG
// (RFC 8945). README.md says how far it goes. Do not use it for zones that matter.
package main

import (
	"flag"

	"github.com/hashicorp/terraform-plugin-sdk/v2/plugin"
)

// version is set by the linker. It is no version of the real provider.
var version = "3.99.0"

func main() {
	debug := flag.Bool("debug", false, "run under a debugger")
	flag.Parse()
	plugin.Serve(&plugin.ServeOpts{
		ProviderFunc: provider,
		ProviderAddr: "registry.opentofu.org/hashicorp/dns",
		Debug:        *debug,
	})
}
