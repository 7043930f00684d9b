package real

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"stackgen/internal/pvesim"
)

// A ciStep is a shell script of a recipe and its environment.
type ciStep struct {
	Name  string
	Run   string
	Shell []string
	Env   map[string]string // empty values for variables that the service sets
}

// ciNotRun are the steps that no test runs, with the reason. They also do not
// run checkouts, actions and images.
var ciNotRun = map[string]string{
	"Install stackgen": "clones the reader's repository of stackgen",
	"Get the suites":   "clones the reader's repository of stackgen",
}

// ciDrift are the steps that TestDriftJob runs.
var ciDrift = []string{"Drift", "The drift job works", "drift", "drift-check"}

// ciSecret matches the value of a variable that the service sets.
var ciSecret = regexp.MustCompile(`^\$\{\{ *(vars|secrets)\.[A-Z_]+ *\}\}$`)

// ciGitHub reads the steps of a workflow in the order of the file.
func ciGitHub(t *testing.T) []ciStep {
	t.Helper()
	var recipe struct{ Jobs yaml.Node }
	ciRead(t, "github.yaml", &recipe)
	var steps []ciStep
	for i := 1; i < len(recipe.Jobs.Content); i += 2 {
		var job struct {
			Env   map[string]string
			Steps []struct {
				Name, Run, Uses string
				Env             map[string]string
			}
		}
		check(t, recipe.Jobs.Content[i].Decode(&job))
		for _, s := range job.Steps {
			if s.Uses != "" {
				t.Logf("not executed: %s", s.Uses)
				continue
			}
			env := map[string]string{}
			for _, from := range []map[string]string{job.Env, s.Env} {
				for name, value := range from {
					env[name] = ciSecret.ReplaceAllString(value, "")
				}
			}
			// GitHub runs a step without a shell with bash -e.
			steps = append(steps, ciStep{s.Name, s.Run, []string{"bash", "-e", "-c"}, env})
		}
	}
	return steps
}

// ciWoodpecker reads the steps of a pipeline.
func ciWoodpecker(t *testing.T) []ciStep {
	t.Helper()
	var recipe struct {
		Steps []struct {
			Name        string
			Image       string
			Commands    []string
			Environment map[string]yaml.Node
		}
	}
	ciRead(t, "woodpecker.yaml", &recipe)
	var steps []ciStep
	for _, s := range recipe.Steps {
		env := map[string]string{}
		for name, value := range s.Environment {
			env[name] = value.Value // empty for {from_secret: NAME}
		}
		run := strings.ReplaceAll(strings.Join(s.Commands, "\n"), "$$", "$") // $$ is an escaped $ in Woodpecker
		steps = append(steps, ciStep{s.Name, run, []string{"sh", "-e", "-c"}, env})
	}
	return steps
}

func ciRead(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "docs", "ci", file))
	check(t, err)
	check(t, yaml.Unmarshal(text, into))
}

// A ciProject is a project of `stackgen init` and `stackgen render`, with a simulated
// cluster.
type ciProject struct {
	*project
	sim *pvesim.Server
	env []string // Go's caches
}

func ciNew(t *testing.T) *ciProject {
	t.Helper()
	p, c := newProject(t, nil), &ciProject{}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		out, err := exec.Command("go", "env", name).Output()
		check(t, err)
		c.env = append(c.env, name+"="+strings.TrimSpace(string(out)))
	}
	c.project, c.sim = p, p.simulate() // from here on with its own HOME
	p.remove("stackgen.yaml")
	if code, output := p.stackgen("init", p.dir); code != 0 {
		t.Fatalf("init: exit %d\n%s", code, output)
	}
	p.render()
	root, err := filepath.Abs(repository)
	check(t, err)
	check(t, os.Symlink(root, filepath.Join(p.dir, "stackgen"))) // the repository that the recipe clones
	return c
}

// ciSuite is the only suite that a scheduled step runs here; `make test-rest` runs all.
const ciSuite = "TestProtected"

// step runs a step like its service, and returns the exit code, and the output with
// GitHub's summary.
func (c *ciProject) step(s ciStep) (int, string) {
	c.Helper()
	if strings.Contains(s.Run, "${{") {
		c.Fatalf("%s: the script has an expression of the service:\n%s", s.Name, s.Run)
	}
	root, err := filepath.Abs(repository)
	check(c.T, err)
	summary := filepath.Join(c.TempDir(), "summary")
	cmd := exec.CommandContext(c.Context(), s.Shell[0], append(s.Shell[1:], s.Run)...)
	cmd.Dir = c.dir
	cmd.Env = append(slices.Clone(c.tools.Env), "GITHUB_STEP_SUMMARY="+summary, "STACKGEN_SOURCE="+root, "SUITES="+ciSuite)
	cmd.Env = append(cmd.Env, c.env...)
	for name, value := range s.Env {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		c.Fatalf("%s: %v", s.Name, err)
	}
	more, _ := os.ReadFile(summary)
	return cmd.ProcessState.ExitCode(), string(out) + string(more)
}

// TestCIRecipes runs every step of the recipes in order, on a project of `stackgen init`.
func TestCIRecipes(t *testing.T) {
	t.Parallel()
	for _, recipe := range []struct {
		name     string
		steps    []ciStep
		ran      int
		contains map[string]string
	}{
		{"github", ciGitHub(t), 7, map[string]string{
			"Preflight": "safe to apply (3 create)", "Plan": "Plan: 3 to add, 0 to change, 0 to destroy.", "Check the plans": "| create | example/web01: VM 2100",
			"Terratest": "1 of 7 suites ran, on: live cluster", "Remove what a killed run left": "removed 0 in 6000-6099"}},
		{"woodpecker", ciWoodpecker(t), 4, map[string]string{
			"plan": "Plan: 3 to add, 0 to change, 0 to destroy.", "terratest": "1 of 7 suites ran, on: live cluster", "sweep": "removed 0 in 6000-6099"}},
	} {
		t.Run(recipe.name, func(t *testing.T) {
			c, ran := ciNew(t), 0
			for _, s := range recipe.steps {
				if why, not := ciNotRun[s.Name]; not {
					t.Logf("not executed: %s: %s", s.Name, why)
					continue
				}
				if slices.Contains(ciDrift, s.Name) {
					continue
				}
				code, output := c.step(s)
				if code != 0 {
					t.Fatalf("%s: exit %d\n%s", s.Name, code, output)
				}
				if want := recipe.contains[s.Name]; !strings.Contains(output, want) {
					t.Errorf("the output of %s lacks %q:\n%s", s.Name, want, output)
				}
				ran++
			}
			if ran != recipe.ran {
				t.Errorf("%d steps ran, want %d", ran, recipe.ran)
			}
			w := &simulation{t: t, sim: c.sim}
			if got, want := fmt.Sprint(w.guests()), "[qemu/123 qemu/124 qemu/125 qemu/9000 qemu/9002 qemu/9010 qemu/9011]"; got != want {
				t.Errorf("after the recipe the cluster has %s, want %s", got, want)
			}
		})
	}
}

// TestCIRecipesStop checks that each step fails on the problem that it looks for.
func TestCIRecipesStop(t *testing.T) {
	t.Parallel()
	c := ciNew(t)
	spec := c.read("specs/example.yaml")
	steps := map[string]ciStep{}
	for _, s := range append(ciGitHub(t), ciWoodpecker(t)...) {
		steps[s.Name] = s
	}
	stops := func(name string, want int, contains string) {
		t.Helper()
		if code, output := c.step(steps[name]); code != want || !strings.Contains(output, contains) {
			t.Errorf("%s: exit %d, want %d and %q\n%s", name, code, want, contains, output)
		}
	}
	c.write("specs/example.yaml", strings.Replace(spec, "memory: 4096", "memroy: 4096", 1))
	stops("Validate the specs", 1, "::error file=specs/example.yaml,line=")
	stops("check", 1, "memroy")
	c.write("specs/example.yaml", strings.Replace(spec, "memory: 4096", "memory: 5120", 1))
	stops("Rendered files are current", 2, "stacks/example/terragrunt.stack.hcl")
	stops("check", 2, "stacks/example/terragrunt.stack.hcl")
	c.write("specs/example.yaml", spec)
	w := &simulation{t: t, sim: c.sim}
	w.api("POST", "/nodes/pve1/qemu", map[string][]string{"vmid": {"2100"}, "name": {"somebody"}})
	stops("Preflight", 3, "::error")
	stops("plan", 3, "somebody")
}

// TestCIDocs checks that docs/guides/ci.md shows the recipes and names the steps that are not run.
func TestCIDocs(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join(repository, "docs", "guides", "ci.md"))
	check(t, err)
	files, err := os.ReadDir(filepath.Join(repository, "docs", "ci"))
	check(t, err)
	for _, file := range files {
		recipe, err := os.ReadFile(filepath.Join(repository, "docs", "ci", file.Name()))
		check(t, err)
		language := map[string]string{".yaml": "yaml", ".sh": "sh"}[filepath.Ext(file.Name())]
		if !strings.Contains(string(doc), "```"+cmp.Or(language, "ini")+"\n"+string(recipe)+"```\n") {
			t.Errorf("docs/guides/ci.md does not show docs/ci/%s as it is", file.Name())
		}
	}
	for name := range ciNotRun {
		if !strings.Contains(string(doc), name) {
			t.Errorf("docs/guides/ci.md does not say that the step %q is not executed in the tests", name)
		}
	}
}
