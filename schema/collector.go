package schema

import (
	"cmp"
	"fmt"
	"strings"

	"stackgen/guest"
)

// A Collector gathers problems. One mistake is one problem: a mistake that is
// found at many VMs, because they inherit it or are members of one group, gives
// one problem with the number of VMs and an example.
type Collector struct {
	problems []Problem
	errors   int // reported so far, with those that joined an earlier problem
	causes   map[cause]*affected
}

// A cause tells mistakes apart: a place in a file, and what is wrong with it.
type cause struct {
	Pos
	code, format string
}

// A subject is the VM or container at which a problem is found.
type subject struct {
	stack, path, key string
	kind             guest.Kind
}

// subjectOf is a VM or container as a subject.
func subjectOf(s *Stack, v *VM) subject { return subject{s.Name, v.Path, v.Key, v.Kind} }

// affected are the VMs and containers that have one problem.
type affected struct {
	index       int // of the problem
	text        string
	first, last subject
	count       int
	of          guest.Tally
	onePath     bool // all are members of one group
	oneStack    bool
}

// Add adds a problem that does not belong to a VM.
func (c *Collector) Add(p Problem) {
	if p.Severity == SeverityError {
		c.errors++
	}
	c.problems = append(c.problems, p)
}

// AddVM adds a problem of a VM. Problems at one place with one code and one
// format are one mistake.
func (c *Collector) AddVM(s *Stack, v *VM, p Problem, format string, args ...any) {
	c.addSubject(subjectOf(s, v), p, format, args...)
}

// AddVMText adds a problem of a VM whose message is complete. Problems at one place
// with one code and one message are one mistake.
func (c *Collector) AddVMText(s *Stack, v *VM, p Problem) {
	c.addText(subjectOf(s, v), p, p.Message, p.Message)
}

func (c *Collector) addSubject(who subject, p Problem, format string, args ...any) {
	c.addText(who, p, format, fmt.Sprintf(format, args...))
}

func (c *Collector) addText(who subject, p Problem, format, text string) {
	if p.Severity == SeverityError {
		c.errors++
	}
	why := cause{p.Pos, p.Code, format}
	a := c.causes[why]
	if a == nil {
		if c.causes == nil {
			c.causes = map[cause]*affected{}
		}
		c.causes[why] = &affected{index: len(c.problems), text: text, first: who, last: who, count: 1,
			of: guest.Tally{cmp.Or(who.kind, guest.VM): 1}, onePath: true, oneStack: true}
		c.problems = append(c.problems, p)
		return
	}
	if a.last != who {
		a.last = who
		a.count++
		a.of[cmp.Or(who.kind, guest.VM)]++
	}
	a.onePath = a.onePath && who.stack == a.first.stack && who.path == a.first.path
	a.oneStack = a.oneStack && who.stack == a.first.stack
}

// Problems returns all problems in their total order.
func (c *Collector) Problems() []Problem {
	for _, a := range c.causes {
		c.problems[a.index].Message = a.String() + ": " + a.text
	}
	return SortProblems(c.problems)
}

// String names what has the problem: "VM web1", or "40 VMs of group web, such as web1".
func (a *affected) String() string {
	group, isGroup := strings.CutPrefix(a.first.path, "groups.")
	switch {
	case a.count == 1:
		return a.first.kind.Name() + " " + a.first.key
	case a.onePath && isGroup && !strings.Contains(group, "."):
		return fmt.Sprintf("%s of group %s, such as %s", a.of, group, a.first.key)
	case a.oneStack:
		return fmt.Sprintf("%s of stack %s, such as %s", a.of, a.first.stack, a.first.key)
	}
	return fmt.Sprintf("%s of several stacks, such as %s/%s", a.of, a.first.stack, a.first.key)
}
