package engine

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Problems are the errors in what Terragrunt and OpenTofu printed, without the prefixes of
// its lines, or else its last lines. An error of several resources is there once, with the
// resources that have it.
func Problems(log string) string {
	var all []problem
	open := false
	for l := range strings.Lines(log) {
		_, text, tool := strings.Cut(strings.TrimRight(l, "\n"), "tofu: ")
		if !tool {
			_, text, tool = strings.Cut(strings.TrimRight(l, "\n"), "terraform: ")
		}
		switch {
		case !tool:
			open = false
		case strings.HasPrefix(text, "Error: "):
			open = true
			all = append(all, problem{lines: []string{text}})
		case open && strings.TrimSpace(text) != "":
			last := &all[len(all)-1]
			last.lines = append(last.lines, "  "+strings.TrimSpace(text))
		}
	}
	if len(all) == 0 {
		lines := strings.Split(strings.TrimSpace(log), "\n")
		return strings.Join(lines[max(0, len(lines)-8):], "\n")
	}
	var out []string
	for _, p := range together(all) {
		out = append(out, p.text())
	}
	return strings.Join(out, "\n")
}

// A problem is an error, with where it is: what OpenTofu prints on the line "with ADDRESS,".
type problem struct {
	lines []string
	with  []string
}

// where is a line with the address of an error, and what follows is where it is in a file.
var where = regexp.MustCompile(`^  with (.+),$`)

// key is the key of an address, which tells the VMs of a stack apart.
var key = regexp.MustCompile(`\["([^"]+)"\]$`)

// ids are what differs between errors of several VMs that have one cause.
var ids = regexp.MustCompile(`UPID:[^\s"']+|(/vms/|/qemu/|/qemu-server/|\bVMs? |\bVMID |/lock-|\bvm-)\d+`)

// together puts errors together that differ only by the resource and its VMID.
func together(all []problem) (out []problem) {
	keys := map[string]int{}
	for _, p := range all {
		message := p.lines
		for i, l := range p.lines {
			if m := where.FindStringSubmatch(l); m != nil {
				p.with, message = []string{m[1]}, p.lines[:i]
				break
			}
		}
		same := ids.ReplaceAllString(strings.Join(message, "\n"), "$1")
		i, known := keys[same]
		if !known || len(p.with) == 0 {
			keys[same] = len(out)
			out = append(out, p)
			continue
		}
		if first := &out[i]; len(first.with) > 0 {
			first.with = append(first.with, p.with...)
		}
	}
	return out
}

// manyNames is how many resources with the same error are named.
const manyNames = 30

// text is the error, and which resources have it.
func (p problem) text() string {
	if len(p.with) < 2 {
		return strings.Join(p.lines, "\n")
	}
	message := p.lines[:slices.IndexFunc(p.lines, where.MatchString)]
	slices.SortFunc(p.with, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) // 2 before 10
	with := make([]string, len(p.with))
	for i, address := range p.with {
		with[i] = address
		if m := key.FindStringSubmatch(address); m != nil {
			with[i] = m[1]
		}
	}
	if n := len(with) - manyNames; n > 0 {
		with = append(with[:manyNames], fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("%s\n  the same for %d resources: %s", strings.Join(message, "\n"), len(p.with), strings.Join(with, ", "))
}
