//go:build unix

package real

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"stackgen/internal/finding"
)

// A wayState is a state in which stackgen prints ways out.
type wayState struct {
	name    string
	world   *faultWorld
	pool    bool // of a state without a world: the stack has its pool
	seed    seedChange
	event   func(*faultCase)
	report  func(*faultCase) commandResult // prints the ways; nil: preflight
	command func(*faultCase) commandResult // what was refused; nil: an apply
	words   map[string]string              // values of placeholders in this state
	acts    map[string]func(*faultCase)    // what a person does in addition, by a part of the step
	foreign []int
	not     string                   // part of the steps whose condition does not hold in this state
	retires bool                     // whether its specs ask to destroy a VM
	over    func(commandResult) bool // whether a preflight shows that nothing is left to apply, or nil
}

// A wayResult is what happened with a way.
type wayResult struct {
	state, kind, step, result string
}

// TestWaysOut executes every way out that is printed in the states of the fault matrix
// and in those of wayStates, each in a fresh copy of its state, from the project's
// root. Afterwards the finding is gone, and the ways out of what is left lead to an
// apply after which the plan is empty. A kind of finding without an executed way fails.
//
// It runs only if it is named, since it takes longer than all other tests.
func TestWaysOut(t *testing.T) {
	if !strings.Contains(testFilter(), "TestWaysOut") {
		t.Skip("not run: `make faults` runs it")
	}
	tools := findTools(t)
	tools = tools.With("PATH=" + filepath.Dir(stackgen) + string(filepath.ListSeparator) + faultEnv(tools, "PATH"))
	stack, pooled := &faultWorld{build: faultStack}, &faultWorld{build: faultStack, pool: true}
	var lock sync.Mutex
	var results []wayResult
	t.Run("ways", func(all *testing.T) {
		for _, s := range wayStates() {
			switch {
			case s.world == nil && s.pool:
				s.world = pooled
			case s.world == nil:
				s.world = stack
			}
			s.world.tools = tools
			all.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				for _, r := range s.executeAll(all, t) {
					lock.Lock()
					results = append(results, r)
					lock.Unlock()
				}
			})
		}
	})
	reportWays(t, results)
}

// enter makes the state in a copy of its world.
func (s *wayState) enter(all, t *testing.T) (*faultCase, *host) {
	t.Helper()
	var seeds []seedChange
	if s.seed != nil {
		seeds = append(seeds, s.seed)
	}
	w := s.world.copy(all, t, seeds...)
	w.world = s.world
	h := w.startHost()
	w.keepSpecs()
	s.event(w)
	w.before = stateOf(w.sim)
	spec, _ := os.ReadFile(filepath.Join(w.dir, "specs/live.yaml")) // which may be gone
	s.retires = strings.Contains(string(spec), "\nretired: ")
	return w, h
}

// printed is the report of the state.
func (s *wayState) printed(w *faultCase) string {
	if s.report != nil {
		return s.report(w).output
	}
	return w.stackgen("preflight", "--verbose").output
}

// executeAll executes all ways that the state prints.
func (s *wayState) executeAll(all, t *testing.T) []wayResult {
	w, h := s.enter(all, t)
	report := s.printed(w)
	ways := waysIn(report)
	if len(ways) == 0 {
		t.Errorf("no way out is printed\n%s", report)
	}
	var out []wayResult
	for i := range ways {
		if s.not != "" && strings.Contains(ways[i].what, s.not) {
			continue
		}
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			r := wayResult{state: s.name, kind: string(ways[i].kind), step: ways[i].what, result: "failed"}
			defer func() { out = append(out, r) }()
			if len(out) > 0 { // the first way is taken where all were printed
				w, h = s.enter(all, t)
				again := waysIn(s.printed(w))
				if len(again) <= i || again[i].what != ways[i].what {
					t.Fatalf("the state prints other ways the second time: %+v, before %+v", again, ways)
				}
				ways[i] = again[i]
			}
			w.T = t
			r.result = s.execute(w, h, &ways[i])
		})
	}
	return out
}

// execute takes a way, and then the first ways out of what is left, and applies.
func (s *wayState) execute(w *faultCase, h *host, first *way) string {
	taken := []*way{first}
	fail := func(format string, args ...any) {
		w.Helper()
		var log []string
		for _, t := range taken {
			log = append(log, t.text())
		}
		w.Fatalf("%s\nways that were taken:\n%s", fmt.Sprintf(format, args...), strings.Join(log, "\n"))
	}
	// An apply that corrects the state first is refused if the corrected state shows another finding, which has its own ways out.
	if reason := s.take(w, h, first); reason != "" && !(first.kind == finding.WouldHarm && strings.Contains(reason, "and its state does not say it any more")) {
		fail("%s", reason)
	}
	switch {
	case advice(first):
		return "advice"
	case first.reads() && s.act(first) == nil:
		return "reads"
	}
	for range 8 {
		r := w.stackgen("preflight", "--verbose")
		if s.over != nil && s.over(r) {
			return "nothing is left"
		}
		if r.code == 0 {
			if slices.ContainsFunc(waysIn(r.output), func(n way) bool { return n.text() == first.text() }) {
				fail("the finding is still there:\n%s", r.output)
			}
			return s.finish(w, first, fail)
		}
		var next *way
		for _, n := range waysIn(r.output) {
			if strings.HasPrefix(n.what, "if it was deleted by mistake") && strings.Contains(first.what, "destroy it by hand") {
				continue // it was not
			}
			if !n.stops || advice(&n) || len(n.lines) == 0 && s.act(&n) == nil || n.reads() && s.act(&n) == nil {
				continue
			}
			goesOn := n.kind == finding.Adopt || strings.Contains(first.what, "then run preflight again") && n.text() != first.text()
			if n.group() == first.group() && !goesOn { // an adoption has steps for several differences
				fail("the finding is still there:\n%s", r.output)
			}
			if n.kind == finding.Unrendered || !slices.ContainsFunc(taken, func(t *way) bool { return t.text() == n.text() }) { // each edit of a spec needs a render
				next = &n
				break
			}
		}
		if next == nil {
			fail("no other way is left:\n%s", r.output)
		}
		taken = append(taken, next)
		if reason := s.take(w, h, next); reason != "" {
			other := waysIn(reason) // a refused render prints its own ways out
			i := slices.IndexFunc(other, func(o way) bool {
				return !slices.ContainsFunc(taken, func(t *way) bool { return t.text() == o.text() }) && !strings.HasPrefix(o.what, "restore the lock")
			})
			if i < 0 || s.take(w, h, &other[i]) != "" {
				fail("%s", reason)
			}
			taken = append(taken[:len(taken)-1], &other[i]) // the refused step comes again
		}
	}
	fail("the ways do not end")
	return ""
}

// act is what a person does in addition to the lines of a step.
func (s *wayState) act(of *way) func(*faultCase) {
	for part, do := range s.acts {
		if strings.Contains(of.what, part) {
			return do
		}
	}
	for _, a := range wayActs {
		if strings.Contains(of.what, a.part) {
			return a.do
		}
	}
	return nil
}

// take writes and runs the lines of a way, and returns what went wrong.
func (s *wayState) take(w *faultCase, h *host, of *way) string {
	do := s.act(of)
	if advice(of) {
		return ""
	}
	if len(of.lines) == 0 && do == nil {
		return "the step has no lines, and no test knows what it means"
	}
	if do != nil {
		do(w)
	}
	if m := wayNode.FindStringSubmatch(of.what + " " + strings.Join(of.about, " ")); m != nil {
		h.node = m[1]
	}
	if m := wayVMID.FindStringSubmatch(strings.Join(of.about, " ")); m != nil {
		h.guest, _ = strconv.Atoi(m[1])
	}
	var edits, commands []string
	flush := func() string {
		failure := ""
		if len(edits) > 0 {
			if err := w.edit(of, edits...); err != nil {
				failure = err.Error()
			}
		} else {
			failure = w.shell(commands)
		}
		edits, commands = nil, nil
		return failure
	}
	for _, line := range of.lines {
		line, err := s.fill(line)
		if err != nil {
			return err.Error()
		}
		if askingLine.MatchString(line) {
			line += " --yes" // on a terminal, a person answers the question
		}
		if isEdit(line) != (len(edits) > 0) {
			if failure := flush(); failure != "" {
				return failure
			}
		}
		if isEdit(line) {
			edits = append(edits, line)
		} else {
			commands = append(commands, line)
		}
	}
	return flush()
}

// askingLine is a line of a command that asks a question.
var askingLine = regexp.MustCompile(`^stackgen (apply|discover|power|rebuild|restart) `)

var wayVMID = regexp.MustCompile(`: (?:VM|container) (\d+)`)

// shell runs command lines as a person does: in one shell, in the project's root, one
// after another. What they change in the environment stays.
func (w *faultCase) shell(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	env := filepath.Join(w.TempDir(), "env")
	script := "set -e\n"
	for _, line := range lines {
		if line == "stackgen import-blocks" {
			line += " || [ $? = 3 ]" // it writes the files that it can while another finding blocks
		}
		script += line + "\n"
	}
	script += "env -0 > " + env + "\n"
	c := exec.CommandContext(w.Context(), "sh", "-c", script)
	c.Dir, c.Env = w.dir, attach(w.T, w.tools, "sh")
	c.Stdin = strings.NewReader("\n")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Sprintf("%v\n%s", err, out)
	}
	body, err := os.ReadFile(env)
	check(w.T, err)
	tools := *w.tools
	tools.Env = slices.DeleteFunc(strings.Split(strings.TrimSuffix(string(body), "\x00"), "\x00"), func(e string) bool {
		return strings.HasPrefix(e, "TF_REATTACH_PROVIDERS=") // to a provider with the environment of before
	})
	w.tools = &tools
	return ""
}

// destroyingWay is the text of a way that destroys a VM.
var destroyingWay = regexp.MustCompile(`retired|destroy|stackgen rebuild`)

// finish runs what was refused, which must succeed, and leave an empty plan.
func (s *wayState) finish(w *faultCase, first *way, fail func(string, ...any)) string {
	command := w.apply
	if s.command != nil {
		command = func() commandResult { return s.command(w) }
	}
	if r := command(); r.code != 0 {
		fail("preflight is 0, and then: %s: exit %d\n%s", r.line, r.code, r.output)
	}
	if r := w.stackgen("import-blocks"); r.code != 0 {
		fail("import-blocks after the apply: exit %d\n%s", r.code, r.output)
	}
	if s.command == nil {
		w.settle(w.stackgen("preflight"))
		r := w.run("stacks/live", nil, "terragrunt", "stack", "run", "plan", "--non-interactive", "--", "-detailed-exitcode")
		outputs := strings.Contains(r.output, "You can apply this plan to save these new output values") // of an agent that answered now
		if r.code != 0 && !outputs {
			fail("the plan is not empty at the end: exit %d\n%s", r.code, r.output)
		}
	}
	for _, v := range w.wayViolations(s, first) {
		fail("%s", v)
	}
	return "ok"
}

// wayViolations are writes to guests that are not the stack's, except for those that
// the way itself names.
func (w *faultCase) wayViolations(s *wayState, first *way) (out []string) {
	text := first.text()
	after := w.guests()
	for id, was := range w.before.guests {
		ours := id >= 300 && id <= 399 && !slices.Contains(s.foreign, id)
		named := regexp.MustCompile(`\b` + strconv.Itoa(id) + `\b`).MatchString(strings.Join(first.lines, "\n"))
		is, exists := after[id]
		switch {
		case ours || named:
		case !exists:
			out = append(out, fmt.Sprintf("guest %d is not the stack's and was destroyed", id))
		case is.identity() != was.identity() || fmt.Sprint(is.config) != fmt.Sprint(was.config):
			out = append(out, fmt.Sprintf("guest %d is not the stack's and was changed:\n%v\n%v", id, was, is))
		}
	}
	if !strings.Contains(text, "restart: true") && !strings.Contains(text, "shut it down") { // a spec that moves the drive is permitted to
		out = append(out, movedDrives(w.before.guests, after)...)
	}
	for _, e := range w.sim.Requests() {
		if e.Method == http.MethodDelete && e.VMID != 0 && !s.retires && strings.Contains(e.Who, "!") && !destroyingWay.MatchString(text) {
			out = append(out, fmt.Sprintf("the provider requested DELETE %s", e.Path))
		}
	}
	return out
}
