package terratest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gruntwork-io/terratest/modules/logger"

	"stackgen/test/terratest/lab"
)

// here is shared by all suites of a run.
var here struct {
	cluster     *lab.Cluster
	hardware    lab.Hardware
	where       string // the kind of cluster, for the last line
	names       string // the DNS server, for the last line
	began       time.Time
	interrupted atomic.Bool // suites end as soon as possible
	temp        string      // parent of this run's temporary folder
	keep        string      // folder of the projects if stages are skipped, else empty
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run sets up the environment, runs the suites and removes the environment.
func run(m *testing.M) (code int, err error) {
	logger.Default = logger.TestingT // print only the logs of suites that failed
	here.temp, here.began = os.TempDir(), time.Now()
	temp, err := os.MkdirTemp("", "stackgen-terratest-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := prepare(temp); err != nil {
		return 1, err
	}
	if os.Getenv("STACKGEN_LIVE") == "1" {
		here.where, here.names = "live cluster", "none"
		if server := os.Getenv("STACKGEN_TEST_DNS_SERVER"); server != "" {
			here.names = "the server " + server
		}
	} else {
		stop, failed := simulate()
		if failed != nil {
			return 1, failed
		}
		here.where = "simulator"
		defer func() { err = errors.Join(err, stop()) }()
	}
	if err := open(); err != nil {
		return 1, fmt.Errorf("the suites cannot run here; nothing was created:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupts
		here.interrupted.Store(true)
		signal.Stop(interrupts) // a second interrupt ends the process
	}()
	code = m.Run()
	report()
	return code, nil
}

// open reads the settings and checks the cluster against them.
func open() error {
	settings, err := lab.Read(os.Getenv)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	here.cluster = lab.Open(settings)
	if here.keep != "" { // the range has VMs of earlier stages
		here.hardware, err = here.cluster.Hardware(ctx)
		return err
	}
	if err := here.cluster.Check(ctx); err != nil {
		return err
	}
	here.hardware, err = here.cluster.Hardware(ctx)
	return err
}

// userSettings are settings of the user's own runs, which do not apply here.
var userSettings = regexp.MustCompile(`^(TF|TG|TERRAGRUNT|AWS|DNS_UPDATE)_`)

// prepare sets the environment of stackgen and the tools: first on PATH is this
// checkout's stackgen, last its tools, and temporary files go to a folder that is
// removed at the end.
func prepare(temp string) error {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	set := map[string]string{
		"PATH":   strings.Join([]string{filepath.Join(root, "bin"), os.Getenv("PATH"), filepath.Join(root, ".tools", "bin")}, string(os.PathListSeparator)),
		"TMPDIR": temp, "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1", "NO_COLOR": "1",
		"TG_NO_AUTO_RETRY": "true", "TG_NO_COLOR": "true", "TG_TF_FORWARD_STDOUT": "true",
		// Concurrent suites would race in Terragrunt's cache for all projects,
		// and providers that tools/install built do not belong into it.
		"TG_NO_AUTO_PROVIDER_CACHE_DIR": "true",
	}
	mirror := filepath.Join(root, ".tools", "tofurc")
	if file := os.Getenv("TF_CLI_CONFIG_FILE"); exists(file) {
		set["TF_CLI_CONFIG_FILE"] = file
	} else if exists(mirror) {
		set["TF_CLI_CONFIG_FILE"] = mirror
	}
	skipping := false
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		skipping = skipping || strings.HasPrefix(name, "SKIP_")
		if userSettings.MatchString(name) && name != "DNS_UPDATE_KEYSECRET" {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	for name, value := range set {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if skipping {
		here.keep = filepath.Join(root, "test", "terratest", ".stages")
	}
	return usable()
}

// usable fails if a tool is missing, or if stages are skipped on the simulated
// cluster, which ends with this run.
func usable() error {
	for _, tool := range []string{"stackgen", "tofu", "terragrunt"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w: run make build tools", err)
		}
	}
	if here.keep != "" && os.Getenv("STACKGEN_LIVE") != "1" {
		return errors.New("a SKIP_ variable skips stages, which needs a cluster that outlives this run: set STACKGEN_LIVE=1, see docs/guides/own-cluster.md")
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
