//go:build unix

package real

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/engine"
	"stackgen/internal/pvesim"
)

// A driftJob is a project with a stack that was applied, whose state is in a bucket, and a
// checkout of it, from which the daily job runs. The secrets are encrypted by SOPS.
type driftJob struct {
	*project
	sim      *pvesim.Server
	checkout string
	bare     *engine.Tools // the environment without a secret
	keyFile  string
	key      string   // of age
	secrets  []string // all secrets
	output   strings.Builder
}

const driftJobSpec = `apiVersion: stackgen/v1
kind: Stack
name: lab
vmids: 300-399
backend: {type: s3, bucket: states, region: eu-central-1, endpoint: "%s", path_style: true}
defaults:
  node: pve1
  template: 9000
  started: false
  disks: [{interface: scsi0, size: 8, datastore: shared}]
  cloud_init: {datastore: shared}
vms:
  web1: {memory: 2048}
  web2: {tags: [web]}
  db: {profile: protected}
`

// secretVariables are the variables that only the encrypted file has.
var secretVariables = []string{"PROXMOX_VE_ENDPOINT", "PROXMOX_VE_API_TOKEN", "PROXMOX_VE_INSECURE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}

// newDriftJob applies the stack, and does what docs/guides/ci.md says about secrets and scripts.
func newDriftJob(t *testing.T) *driftJob {
	t.Helper()
	p := newProject(t, map[string]string{"specs/lab.yaml": fmt.Sprintf(driftJobSpec, startS3(t).url)})
	j := &driftJob{project: p, sim: p.simulate()}
	p.tools = p.tools.With("GIT_AUTHOR_NAME=ops", "GIT_AUTHOR_EMAIL=ops@example.org", "GIT_COMMITTER_NAME=ops", "GIT_COMMITTER_EMAIL=ops@example.org")
	p.render()
	p.write(".gitignore", ".terragrunt-stack/\n.terragrunt-cache/\n.terraform.lock.hcl\n")
	for _, name := range []string{"drift.sh", "drift-check.sh"} {
		body, err := os.ReadFile(filepath.Join(repository, "docs", "ci", name))
		check(t, err)
		p.write("ci/"+name, string(body))
	}
	p.succeeds("stacks/lab", "terragrunt", "stack", "run", "apply", "--non-interactive")
	p.succeeds(".", "git", "init", "-q", "-b", "main")
	j.encrypt()
	p.succeeds(".", "git", "add", "-A")
	p.succeeds(".", "git", "commit", "-q", "-m", "specs: add the lab")
	j.checkout = filepath.Join(t.TempDir(), "stacks")
	p.succeeds(".", "git", "clone", "-q", p.dir, j.checkout)
	return j
}

// encrypt runs the commands of docs/guides/ci.md, with an editor that writes the secrets.
func (j *driftJob) encrypt() {
	j.Helper()
	bare := slices.Clone(j.tools.Env)
	plain := ""
	for _, name := range secretVariables {
		value := ""
		bare = slices.DeleteFunc(bare, func(e string) bool {
			v, is := strings.CutPrefix(e, name+"=")
			if is {
				value = v
			}
			return is
		})
		plain += name + "=" + value + "\n"
		if _, secret, ok := strings.Cut(value, "!"); ok {
			value = secret[strings.Index(secret, "=")+1:]
		}
		if strings.HasSuffix(name, "TOKEN") || strings.HasSuffix(name, "SECRET_ACCESS_KEY") {
			j.secrets = append(j.secrets, value)
		}
	}
	file := filepath.Join(j.TempDir(), "plain.env")
	check(j.T, os.WriteFile(file, []byte(plain), 0o600))
	blocks := slices.DeleteFunc(blocksOf(j.T, "docs/guides/ci.md"), func(b pageBlock) bool { return b.section != "The daily job" || b.language != "console" })
	if len(blocks) != 1 {
		j.Fatalf("docs/guides/ci.md has %d blocks of commands about the daily job, want 1", len(blocks))
	}
	all := j.tools
	j.tools = j.tools.With("EDITOR=cp " + file)
	if code, output := j.shell(blocks[0]); code != 0 {
		j.Fatalf("exit %d\n%s%s", code, blocks[0].body, output)
	}
	j.tools, j.bare = all, &engine.Tools{Env: bare}
	j.keyFile = filepath.Join(filepath.Dir(j.dir), "age.key")
	body, err := os.ReadFile(j.keyFile)
	check(j.T, err)
	j.key = string(body[strings.Index(string(body), "AGE-SECRET-KEY-"):])
	j.key = strings.TrimSpace(j.key)
	j.secrets = append(j.secrets, j.key)
	if encrypted := j.read("secrets.sops.env"); strings.Contains(encrypted, j.secrets[0]) || !strings.Contains(encrypted, "PROXMOX_VE_API_TOKEN=ENC[") {
		j.Fatalf("the file is not encrypted:\n%s", encrypted)
	}
}

// do runs a step of a service in the checkout, without any secret but the key.
func (j *driftJob) do(s ciStep) (int, string) {
	j.Helper()
	c := &ciProject{project: &project{T: j.T, dir: j.checkout, tools: j.bare}}
	for name := range s.Env {
		if name == "SOPS_AGE_KEY" {
			s.Env[name] = j.key
		}
	}
	code, output := c.step(s)
	j.output.WriteString(output)
	return code, output
}

// ciSystemd reads the steps of the systemd service for one script. The age key is where
// systemd would put it.
func ciSystemd(t *testing.T, script, credentials string) (steps []ciStep) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(repository, "docs", "ci", "stackgen@.service"))
	check(t, err)
	env := map[string]string{}
	for line := range strings.Lines(strings.NewReplacer("%i", script, "%d", credentials).Replace(string(body))) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		words := strings.Fields(value)
		switch key {
		case "Environment":
			name, to, _ := strings.Cut(value, "=")
			env[name] = to
		case "ExecStartPre", "ExecStart": // run without a shell
			steps = append(steps, ciStep{Name: "systemd " + script, Run: words[len(words)-1], Shell: words[:len(words)-1], Env: env})
		}
	}
	return steps
}

// services are the steps of each service for the daily job, or for its check.
func (j *driftJob) services(name map[string]string) map[string][]ciStep {
	j.Helper()
	pick := func(all []ciStep, name string) []ciStep {
		return slices.DeleteFunc(all, func(s ciStep) bool { return s.Name != name })
	}
	return map[string][]ciStep{
		"github": pick(ciGitHub(j.T), name["github"]), "woodpecker": pick(ciWoodpecker(j.T), name["woodpecker"]),
		"systemd": ciSystemd(j.T, name["systemd"], filepath.Dir(j.keyFile)),
	}
}

// all runs steps of all services, which must end with a code and an output.
func (j *driftJob) all(services map[string][]ciStep, want int, contains map[string]string) {
	j.Helper()
	for service, steps := range services {
		if len(steps) == 0 {
			j.Errorf("%s: there is no such step", service)
		}
		for i, s := range steps {
			code, output := j.do(s)
			if last := i == len(steps)-1; !last && code != 0 || last && (code != want || !strings.Contains(output, contains[service])) {
				j.Errorf("%s, %s: exit %d, want %d and %q\n%s", service, s.Run, code, want, contains[service], output)
			}
		}
	}
}

// set changes options of a VM by hand.
func (j *driftJob) set(vmid int, form url.Values) {
	j.Helper()
	callAPI(j.T, j.sim, "PUT", fmt.Sprintf("/nodes/pve1/qemu/%d/config", vmid), form)
}

// grow grows the disk of a VM by hand.
func (j *driftJob) grow(vmid int) {
	j.Helper()
	callAPI(j.T, j.sim, "PUT", fmt.Sprintf("/nodes/pve1/qemu/%d/resize", vmid), url.Values{"disk": {"scsi0"}, "size": {"10G"}})
}

// watchArguments looks for secrets in the arguments of all processes in folders of this test
// until it is stopped: simulators of other tests have the same token.
func (j *driftJob) watchArguments() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	var found string
	looks := 0
	own := filepath.Dir(filepath.Dir(j.checkout)) + string(filepath.Separator) // has all folders of the test
	go func() {
		defer close(ended)
		for {
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range files {
				if dir, _ := os.Readlink(filepath.Join(filepath.Dir(file), "cwd")); !strings.HasPrefix(dir, own) {
					continue
				}
				body, _ := os.ReadFile(file) // the process may have ended
				looks++
				if slices.ContainsFunc(j.secrets, func(s string) bool { return strings.Contains(string(body), s) }) {
					found = strings.ReplaceAll(string(body), "\x00", " ")
				}
			}
			select {
			case <-end:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(end)
		<-ended
		if found != "" {
			j.Errorf("a process has a secret in its arguments: %s", found)
		}
		if _, err := os.Stat("/proc/self/cmdline"); err == nil && looks == 0 {
			j.Error("no process of the test was seen")
		}
	}
}

// leftSecrets fails if a secret is in a log, or in a file of the checkout, of the home folder or
// of the folder for temporary files.
func (j *driftJob) leftSecrets() {
	j.Helper()
	files := 0
	has := func(where, text string) {
		for _, s := range j.secrets {
			if strings.Contains(text, s) {
				j.Errorf("%s has a secret", where)
			}
		}
	}
	has("the output", j.output.String())
	dirs := map[string]string{"checkout": j.checkout}
	for _, e := range j.bare.Env { // the last one counts
		if name, dir, _ := strings.Cut(e, "="); name == "HOME" || name == "TMPDIR" {
			dirs[name] = dir
		}
	}
	for _, dir := range dirs {
		check(j.T, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			body, err := os.ReadFile(path)
			has(path, string(body))
			files++
			return err
		}))
	}
	if files < 20 || len(j.secrets) != 3 || slices.Contains(j.secrets, "") {
		j.Errorf("looked for %d secrets in %d files of %s", len(j.secrets), files, dirs)
	}
}

// TestDriftJob runs the daily job of docs/guides/ci.md and its weekly check as each service does,
// and then what docs/guides/drift.md says about the morning after it.
func TestDriftJob(t *testing.T) {
	t.Parallel()
	j := newDriftJob(t)
	stop := j.watchArguments()
	job := map[string]string{"github": "Drift", "woodpecker": "drift", "systemd": "drift"}
	weekly := map[string]string{"github": "The drift job works", "woodpecker": "drift-check", "systemd": "drift-check"}
	works := map[string]string{}
	for service := range weekly {
		works[service] = "ci/drift.sh works"
	}
	j.set(300, url.Values{"memory": {"4096"}})
	j.all(j.services(job), 0, map[string]string{"github": "| safe | live |", "woodpecker": "safe: 1 change", "systemd": "safe: 1 change"})
	j.all(j.services(weekly), 0, works)
	j.grow(302)
	j.all(j.services(job), 3, map[string]string{"github": "| blocked | disk-loss |", "woodpecker": "blocked disk-loss", "systemd": "blocked disk-loss"})

	// The check fails if the job passes always, or cannot decrypt its secrets.
	one := j.services(weekly)["woodpecker"]
	script := j.read("ci/drift.sh")
	j.commit("ci/drift.sh", strings.Replace(script, "--format", "--fail-on none --format", 1))
	j.all(map[string][]ciStep{"woodpecker": one}, 1, map[string]string{"woodpecker": "ci/drift.sh does not work"})
	j.commit("ci/drift.sh", script)
	key := j.key
	j.key = "AGE-SECRET-KEY-1" + strings.Repeat("Q", 58)
	j.all(map[string][]ciStep{"woodpecker": one}, 1, map[string]string{"woodpecker": "ci/drift.sh does not work"})
	j.key = key
	stop()
	j.leftSecrets()
	j.guide()
}

// commit commits a file, and pulls it into the checkout.
func (j *driftJob) commit(file, body string) {
	j.Helper()
	j.write(file, body)
	j.succeeds(".", "git", "commit", "-q", "-a", "-m", "ci: change "+file)
	j.succeeds(j.checkout, "git", "pull", "--quiet", "--ff-only")
}

// TestSystemdUnits checks that systemd accepts the units as they are.
func TestSystemdUnits(t *testing.T) {
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("not checked: there is no systemd-analyze")
	}
	units, err := filepath.Glob(filepath.Join(repository, "docs", "ci", "stackgen*.*"))
	if err != nil || len(units) != 3 {
		t.Fatalf("the units are %v (%v)", units, err)
	}
	if out, err := exec.Command(path, append([]string{"verify", "--man=no"}, units...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
