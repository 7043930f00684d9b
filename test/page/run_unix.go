//go:build unix

package page

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// end is what the shell prints after each command, with its exit code.
const end = "\x01"

// limit is how long the commands of a page may take, on a machine that does other things, too.
const limit = 10 * time.Minute

// A Shell is where the commands of a page run.
type Shell struct {
	Dir string   // where it begins
	Env []string // its whole environment
	In  *os.File // what commands that ask read, such as a terminal; nil if nobody answers
}

// Run runs the blocks of a page that a test is named in, in one shell, and returns what
// is wrong: a command with another exit code than its mark says, or a line that the page
// shows and the commands before it did not print, in this order. It ends everything that
// the commands have started.
func Run(ctx context.Context, in Shell, blocks []Block, test string) ([]string, error) {
	marked := blocksOf(blocks, test)
	if len(marked) == 0 {
		return nil, fmt.Errorf("no block of the page names %s", test)
	}
	output, err := in.run(ctx, marked, test)
	if err != nil {
		return nil, err
	}
	var wrong []string
	said := "" // by the block of commands before
	for _, b := range marked {
		shown := strings.Split(strings.TrimSpace(b.Body), "\n")
		if b.Language == "console" {
			commands, lines := b.Commands()
			code, now, rest := "", "", output
			for i, command := range commands {
				var part string
				part, rest, _ = strings.Cut(rest, end)
				code, rest, _ = strings.Cut(rest, "\n")
				now += part
				if want := b.exits(test); code != want && (i == len(commands)-1 || code != "0") {
					wrong = append(wrong, fmt.Sprintf("line %d: %q ends with %q, want %s:\n%s", b.Line, command, code, want, part))
				}
			}
			said, output, shown = now, rest, lines
		} else if b.Language != "text" || b.Mark != "" {
			continue
		}
		wrong = append(wrong, missing(b.Line, said, shown)...)
	}
	return wrong, nil
}

// blocksOf are the blocks that a test is named in, each with the output that follows it.
func blocksOf(blocks []Block, test string) []Block {
	var out []Block
	after := false
	for _, b := range blocks {
		mine := b.Mark == test || strings.HasPrefix(b.Mark, test+" ")
		if after = mine || after && b.Language == "text" && b.Mark == ""; after {
			out = append(out, b)
		}
	}
	return out
}

// exits is the exit code of the last command of a block.
func (b Block) exits(test string) string {
	if code, ok := strings.CutPrefix(b.Mark, test+" exits "); ok {
		return code
	}
	return "0"
}

// missing are the lines of a page that an output lacks, in this order. Times differ.
func missing(at int, output string, shown []string) []string {
	rest := "\n" + same(output) + "\n"
	for _, line := range shown {
		_, after, found := strings.Cut(rest, "\n"+same(line)+"\n")
		if !found {
			return []string{fmt.Sprintf("line %d: the page shows\n%s\nand the commands print\n%s", at, line, output)}
		}
		rest = "\n" + after
	}
	return nil
}

// run runs blocks and returns what they print, with end and the exit code after each
// command. A block that is a file is written where the text says so.
func (s Shell) run(ctx context.Context, blocks []Block, test string) (string, error) {
	work, err := os.MkdirTemp("", "stackgen-page-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	script := ""
	for i, b := range blocks {
		commands, _ := b.Commands()
		if path, file := strings.CutPrefix(b.Mark, test+" "); file && b.Language != "console" {
			source := filepath.Join(work, strconv.Itoa(i))
			if err := os.WriteFile(source, []byte(b.Body), 0o600); err != nil {
				return "", err
			}
			script += fmt.Sprintf("mkdir -p \"$(dirname '%[1]s')\" && cp '%[2]s' '%[1]s'\n", path, source)
			continue
		}
		if b.Language != "console" {
			continue
		}
		for _, command := range commands {
			script += command + "\nprintf '\\001%d\\n' $?\n"
		}
	}
	out, err := os.Create(filepath.Join(work, "output"))
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Close() }()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("they are not complete after %v", limit))
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", script)
	c.Dir, c.Env, c.Stdout, c.Stderr = s.Dir, s.Env, out, out
	if s.In != nil {
		c.Stdin = s.In
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return "", err
	}
	failed := c.Wait()
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) // what runs in the background
	body, err := os.ReadFile(out.Name())
	switch {
	case failed != nil && ctx.Err() != nil:
		return "", fmt.Errorf("the commands of %s were killed: %w; they printed:\n%s", test, context.Cause(ctx), body)
	case err == nil && c.ProcessState == nil:
		err = failed
	}
	return string(body), err
}
