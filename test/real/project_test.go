package real

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stackgen/cmd"
	"stackgen/internal/engine"
)

// A realProject is a stackgen project in a folder of its own, rendered by the
// real command line and run by the real tools. No server is ever asked: the
// endpoint is a closed port of this machine.
type realProject struct {
	*testing.T
	dir    string
	tools  *engine.Tools
	stands bool // modules are stand-ins
	serves bool // but for the records, which a DNS server takes
}

// realEnv is what every run gets, on top of an environment without anything
// that the person running the tests has set for runs of their own.
var realEnv = []string{
	"TG_STRICT_MODE=true", "TG_NO_AUTO_RETRY=true", "TG_NON_INTERACTIVE=true", "TG_NO_COLOR=true", "TG_TF_FORWARD_STDOUT=true", "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TG_TELEMETRY_TRACE_EXPORTER=none",
	"PROXMOX_VE_ENDPOINT=https://127.0.0.1:1/", "PROXMOX_VE_API_TOKEN=test@pve!test=00000000-0000-0000-0000-000000000000",
	"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
}

// realTools are the tools of this repository. Without them the test fails.
func realTools(t *testing.T) *engine.Tools {
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
	return tools.With(append(slices.Clone(realEnv), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())...)
}

// realNew makes a project of files, by their paths in it.
func realNew(t *testing.T, files map[string]string) *realProject {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &realProject{T: t, dir: dir, tools: realTools(t)}
	p.write("stackgen.yaml", realSettings)
	for path, body := range files {
		p.write(path, body)
	}
	return p
}

// realSettings are the settings of projects without a cluster: there is nothing
// that the guard could look at.
const realSettings = "apiVersion: stackgen/v1\nkind: Project\nguard: off\n"

// realStack is a project of one spec named live, whose VMs need the least.
func realStack(t *testing.T, rest string) *realProject {
	t.Helper()
	return realNew(t, map[string]string{"specs/live.yaml": realSpec(rest)})
}

// realSpec is a spec named live with what every test needs.
func realSpec(rest string) string {
	return "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 100-999\ndefaults: {node: pve1, template: 9000}\n" + rest
}

func (p *realProject) write(path, body string) {
	p.Helper()
	file := filepath.Join(p.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *realProject) read(path string) string {
	p.Helper()
	body, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(path)))
	if err != nil {
		p.Fatal(err)
	}
	return string(body)
}

func (p *realProject) exists(path string) bool {
	_, err := os.Stat(filepath.Join(p.dir, filepath.FromSlash(path)))
	return err == nil
}

// remove takes a file or folder away.
func (p *realProject) remove(path string) {
	p.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, filepath.FromSlash(path))); err != nil {
		p.Fatal(err)
	}
}

// realMain lets one command line run at a time: the flag package keeps its help
// flag in a variable that each of them writes.
var realMain sync.Mutex

// stackgen runs the command line and returns its exit code and what it said.
func (p *realProject) stackgen(args ...string) (int, string) {
	realMain.Lock()
	defer realMain.Unlock()
	var out bytes.Buffer
	code := cmd.Main(append([]string{"stackgen"}, args...), strings.NewReader(""), &out, &out)
	return code, out.String()
}

// render renders the project, which must succeed.
func (p *realProject) render() *realProject {
	p.Helper()
	if code, said := p.stackgen("render", p.dir); code != 0 {
		p.Fatalf("render: exit %d\n%s", code, said)
	}
	if p.stands {
		p.standIn()
	}
	return p
}

// respec replaces the spec named live and renders.
func (p *realProject) respec(rest string) *realProject {
	p.Helper()
	p.write("specs/live.yaml", realSpec(rest))
	return p.render()
}

// run runs a tool in a folder of the project.
func (p *realProject) run(dir, name string, args ...string) engine.Result {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), 2*time.Minute)
	defer cancel()
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.dir, filepath.FromSlash(dir))
	}
	r, err := p.tools.Run(ctx, dir, name, args...)
	if err != nil {
		p.Fatalf("%v\n%s", err, r.Text())
	}
	return r
}

// good runs a tool that must succeed without a warning, and returns what it
// said.
func (p *realProject) good(dir, name string, args ...string) string {
	p.Helper()
	r := p.run(dir, name, args...)
	if r.Code != 0 {
		p.Fatalf("%s %s in %s: exit %d\n%s", name, strings.Join(args, " "), dir, r.Code, r.Text())
	}
	for line := range strings.Lines(r.Text()) {
		if realWarning.MatchString(line) && !realExpected.MatchString(line) {
			p.Errorf("%s %s in %s warns:\n%s", name, strings.Join(args, " "), dir, r.Text())
			break
		}
	}
	return r.Text()
}

var (
	realWarning = regexp.MustCompile(`\bWARN\b|Warning:|[Dd]eprecated`)
	// What is said of every first plan, and of providers that we built ourselves.
	realExpected = regexp.MustCompile(`mock outputs provided|Incomplete lock file information`)
)

// bad runs a tool that must fail, and say all of these.
func (p *realProject) bad(dir, name string, args []string, want ...string) string {
	p.Helper()
	r := p.run(dir, name, args...)
	if r.Code == 0 {
		p.Fatalf("%s %s in %s succeeds\n%s", name, strings.Join(args, " "), dir, r.Text())
	}
	p.says(r.Text(), want...)
	return r.Text()
}

// says fails unless every text is in what was said, line breaks aside.
func (p *realProject) says(said string, want ...string) {
	p.Helper()
	flat := strings.Join(strings.Fields(said), " ")
	for _, w := range want {
		if !strings.Contains(flat, strings.Join(strings.Fields(w), " ")) {
			p.Errorf("not said: %s\nbut:\n%s", w, said)
		}
	}
}

// generate makes the stack's units.
func (p *realProject) generate(stack string) {
	p.Helper()
	p.good("stacks/"+stack, "terragrunt", "stack", "generate")
}

// realUnit is the folder of a unit.
func realUnit(stack, unit string) string { return "stacks/" + stack + "/.terragrunt-stack/" + unit }

// cached is a file of the root module that a unit last ran in.
func (p *realProject) cached(stack, unit, name string) string {
	p.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, realUnit(stack, unit), ".terragrunt-cache", "*", "*", "*", name))
	if err != nil || len(files) != 1 {
		p.Fatalf("%s of %s lies at %v, want one place", name, unit, files)
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		p.Fatal(err)
	}
	return string(body)
}
