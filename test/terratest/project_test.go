package terratest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/gruntwork-io/terratest/modules/logger"
	"github.com/gruntwork-io/terratest/modules/shell"
	"github.com/gruntwork-io/terratest/modules/terraform"
	"github.com/gruntwork-io/terratest/modules/terragrunt"

	"stackgen/test/terratest/lab"
)

// spec is the suite's spec: defaults of all suites, and the rest. No VM starts with its
// node.
func (s *suite) spec(rest string) string {
	c, h := here.cluster, here.hardware
	text := fmt.Sprintf(`apiVersion: stackgen/v1
kind: Stack
name: %s
vmids: %d-%d
defaults:
  node: %s
  template: %d
  tags: [%s]
  cores: 1
  memory: 768
  agent: %t
  on_boot: false
  networks: [{bridge: %s}]
  disks: [{interface: %s, size: %d, datastore: %s}]
`, s.stack, s.first, s.last, c.Node, c.Template, lab.Tag, h.Agent, c.Bridge, h.Disk, h.Size, c.Storage)
	for _, line := range []struct {
		add  bool
		text string
	}{
		{h.Serial, "  serial: socket\n"},
		{h.VGA != "", "  vga: " + h.VGA + "\n"},
		{h.Bios != "", "  bios: " + h.Bios + "\n"},
		{h.Machine != "", "  machine: " + h.Machine + "\n"},
	} {
		if line.add {
			text += line.text
		}
	}
	return text + rest
}

// on is a VM that is started. The short agent timeout is for guests that answer slowly,
// or have no agent although the template has one.
func on(own ...string) string {
	if here.hardware.Agent {
		own = append(own, "agent: {timeout: 3s}")
	}
	return "{" + strings.Join(own, ", ") + "}"
}

// named is a VM that is started, with a static address for its record.
func named(key string, own ...string) string {
	return on(append(own, "cloud_init: {ipv4: "+address(key)+"/24}")...)
}

// off is a VM that is not started.
func off(own ...string) string {
	return "{" + strings.Join(append(own, "started: false"), ", ") + "}"
}

// zone is the line of a spec that publishes records, or empty without a zone.
func zone() string {
	z := here.cluster.Zone
	if z == nil {
		return ""
	}
	return fmt.Sprintf("dns: {zone: %s, server: %s, port: %d, tsig: {key_name: %s, algorithm: %s}}\n", z.Name, z.Server, z.Port, z.KeyName, z.Algorithm)
}

// pool is the line of a spec that creates the suite's pool.
func (s *suite) pool() string {
	return fmt.Sprintf("pool: {id: %s, create: true, comment: %s}\n", s.stack, lab.Comment)
}

// render writes the suite's spec and renders the project.
func (s *suite) render(rest string) {
	s.Helper()
	s.write("specs/"+s.stack+".yaml", s.spec(rest))
	s.stackgen(0, "render")
}

// stackgen runs a command line in the project, which must end with an exit code, and
// returns the output.
func (s *suite) stackgen(code int, args ...string) string {
	s.Helper()
	out, err := shell.RunCommandContextAndGetOutputE(s.T, s.context(), &shell.Command{
		Command: "stackgen", Args: args, WorkingDir: s.dir, Logger: logger.TestingT,
	})
	got := 0
	if err != nil {
		var unknown error
		if got, unknown = shell.GetExitCodeForRunCommandError(err); unknown != nil {
			s.Fatal(err)
		}
	}
	if got != code {
		s.Fatalf("stackgen %s: exit %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return out
}

// options run terragrunt in a folder of the project.
func (s *suite) options(dir string, args ...string) *terragrunt.Options {
	return &terragrunt.Options{TerragruntDir: s.path(dir), TerraformArgs: args, Logger: logger.TestingT}
}

// stackRun runs a command on all units of the suite's stack, which must succeed.
func (s *suite) stackRun(args ...string) {
	s.Helper()
	terragrunt.StackRunContext(s.T, s.context(), s.options("stacks/"+s.stack, args...))
}

// refused runs a command on the suite's stack, which must fail with an output that
// contains all of these.
func (s *suite) refused(args []string, want ...string) {
	s.Helper()
	out, err := terragrunt.StackRunContextE(s.T, s.context(), s.options("stacks/"+s.stack, args...))
	if err == nil {
		s.Fatalf("terragrunt stack run %v was not refused\n%s", args, out)
	}
	s.contains(out, want...)
}

// contains fails unless every text is in the output, ignoring line breaks.
func (s *suite) contains(out string, want ...string) {
	s.Helper()
	flat := strings.Join(strings.FieldsFunc(out, func(r rune) bool { return strings.ContainsRune(" \t\n│╷╵", r) }), " ")
	for _, text := range want {
		if !strings.Contains(flat, text) {
			s.Errorf("the output lacks: %s\n%s", text, out)
		}
	}
}

// unit is the folder of a unit, as terragrunt generates it.
func (s *suite) unit(name string) string {
	return "stacks/" + s.stack + "/.terragrunt-stack/" + name
}

// generate generates the units of the stack.
func (s *suite) generate() {
	s.Helper()
	terragrunt.StackGenerateContext(s.T, s.context(), s.options("stacks/"+s.stack))
}

// applyUnit applies one unit of the stack.
func (s *suite) applyUnit(name string) {
	s.Helper()
	terragrunt.ApplyContext(s.T, s.context(), s.options(s.unit(name)))
}

// plan plans all units of the stack and returns the actions, a line for each address,
// without no-op.
func (s *suite) plan() []string {
	s.Helper()
	dir := s.temp("")
	s.stackRun("plan", "--out-dir", dir, "--json-out-dir", dir)
	files, err := filepath.Glob(filepath.Join(dir, ".terragrunt-stack", "*", "tfplan.json"))
	s.do(err)
	if len(files) == 0 {
		s.Fatalf("there are no plans in %s", dir)
	}
	var actions []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		s.do(err)
		plan, err := terraform.ParsePlanJSON(string(text))
		s.do(err)
		for address, change := range plan.ResourceChangesMap {
			action := fmt.Sprint(change.Change.Actions)
			if change.Change.Importing != nil {
				action = "import " + action
			}
			if action != "[no-op]" {
				actions = append(actions, filepath.Base(filepath.Dir(file))+" "+address+" "+action)
			}
		}
	}
	sort.Strings(actions)
	return actions
}

// plans fails unless the plan has exactly these actions.
func (s *suite) plans(want ...string) {
	s.Helper()
	if got := s.plan(); !slices.Equal(got, want) {
		s.Fatalf("the plan is\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// destroyed destroys the stack, and fails if VMs or pools remain.
func (s *suite) destroyed() {
	s.Helper()
	s.stackRun("destroy")
	s.exist()
	s.pools()
}

// pools fails unless the suite has exactly these pools on the cluster.
func (s *suite) pools(want ...string) {
	s.Helper()
	pools, err := here.cluster.Pools(s.context())
	s.do(err)
	var got []string
	for _, p := range pools {
		if strings.HasPrefix(p.ID, s.stack) {
			got = append(got, p.ID)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.Errorf("the cluster has the pools %v, want %v", got, want)
	}
}
