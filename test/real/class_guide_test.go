//go:build unix

package real

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/test/page"
)

// A pageBlock is a block of a page: commands, or a file, or what the commands before it
// print.
type pageBlock struct {
	section  string // the heading above it
	language string
	file     string // that the comment above it names
	body     string
}

// blocksOf are the blocks of a page, in order.
func blocksOf(t *testing.T, name string) []pageBlock {
	t.Helper()
	blocks, err := page.Read(filepath.Join(repository, name))
	check(t, err)
	var out []pageBlock
	for _, b := range blocks {
		script, file, _ := strings.Cut(b.Mark, " ")
		if !strings.HasPrefix(script, "test/script/") {
			file = ""
		}
		out = append(out, pageBlock{section: b.Section, language: b.Language, file: file, body: b.Body})
	}
	return out
}

// A guideAct is what the text of the guide says that a person does before the commands of
// a block, and what they do.
type guideAct struct {
	edit    func(*classroom)
	refused string // what they print if they fail
	touched []int  // VMs that they write to; nil if that does not matter
}

// TestClass does what docs/guides/class.md says: it writes the files of the page, and runs
// its commands in their order, with the edits that the text between them describes. What
// the page shows of their output begins as the real output does.
func TestClass(t *testing.T) {
	t.Parallel()
	c := &classroom{project: newProject(t, nil), stack: "math"}
	c.sim = c.simulate()
	acts := classActs()
	counts := map[string]int{}
	blocks := blocksOf(t, "docs/guides/class.md")
	output := ""
	for i, b := range blocks {
		switch b.language {
		case "csv", "yaml":
			if strings.HasPrefix(b.file, "specs/") { // the others are written by the commands
				c.write(b.file, b.body)
			} else if name := "registration/" + b.file; !c.exists(name) {
				t.Errorf("%s: the commands did not write %s", b.section, name)
			}
		case "text":
			shown := strings.Split(strings.TrimSpace(b.body), "\n")
			if b.file != "" { // the script checks the others
				shown = shown[:1]
			}
			for _, line := range shown {
				if !strings.Contains(output, line) {
					t.Errorf("%s: the page shows %q, and the commands print\n%s", b.section, line, output)
				}
			}
		case "console":
			n := counts[b.section]
			counts[b.section]++
			var act guideAct
			if n < len(acts[b.section]) {
				act = acts[b.section][n]
			}
			output = c.act(act, b, i < len(blocks)-1 && strings.HasPrefix(blocks[i+1].body, "blocked"))
		default:
			t.Fatalf("%s: no test knows what a block of %q is", b.section, b.language)
		}
	}
	if left := c.guests(2300, 2399); len(left) > 0 || len(c.guests(9000, 9000)) != 1 {
		t.Errorf("after the end of the term, the cluster has %v of the class, and the template: %v", left, c.guests(9000, 9000))
	}
	for section, all := range acts {
		if len(all) > counts[section] {
			t.Errorf("the section %q has %d blocks of commands, and the test knows %d", section, counts[section], len(all))
		}
	}
}

// act runs the commands of a block after its edit, and returns what they print.
func (c *classroom) act(a guideAct, b pageBlock, blocked bool) string {
	c.Helper()
	if a.edit != nil {
		a.edit(c)
	}
	c.sim.ResetLog()
	code, output := c.shell(b)
	switch failed := blocked || a.refused != ""; {
	case failed != (code != 0), blocked && code != 3:
		c.Fatalf("%s: exit %d\n%s%s", b.section, code, b.body, output)
	case a.refused != "":
		c.contains(output, a.refused)
	}
	if a.touched != nil {
		c.touched(a.touched...)
	}
	return output
}

// shell runs the commands of a block in the project, as they are pasted.
func (p *project) shell(b pageBlock) (code int, output string) {
	p.Helper()
	script := "set -e\n"
	for line := range strings.Lines(b.body) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			p.Fatalf("%s: a block of commands has the line %q", b.section, line)
		}
		script += command
	}
	var out bytes.Buffer
	run := exec.CommandContext(p.Context(), "sh", "-c", script)
	run.Dir, run.Env, run.Stdout, run.Stderr = p.dir, attach(p.T, p.tools, "sh"), &out, &out
	if err := run.Run(); err != nil && run.ProcessState == nil {
		p.Fatal(err)
	}
	return run.ProcessState.ExitCode(), out.String()
}

// replace replaces a text that a file has.
func (c *classroom) replace(path, old, now string) {
	c.Helper()
	body := c.read(path)
	if !strings.Contains(body, old) {
		c.Fatalf("%s does not have %q:\n%s", path, old, body)
	}
	c.write(path, strings.Replace(body, old, now, 1))
}

// classActs are the acts of the guide, by the headings of its sections.
func classActs() map[string][]guideAct {
	const spec, roster = "specs/math.yaml", "specs/roster.csv"
	const retired = "retired: [bo-zuk]\n"
	return map[string][]guideAct{
		"The first day": {2: {touched: []int{2300, 2301, 2302, 2303}}},
		"The roster is sorted": {{edit: func(c *classroom) {
			c.placed("math", 2300, 2399, 4)
			c.write(roster, "email,name\nzoe@school.example,Zoë Öz\nbo@school.example,Bo Žuk\nana@school.example,Ana Prva\n")
		}}},
		"A student joins": {
			{edit: func(c *classroom) { c.replace(roster, "bo@", "emil@school.example,Emil Roth\nbo@") }},
			{touched: []int{2304}},
		},
		"A student leaves": {
			{edit: func(c *classroom) { c.replace(roster, "bo@school.example,Bo Žuk\n", "") }},
			{edit: func(c *classroom) { c.write(spec, c.read(spec)+retired) }, touched: []int{2302}},
			{edit: func(c *classroom) { c.placed("math", 2300, 2399, 4); c.replace(spec, retired, "") }},
		},
		"A name is corrected": {{edit: func(c *classroom) {
			c.replace(roster, "Emil Roth", "Emil Rott")
			c.write(spec, c.read(spec)+"corrected: {\"Emil Roth\": \"Emil Rott\"}\n")
		}, touched: []int{2304}}},
		"The end of the term": {
			{refused: "retired: [teacher]", touched: []int{}},
			{edit: func(c *classroom) {
				c.replace(spec, "teacher: {profile: protected, memory: 4096}\n", "")
				c.write(spec, c.read(spec)+"retired: [teacher]\n")
			}},
		},
	}
}
