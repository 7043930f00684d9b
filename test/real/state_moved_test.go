//go:build unix

package real

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMoveState does what "Move a state" in docs/guides/state.md says, with the lines that
// render prints: to a bucket, to another key, to another bucket, to another server, and
// back. After each move, plans of Terragrunt alone are empty, in the folders that it has
// generated before, and stackgen has nothing to do.
func TestMoveState(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("aws"); err != nil {
		t.Skip("the lines for buckets need the AWS CLI")
	}
	first, second := startS3(t), startS3(t)
	check(t, os.Mkdir(filepath.Join(filepath.Dir(first.dir), "others"), 0o755))
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	p.tools = p.tools.With("AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY="+s3Secret)
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	before := digests(t, sim)
	backend := func(s *s3Server, bucket, rest string) string {
		return fmt.Sprintf("backend: {type: s3, bucket: %s, region: eu-central-1, endpoint: %s, path_style: true%s}\n", bucket, s.url, rest)
	}
	for _, to := range []string{
		backend(first, "states", ""),
		backend(first, "states", ", lock: false"), // which is no other place
		backend(first, "states", ", prefix: team"),
		backend(first, "others", ", prefix: team"),
		backend(second, "states", ", prefix: team"),
		"environment: prod\n",
		"",
	} {
		p.generate("live")
		p.plansNothing("live")
		p.write("specs/live.yaml", oneSpec+to)
		if code, refusal := p.stackgen("render", p.dir); code != 0 {
			p.follows(refusal, "or move the state, then confirm it")
			if strings.Contains(refusal, " cp --recursive --exclude '*/*/*' .state/") { // what was copied stays
				check(t, os.RemoveAll(filepath.Join(p.dir, ".state")))
			}
		} else if !strings.Contains(to, "lock: false") {
			t.Errorf("render does not ask to move the state to %s", to)
		}
		p.plansNothing("live")
		p.deployed(0, "apply --yes", "nothing to do")
	}
	if after := digests(t, sim); !maps.Equal(after, before) {
		t.Errorf("a VM was changed: the digests were %v, and are %v", before, after)
	}
}

// plansNothing plans a stack with Terragrunt alone, and fails unless all plans are empty.
func (p *project) plansNothing(stack string) {
	p.Helper()
	output := p.succeeds("stacks/"+stack, "terragrunt", "stack", "run", "plan", "--non-interactive")
	units := strings.Count(p.read("stacks/"+stack+"/terragrunt.stack.hcl"), "\nunit ")
	if n := strings.Count(output, "No changes."); n != units || units == 0 {
		p.Errorf("%d of %d plans are empty:\n%s", n, units, output)
	}
}

// pastes runs the lines that a hook prints, in the folder in which the person is, up to a line to which more is added.
func (p *project) pastes(dir, refusal, last, more string) {
	p.Helper()
	_, printed, _ := strings.Cut(refusal, "stackgen guard refuses")
	printed, _, found := strings.Cut(printed, last)
	if !found {
		p.Fatalf("it does not print %q:\n%s", last, refusal)
	}
	var lines []string
	for _, m := range recoveryCommand.FindAllStringSubmatch(printed+last+more, -1) {
		lines = append(lines, m[1])
	}
	p.succeeds(dir, "sh", "-ec", strings.Join(lines, "\n"))
}

// follows pastes the lines below a step that a refusal prints.
func (p *project) follows(refusal, step string) {
	p.Helper()
	_, way, found := strings.Cut(refusal, "  > "+step+"\n")
	if !found {
		p.Fatalf("it does not say %q:\n%s", step, refusal)
	}
	lines, _, _ := strings.Cut(way, "note:")
	p.succeeds("", "sh", "-ec", lines)
}
