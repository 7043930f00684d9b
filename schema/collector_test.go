package schema

import (
	"fmt"
	"slices"
	"testing"
)

func TestCollector(t *testing.T) {
	at := func(line int) Problem {
		return Problem{Pos: Pos{File: "a.yaml", Line: line, Col: 1}, Severity: SeverityError, Code: CodeValue}
	}
	vm := func(path, key string) *VM { return &VM{Path: path, Key: key} }
	a, b := &Stack{Name: "a"}, &Stack{Name: "b"}
	for name, test := range map[string]struct {
		add  func(*Collector)
		want []string
	}{
		"none":   {func(*Collector) {}, nil},
		"one VM": {func(c *Collector) { c.AddVM(a, vm("vms.x", "x"), at(1), "bad %d", 1) }, []string{"1 VM x: bad 1"}},
		"one VM twice": {func(c *Collector) {
			c.AddVM(a, vm("vms.x", "x"), at(1), "bad %d", 1)
			c.AddVM(a, vm("vms.x", "x"), at(1), "bad %d", 2)
		}, []string{"1 VM x: bad 1"}},
		"group": {func(c *Collector) {
			for n := range 5 {
				c.AddVM(a, vm("groups.web", fmt.Sprint("web", n)), at(1), "bad %d", n)
			}
		}, []string{"1 5 VMs of group web, such as web0: bad 0"}},
		"stack": {func(c *Collector) {
			c.AddVM(a, vm("groups.web", "web1"), at(1), "bad")
			c.AddVM(a, vm("vms.x", "x"), at(1), "bad")
		}, []string{"1 2 VMs of stack a, such as web1: bad"}},
		"stacks": {func(c *Collector) {
			c.AddVM(a, vm("groups.web", "web1"), at(1), "bad")
			c.AddVM(b, vm("groups.web", "web1"), at(1), "bad")
		}, []string{"1 2 VMs of several stacks, such as a/web1: bad"}},
		"two mistakes at one place": {func(c *Collector) {
			c.AddVM(a, vm("vms.x", "x"), at(1), "bad")
			c.AddVM(a, vm("vms.y", "y"), at(1), "worse")
		}, []string{"1 VM x: bad", "1 VM y: worse"}},
		"two places": {func(c *Collector) {
			c.AddVM(a, vm("vms.x", "x"), at(2), "bad")
			c.AddVM(a, vm("vms.y", "y"), at(1), "bad")
			p := at(3)
			p.Message = "no VM"
			c.Add(p)
		}, []string{"1 VM y: bad", "2 VM x: bad", "3 no VM"}},
	} {
		t.Run(name, func(t *testing.T) {
			var c Collector
			test.add(&c)
			var got []string
			for _, p := range c.Problems() {
				got = append(got, fmt.Sprint(p.Line, " ", p.Message))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
