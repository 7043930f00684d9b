package schema

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"stackgen/guest"
)

// A Project is all specs that share modules, units and a lock.
type Project struct {
	Stacks      []*Stack
	Settings    bool       // the project has stackgen.yaml
	Retired     []ListItem // stacks, from stackgen.yaml
	Forgotten   []ListItem
	Renamed     []Rename  // stacks
	Guard       string    // of stacks without a spec
	Parallelism int       // the same
	Profiles    []Profile // built in first, then by name
	OpenTofu    string    // version constraints
	Terragrunt  string
	Proxmox     string // provider versions
	DNS         string
}

// A Stack is one spec with everything it inherits.
type Stack struct {
	Pos
	Spec         string // path of the spec in its project, for headers
	Kind         string
	Name         string
	Environment  string
	Catalog      *Catalog
	Backend      Backend
	Proxmox      Proxmox
	DNS          *DNS
	Pool         *Pool
	VMIDs        *Range
	Guard        string
	Naming       string // pattern of names
	VMs          []*VM  // in the order of decisions
	Retired      []ListItem
	Forgotten    []ListItem
	Renamed      []Rename
	Corrected    []Correction
	Parallelism  int    // VMs that an apply works on at the same time
	Registration string // "" is none

	RegistrationPos Pos
	Rollout         *Rollout // nil without one

	Template *Node // of a Template: its spec with defaults
	Keep     int   // of a Template: releases that are not listed as removable
}

// A ListItem is one entry of retired or forgotten.
type ListItem struct {
	Pos
	Name string
}

// A Rename is one entry of renamed.
type Rename struct {
	Pos
	From, To string
}

// NewName returns the name that a stack is renamed to, or its own.
func (p *Project) NewName(stack string) string {
	for range p.Renamed { // as often as a name can change
		i := slices.IndexFunc(p.Renamed, func(r Rename) bool { return r.From == stack })
		if i < 0 {
			break
		}
		stack = p.Renamed[i].To
	}
	return stack
}

// A Range is a range of VMIDs, both ends included.
type Range struct {
	Pos
	First, Last int
}

// A Catalog is a Git repository that holds modules and units.
type Catalog struct {
	Pos
	Source, Ref string
}

// A Backend says where state is kept.
type Backend struct {
	Type, Bucket, Region, Endpoint, Prefix string
	PathStyle, Lock                        bool
}

// Proxmox is the connection to the cluster. Without an Endpoint, the environment
// has it.
type Proxmox struct {
	Endpoint string
	Insecure bool
	CAFile   string // relative to the project, or absolute
	Set      bool   // the spec has the key
}

// DNS is where records are published. Zone ends with a dot.
type DNS struct {
	Zone, Server, KeyName, Algorithm string
	Port, TTL                        int
	PerStack                         bool
}

// FQDN returns a record's full name, with its final dot. The name "@" is the
// zone itself.
func (d *DNS) FQDN(name string) string {
	if name == "@" {
		return d.Zone
	}
	return name + "." + d.Zone
}

// A Pool is the pool of a stack's VMs.
type Pool struct {
	Pos
	ID, Comment string
	Create      bool
}

// A Profile is a lifecycle: the changes that are ignored, and whether OpenTofu
// refuses to destroy.
type Profile struct {
	Pos
	Name           string
	IgnoreAll      bool
	IgnoreChanges  []string // with what every profile ignores, in the author's order
	PreventDestroy bool
}

// Profile is the profile of a name, which is `default` if it is empty; nil if there is none.
func (p *Project) Profile(name string) *Profile {
	i := slices.IndexFunc(p.Profiles, func(of Profile) bool { return of.Name == cmp.Or(name, "default") })
	if i < 0 {
		return nil
	}
	return &p.Profiles[i]
}

// Ignores reports whether the profile ignores changes of a resource attribute.
func (p *Profile) Ignores(attribute string) bool {
	if p.IgnoreAll {
		return true
	}
	for _, a := range p.IgnoreChanges {
		if a == attribute {
			return true
		}
	}
	return false
}

// A VM is a guest of a stack, with everything it inherits: a VM, or a container.
type VM struct {
	Kind guest.Kind // "" is a VM

	Pos             // where its key, or its group's, is written
	Path     string // "vms.web01", "containers.dns", "groups.worker" or "groups.worker.overrides.worker2"
	Key      string
	N        int     // ordinal in its group, from 1; 0 outside groups
	Member   string  // name in the roster, if any
	Email    string  // e-mail address in the roster, if any
	Listed   Pos     // where the roster has Member, if any
	Formerly Member  // what the lock has instead of Member and Email, if that differs
	Seat     int     // of a student: N, which the lock keeps; otherwise 0
	Spelt    bool    // the key is made from Member, and differs from it in more than upper case
	Whose    string  // of a student whose key may become another one's elsewhere, such as on a branch: the address, or the name
	Extra    []Extra // other columns of its roster line
	Own      *Node   // properties in its own entry or group
	Values   *Node   // all properties, in long form, with defaults

	Name         string
	Profile      string
	VMID         int // pinned or adopted; 0 is "allocate"
	Adopt        bool
	Node         string // "" is "by placement"
	Template     *Template
	Clone        string
	ClonedFrom   int // of a container: the VMID of its template; 0 for one that is made from an archive
	Placement    *Placement
	Address      netip.Prefix // static IPv4, or invalid
	MACs         []string     // by NIC: as the spec gives it, in upper case, AutoMAC, or empty
	PoolID       string
	Records      []Record
	AgentOn      bool
	Replica      *Replica // of a Template; nil for a VM
	DriveFollows bool     // the cloud-init drive is on the datastore of the first disk
}

// AutoMAC is what a spec writes for a NIC whose MAC address Proxmox VE chooses.
const AutoMAC = "auto"

// Extra is a further column of a roster.
type Extra struct{ Name, Value string }

// A Template is the template that a VM is cloned from, as the spec names it. Node
// is "" for a template on the VM's own node. Release is "" for the newest one, and for a
// template that no Template of the project makes.
type Template struct {
	Pos
	VMID    int
	Name    string
	Node    string
	Release string
}

// Placement is how a node is chosen.
type Placement struct {
	Pos
	Strategy    string
	Nodes       []string
	MaxPerNode  int     // of the stack's VMs; 0 is no limit
	CPU, Memory float64 // weights of score
}

// NeedsCluster reports whether only the cluster tells the node.
func (p *Placement) NeedsCluster() bool {
	return p.Strategy != "fixed" && p.Strategy != "round-robin"
}

// Choices are the nodes that a new VM can get: one with the strategy fixed.
func (p *Placement) Choices() []string {
	if p.Strategy == "fixed" {
		return p.Nodes[:min(1, len(p.Nodes))]
	}
	return p.Nodes
}

// A Record is one DNS name of a VM. Name is relative to the zone; "@" is the
// zone itself.
type Record struct {
	Pos
	Name string
	TTL  int
}

// OwnEntry are the keys that lead to what the spec says of the guest alone. A member of a group, and a student, has that under
// overrides, whether the spec has them yet or not.
func (v *VM) OwnEntry() []string {
	at := strings.Split(v.Path, ".")
	if at[0] == "groups" && len(at) == 2 || at[0] == "students" && len(at) == 1 {
		return append(at, "overrides", v.Key)
	}
	return at
}

// At returns the position of a VM's property, or of the VM if the property is a
// default.
func (v *VM) At(path ...string) Pos {
	if n := v.Values.Get(path...); n != nil && n.File != "" {
		return n.Pos
	}
	return v.Pos
}

// ResourceLabel is the label of a profile's resource block in the VM module.
func ResourceLabel(profile string) string {
	if profile == "" || profile == "default" {
		return "this"
	}
	return profile
}

// GuestAddress is the resource address of a guest with a profile.
func GuestAddress(kind guest.Kind, profile, key string) string {
	return fmt.Sprintf("%s.%s[%q]", kind.Resource(), ResourceLabel(profile), key)
}

// VMAddress is the resource address of a VM with a profile.
func VMAddress(profile, key string) string { return GuestAddress(guest.VM, profile, key) }

// IsContainer reports whether it is a container.
func (v *VM) IsContainer() bool { return v.Kind == guest.Container }

// Containers reports whether the stack has containers in its spec.
func (s *Stack) Containers() bool { return slices.ContainsFunc(s.VMs, (*VM).IsContainer) }

// WantsCheckpoint reports whether an apply takes a checkpoint of the VM.
func (v *VM) WantsCheckpoint() bool { return v.Values.Get(guest.Checkpoint).Bool() }

// KeptDisks are the interfaces of the disks that a rebuild leaves as they are.
func (v *VM) KeptDisks() []string {
	var out []string
	for _, d := range v.Values.Get(guest.Disks).List() {
		if d.Get(guest.KeepDisk).Bool() {
			out = append(out, d.Get(guest.Interface).Str())
		}
	}
	return out
}
