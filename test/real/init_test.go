//go:build unix

package real

import (
	"net/url"
	"strings"
	"testing"
)

// TestInit starts a project on a cluster without templates: it makes the template with the
// commands that init prints, and applies the example as init writes it.
func TestInit(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	sim := p.simulate()
	p.remove("stackgen.yaml")
	for _, vmid := range []string{"9000", "9002", "9010", "9011"} {
		callAPI(t, sim, "DELETE", "/nodes/pve1/qemu/"+vmid, nil)
	}
	output := p.deployed(0, "init first", "To make the one that the example names")
	p.deployed(0, "render first")
	node := ""
	for line := range strings.Lines(output) {
		words := strings.Fields(line)
		switch {
		case strings.Contains(line, "as root on node"):
			node = strings.TrimSuffix(words[len(words)-1], ":")
		case len(words) > 2 && words[0] == "qm":
			form := url.Values{}
			for i := 3; i+1 < len(words); i += 2 {
				value, _, imports := strings.Cut(words[i+1], "import-from=")
				if imports {
					value += "import-from=shared:import/debian-12-genericcloud-amd64.qcow2"
				}
				form.Set(strings.TrimPrefix(words[i], "--"), value)
			}
			switch path := "/nodes/" + node + "/qemu"; words[1] {
			case "create":
				form.Set("vmid", words[2])
				callAPI(t, sim, "POST", path, form)
			case "set":
				callAPI(t, sim, "POST", path+"/"+words[2]+"/config", form)
			case "template":
				callAPI(t, sim, "POST", path+"/"+words[2]+"/template", url.Values{})
			default:
				t.Fatalf("no test knows %q", line)
			}
		}
	}
	p.deployed(0, "preflight first", "safe to apply (3 create)")
	p.remove("first")
	p.deployed(0, "init", "The example uses template 9000 (debian-12), node "+node)
	p.deployed(0, "render")
	if output := p.deployed(0, "preflight"); strings.Contains(output, "brings") {
		t.Errorf("the template has what the example does not say:\n%s", output)
	}
	p.deployed(0, "apply --yes", "example is as its spec says")
	p.tools = p.tools.With("PROXMOX_VE_ENDPOINT=https://127.0.0.1:1/")
	p.deployed(1, "init away", "127.0.0.1:1 cannot be reached", "env -u PROXMOX_VE_ENDPOINT -u PM_VE_ENDPOINT stackgen init away")
	if p.exists("away") {
		t.Error("init writes files without the cluster that it is made for")
	}
}
