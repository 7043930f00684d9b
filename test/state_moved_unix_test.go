//go:build unix

package test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStateMoved pastes the line that moves the state of a stack. It moves the state of no other
// stack, and what is not moved is not confirmed.
func TestStateMoved(t *testing.T) {
	spec := func(name, vmids, rest string) string {
		return "apiVersion: stackgen/v1\nkind: Stack\nname: " + name + "\nvmids: " + vmids + "\ndefaults: {node: pve1, template: 9000}\nvms: {a: {}}\n" + rest
	}
	renamed := func(pairs string) string {
		return "apiVersion: stackgen/v1\nkind: Project\nrenamed: {stacks: {" + pairs + "}}\n"
	}
	for _, c := range []struct {
		name          string
		before, after map[string]string // files, of which those of states have the name of the stack
		states        map[string]string // afterwards
		refused       string            // instead
	}{
		{"below another stack's name",
			map[string]string{"specs/a.yaml": spec("prod", "2100-2199", ""), "specs/b.yaml": spec("web", "2200-2299", "environment: prod\n"),
				".state/prod/proxmox-vm/tofu.tfstate": "prod", ".state/prod/web/proxmox-vm/tofu.tfstate": "web"},
			map[string]string{"specs/a.yaml": spec("production", "2100-2199", ""), "stackgen.yaml": renamed("prod: production")},
			map[string]string{".state/production/proxmox-vm/tofu.tfstate": "prod", ".state/prod/web/proxmox-vm/tofu.tfstate": "web"}, ""},
		{"below its own place",
			map[string]string{"specs/a.yaml": spec("lab", "2100-2199", ""), ".state/lab/proxmox-vm/tofu.tfstate": "lab"},
			map[string]string{"specs/a.yaml": spec("lab", "2100-2199", "environment: lab\n")},
			map[string]string{".state/lab/lab/proxmox-vm/tofu.tfstate": "lab"}, ""},
		{"above its own place",
			map[string]string{"specs/a.yaml": spec("lab", "2100-2199", "environment: lab\n"), ".state/lab/lab/proxmox-vm/tofu.tfstate": "lab"},
			map[string]string{"specs/a.yaml": spec("lab", "2100-2199", "")},
			map[string]string{".state/lab/proxmox-vm/tofu.tfstate": "lab"}, ""},
		{"where a former stack left one",
			map[string]string{"specs/a.yaml": spec("a", "2100-2199", ""), ".state/a/proxmox-vm/tofu.tfstate": "a", ".state/b/proxmox-vm/tofu.tfstate": "former"},
			map[string]string{"specs/a.yaml": spec("b", "2100-2199", ""), "stackgen.yaml": renamed("a: b")},
			map[string]string{".state/a/proxmox-vm/tofu.tfstate": "a", ".state/b/proxmox-vm/tofu.tfstate": "former"},
			".state/b/ already has a state of proxmox-vm, which is not overwritten"},
		{"that was never applied",
			map[string]string{"specs/a.yaml": spec("a", "2100-2199", "")},
			map[string]string{"specs/a.yaml": spec("a", "2100-2199", "environment: lab\n")}, map[string]string{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.before)
			mustRender(t, dir)
			write(t, dir, c.after)
			said, _ := process(t, dir, "render").CombinedOutput()
			line := stateMove(t, string(said))
			stack := line[strings.LastIndex(line, " ")+1:]
			if strings.Contains(line, " mv ") {
				if code := exitOf(process(t, dir, "render", "--state-moved", stack)); code != 3 {
					t.Errorf("render --state-moved, with nothing moved: exit %d", code)
				}
			}
			sh := exec.Command("/bin/sh", "-c", line)
			sh.Dir, sh.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(binary(t))+":"+os.Getenv("PATH"))
			out, err := sh.CombinedOutput()
			if refused := c.refused != ""; refused == (err == nil) || !strings.Contains(string(said), c.refused) {
				t.Errorf("%v\n%s%s", err, said, out)
			}
			code := exitOf(process(t, dir, "render", "--check"))
			if want := map[bool]int{true: 3}[c.refused != ""]; code != want {
				t.Errorf("render --check: exit %d, want %d", code, want)
			}
			if got := statesIn(t, dir); !maps.Equal(got, c.states) {
				t.Errorf("the states are %v, want %v", got, c.states)
			}
		})
	}
}

func exitOf(c *exec.Cmd) int {
	_ = c.Run()
	return c.ProcessState.ExitCode()
}

// stateMove is the line of a refusal that confirms the move of a state.
func stateMove(t *testing.T, refusal string) string {
	t.Helper()
	lines := strings.Split(refusal, "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "stackgen render --state-moved") })
	if i < 0 {
		t.Fatalf("it does not say how to move the state:\n%s", refusal)
	}
	return strings.TrimSpace(lines[i])
}

// statesIn are the files below .state, and what is in them.
func statesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for path, body := range tree(t, dir) {
		if strings.HasPrefix(path, ".state/") {
			out[path] = body
		}
	}
	return out
}
