package schema

import (
	"fmt"
	"strings"
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

// A subject is the VM at which a problem is found.
type subject struct{ stack, path, key string }

// affected are the VMs that have one problem.
type affected struct {
	index       int // of the problem
	text        string
	first, last subject
	count       int
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
	c.addSubject(subject{s.Name, v.Path, v.Key}, p, format, args...)
}

// AddVMText adds a problem of a VM whose message is complete. Problems at one place
// with one code and one message are one mistake.
func (c *Collector) AddVMText(s *Stack, v *VM, p Problem) {
	c.addText(subject{s.Name, v.Path, v.Key}, p, p.Message, p.Message)
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
		c.causes[why] = &affected{index: len(c.problems), text: text, first: who, last: who, count: 1, onePath: true, oneStack: true}
		c.problems = append(c.problems, p)
		return
	}
	if a.last != who {
		a.last = who
		a.count++
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

// String names the VMs: "VM web1", or "40 VMs of group web, such as web1".
func (a *affected) String() string {
	group, isGroup := strings.CutPrefix(a.first.path, "groups.")
	switch {
	case a.count == 1:
		return "VM " + a.first.key
	case a.onePath && isGroup && !strings.Contains(group, "."):
		return fmt.Sprintf("%d VMs of group %s, such as %s", a.count, group, a.first.key)
	case a.oneStack:
		return fmt.Sprintf("%d VMs of stack %s, such as %s", a.count, a.first.stack, a.first.key)
	}
	return fmt.Sprintf("%d VMs of several stacks, such as %s/%s", a.count, a.first.stack, a.first.key)
}
