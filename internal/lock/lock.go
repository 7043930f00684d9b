package lock

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// File is the name of the lock in a project.
const File = "stackgen.lock.yaml"

// Version is the version of the lock's format that this package reads and writes.
const Version = 3

// The status of a VM, unit or stack. Live is the empty string. Moving is for DNS
// units only: their records move to another unit.
const (
	Live      = ""
	Retired   = "retired"
	Forgotten = "forgotten"
	Moving    = "moving"
)

// A Lock is every decision of a project, and what was observed of its stacks. Render
// makes decisions; an observation is missing until a command has read the cluster,
// and nothing depends on it but the certainty of a verdict.
type Lock struct {
	Version int            `yaml:"version"`
	Project string         `yaml:"project,omitempty"` // random, in hex: tells this project's MAC addresses from those of others
	Stacks  Ordered[Stack] `yaml:"stacks"`
}

// A Stack is the decisions of one stack, and how to reach its state and its records
// after its spec is gone.
type Stack struct {
	Spec        string        `yaml:"spec"` // path of the spec, relative to the project
	Status      string        `yaml:"status,omitempty"`
	Environment string        `yaml:"environment,omitempty"`
	StateKey    string        `yaml:"state_key"`
	Backend     Backend       `yaml:"backend,flow"`
	Proxmox     *Proxmox      `yaml:"proxmox,omitempty,flow"`
	DNS         *DNS          `yaml:"dns,omitempty,flow"`
	Cluster     *Cluster      `yaml:"cluster,omitempty,flow"` // observed
	Units       Ordered[Unit] `yaml:"units,omitempty"`
	VMs         Ordered[VM]   `yaml:"vms,omitempty"`
}

// A Backend is where the state of a stack is.
type Backend struct {
	Type      string `yaml:"type"`
	Bucket    string `yaml:"bucket,omitempty"`
	Region    string `yaml:"region,omitempty"`
	Endpoint  string `yaml:"endpoint,omitempty"`
	PathStyle bool   `yaml:"path_style,omitempty"`
	Lock      bool   `yaml:"lock,omitempty"`
}

// Proxmox is how a stack's cluster is reached.
type Proxmox struct {
	Endpoint string `yaml:"endpoint,omitempty"`
	Insecure bool   `yaml:"insecure,omitempty"`
	CAFile   string `yaml:"ca_file,omitempty"`
}

// DNS is where a stack's records are.
type DNS struct {
	Zone      string `yaml:"zone"`
	Server    string `yaml:"server"`
	Port      int    `yaml:"port"`
	KeyName   string `yaml:"key_name,omitempty"`
	Algorithm string `yaml:"algorithm,omitempty"`
}

// A Cluster is the observed identity of the cluster that a stack is in.
type Cluster struct {
	CA    string        `yaml:"ca,omitempty"`   // id of the cluster's own certificate authority
	Name  string        `yaml:"name,omitempty"` // empty for a single node
	Nodes []ClusterNode `yaml:"nodes,omitempty,flow"`
}

// A ClusterNode is one observed node of a cluster.
type ClusterNode struct {
	Name    string `yaml:"name"`
	Address string `yaml:"address,omitempty"`
}

// A Unit is a unit that was rendered at some time.
type Unit struct {
	Status  string
	Pool    string // what the pool unit made: another id is another pool
	Lineage string // observed: the lineage of its state
	Serial  int    // observed: the serial of the state of the VMs when they were last observed
	Applied bool   // observed: its state had the pool
	Gone    bool   // observed: retired, and its state has no resources any more
}

// A VM is the decisions of one guest.
type VM struct {
	Kind        guest.Kind // guest.Container; "" is a VM
	VMID        int
	Node        string
	Clone       string
	CloneReason string       // why clone: auto is Clone
	Profile     string       // as last rendered, unless default: part of its address
	Template    *Template    // what its creation clones
	MadeFrom    *Template    // what the VM that exists was made from, if that is another one
	MadeWith    Values       // of properties that act at creation: what the VM that exists was made with, where the spec says another value
	MACs        []string     // by NIC: upper case, or schema.AutoMAC; nil if they were never decided
	Networks    []string     // what its NICs were connected to when their addresses were decided, such as vmbr0.20
	Disks       []string     // the interfaces of its disks in their order, which is what the provider knows them by
	Unit        string       // its DNS unit
	Member      string       // its name in the roster
	Email       string       // its e-mail address there, which tells it from others of its name
	Seat        int          // of a student: the ordinal
	Former      []Address    // where it may still be in state, oldest first
	FormerNodes []string     // nodes that the spec said before, until resolve sees the VM on its node
	Fingerprint *Fingerprint // observed
	Addresses   []string     // observed: the last ones that its agent reported
	Detached    []string     // observed: INTERFACE=VOLUME of disks that the spec has removed, and whose volumes the VM keeps
	Rebuild     *Rebuild     // set while the VM gets new disks; nil otherwise
	Exchanged   string       // the UUID of the guest that has new disks and keeps others: its state does not know what these were made from
	Gone        bool         // observed: retired or forgotten, in no state and not in the cluster any more
	Status      string
	Release     string // of a template that a Template makes
	Image       *Image // the same: what it is made from; nil for a VM
	ImageSeen   bool   // observed: the state had the file, which is ours

	at schema.Pos // in the lock that was read
}

// A Template is what a VM is cloned from. Name is the spec's, if it gave one; Release that of a
// Template of the project.
type Template struct {
	VMID    int
	Node    string
	Name    string
	Release string
}

// An Image is what the disk of a template is imported from. Checksum is ALGORITHM:HEX or empty.
type Image = schema.Image

// Values are values of properties, as text.
type Values map[string]string

// A Fingerprint is what was observed of a VM that tells it from another one with its
// VMID.
type Fingerprint struct {
	UUID string
	MACs []string
}

// Unseen is a VM without what was observed of the guest that it had.
func (v *VM) Unseen() *VM {
	out := *v
	out.Fingerprint = nil
	return &out
}

// seen reports whether the VM was seen in the cluster: with another VMID, an apply would destroy it.
func (v *VM) seen() bool { return v.Fingerprint != nil }

// Header is the first line of the lock.
const Header = "# Generated by stackgen from the specs of this project. Commit it; change it through the specs only."

// Bytes writes the lock, and verifies what it wrote.
func (l *Lock) Bytes() ([]byte, error) {
	out, err := l.Encode()
	if err != nil {
		return nil, err
	}
	return out, Verify(out)
}

// Verify reads a lock before it replaces another one: a lock that no command can read
// has lost every decision.
func Verify(src []byte) error {
	l, problems := Read(File, src)
	if l == nil {
		return fmt.Errorf("a defect of stackgen, please report it: the new lock could not be read, so nothing is written: %s: %s",
			problems[0].Pos, problems[0].Message)
	}
	same, err := l.Encode()
	if err == nil && !bytes.Equal(same, src) {
		err = errors.New("a defect of stackgen, please report it: the new lock would be read as another one, so nothing is written")
	}
	return err
}

// Encode writes the lock: stacks by name, VMs by natural key order, one line for
// each, so that version control merges them well.
func (l *Lock) Encode() ([]byte, error) {
	l = l.clone()
	l.sort()
	var out bytes.Buffer
	out.WriteString(Header + "\n")
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(l); err != nil {
		return nil, fmt.Errorf("writing the lock: %w", err)
	}
	return out.Bytes(), enc.Close()
}

// sort puts everything into the order it is written in.
func (l *Lock) sort() {
	slices.SortFunc(l.Stacks, func(a, b Entry[Stack]) int { return strings.Compare(a.Key, b.Key) })
	for i := range l.Stacks {
		s := &l.Stacks[i].Value
		slices.SortFunc(s.VMs, func(a, b Entry[VM]) int { return natural.Compare(a.Key, b.Key) })
		slices.SortFunc(s.Units, func(a, b Entry[Unit]) int { return natural.Compare(a.Key, b.Key) })
	}
}

// Has reports whether the lock has a VM, of any status.
func (l *Lock) Has(stack, key string) bool {
	i := l.Stacks.index(stack)
	return i >= 0 && l.Stacks[i].Value.VMs.index(key) >= 0
}

// Unseen reports whether the lock has a VM with a VMID that was never seen in the cluster.
func (l *Lock) Unseen(stack, key string, vmid int) bool {
	s := l.Stacks.Get(stack)
	if s == nil {
		return false
	}
	v := s.VMs.Get(key)
	return v != nil && v.VMID == vmid && !v.seen()
}

// clone returns a copy that can be changed without changing l.
func (l *Lock) clone() *Lock {
	out := *l
	out.Stacks = slices.Clone(l.Stacks)
	for i := range out.Stacks {
		out.Stacks[i].Value.Units = slices.Clone(out.Stacks[i].Value.Units)
		out.Stacks[i].Value.VMs = slices.Clone(out.Stacks[i].Value.VMs)
	}
	return &out
}

// Seats are the seats of the students of all classes.
func (l *Lock) Seats() schema.Seats {
	if l == nil {
		return nil
	}
	out := schema.Seats{}
	for _, s := range l.Stacks {
		ordinals := s.Value.ordinals()
		for _, v := range s.Value.VMs {
			if v.Value.Image != nil {
				out[s.Key] = append(out[s.Key], schema.Seat{
					Key:     v.Key,
					Live:    v.Value.Status == Live,
					Node:    v.Value.Node,
					Gone:    v.Value.Status != Live && v.Value.Gone || v.Value.Status == Forgotten,
					Replica: &schema.SeatReplica{Release: v.Value.Release, Image: *v.Value.Image},
				})
			}
			if v.Value.Seat > 0 {
				out[s.Key] = append(out[s.Key], schema.Seat{
					N:      ordinals[v.Key],
					Key:    v.Key,
					Member: schema.Member{Name: v.Value.Member, Email: v.Value.Email},
					Live:   v.Value.Status == Live && s.Value.Status == Live,
					Gone:   v.Value.Gone,
				})
			}
		}
	}
	return out
}
