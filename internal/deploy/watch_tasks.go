package deploy

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"stackgen/internal/progress"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
)

// copies are the operations whose logs have percentages.
var copies = []pve.Operation{pve.Clone, pve.MoveDisk, pve.Migrate}

// tasks are the tasks of a run's VMs. Each tick sends one request for the list, or one
// for each node, and one for the log of each copy that runs.
type tasks struct {
	api    *proxmox.Tasks
	vmids  map[int]bool
	tell   func(progress.Event)
	known  map[string]*knownTask // by UPID
	missed int
	first  bool // the list was not read yet
	mu     sync.Mutex
}

// A knownTask is a task that was seen before.
type knownTask struct {
	vmid   int  // of the run; 0 while it is not known
	ours   bool // false: it is about another VM, or older than the run
	over   bool // its end was reported
	read   int  // lines of its log
	failed int  // reads of its log
	line   string
}

// pollTasks reports the tasks of VMs, and their nodes if they are down, until the context
// ends. It returns how many requests failed for no reason that was reported.
func pollTasks(ctx context.Context, of Watched, tell func(progress.Event)) (missed int) {
	api, err := proxmox.OpenTasks(ctx, *of.Cluster, of.Nodes)
	if err != nil {
		return 1 // of a login, which is not repeated: a server may lock the account
	}
	defer api.Close()
	t := &tasks{api: api, vmids: map[int]bool{}, tell: tell, known: map[string]*knownTask{}, first: true}
	for _, vmid := range of.VMIDs {
		t.vmids[vmid] = true
	}
	every := cmp.Or(of.every, pollEvery)
	look, looked := newNodes(api, of.Nodes, tell), make(chan struct{})
	go func() {
		defer close(looked)
		look.follow(ctx, nodesEvery*every)
	}()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		t.poll(ctx)
		select {
		case <-ctx.Done():
			if <-looked; look.any { // which explains them
				return 0
			}
			return t.missed
		case <-tick.C:
		}
	}
}

// poll reads the list, and the logs of copies, once.
func (t *tasks) poll(ctx context.Context) {
	list, err := t.api.List(ctx)
	if err != nil {
		if ctx.Err() == nil {
			t.missed++
		}
		return
	}
	var group sync.WaitGroup
	room := make(chan struct{}, 8)
	for _, task := range list {
		k := t.know(task)
		if !k.ours || k.over {
			continue
		}
		if !slices.Contains(copies, pve.OperationOf(task.Type)) || task.Exit != "" && k.vmid != 0 {
			t.report(task, k)
			continue
		}
		group.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			t.readLog(ctx, task, k)
			t.report(task, k)
		})
	}
	group.Wait()
	t.first = false
}

// know is what is known of a task. One that had ended before the first look is older
// than the run.
func (t *tasks) know(task proxmox.RunningTask) *knownTask {
	k := t.known[task.UPID]
	if k == nil {
		k = &knownTask{ours: !t.first || task.Exit == ""}
		switch {
		case pve.OperationOf(task.Type) == pve.Clone: // has the VMID of the source
		case t.vmids[task.VMID]:
			k.vmid = task.VMID
		default:
			k.ours = false
		}
		t.known[task.UPID] = k
	}
	return k
}

// readLog reads what was added to the log of a task.
func (t *tasks) readLog(ctx context.Context, task proxmox.RunningTask, k *knownTask) {
	lines, err := t.api.Log(ctx, task, k.read)
	if err != nil {
		if ctx.Err() == nil {
			t.mu.Lock()
			t.missed++
			t.mu.Unlock()
		}
		if k.failed++; k.failed > 3 {
			k.ours = false
		}
		return
	}
	k.read += len(lines)
	for _, l := range lines {
		if _, ok := progress.Percent(l); ok {
			k.line = l
		}
		if target := progress.CloneTarget(l, task.VMID); k.vmid == 0 && target != 0 {
			k.vmid, k.ours = target, t.vmids[target]
		}
	}
}

// report tells what a task does.
func (t *tasks) report(task proxmox.RunningTask, k *knownTask) {
	k.over = task.Exit != ""
	if k.vmid == 0 || !k.ours {
		return
	}
	t.tell(progress.Event{Type: progress.Worked, Target: progress.Target{Kind: progress.VM, VMID: k.vmid, Node: task.Node},
		Task: progress.Task{UPID: task.UPID, Type: task.Type, Exit: task.Exit, Line: k.line}})
}
