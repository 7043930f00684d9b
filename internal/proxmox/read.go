package proxmox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"stackgen/internal/cluster"
)

// Wanted says which guests are looked at closely. Everything else is listed.
type Wanted struct {
	VMIDs     []int    // of the VMs in specs and lock
	Names     []string // of the VMs in the specs
	Pools     []string // that the specs name
	Templates []string // VMIDs or names, where their configuration is wanted too
	Progress  func(string)
}

// Read looks at a cluster once. What cannot be seen is a gap of the inventory;
// an error means that nothing at all can be said.
func Read(ctx context.Context, c Config, w Wanted) (cluster.Inventory, error) {
	api, err := open(ctx, c)
	if err != nil {
		return cluster.Inventory{}, err
	}
	defer api.close()
	if w.Progress == nil {
		w.Progress = func(string) {}
	}
	l := &look{client: api, wanted: w, inv: cluster.Inventory{Version: cluster.Version, Endpoint: c.Endpoint,
		Taken: time.Now().UTC().Format(time.RFC3339)}, vmids: map[int]bool{}, names: map[string]bool{}, found: map[int]*cluster.Guest{}}
	for _, id := range w.VMIDs {
		l.vmids[id] = true
	}
	for _, n := range w.Names {
		l.names[strings.ToLower(n)] = true
	}
	if err := l.run(ctx); err != nil {
		return cluster.Inventory{}, err
	}
	return l.finish(), nil
}

// A look is one reading under way.
type look struct {
	*client
	wanted Wanted
	inv    cluster.Inventory
	rights rights
	old    bool // before Proxmox VE 9
	mender *mender
	vmids  map[int]bool
	names  map[string]bool // in lower case
	found  map[int]*cluster.Guest

	mu sync.Mutex // of inv.Gaps, inv.Free and mender once requests run side by side
}

func (l *look) run(ctx context.Context) error {
	var v version
	if err := l.get(ctx, "/version", &v); err != nil {
		return err
	}
	l.inv.Release = string(v.Version)
	major, _, _ := strings.Cut(l.inv.Release, ".")
	l.old = len(major) == 1 && major < "9"
	if err := l.get(ctx, "/access/permissions", &l.rights); err != nil {
		return err
	}
	l.wanted.Progress("reading the lists of " + strings.TrimPrefix(l.config.Endpoint, "https://"))
	if err := l.lists(ctx); err != nil {
		return err
	}
	l.nodes(ctx)
	l.general(ctx)
	candidates := l.candidates()
	l.wanted.Progress(fmt.Sprintf("reading %d of %d guests", len(candidates), len(l.found)))
	each(candidates, func(g *cluster.Guest) { l.config1(ctx, g) })
	each(l.missing(), func(vmid int) { l.prove(ctx, vmid) })
	l.agents(ctx, candidates)
	return ctx.Err()
}

// each does something for every item, a bounded number at a time.
func each[T any](items []T, do func(T)) {
	var wg sync.WaitGroup
	queue := make(chan T)
	for range min(atOnce, len(items)) {
		wg.Go(func() {
			for item := range queue {
				do(item)
			}
		})
	}
	for _, item := range items {
		queue <- item
	}
	close(queue)
	wg.Wait()
}

// lists reads what one request tells of the whole cluster.
func (l *look) lists(ctx context.Context) error {
	var status []member
	var resources []resource
	var pools []pool
	var tasks []task
	var noStatus error
	var errs [3]error
	each([]func(){
		func() { noStatus = l.get(ctx, "/cluster/status", &status) },
		func() { errs[0] = l.get(ctx, "/cluster/resources", &resources) },
		func() { errs[1] = l.get(ctx, "/pools", &pools) },
		func() { errs[2] = l.get(ctx, "/cluster/tasks", &tasks) },
	}, func(read func()) { read() })
	if code(noStatus) == 403 { // needs Sys.Audit; the gap is told with the others
		noStatus = nil
	}
	if err := errors.Join(noStatus, errors.Join(errs[:]...)); err != nil {
		return err
	}
	l.resources(resources)
	l.quorum(status)
	for _, p := range pools {
		l.inv.Pools = append(l.inv.Pools, cluster.Pool{ID: p.ID, Comment: p.Comment})
	}
	for _, t := range tasks {
		if t.End == 0 {
			l.inv.Tasks = append(l.inv.Tasks, cluster.Task{UPID: t.UPID, Node: t.Node, Type: t.Type, VMID: number(string(t.ID)), User: t.User})
		}
	}
	return nil
}

// quorum takes the cluster's word. Without the right to ask, a majority of nodes
// that are seen online stands in for it: a node without quorum sees no other.
func (l *look) quorum(status []member) {
	online, single := 0, true
	for _, m := range status {
		if m.Type == "cluster" {
			l.inv.Quorate, single = m.Quorate != 0, false
		}
		if n := l.inv.Node(m.Name); m.Type == "node" && n != nil {
			n.Online = m.Online != 0
		}
	}
	for _, n := range l.inv.Nodes {
		if n.Online {
			online++
		}
	}
	if single {
		l.inv.Quorate = 2*online > len(l.inv.Nodes)
	}
}

// finish puts everything into order.
func (l *look) finish() cluster.Inventory {
	inv := l.inv
	members := map[string][]int{}
	for _, g := range l.found {
		inv.Guests = append(inv.Guests, *g)
		members[g.Pool] = append(members[g.Pool], g.VMID)
	}
	slices.SortFunc(inv.Guests, func(a, b cluster.Guest) int { return a.VMID - b.VMID })
	for i := range inv.Pools {
		p := &inv.Pools[i]
		p.Members = members[p.ID]
		slices.Sort(p.Members)
	}
	slices.SortFunc(inv.Nodes, func(a, b cluster.Node) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(inv.Pools, func(a, b cluster.Pool) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(inv.Storages, func(a, b cluster.Storage) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Node, b.Node))
	})
	slices.SortFunc(inv.Tasks, func(a, b cluster.Task) int { return strings.Compare(a.UPID, b.UPID) })
	slices.SortFunc(inv.Gaps, func(a, b cluster.Gap) int {
		return cmp.Or(cmp.Compare(len(a.Path), len(b.Path)), strings.Compare(a.Path, b.Path), strings.Compare(a.Privilege, b.Privilege))
	})
	slices.Sort(inv.Free)
	inv.Requests = int(l.wire.count.Load())
	return inv
}
