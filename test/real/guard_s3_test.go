//go:build unix

package real

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestGuardBackendS3: a unit whose state is in a bucket is applied, and refused after it
// was initialized with another key.
func TestGuardBackendS3(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&bucketServer{objects: map[string][]byte{}})
	t.Cleanup(server.Close)
	specs := outsideSpecs("fast")
	for path, body := range specs {
		specs[path] = body + fmt.Sprintf("backend: {type: s3, bucket: states, region: us-east-1, endpoint: %s, path_style: true}\n", server.URL)
	}
	p := newProject(t, specs)
	g := &guardedStack{project: p, sim: p.simulate()}
	p.render()
	g.stack(true, "apply", "1 create")
	g.stack(true, "apply", "1 managed")
	g.remove("stacks/live/.terragrunt-stack")
	g.with("TF_CLI_ARGS_init=-backend-config=key=other/proxmox-vm/tofu.tfstate", func() { g.stack(true, "plan") })
	output := g.stack(false, "apply", "initialized with another backend", `its key is "other/proxmox-vm/tofu.tfstate"`)
	g.hasVMs(300)
	g.pasteLine(".", output, "-reconfigure")
	g.stack(true, "apply", "1 managed")
	if strings.Contains(g.stack(true, "plan"), "to add") {
		t.Error("the state is not the unit's")
	}
}
