package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/dns"
	"stackgen/internal/feasible"
	"stackgen/internal/files"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
	"stackgen/internal/secret"
	"stackgen/schema"
)

const (
	// clusterTimeout bounds one read of a cluster that has lost nodes.
	clusterTimeout = 5 * time.Minute

	maxInventory = 256 << 20 // ten thousand guests take a tenth of it
)

// dnsKeySecret is the variable with the secret of the TSIG key, the provider's own.
const dnsKeySecret = "DNS_UPDATE_KEYSECRET"

// ReadCluster reads the cluster and the DNS names of the selected stacks, or the
// snapshot of it.
func ReadCluster(ctx context.Context, p *project.Project, from Sources) (*cluster.Inventory, error) {
	if from.Inventory != "" {
		return readSnapshot(from.Inventory)
	}
	config, err := ClusterConfig(p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	want := wanted(p)
	want.Others = want.Others || from.Destroys || from.Others
	want.Destroys = from.Destroys
	if from.Destroys {
		want.Destroyed = want.VMIDs
	}
	if from.Further != nil {
		want.Further = from.Further
	} else if from.Destroys && hasTemplates(p) {
		want.Further = everyVM // one of them may be a linked clone
	}
	want.Progress = func(text string) { from.say("%s", text) }
	began := time.Now()
	inv, err := proxmox.Read(ctx, config, want)
	if err != nil {
		return nil, err
	}
	if questions := questions(p, secret.New(os.Getenv(dnsKeySecret))); len(questions) > 0 {
		from.say("asking DNS for %s", cluster.Count(len(questions), "name"))
		inv.Records = dns.Lookup(ctx, questions)
	}
	from.say("%s in %v", cluster.Count(inv.Requests, "request"), time.Since(began).Round(10*time.Millisecond))
	return &inv, nil
}

// WriteDefaults writes defaults into the configurations of VMs of the cluster that
// ReadCluster has read, and reports each VM.
func WriteDefaults(ctx context.Context, p *project.Project, all []cluster.Defaults, report func(cluster.Written)) error {
	config, err := ClusterConfig(p)
	if err != nil {
		return err
	}
	return proxmox.WriteDefaults(ctx, config, all, report)
}

// EveryGuest is for Sources.Further: all guests of the cluster.
func EveryGuest(*cluster.Guest) bool { return true }

// everyVM is EveryGuest for VMs only.
func everyVM(g *cluster.Guest) bool { return g.Kind == guest.VM }

// ReadForStart reads the cluster of the environment with its templates, for a project that
// does not exist yet. Without a cluster in the environment, the inventory is nil.
func ReadForStart(ctx context.Context, from Sources) (*cluster.Inventory, error) {
	if from.Inventory != "" {
		return readSnapshot(from.Inventory)
	}
	if !proxmox.Configured(os.Getenv) {
		return nil, nil
	}
	config, err := proxmox.Configure(os.Getenv, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	inv, err := proxmox.Read(ctx, config, proxmox.Wanted{EveryTemplate: true, Progress: func(text string) { from.say("%s", text) }})
	if err != nil {
		return nil, err
	}
	return &inv, nil
}

// ClusterConfig says how the cluster of the selected stacks is reached.
func ClusterConfig(p *project.Project) (proxmox.Config, error) {
	return proxmox.Configure(os.Getenv, targets(p))
}

func readSnapshot(file string) (*cluster.Inventory, error) {
	src, err := files.ReadGiven(file, maxInventory)
	if err != nil {
		return nil, fmt.Errorf("cannot read the inventory %s: %w", file, err)
	}
	return cluster.Decode(file, src)
}

// WriteSnapshot writes a snapshot for its owner only. It replaces a file only if
// that is empty or a snapshot.
func WriteSnapshot(file string, body []byte) error {
	old, err := files.Read(file, maxInventory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	if len(old) > 0 {
		if _, err := cluster.Decode(file, old); err != nil {
			return fmt.Errorf("%s exists and is not a snapshot; it was not changed", file)
		}
	}
	return files.WritePrivate(file, func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
}

// targets returns the cluster that each selected stack names.
func targets(p *project.Project) []proxmox.Target {
	var out []proxmox.Target
	for _, s := range p.SelectedStacks() {
		if !s.Proxmox.Set {
			continue
		}
		t := proxmox.Target{Spec: s.File, Endpoint: s.Proxmox.Endpoint, Insecure: s.Proxmox.Insecure, CAFile: s.Proxmox.CAFile}
		if t.CAFile != "" && !filepath.IsAbs(t.CAFile) {
			t.CAFile = filepath.Join(p.Root, filepath.FromSlash(t.CAFile))
		}
		out = append(out, t)
	}
	return out
}

// wanted names the guests that may belong to the project, and their templates.
func wanted(p *project.Project) proxmox.Wanted {
	w := proxmox.Wanted{Snapshots: moved(p)}
	for _, s := range p.SelectedStacks() {
		addSpecified(&w, s)
		addSources(&w, s, p.Lock.Stacks.Get(s.Name))
	}
	for _, s := range p.Lock.Stacks {
		if p.Selected(s.Key) {
			addRecorded(&w, &s.Value)
		}
	}
	for _, list := range []*[]string{&w.Templates, &w.Paths, &w.Pools} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return w
}

// hasTemplates reports whether a selected stack is a Template.
func hasTemplates(p *project.Project) bool {
	return slices.ContainsFunc(p.SelectedStacks(), (*schema.Stack).IsTemplate)
}

// addReplica adds a template that the lock has of a Template, and the storage of its image.
func addReplica(w *proxmox.Wanted, v *lock.VM) {
	w.Templates = append(w.Templates, fmt.Sprint(v.VMID))
	w.Paths = append(w.Paths, "/storage/"+v.Image.Datastore, "/nodes/"+v.Node)
	at := cluster.Files{Storage: v.Image.Datastore, Node: v.Node}
	if v.Node != "" && !slices.ContainsFunc(w.Images, func(l cluster.Files) bool { return l.Storage == at.Storage && l.Node == at.Node }) {
		w.Images = append(w.Images, at)
	}
	if v.Status == lock.Retired && !v.Gone {
		w.Further = everyVM
	}
}

// addSpecified adds the guests that a stack names.
func addSpecified(w *proxmox.Wanted, s *schema.Stack) {
	if s.Pool != nil {
		w.Pools = append(w.Pools, s.Pool.ID)
	}
	for _, v := range s.VMs {
		w.Names = append(w.Names, v.Name)
		if v.VMID != 0 {
			w.VMIDs = append(w.VMIDs, v.VMID)
		}
		if v.PoolID != "" {
			w.Pools = append(w.Pools, v.PoolID)
		}
		if t := v.Template; t != nil {
			w.Templates = append(w.Templates, t.Name, fmt.Sprint(t.VMID))
		}
		w.Paths = append(w.Paths, feasible.Paths(v)...)
		w.Machines = w.Machines || pve.MachineVersion(v.Values.Get(guest.Machine).Str()) != ""
		w.CPUModels = w.CPUModels || pve.CustomModel(v.Values.Get(guest.CPUType).Str())
		for kind, names := range feasible.Mappings(v) {
			for _, name := range names {
				w.Mappings = append(w.Mappings, proxmox.MappingName{Kind: kind, Name: name})
			}
		}
	}
}

// addSources adds what the containers of a stack are made from, and the snippets of its VMs. recorded is what the lock has of the
// stack, or nil.
func addSources(w *proxmox.Wanted, s *schema.Stack, recorded *lock.Stack) {
	var entries map[string]*lock.VM
	if recorded != nil {
		entries = recorded.VMs.ByKey()
	}
	for _, v := range s.VMs {
		if v.ClonedFrom != 0 {
			w.Templates = append(w.Templates, strconv.Itoa(v.ClonedFrom))
		}
		addSnippets(w, v, entries[v.Key])
		if !v.IsContainer() || v.ClonedFrom != 0 {
			continue
		}
		storage, name := feasible.Archive(v)
		a := proxmox.WantedArchive{VMID: v.VMID, Storage: storage, Name: name, Nodes: []string{v.Node}}
		if e := entries[v.Key]; e != nil {
			a.VMID, a.Nodes = e.VMID, []string{e.Node}
		}
		if v.Placement != nil {
			a.Nodes = append(a.Nodes, v.Placement.Choices()...)
		}
		w.Archives = append(w.Archives, a)
	}
}

// addSnippets adds the storages of the snippets of VMs of a stack that do not exist yet. Those of the others are in their
// configurations.
func addSnippets(w *proxmox.Wanted, v *schema.VM, e *lock.VM) {
	nodes := []string{v.Node}
	if e != nil {
		nodes = []string{e.Node}
	} else if v.Placement != nil {
		nodes = append(nodes, v.Placement.Choices()...)
	}
	for _, storage := range feasible.Snippets(v) {
		for _, node := range nodes {
			w.Snippets = append(w.Snippets, cluster.Files{Storage: storage, Node: node})
		}
	}
}

// addRecorded adds the guests that the lock has of a stack.
func addRecorded(w *proxmox.Wanted, s *lock.Stack) {
	for _, e := range s.VMs {
		v := &e.Value
		w.VMIDs = append(w.VMIDs, v.VMID)
		if v.Rebuild != nil && v.Rebuild.Holder != 0 { // it says whether disks were exchanged
			w.VMIDs = append(w.VMIDs, v.Rebuild.Holder)
		}
		if v.Image != nil {
			addReplica(w, v)
		}
		if v.Status != lock.Live || s.Status != lock.Live {
			if v.Status == lock.Retired && !v.Gone {
				w.Others, w.Destroyed = true, append(w.Destroyed, v.VMID)
			}
			continue
		}
		w.VMs = append(w.VMs, proxmox.WantedVM{VMID: v.VMID, MACs: v.DecidedMACs()})
		if v.Template != nil {
			w.Templates = append(w.Templates, fmt.Sprint(v.Template.VMID))
			w.Paths = append(w.Paths, fmt.Sprintf("/vms/%d", v.Template.VMID))
		}
	}
}

// questions are the DNS names of the selected stacks, each with its own server and
// key.
func questions(p *project.Project, keySecret secret.Text) []dns.Question {
	var out []dns.Question
	for _, s := range p.SelectedStacks() {
		if s.DNS == nil {
			continue
		}
		for _, v := range s.VMs {
			for _, r := range v.Records {
				q := dns.Question{Name: s.DNS.FQDN(r.Name), Server: s.DNS.Server, Port: s.DNS.Port}
				if s.DNS.KeyName != "" {
					q.Key = dns.Key{Name: s.DNS.KeyName, Algorithm: s.DNS.Algorithm, Secret: keySecret}
				}
				out = append(out, q)
			}
		}
	}
	return out
}
