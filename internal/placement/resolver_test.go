package placement

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// snapshot is a cluster of equal nodes with a template on shared storage.
func snapshot(names ...string) *cluster.Inventory {
	inv := &cluster.Inventory{Guests: []cluster.Guest{{VMID: 9000, Node: names[0], Kind: guest.VM, Template: true, Name: "debian",
		Config: &cluster.Config{Raw: map[string]string{"scsi0": "nas:9000/base-9000-disk-0.qcow2,size=4G"}}}}}
	for _, n := range names {
		inv.Nodes = append(inv.Nodes, cluster.Node{Name: n, Online: true, CPUs: 16, Memory: 64 << 30})
		inv.Storages = append(inv.Storages, cluster.Storage{ID: "nas", Node: n, Type: "nfs", Shared: true, Content: "images", Active: true})
	}
	return inv
}

// project is the project of some specs, each without its first lines.
func project(t *testing.T, specs ...string) *schema.Project {
	t.Helper()
	var in []schema.Input
	for _, body := range specs {
		name, rest, _ := strings.Cut(body, "\n")
		spec, problems := schema.Parse(name+".yaml", []byte("apiVersion: stackgen/v1\nkind: Stack\nname: "+name+"\n"+rest))
		if spec == nil {
			t.Fatal(problems)
		}
		in = append(in, schema.Input{Spec: spec, Label: name + ".yaml"})
	}
	p, problems := schema.Join(nil, in, schema.Files{}, nil)
	if schema.HasErrors(problems) {
		t.Fatal(problems)
	}
	return p
}

// decide decides for all stacks, or for those that are named, and returns the nodes.
func decide(t *testing.T, p *schema.Project, old *lock.Lock, inv *cluster.Inventory, stacks ...string) (*lock.Lock, []Decision, string) {
	t.Helper()
	r := New(p, old, inv, nil)
	d := lock.Decide(p, old, lock.Options{Specs: map[string]string{}, Selected: func(s string) bool { return len(stacks) == 0 || slices.Contains(stacks, s) }, Project: "0", Resolve: r.Resolve})
	if schema.HasErrors(d.Problems) || len(d.Refusals) > 0 {
		t.Fatal(d.Problems, d.Refusals)
	}
	var nodes []string
	for _, s := range d.Lock.Stacks {
		for _, v := range s.Value.VMs {
			nodes = append(nodes, s.Key+"/"+v.Key+"="+v.Value.Node)
		}
	}
	return d.Lock, r.Decisions, strings.Join(nodes, " ")
}

const (
	first  = "first\nvmids: 100-199\ndefaults: {template: debian, clone: auto, placement: {strategy: score, nodes: [b, a, c]}}\ngroups: {vm: {count: 3}}\n"
	second = "second\nvmids: 200-299\ndefaults: {template: debian, clone: auto, placement: {strategy: score, nodes: [a, b, c]}}\nvms: {big: {node: a, cores: 8}, one: {}, two: {}}\n"
)

// TestResolverIsDeterministic checks that the same snapshot and lock give the same
// decisions, in whatever order the snapshot lists the nodes.
func TestResolverIsDeterministic(t *testing.T) {
	p := project(t, first, second)
	_, one, nodes := decide(t, p, &lock.Lock{}, snapshot("a", "b", "c"))
	inv := snapshot("a", "b", "c")
	slices.Reverse(inv.Nodes)
	slices.Reverse(inv.Storages)
	_, other, _ := decide(t, p, &lock.Lock{}, inv)
	if !reflect.DeepEqual(one, other) {
		t.Errorf("%+v\n%+v", one, other)
	}
	// big is pinned to a by the spec, and counts before the others are placed.
	if want := "first/vm1=b first/vm2=c first/vm3=b second/big=a second/one=c second/two=b"; nodes != want {
		t.Errorf("%s, want %s", nodes, want)
	}
}

// TestResolverCountsWhatIsPlaced checks that VMs of another stack count before they run,
// and as measured load afterwards, and that no decision changes.
func TestResolverCountsWhatIsPlaced(t *testing.T) {
	p := project(t, first, second)
	inv := snapshot("a", "b", "c")
	l, _, nodes := decide(t, p, &lock.Lock{}, inv, "first")
	if want := "first/vm1=b first/vm2=c first/vm3=b"; nodes != want {
		t.Fatalf("%s, want %s", nodes, want)
	}
	_, made, nodes := decide(t, p, l, inv, "second")
	if want := "first/vm1=b first/vm2=c first/vm3=b second/big=a second/one=c second/two=b"; nodes != want || len(made) != 3 {
		t.Errorf("%s with %d decisions, want %s", nodes, len(made), want)
	}
	for vmid, node := range map[int]string{100: "b", 102: "b"} { // they run, and do nothing
		inv.Guests = append(inv.Guests, cluster.Guest{VMID: vmid, Node: node, Kind: guest.VM, Status: "running"})
	}
	if _, _, nodes := decide(t, p, l, inv, "second"); nodes != "first/vm1=b first/vm2=c first/vm3=b second/big=a second/one=b second/two=b" {
		t.Errorf("%s: VMs that run count twice", nodes)
	}
}

// TestResolverAdopts checks that the node of an adopted VM is where it is.
func TestResolverAdopts(t *testing.T) {
	p := project(t, "a\nvmids: 100-199\nvms: {old: {adopt: {vmid: 150}, placement: {strategy: score, nodes: [a, b]}}}\n")
	inv := snapshot("a", "b")
	r := New(p, &lock.Lock{}, inv, nil)
	if d := lock.Decide(p, &lock.Lock{}, lock.Options{Selected: func(string) bool { return true }, Resolve: r.Resolve}); !schema.HasErrors(d.Problems) || r.Problems != 1 {
		t.Errorf("VM 150 does not exist, and the problems are %v", d.Problems)
	}
	inv.Guests = append(inv.Guests, cluster.Guest{VMID: 150, Node: "b", Kind: guest.VM, Status: "running"})
	if _, _, nodes := decide(t, p, &lock.Lock{}, inv); nodes != "a/old=b" {
		t.Error(nodes)
	}
}

// TestResolverContainers checks that VMs and containers count together, that a container gets only a node that has
// its archive, unless that is not known, and that its node never changes by itself.
func TestResolverContainers(t *testing.T) {
	const spec = "a\nvmids: 100-199\ndefaults: {template: debian, clone: auto, placement: {strategy: spread, nodes: [a, b, c]}}\nvms: {vm1: {}, vm2: {}}\n" +
		"groups: {ct: {kind: container, count: 2, template: \"nas:vztmpl/debian-12.tar.zst\", memory: 1024, rootfs: {datastore: nas}}}\n"
	world := func(with ...string) *cluster.Inventory {
		inv := snapshot("a", "b", "c")
		for i := range inv.Storages {
			inv.Storages[i].Content = "images,rootdir,vztmpl"
			l := cluster.Files{Storage: "nas", Node: inv.Storages[i].Node}
			if slices.Contains(with, l.Node) {
				l.Files = []cluster.File{{Name: "debian-12.tar.zst"}}
			}
			inv.Archives = append(inv.Archives, l)
		}
		inv.Datastores = []cluster.Datastore{{ID: "nas", Type: "nfs", Shared: true, Content: "images,rootdir,vztmpl"}}
		return inv
	}
	unknown := world()
	unknown.Archives = nil
	p := project(t, spec)
	for name, c := range map[string]struct {
		inv  *cluster.Inventory
		want string
	}{
		"all have it": {world("a", "b", "c"), "a/ct1=c a/ct2=c a/vm1=a a/vm2=b"},
		"one has it":  {world("b"), "a/ct1=b a/ct2=b a/vm1=a a/vm2=b"},
		"not known":   {unknown, "a/ct1=c a/ct2=c a/vm1=a a/vm2=b"},
		"two have it": {world("a", "b"), "a/ct1=a a/ct2=b a/vm1=a a/vm2=b"},
	} {
		l, _, nodes := decide(t, p, &lock.Lock{}, c.inv)
		if nodes != c.want {
			t.Errorf("%s: %s, want %s", name, nodes, c.want)
		}
		other := world("c")
		if _, decided, nodes := decide(t, p, l, other); nodes != c.want || len(decided) > 0 {
			t.Errorf("%s: later, the nodes are %s", name, nodes)
		}
	}
	r := New(p, &lock.Lock{}, world(), nil)
	d := lock.Decide(p, &lock.Lock{}, lock.Options{Selected: func(string) bool { return true }, Resolve: r.Resolve})
	if !slices.ContainsFunc(d.Problems, func(p schema.Problem) bool {
		return p.Code == schema.CodeNoNode && strings.Contains(p.Message, "storage nas of node a does not have the archive debian-12.tar.zst")
	}) {
		t.Errorf("no node has the archive, and the problems are %v", d.Problems)
	}
}
