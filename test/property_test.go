package test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"stackgen/internal/lock"
)

// TestKeyOrder checks that with a lock, the order of keys and of specs does not
// change the output.
func TestKeyOrder(t *testing.T) {
	t.Parallel()
	specs, order, l := examples(t)
	files, _, ok := core(t, specs, order, l)
	if !ok {
		t.Fatal("the examples do not render")
	}
	want := text(files)
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 12 {
		shuffledSpecs := map[string][]byte{}
		for _, name := range order {
			shuffledSpecs[name] = shuffled(t, r, specs[name])
		}
		shuffledOrder := slices.Clone(order)
		r.Shuffle(len(order), func(i, j int) { shuffledOrder[i], shuffledOrder[j] = shuffledOrder[j], shuffledOrder[i] })
		files, now, ok := core(t, shuffledSpecs, shuffledOrder, l)
		if !ok {
			t.Fatalf("round %d: refused", round)
		}
		if got := text(files); got != want {
			t.Fatalf("round %d: %s", round, firstDifference(want, got))
		}
		if string(lockBytes(t, now)) != string(lockBytes(t, l)) {
			t.Fatalf("round %d: the lock changes", round)
		}
	}
}

// shuffled returns a YAML document with the keys of all maps in random order.
func shuffled(t *testing.T, r *rand.Rand, src []byte) []byte {
	t.Helper()
	var doc yaml.Node
	check(t, yaml.Unmarshal(src, &doc))
	shuffle(r, &doc)
	out, err := yaml.Marshal(&doc)
	check(t, err)
	return out
}

func shuffle(r *rand.Rand, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		r.Shuffle(len(n.Content)/2, func(i, j int) {
			n.Content[2*i], n.Content[2*j] = n.Content[2*j], n.Content[2*i]
			n.Content[2*i+1], n.Content[2*j+1] = n.Content[2*j+1], n.Content[2*i+1]
		})
	}
	for _, c := range n.Content {
		shuffle(r, c)
	}
}

// TestNewVM inserts VMs at random positions in a spec and checks that the
// decisions for the other VMs stay the same, and that a second render changes
// nothing.
func TestNewVM(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	const name = "specs/a.yaml"
	for round := range 4 {
		vms := []string{}
		for i := range r.IntN(8) {
			vms = append(vms, vmLine(r, i))
		}
		l := emptyLock(t)
		for i := range 6 {
			files, now, ok := core(t, map[string][]byte{name: []byte(document(vms))}, []string{name}, l)
			if !ok {
				t.Fatalf("round %d: refused:\n%s", round, document(vms))
			}
			kept(t, l, now)
			again, same, _ := core(t, map[string][]byte{name: []byte(document(vms))}, []string{name}, now)
			if text(files) != text(again) || string(lockBytes(t, now)) != string(lockBytes(t, same)) {
				t.Fatalf("round %d: rendering again changes something", round)
			}
			l = now
			vms = slices.Insert(vms, r.IntN(len(vms)+1), vmLine(r, 100+i))
		}
	}
}

func vmLine(r *rand.Rand, i int) string {
	return fmt.Sprintf("  v%d: {%s}", i, []string{"", "node: pve9", "profile: protected", fmt.Sprintf("vmid: %d", 2100+r.IntN(3)+10*i), "adopt: {vmid: " + fmt.Sprint(5000+i) + "}"}[r.IntN(5)])
}

func document(vms []string) string {
	return "apiVersion: stackgen/v1\nkind: Stack\nname: a\nvmids: 2100-9999\ndns: {zone: example.org, server: 192.0.2.53}\n" +
		"defaults: {template: 9000, placement: {nodes: [pve1, pve2, pve3]}}\nvms:\n" + strings.Join(vms, "\n") + "\n  last: {}\n"
}

// kept checks that every decision of a lock is in a later one.
func kept(t *testing.T, was, now *lock.Lock) {
	t.Helper()
	if len(was.Stacks) == 0 {
		return
	}
	later := now.Stacks.Get("a")
	for _, e := range was.Stacks[0].Value.VMs {
		v := later.VMs.Get(e.Key)
		if v == nil || v.VMID != e.Value.VMID || v.Node != e.Value.Node || v.Unit != e.Value.Unit || *v.Template != *e.Value.Template {
			t.Fatalf("%s was %+v and is %+v", e.Key, e.Value, v)
		}
	}
}

func lockBytes(t *testing.T, l *lock.Lock) []byte {
	t.Helper()
	out, err := l.Bytes()
	check(t, err)
	return out
}

// firstDifference reports the first line in which two texts differ.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", i+1, b[i], a[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(b), len(a))
}
