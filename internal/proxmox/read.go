package proxmox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// Wanted says which guests to read in detail. All others are only listed, unless Others
// says more or one of VMs is not found.
type Wanted struct {
	VMIDs     []int    // VMIDs in specs and lock
	Names     []string // VM names in the specs
	Pools     []string // pool names in the specs
	Templates []string // VMIDs or names of templates whose configuration is needed
	Paths     []string // ACL paths of what a create needs: templates, pools, storages, bridges
	VMs       []WantedVM
	Further   func(*cluster.Guest) bool // VMs that are in no spec; nil for none
	Snapshots func(*cluster.Guest) bool // guests, with their configuration, of which it matters whether they have some; nil for none

	EveryTemplate bool // all templates, too
	CPUModels     bool // the CPU models of the administrator
	Machines      bool // the machine types of all nodes
	Others        bool // what identifies all other guests, and the volumes that they have from others
	Destroys      bool // VMs may be destroyed: the rights to create them again are read, too

	Destroyed []int // VMIDs of VMs that may be destroyed: which volumes have their VMID is read where guests may hide theirs

	Mappings []MappingName // that specs name

	Images   []cluster.Files // storages whose images are read, without files
	Archives []WantedArchive
	Snippets []cluster.Files // storages whose snippets are read, without files

	Progress func(string)
}

// A MappingName is the kind and the name of a resource mapping.
type MappingName struct{ Kind, Name string }

// Read reads a cluster once. What the credentials cannot see becomes a gap of the
// inventory; an error means that there is no usable inventory at all.
func Read(ctx context.Context, c Config, w Wanted) (cluster.Inventory, error) {
	api, err := open(ctx, c)
	if err != nil {
		return cluster.Inventory{}, err
	}
	defer api.close()
	if w.Progress == nil {
		w.Progress = func(string) {}
	}
	r := &reader{client: api, wanted: w, inv: cluster.Inventory{Version: cluster.Version, Endpoint: c.Endpoint,
		Taken: c.now().UTC().Format(time.RFC3339)}, vmids: map[int]bool{}, names: map[string]bool{}, guests: map[int]*cluster.Guest{}}
	for _, id := range w.VMIDs {
		r.vmids[id] = true
	}
	for _, n := range w.Names {
		r.names[strings.ToLower(n)] = true
	}
	if err := r.run(ctx); err != nil {
		return cluster.Inventory{}, err
	}
	return r.sorted(), nil
}

// A reader builds one inventory.
type reader struct {
	*client
	wanted   Wanted
	inv      cluster.Inventory
	rights   cluster.Rights
	beforeV9 bool // the cluster runs a Proxmox VE release before 9
	who      *cluster.Access
	known    bool // who has all that can be read
	tags     *cluster.Tags
	vmids    map[int]bool
	names    map[string]bool // in lower case
	guests   map[int]*cluster.Guest

	mu sync.Mutex // guards inv.Gaps, inv.Free, rights and who during concurrent requests
}

func (r *reader) run(ctx context.Context) error {
	var v version
	if err := r.get(ctx, "/version", &v); err != nil {
		return err
	}
	r.inv.Release = string(v.Version)
	major, _, _ := strings.Cut(r.inv.Release, ".")
	r.beforeV9 = len(major) == 1 && major < "9"
	if err := r.readRights(ctx); err != nil {
		return err
	}
	r.wanted.Progress("reading the lists of " + strings.TrimPrefix(r.config.Endpoint, "https://"))
	if err := r.readLists(ctx); err != nil {
		return err
	}
	r.readNodes(ctx)
	r.findGaps(ctx)
	candidates := r.candidates()
	r.wanted.Progress(fmt.Sprintf("reading %d of %s", len(candidates), cluster.Count(len(r.guests), "guest")))
	concurrently(candidates, func(g *cluster.Guest) { r.readConfig(ctx, g) })
	r.wanted.Paths = append(slices.Clone(r.wanted.Paths), r.modelPaths(candidates)...)
	r.readMappings(ctx)
	r.readImages(ctx)
	r.readArchives(ctx)
	r.readISOs(ctx, candidates)
	r.readSnippets(ctx, candidates)
	r.readMachines(ctx, candidates)
	r.readReplication(ctx, candidates)
	r.readOtherMACs(ctx)
	r.readUnclaimed(ctx)
	unused := r.unusedVMIDs(ctx)
	if len(unused) > 0 || r.wanted.Destroys {
		r.readPaths(ctx)
	}
	concurrently(unused, func(vmid int) { r.proveFree(ctx, vmid) })
	if !r.mayUpdate() {
		r.access(ctx) // the commands that grant privileges need it
	}
	paths := slices.Clone(r.wanted.Paths)
	for _, vmid := range r.wanted.VMIDs {
		paths = append(paths, vmPath(vmid))
	}
	r.inv.Access = r.who.Relevant(paths)
	r.inv.Access.Tags = r.tags
	r.queryAgents(ctx, candidates)
	return ctx.Err()
}

// concurrently calls do for every item, at most maxConcurrent at the same time.
func concurrently[T any](items []T, do func(T)) { atMost(maxConcurrent, items, do) }

func atMost[T any](n int, items []T, do func(T)) {
	var g errgroup.Group
	g.SetLimit(n)
	for _, item := range items {
		g.Go(func() error { do(item); return nil })
	}
	_ = g.Wait() // do returns no error
}

// readLists reads the lists that cover the whole cluster.
func (r *reader) readLists(ctx context.Context) error {
	var status []member
	var resources []resource
	var pools []pool
	var tasks []task
	var datastores []datastore
	var statusErr, datastoreErr error
	var errs [3]error
	concurrently([]func(){
		func() { statusErr = r.get(ctx, "/cluster/status", &status) },
		func() { errs[0] = r.get(ctx, "/cluster/resources", &resources) },
		func() { errs[1] = r.get(ctx, "/pools", &pools) },
		func() { errs[2] = r.get(ctx, "/cluster/tasks", &tasks) },
		func() { datastoreErr = r.get(ctx, "/storage", &datastores) },
		func() { r.readTags(ctx) },
	}, func(read func()) { read() })
	if statusCode(statusErr) == http.StatusForbidden { // needs Sys.Audit; findGaps reports it
		statusErr = nil
	}
	if err := errors.Join(statusErr, errors.Join(errs[:]...)); err != nil {
		return err
	}
	r.addResources(resources)
	if datastoreErr == nil { // nothing needs it but the check of what a create needs
		r.addDatastores(datastores)
	}
	r.setQuorum(status)
	r.readIdentity(ctx, status)
	for _, p := range pools {
		r.inv.Pools = append(r.inv.Pools, cluster.Pool{ID: p.ID, Comment: p.Comment})
	}
	for _, t := range tasks {
		if t.End == 0 && !r.hasEnded(ctx, t) {
			r.inv.Tasks = append(r.inv.Tasks, cluster.Task{UPID: t.UPID, Node: t.Node, Type: t.Type, VMID: vmidOf(string(t.ID)), User: t.User})
		}
	}
	return nil
}

// hasEnded reports whether a start that is listed as running has ended: of one that a rollback or
// a reboot began, the node notices the end only when it looks at its tasks again, after up to ten
// seconds. Its status says it at once.
func (r *reader) hasEnded(ctx context.Context, t task) bool {
	if pve.OperationOf(t.Type) != pve.Start {
		return false
	}
	exit, err := (&Power{r.client}).Ended(ctx, RunningTask{UPID: t.UPID, Node: t.Node})
	return err == nil && exit != "" // of one that cannot be read, the list is what is known
}

// setQuorum copies the quorum and the online nodes from /cluster/status. Without
// Sys.Audit there is no status; then a majority of online nodes counts as quorum,
// because a node without quorum sees no other node online.
func (r *reader) setQuorum(status []member) {
	online, reported := 0, false
	for _, m := range status {
		if m.Type == "cluster" {
			r.inv.Quorate, reported = m.Quorate != 0, true
		}
		if n := r.inv.Node(m.Name); m.Type == "node" && n != nil {
			n.Online = m.Online != 0
		}
	}
	for _, n := range r.inv.Nodes {
		if n.Online {
			online++
		}
	}
	if !reported {
		r.inv.Quorate = 2*online > len(r.inv.Nodes)
	}
}

// sorted returns the finished inventory with every list in order.
func (r *reader) sorted() cluster.Inventory {
	inv := r.inv
	members := map[string][]int{}
	for _, g := range r.guests {
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
	slices.SortFunc(inv.Datastores, func(a, b cluster.Datastore) int { return strings.Compare(a.ID, b.ID) })
	for _, files := range [][]cluster.Files{inv.Images, inv.Archives, inv.ISOs, inv.Snippets} {
		slices.SortFunc(files, func(a, b cluster.Files) int {
			return cmp.Or(strings.Compare(a.Storage, b.Storage), strings.Compare(a.Node, b.Node))
		})
	}
	slices.SortFunc(inv.Tasks, func(a, b cluster.Task) int { return strings.Compare(a.UPID, b.UPID) })
	slices.SortFunc(inv.Gaps, func(a, b cluster.Gap) int {
		return cmp.Or(cmp.Compare(len(a.Path), len(b.Path)), strings.Compare(a.Path, b.Path), strings.Compare(a.Privilege, b.Privilege))
	})
	slices.Sort(inv.Free)
	inv.Requests = int(r.transport.count.Load())
	return inv
}
