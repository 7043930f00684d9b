//go:build unix

package real

import (
	"fmt"
	"testing"
)

// TestDescriptionsAndTagsConverge: what Proxmox VE and the provider normalise is no change
// after the apply that set it.
func TestDescriptionsAndTagsConverge(t *testing.T) {
	t.Parallel()
	for i, text := range []string{"|\n      one line\n", "|+\n      two\n      lines  \n\n", "\" before and after \"", "\"CR\\r\\nLF\"", "\"  \""} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"specs/live.yaml": `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false, tags: [web]}
vms:
  a:
    tags: [Web, app]
    description: ` + text + "\n"})
			p.simulate()
			p.render()
			p.deployed(0, "apply --yes")
			p.deployed(0, "preflight", "live/a: VM 300 live-a on pve1  state and cluster agree")
			p.deployed(0, "drift")
			p.deployed(0, "apply --yes", "nothing to do")
		})
	}
}
