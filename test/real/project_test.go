package real

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/engine"
)

// A project is a stackgen project in a temporary folder, rendered by stackgen and
// run by the real tools. Its endpoint is a closed port of this machine unless
// simulate replaces it.
type project struct {
	*testing.T
	dir           string
	tools         *engine.Tools
	terraformData bool // resources are terraform_data, which need no provider
	realRecords   bool // except for records, which go to a DNS server
}

// toolEnv is the environment of every run, in addition to that of the test
// without the settings of the tools.
var toolEnv = []string{
	"TG_STRICT_MODE=true", "TG_NO_AUTO_RETRY=true", "TG_NON_INTERACTIVE=true", "TG_NO_COLOR=true", "TG_TF_FORWARD_STDOUT=true", "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TG_TELEMETRY_TRACE_EXPORTER=none",
	"PROXMOX_VE_ENDPOINT=https://127.0.0.1:1/", "PROXMOX_VE_API_TOKEN=test@pve!test=00000000-0000-0000-0000-000000000000",
	"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=" + s3Secret, "AWS_EC2_METADATA_DISABLED=true",
}

// findTools returns the tools of this repository. Without them the test fails.
func findTools(t testing.TB) *engine.Tools {
	t.Helper()
	environ := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return regexp.MustCompile(`^(TF_|TG_|TERRAGRUNT_|PROXMOX_|PM_|AWS_|DNS_UPDATE_|SSL_CERT_)`).MatchString(e)
	})
	tools, err := engine.Find(repository, environ)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tofu", "terragrunt"} {
		if _, err := tools.Path(name); err != nil {
			t.Fatalf("%v: run make tools", err)
		}
	}
	if !slices.ContainsFunc(tools.Env, func(e string) bool { return strings.HasPrefix(e, "TF_CLI_CONFIG_FILE=") }) {
		t.Fatal("there is no provider mirror in .tools: run make tools")
	}
	return tools.With(append(slices.Clone(toolEnv), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())...)
}

// newProject creates a project of files, by their paths.
func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{T: t, dir: dir, tools: findTools(t)}
	p.write("stackgen.yaml", noGuard)
	for path, body := range files {
		p.write(path, body)
	}
	return p
}

// noGuard are the settings of projects without a cluster, which a guard cannot read.
const noGuard = "apiVersion: stackgen/v1\nkind: Project\nguard: off\n"

// newStack creates a project of one spec named live, with the required defaults.
func newStack(t *testing.T, rest string) *project {
	t.Helper()
	return newProject(t, map[string]string{"specs/live.yaml": liveSpec(rest)})
}

// liveSpec is a spec named live with the required defaults.
func liveSpec(rest string) string {
	return "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 100-999\ndefaults: {node: pve1, template: 9000}\n" + rest
}

func (p *project) write(path, body string) {
	p.Helper()
	file := filepath.Join(p.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *project) read(path string) string {
	p.Helper()
	body, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(path)))
	if err != nil {
		p.Fatal(err)
	}
	return string(body)
}

func (p *project) exists(path string) bool {
	_, err := os.Stat(filepath.Join(p.dir, filepath.FromSlash(path)))
	return err == nil
}

// remove removes a file or folder.
func (p *project) remove(path string) {
	p.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, filepath.FromSlash(path))); err != nil {
		p.Fatal(err)
	}
}

// stackgen runs a command line in the environment of the project's tools, and returns its
// exit code and output.
func (p *project) stackgen(args ...string) (int, string) {
	p.Helper()
	c := exec.Command(stackgen, args...)
	var out bytes.Buffer
	c.Env, c.Stdout, c.Stderr = attach(p.T, p.tools, append([]string{"stackgen"}, args...)...), &out, &out
	err := c.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String()
}

// render renders the project, which must succeed.
func (p *project) render() *project {
	p.Helper()
	if code, output := p.stackgen("render", p.dir); code != 0 {
		p.Fatalf("render: exit %d\n%s", code, output)
	}
	if p.terraformData {
		p.useTerraformData()
	}
	return p
}

// respec replaces the spec named live and renders.
func (p *project) respec(rest string) {
	p.Helper()
	p.write("specs/live.yaml", liveSpec(rest))
	p.render()
}

// run runs a tool in a folder of the project.
func (p *project) run(dir, name string, args ...string) engine.Result {
	p.Helper()
	return p.runWithin(2*time.Minute, dir, name, args...)
}

// runWithin is run with a limit of its own, for what takes longer on a busy machine.
func (p *project) runWithin(limit time.Duration, dir, name string, args ...string) engine.Result {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), limit)
	defer cancel()
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.dir, filepath.FromSlash(dir))
	}
	r, err := p.tools.With(attach(p.T, p.tools, name)...).Run(ctx, dir, name, args...)
	if err != nil {
		p.Fatalf("%v\n%s", err, r.Text())
	}
	return r
}

// succeeds runs a tool that must succeed without a warning, and returns its output.
func (p *project) succeeds(dir, name string, args ...string) string {
	p.Helper()
	r := p.run(dir, name, args...)
	if r.Code != 0 {
		p.Fatalf("%s %s in %s: exit %d\n%s", name, strings.Join(args, " "), dir, r.Code, r.Text())
	}
	for line := range strings.Lines(r.Text()) {
		if warning.MatchString(line) && !expectedWarning.MatchString(line) {
			p.Errorf("%s %s in %s warns:\n%s", name, strings.Join(args, " "), dir, r.Text())
			break
		}
	}
	return r.Text()
}

var (
	warning = regexp.MustCompile(`\bWARN\b|Warning:|[Dd]eprecated`)
	// Warnings of every first plan, and of providers built by tools/install.
	expectedWarning = regexp.MustCompile(`mock outputs provided|Incomplete lock file information`)
)

// fails runs Terragrunt, which must fail with an output that contains all of these.
func (p *project) fails(dir string, args []string, want ...string) string {
	p.Helper()
	r := p.run(dir, "terragrunt", args...)
	if r.Code == 0 {
		p.Fatalf("terragrunt %s in %s succeeds\n%s", strings.Join(args, " "), dir, r.Text())
	}
	p.contains(r.Text(), want...)
	return r.Text()
}

// contains fails unless every text is in the output, ignoring line breaks.
func (p *project) contains(output string, want ...string) {
	p.Helper()
	flat := strings.Join(strings.Fields(output), " ")
	for _, w := range want {
		if !strings.Contains(flat, strings.Join(strings.Fields(w), " ")) {
			p.Errorf("the output lacks: %s\n%s", w, output)
		}
	}
}

// generate generates the stack's units.
func (p *project) generate(stack string) {
	p.Helper()
	p.succeeds("stacks/"+stack, "terragrunt", "stack", "generate")
}

// unitDir is the folder of a unit.
func unitDir(stack, unit string) string { return "stacks/" + stack + "/.terragrunt-stack/" + unit }

// cached reads a file of the root module in which the VM unit of the stack live last ran.
func (p *project) cached(name string) string {
	p.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, unitDir("live", "proxmox-vm"), ".terragrunt-cache", "*", "*", "*", name))
	if err != nil || len(files) != 1 {
		p.Fatalf("%s: %v, want one file", name, files)
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		p.Fatal(err)
	}
	return string(body)
}
