// Package page reads the blocks of a page in Markdown, and runs its commands as they
// are pasted, so that a page cannot show what does not happen.
//
// The comment on the line above a block says what checks it:
//
//	<!-- test/script/NAME.txtar FILE -->  it shows this file of the script
//	<!-- test/script/NAME.txtar -->       the script runs its commands
//	<!-- TestName -->                     this test runs it, and what follows is in its output
//	<!-- TestName exits 3 -->             the same, and the last command ends with this code
//	<!-- TestName specs/lab.yaml -->      this test writes the file
//	<!-- .ci/run -->                      CI runs it
//	<!-- not run: REASON -->              nothing does
//
// `<!-- blocks: TestName -->` anywhere in a page names the test that runs all of its blocks.
package page

import (
	"fmt"
	"os"
	"strings"
)

// A Block is a code block of a page.
type Block struct {
	Line     int    // of its first fence, from 1
	Section  string // the heading of second level above it
	Language string
	Mark     string // the comment on the line above it, or for the whole page; empty without one
	Body     string // its lines, each with its line end
}

// Read returns the blocks of a page, in order.
func Read(file string) ([]Block, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the page: %w", err)
	}
	var out []Block
	var open *Block
	section, mark, all, number := "", "", "", 0
	for line := range strings.Lines(string(src)) {
		number++
		text := strings.TrimSuffix(line, "\n")
		language, fence := strings.CutPrefix(strings.TrimLeft(text, " "), "```")
		comment, isComment := strings.CutPrefix(text, "<!-- ")
		switch {
		case fence && open == nil:
			open = &Block{Line: number, Section: section, Language: language, Mark: mark}
		case fence:
			out, open = append(out, *open), nil
		case open != nil:
			open.Body += line
		case strings.HasPrefix(text, "## "):
			section = text[3:]
		case isComment:
			mark = strings.TrimSuffix(comment, " -->")
			if name, whole := strings.CutPrefix(mark, "blocks: "); whole {
				all, mark = name, ""
			}
			continue
		}
		mark = ""
	}
	for i := range out {
		if out[i].Mark == "" && out[i].Language == "console" {
			out[i].Mark = all
		}
	}
	return out, nil
}

// Commands are the commands of a block of console, without their prompts; a command may
// have several lines. The other lines are what the command before them prints.
func (b Block) Commands() (commands, output []string) {
	more := false
	for line := range strings.Lines(b.Body) {
		text := strings.TrimSuffix(line, "\n")
		command, is := strings.CutPrefix(text, "$ ")
		switch {
		case is:
			commands = append(commands, command)
		case more:
			commands[len(commands)-1] += "\n" + text
		default:
			output = append(output, text)
		}
		more = (is || more) && strings.HasSuffix(text, `\`)
	}
	return commands, output
}
