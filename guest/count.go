package guest

import (
	"cmp"
	"fmt"
	"strings"
)

// A Tally is a number of guests of each kind.
type Tally map[Kind]int

// Count counts a list by the kinds of its guests. The zero value of a kind is a VM.
func Count[T any](list []T, kind func(T) Kind) Tally {
	t := Tally{}
	for _, one := range list {
		t[cmp.Or(kind(one), VM)]++
	}
	return t
}

// String is the numbers with what people call the guests: 1 VM and 2 containers. None are 0 VMs.
func (t Tally) String() string { return t.Of("") }

// Of is String with a word before each name: 1 other VM.
func (t Tally) Of(which string) string {
	var out []string
	for _, k := range Kinds() {
		switch n := t[k]; {
		case n == 1:
			out = append(out, "1 "+which+k.Name())
		case n > 1:
			out = append(out, fmt.Sprintf("%d %s%ss", n, which, k.Name()))
		}
	}
	if len(out) == 0 {
		return "0 " + which + VM.Name() + "s"
	}
	return strings.Join(out, " and ")
}

// Word is what each of the guests is called: VM, container, or guest if there are both.
func (t Tally) Word() string {
	switch {
	case t[Container] == 0:
		return VM.Name()
	case t[VM] == 0:
		return Container.Name()
	}
	return "guest"
}
