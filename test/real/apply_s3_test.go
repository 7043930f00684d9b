//go:build unix

package real

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestApplyKilledS3 kills everything during a clone of a stack whose state is in a bucket.
// The lock stays there. The same command says whose it is and how to remove it, instead of
// waiting forever, and then completes the VM.
func TestApplyKilledS3(t *testing.T) {
	t.Parallel()
	bucket := &bucketServer{objects: map[string][]byte{}}
	server := httptest.NewServer(bucket)
	t.Cleanup(server.Close)
	spec := oneSpec + fmt.Sprintf("backend: {type: s3, bucket: states, region: us-east-1, endpoint: %s, path_style: true}\n", server.URL)
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(spec, "pool: {id: live, create: true}\n", "", 1)})
	p.tools = p.tools.With("AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b")
	sim := p.simulate()
	p.render()
	p.killedOnce(func() bool { _, made := stateOf(sim).guests[300]; return made })
	p.remove("stacks/live/.terragrunt-stack")
	began := time.Now()
	output := p.deployed(3, "apply --yes", "blocked busy", "holds the lock of the state since", "OperationTypeApply", "it has probably left the lock behind", "force-unlock -force")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if p.exists("stacks/live/.terragrunt-stack") {
		t.Error("an apply that was blocked by its plan leaves .terragrunt-stack")
	}
	line := regexp.MustCompile(`(?m)^\s+(\(cd .*force-unlock.*)$`).FindStringSubmatch(output)
	if line == nil {
		t.Fatal("there is no line to remove the lock")
	}
	p.succeeds(".", "bash", "-c", line[1])
	p.deployed(0, "apply --yes", "live is as its spec says")
	if g := stateOf(sim).guests[300]; !g.running || g.config["lock"] != "" {
		t.Errorf("VM 300: running %v, lock %q", g.running, g.config["lock"])
	}
	p.deployed(0, "apply --yes", "nothing to do")
}
