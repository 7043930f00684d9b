package real

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"stackgen/internal/engine"
)

// ownProviders are the tests in which each OpenTofu starts the provider, as it does for
// users: those that kill or interrupt an apply or look at lock files and versions, those
// that need initialized units (with a provider that runs already, Terragrunt initializes a
// unit each time), and others, so that it is one test in ten. A cell of the fault matrix has
// the name of its row.
var ownProviders = []string{
	"TestApplyKilled", "TestApplyKilledForgets", "TestApplyKilledTainted", "TestApplyKilledWaits", "TestApplyKilledAtEachRequest", "TestApplyKilledS3",
	"TestApplyInterrupted", "TestInterruptReachesOpenTofu", "TestInterruptLongClone", "TestDestroyAfterKill", "TestTemplateKindKilled/downloading", "TestTwoRunners", "TestGuardWaits",
	"TestStory", "TestTutorial", "TestInit", "TestCIRecipes", "TestGuides", "TestGuard", "TestGuardOutside", "TestStateLost", "TestDestroyStack",
	"TestFaults/cells/apply-killed-with-SIGKILL-in-the-middle-of-clones", "TestFaults/cells/apply-killed-with-SIGKILL,-its-clones-still-under-way",
	"TestWaysOut/ways/another-apply-of-the-stack-is-running", "TestWaysOut/ways/another-apply-of-the-stack-is-running,-state-in-S3",
	"TestWaysOut/ways/endpoint-of-another-cluster",
	"TestFaults/cells/state-lost", "TestFaults/cells/VM-migrated-by-hand", "TestFaults/cells/apply-failed-between-a-clone-and-its-configuration",
}

// startsProviders reports whether a test is one of ownProviders.
func startsProviders(name string) bool {
	return slices.ContainsFunc(ownProviders, func(own string) bool { return name == own || strings.HasPrefix(name, own+"/") })
}

// A providerKey is a test and the credentials in its environment. Each has one provider.
type providerKey struct{ test, credentials string }

// attached has, by providerKey, the sharedProvider.
var attached sync.Map

// A sharedProvider is a provider that is started once, when it is needed.
type sharedProvider struct {
	environ []string
	start   func() (string, error) // the value of TF_REATTACH_PROVIDERS
}

func newSharedProvider(t testing.TB, environ []string) sharedProvider {
	return sharedProvider{environ, sync.OnceValues(func() (string, error) { return startProvider(t, environ) })}
}

// attach makes the OpenTofu processes of a test use one provider instead of starting one
// each, which takes three quarters of the processor time of a plan. The provider is started
// when a command needs it that is about to run.
func attach(t testing.TB, tools *engine.Tools, command ...string) []string {
	t.Helper()
	credentials := credentials(tools.Env)
	if startsProviders(t.Name()) || !strings.Contains(credentials, "PROXMOX_VE_INSECURE=") { // no simulated cluster
		return tools.Env
	}
	key := providerKey{t.Name(), credentials}
	if _, started := attached.Load(key); !started && command[0] == "stackgen" && !slices.Contains([]string{"apply", "destroy", "drift", "discover"}, command[1]) {
		return tools.Env
	}
	p, _ := attached.LoadOrStore(key, newSharedProvider(t, tools.Env))
	address, err := p.(sharedProvider).start()
	check(t, err)
	return append(slices.Clone(tools.Env), "TF_REATTACH_PROVIDERS="+address, "PATH="+tofuOnce+string(filepath.ListSeparator)+faultEnv(tools, "PATH"))
}

// tofuOnce is a folder with a program tofu for the tests that share a provider. It runs
// OpenTofu, except for two things: it has asked for the version once for all tests, which
// Terragrunt does three times in each run; and a unit that was initialized looks like one
// with providers, so that Terragrunt initializes it once and not before each command.
var tofuOnce string

// tofuScript is that program, of the path of OpenTofu and of what it says of its version.
const tofuScript = `#!/bin/sh
case "$#$1" in
1-version | 1--version | 1version) echo '%[2]s'; exit ;;
esac
[ "$1" = init ] || exec '%[1]s' "$@"
'%[1]s' "$@" || exit
mkdir -p .terraform/plugins && { [ -e .terraform.lock.hcl ] || echo "# no provider" >.terraform.lock.hcl; }
`

// installTofuOnce writes it below a folder of all tests.
func installTofuOnce(dir string) error {
	tofu, err := exec.LookPath("tofu")
	if err != nil {
		return err
	}
	said, err := exec.Command(tofu, "-version").Output()
	if err != nil {
		return err
	}
	tofuOnce = filepath.Join(dir, "tofu-once")
	return errors.Join(os.Mkdir(tofuOnce, 0o755),
		os.WriteFile(filepath.Join(tofuOnce, "tofu"), fmt.Appendf(nil, tofuScript, tofu, bytes.TrimSpace(said)), 0o755))
}

// credentials are the variables of a provider in an environment; the last of two entries
// for a name counts.
func credentials(environ []string) string {
	last := map[string]string{}
	for _, e := range environ {
		if name, value, _ := strings.Cut(e, "="); strings.HasPrefix(name, "PROXMOX_VE_") {
			last[name] = value
		}
	}
	var out []string
	for name, value := range last {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// reattachLine is what a provider with -debug prints.
var reattachLine = regexp.MustCompile(`TF_REATTACH_PROVIDERS='(.*)'`)

// startProvider starts a provider that runs until the end of the test, and returns how to
// attach to it.
func startProvider(t testing.TB, environ []string) (string, error) {
	found, err := filepath.Glob(repository + "/.tools/providers/registry.opentofu.org/bpg/proxmox/*/*/terraform-provider-proxmox_*")
	if err != nil || len(found) != 1 {
		return "", errors.Join(err, fmt.Errorf("%d providers in .tools, want one: run make tools", len(found)))
	}
	tmp, err := os.MkdirTemp("", "") // the path of a socket is limited to about 100 characters
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { check(t, os.RemoveAll(tmp)) })
	// The shell ends the provider when this process has ended, for whatever reason.
	c := exec.Command("sh", "-c", `"$0" -debug & cat; kill $! && wait`, found[0])
	// Nobody reads what the SDK logs at the level of a trace. It was 6 to 10 % of its time.
	c.Env = append(slices.Clone(environ), "TMPDIR="+tmp, "TF_LOG_SDK=off")
	alive, err := c.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", err
	}
	t.Cleanup(func() {
		check(t, alive.Close())
		_ = c.Wait() // the provider was killed
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := reattachLine.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return strings.Replace(m[1], "registry.terraform.io", "registry.opentofu.org", 1), nil
		}
	}
	return "", errors.Join(lines.Err(), errors.New("the provider does not say how to attach to it"))
}

// faultEnv is the effective value of a variable: the last one.
func faultEnv(tools *engine.Tools, name string) (value string) {
	for _, e := range tools.Env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}
