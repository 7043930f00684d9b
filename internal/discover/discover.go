package discover

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A Request says which VMs and containers a person wants in specs.
type Request struct {
	Pools, Tags, Nodes []string // any of each; empty for all
	VMIDs              []int    // empty for all
	Stack              string   // the name of the stack for VMs without a pool and a tag; empty for one that follows from the cluster
	Groups             bool     // equal VMs with numbered names become a group
}

// Selects reports whether a guest is one of those that were asked for.
func (r *Request) Selects(g *cluster.Guest) bool {
	oneOf := func(list []string, is func(string) bool) bool { return len(list) == 0 || slices.ContainsFunc(list, is) }
	return oneOf(r.Pools, func(p string) bool { return p == g.Pool }) &&
		oneOf(r.Tags, func(t string) bool { return hasTag(g, t) }) &&
		oneOf(r.Nodes, func(n string) bool { return n == g.Node }) &&
		(len(r.VMIDs) == 0 || slices.Contains(r.VMIDs, g.VMID))
}

func hasTag(g *cluster.Guest, tag string) bool {
	return slices.ContainsFunc(g.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

// An Input is everything that a proposal follows from.
type Input struct {
	Request
	Inventory *cluster.Inventory
	Lock      *lock.Lock
	Project   *schema.Project
	Others    []lock.Other
	Sources   map[string][]byte // specs by their files
	Folder    string            // of new specs, with slashes; their files are FOLDER/NAME.yaml

	// Join is the project with other contents for some specs, or with new ones. It is
	// returned with the errors that it has.
	Join func(specs map[string][]byte) (*schema.Project, []schema.Problem, error)
}

// A Proposal is the specs that the guests of a cluster need.
type Proposal struct {
	Count  Count             `json:"count"`
	Stacks []Stack           `json:"stacks"` // in the order of their names; only those that get a VM
	Left   []Left            `json:"left"`   // guests that were asked for and get no spec, by VMID
	Named  []Named           `json:"named,omitempty"`
	Unread int               `json:"macs_not_read,omitempty"` // other guests whose MAC addresses were not read
	Files  map[string][]byte `json:"-"`                       // new and changed specs
}

// A Named is VMs that get a spec although they are named as stackgen names the VMs of a
// stack, which no spec here has: another project may have them.
type Named struct {
	Stack string `json:"stack"`
	VMIDs []int  `json:"vmids"`
}

// A Count is how many guests the cluster has, as far as they can be seen.
type Count struct {
	Guests     int `json:"guests"`
	VMs        int `json:"vms"` // without templates
	Containers int `json:"containers"`
	Templates  int `json:"templates"`
	InSpecs    int `json:"in_specs"`      // VMs that specs have
	Other      int `json:"not_asked_for"` // VMs in no spec that were not asked for

	ContainersInSpecs int `json:"containers_in_specs,omitempty"`
	OtherContainers   int `json:"containers_not_asked_for,omitempty"`
}

// addInSpecs counts a guest that specs have.
func (c *Count) addInSpecs(g *cluster.Guest) {
	if g.Kind == guest.Container {
		c.ContainersInSpecs++
		return
	}
	c.InSpecs++
}

// addOther counts a guest that was not asked for.
func (c *Count) addOther(g *cluster.Guest) {
	if g.Kind == guest.Container {
		c.OtherContainers++
		return
	}
	c.Other++
}

// A Stack is one spec that gets VMs, containers or both.
type Stack struct {
	Name      string   `json:"name"`
	File      string   `json:"file"`
	New       bool     `json:"new"`
	Why       string   `json:"why"`                  // pool web; tag web; no pool and no tag
	NoRecords bool     `json:"no_records,omitempty"` // the stack publishes DNS records, and these VMs have none
	VMs       []VM     `json:"vms"`                  // and containers, by VMID
	Missing   []string `json:"missing,omitempty"`    // VMs that its spec had before and that do not exist yet: its plan creates them
	Groups    []string `json:"groups,omitempty"`
}

// A VM is one VM or container of a spec that is written.
type VM struct {
	Key     string   `json:"key"`
	Kind    string   `json:"kind,omitempty"` // container; empty for a VM
	VMID    int      `json:"vmid"`
	Name    string   `json:"name"` // in the cluster
	Node    string   `json:"node"`
	Managed bool     `json:"managed"`           // its profile is default; adopted otherwise
	Reasons []Reason `json:"reasons,omitempty"` // why it is adopted
	Later   []Reason `json:"later,omitempty"`   // what a later change would change, too
	Pending []string `json:"pending,omitempty"` // entries of its configuration that wait for a restart

	SharedMACs []string `json:"shared_macs,omitempty"` // its MAC addresses that something else has, too, and what has them

	Defaults []cluster.Setting `json:"defaults,omitempty"` // to write into its configuration, so that it is managed as far as possible
	Command  string            `json:"command,omitempty"`  // that writes them
}

// A Reason is why a spec cannot say something of a VM.
type Reason struct {
	Config   string   `json:"config,omitempty"`   // the entry of its configuration, or that there is none
	Why      string   `json:"reason"`             // and what helps
	Commands []string `json:"commands,omitempty"` // that change the VM so that a spec can
	Neutral  bool     `json:"neutral,omitempty"`  // the commands write what Proxmox VE uses now, and change nothing

	Settings []cluster.Setting `json:"-"` // that these commands write
}

// Kind is why a guest gets no spec.
type Kind string

// The kinds of guests without a spec.
const (
	Template  Kind = "template"
	InSpec    Kind = "in-spec"    // a spec has it
	Elsewhere Kind = "elsewhere"  // the lock of another project has it
	Leaving   Kind = "leaving"    // retired or forgotten
	Unclear   Kind = "unclear"    // it may be a VM of a spec
	Unread    Kind = "not-read"   // its configuration or agent cannot be read
	Unfit     Kind = "not-fit"    // every plan of its stack would fail or wait
	Unnamable Kind = "not-usable" // a spec cannot name its pool or node
	Locked    Kind = "locked"     // its configuration may be about to change
	NoNetwork Kind = "no-network" // a container that no spec can know, because it has no MAC address; it needs nobody
	Unknown   Kind = "not-known"  // a container without MAC addresses of its own, by which a spec knows it
)

// A Left is a guest that gets no spec.
type Left struct {
	Kind   Kind   `json:"kind"`
	Guest  string `json:"guest,omitempty"` // container; empty for a VM
	VMID   int    `json:"vmid"`
	Name   string `json:"name"`
	Node   string `json:"node"`
	Reason Reason `json:"why"`
}

// Blocks reports whether a person has to do something before the guest can be in a spec.
func (l *Left) Blocks() bool {
	return slices.Contains([]Kind{Unclear, Unread, Unfit, Unnamable, Locked, Unknown}, l.Kind)
}

// A proposer makes a proposal.
type proposer struct {
	Input
	out    Proposal
	stacks []*stack
	names  map[string]*member  // in lower case, as they are unique in a project; nil for those that specs have
	absent map[string][]string // keys by stack: VMs of specs that do not exist yet
}

// Propose proposes specs. The error is that the request cannot be met as a whole.
func Propose(in Input) (*Proposal, error) {
	p := &proposer{Input: in, names: map[string]*member{}, absent: map[string][]string{}}
	guests, err := p.choose()
	if err != nil {
		return nil, err
	}
	if err := p.assign(guests); err != nil {
		return nil, err
	}
	p.key()
	files, err := p.settle()
	if err != nil {
		return nil, err
	}
	p.out.Files = files
	p.named(guests)
	p.collect()
	return &p.out, nil
}

// named notes the VMs that another project may have, by their names.
func (p *proposer) named(guests []*cluster.Guest) {
	for _, g := range guests {
		stack := cluster.NamedFor(g)
		if stack == "" || slices.ContainsFunc(p.Project.Stacks, func(s *schema.Stack) bool { return s.Name == stack }) {
			continue
		}
		i := slices.IndexFunc(p.out.Named, func(n Named) bool { return n.Stack == stack })
		if i < 0 {
			i = len(p.out.Named)
			p.out.Named = append(p.out.Named, Named{Stack: stack})
		}
		p.out.Named[i].VMIDs = append(p.out.Named[i].VMIDs, g.VMID)
	}
}

// collect notes what was decided.
func (p *proposer) collect() {
	for _, s := range p.stacks {
		out := Stack{Name: s.name, File: s.file, New: s.existing == nil, Why: s.why, NoRecords: s.noRecords, Missing: p.absent[s.name]}
		for _, m := range s.members {
			v := VM{
				Key: m.key, Kind: kindName(m.guest), VMID: m.guest.VMID, Name: m.guest.Name, Node: m.guest.Node,
				Managed: m.managed, Reasons: m.reasons, Later: m.later, Pending: pending(m.guest), SharedMACs: p.shared(m.guest),
			}
			if !m.managed && slices.ContainsFunc(m.reasons, func(r Reason) bool { return !r.Neutral }) {
				v.Later = nil // no command lets it be managed
			} else if v.Defaults = m.defaults(); len(v.Defaults) > 0 {
				v.Command = m.reading.SetAll(v.Defaults)
			}
			out.VMs = append(out.VMs, v)
		}
		for _, g := range s.groups {
			out.Groups = append(out.Groups, g.name)
		}
		p.out.Stacks = append(p.out.Stacks, out)
	}
	slices.SortFunc(p.out.Stacks, func(a, b Stack) int { return strings.Compare(a.Name, b.Name) })
}

// kindName is the kind of a guest as a report says it, empty for a VM.
func kindName(g *cluster.Guest) string {
	if g.Kind == guest.Container {
		return g.Kind.Name()
	}
	return ""
}

// defaults are what can be written into the configuration of a VM that only these keep from
// being managed, or that is managed. Of two settings of one entry it is the first one.
func (m *member) defaults() []cluster.Setting {
	var out []cluster.Setting
	for _, r := range slices.Concat(m.reasons, m.later) {
		for _, s := range r.Settings {
			if !slices.ContainsFunc(out, func(o cluster.Setting) bool { return o.Key == s.Key }) {
				out = append(out, s)
			}
		}
	}
	return out
}
