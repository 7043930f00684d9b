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

// here is what all suites of this run share.
var here struct {
	cluster     *lab.Cluster
	hardware    lab.Hardware
	where       string // for the last line
	names       string // where DNS records go, likewise
	began       time.Time
	interrupted atomic.Bool // suites end as soon as they can
	temp        string      // where this run's folder of temporary files lies
	keep        string      // where projects lie when stages are skipped, else empty
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run sets the environment up, runs the suites in it and takes it down again.
func run(m *testing.M) (code int, err error) {
	logger.Default = logger.TestingT // what passed need not be read
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
		return 1, fmt.Errorf("the suites cannot run here; nothing was made:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupts
		here.interrupted.Store(true)
		signal.Stop(interrupts) // a second one ends this at once
	}()
	code = m.Run()
	report()
	return code, nil
}

// open reads the settings and looks whether the cluster is what they say.
func open() error {
	settings, err := lab.Read(os.Getenv)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	here.cluster = lab.Open(settings)
	if here.keep != "" { // VMs of the stages that ran before are to be there
		here.hardware, err = here.cluster.Hardware(ctx)
		return err
	}
	if err := here.cluster.Check(ctx); err != nil {
		return err
	}
	here.hardware, err = here.cluster.Hardware(ctx)
	return err
}

// foreign are settings of the user's own runs, not of these.
var foreign = regexp.MustCompile(`^(TF|TG|TERRAGRUNT|AWS|DNS_UPDATE)_`)

// prepare makes the environment that stackgen and the tools run in: this
// checkout's stackgen first on PATH, its tools where PATH has none, and
// temporary files where they are removed at the end.
func prepare(temp string) error {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	set := map[string]string{
		"PATH":   strings.Join([]string{filepath.Join(root, "bin"), os.Getenv("PATH"), filepath.Join(root, ".tools", "bin")}, string(os.PathListSeparator)),
		"TMPDIR": temp, "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1", "NO_COLOR": "1",
		"TG_NO_AUTO_RETRY": "true", "TG_NO_COLOR": "true", "TG_TF_FORWARD_STDOUT": "true",
		// Suites that start at once would race in Terragrunt's cache for all
		// projects, and our builds of providers have no place in it.
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
		if foreign.MatchString(name) && name != "DNS_UPDATE_KEYSECRET" {
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

// usable fails where a tool is missing, or stages are skipped on a cluster that
// ends with this run.
func usable() error {
	for _, tool := range []string{"stackgen", "tofu", "terragrunt"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w: run make build tools", err)
		}
	}
	if here.keep != "" && os.Getenv("STACKGEN_LIVE") != "1" {
		return errors.New("a SKIP_ variable skips stages, which needs a cluster that outlives this run: set STACKGEN_LIVE=1, see docs/testing.md")
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
