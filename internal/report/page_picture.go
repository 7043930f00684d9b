package report

import (
	"cmp"
	"fmt"
	"slices"

	"stackgen/internal/finding"
)

// A box of the picture is a node with its VMs, or a stack with its units.
type box struct {
	Name  string
	Note  string // offline, not in the cluster
	Count string // what is in it, and how much of it differs
	Class string // of its worst cell
	Cells []cell
}

// A cell is a VM or a unit, with the worst of its changes.
type cell struct {
	Class  string // blocked, failed, safe, noted, known, same, or unplanned
	Letter string
	Kind   finding.Kind
	N      int    // of changes
	Link   string // the id of the worst change
	Thing  string // stack/key
	Title  string
}

// rank orders the classes of cells.
func rank(class string) int {
	return slices.Index([]string{"same", "noted", "known", "unplanned", "safe", "failed", "blocked"}, class)
}

// marks are the cells of things that have changes, by stack/key.
type marks map[string]cell

// add adds a change to the cell of a thing.
func (m marks) add(thing string, c *card, row *change) {
	mark := m[thing]
	if mark.N == 0 || rank(c.Class) > rank(mark.Class) {
		mark = cell{Class: c.Class, Letter: c.Letter, Kind: c.Kind, N: mark.N, Link: row.ID}
	}
	mark.N++
	m[thing] = mark
}

// marks are the cells of the VMs and units that have changes.
func (p *page) marks() marks {
	found := marks{}
	for _, c := range p.Cards {
		for _, rows := range [][]change{c.First, c.Rest} {
			for i := range rows {
				row := &rows[i]
				found.add(row.Thing, c, row)
				if unit := row.UnitThing(); row.Unit != "" && unit != row.Thing {
					found.add(unit, c, row)
				}
			}
		}
	}
	return found
}

// picture puts VMs into the boxes of their nodes, and units into those of their stacks.
func (p *page) picture() {
	found := p.marks()
	for _, n := range p.Drift.Nodes {
		b := box{Name: n.Name}
		if !n.Online {
			b.Note = "offline"
		}
		p.Nodes = append(p.Nodes, b)
	}
	for _, vm := range p.VMs {
		at := slices.IndexFunc(p.Nodes, func(b box) bool { return b.Name == cmp.Or(vm.Node, nowhere) })
		if at < 0 {
			at = len(p.Nodes)
			p.Nodes = append(p.Nodes, box{Name: cmp.Or(vm.Node, nowhere)})
		}
		p.Nodes[at].add(found, vm.Stack+"/"+vm.Key, fmt.Sprintf("%s %d", kindIf(vm.Container).Name(), vm.VMID), "same")
	}
	for _, u := range p.Drift.Units {
		at := slices.IndexFunc(p.Units, func(b box) bool { return b.Name == u.Stack })
		if at < 0 {
			at = len(p.Units)
			p.Units = append(p.Units, box{Name: u.Stack})
		}
		class, about := "same", Count(u.Resources, "resource")
		if !u.Planned {
			class, about = "unplanned", about+", not planned"
		}
		p.Units[at].add(found, u.Stack+"/"+u.Unit, about, class)
	}
	has := map[string]bool{}
	for i := range p.Nodes {
		p.Nodes[i].sum(scopeGuests(p.VMs).Word(), has)
	}
	for i := range p.Units {
		p.Units[i].sum("unit", has)
	}
	p.Dense = len(p.VMs) > 100
	for _, o := range legend {
		if has[o.Value] {
			p.Legend = append(p.Legend, o)
		}
	}
}

// legend is what the marks of cells mean, by their classes.
var legend = []option{
	{Value: "blocked", Letter: "X", Word: "would harm"},
	{Value: "failed", Letter: "?", Word: "not checked"},
	{Value: "safe", Letter: "r", Word: "safe change"},
	{Value: "noted", Letter: "n", Word: "nothing to do"},
	{Value: "known", Letter: "l", Word: "known"},
	{Value: "unplanned", Word: "not planned"},
	{Value: "same", Word: "as its spec says"},
}

// nowhere is the box of VMs that are on no node.
const nowhere = "not in the cluster"

// add adds a thing to the box.
func (b *box) add(found marks, thing, about, class string) {
	thing = line(thing)
	c := found[thing]
	c.Thing, c.Title = thing, thing+", "+about
	switch {
	case c.N > 1:
		c.Title += fmt.Sprintf(", %d changes, the worst: %s", c.N, c.Kind)
	case c.N == 1:
		c.Title += ", " + string(c.Kind)
	default:
		c.Class = class
	}
	b.Cells = append(b.Cells, c)
}

// sum says what is in the box, and adds the classes of its cells.
func (b *box) sum(what string, has map[string]bool) {
	differ, harmed := 0, 0
	b.Class = "same"
	for _, c := range b.Cells {
		has[c.Class] = true
		if c.Link != "" && c.Class != "known" && c.Class != "noted" {
			differ++
		}
		if c.Class == "blocked" {
			harmed++
		}
		if rank(c.Class) > rank(b.Class) {
			b.Class = c.Class
		}
	}
	b.Count = Count(len(b.Cells), what)
	if differ > 0 {
		b.Count += fmt.Sprintf(", %d with changes", differ)
	}
	if harmed > 0 {
		b.Count += fmt.Sprintf(", %d blocked", harmed)
	}
}

// options counts the changes by what the page filters them by.
func (p *page) options() {
	classCount, kindCount, stackCount, causeCount := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range p.Cards {
		for _, rows := range [][]change{c.First, c.Rest} {
			for i := range rows {
				classCount[c.Class]++
				kindCount[string(c.Kind)]++
				stackCount[rows[i].Stack]++
				causeCount[string(rows[i].Change.Cause)]++
			}
		}
	}
	for _, t := range classes {
		if t.N = classCount[t.Class]; t.N > 0 || t.Class == "blocked" || t.Class == "safe" {
			p.Tiles = append(p.Tiles, t)
		}
	}
	for _, v := range verdicts {
		if n := kindCount[string(v.Kind)]; n > 0 {
			p.Marks = append(p.Marks, option{string(v.Kind), string(v.Kind), v.Letter, v.Doc, n})
		}
	}
	for _, c := range p.Cards {
		if s := c.First[0].Stack; !slices.ContainsFunc(p.Stacks, func(o option) bool { return o.Value == s }) {
			p.Stacks = append(p.Stacks, option{Value: s, Word: line(s), N: stackCount[s]})
		}
	}
	slices.SortFunc(p.Stacks, func(a, b option) int { return cmp.Compare(a.Value, b.Value) })
	for _, c := range causes {
		if n := causeCount[string(c.Cause)]; n > 0 {
			p.Causes = append(p.Causes, option{Value: string(c.Cause), Word: c.Word, N: n})
		}
	}
}
