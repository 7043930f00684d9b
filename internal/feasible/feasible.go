package feasible

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A Check is one reason why the creation of a VM or container fails.
type Check string

// The checks, in the order of the table.
const (
	NodeCheck       Check = "node"
	TemplateCheck   Check = "template"
	ImageCheck      Check = "image"
	ArchiveCheck    Check = "archive"
	LinkedCheck     Check = "linked-clone"
	CrossNodeCheck  Check = "clone-to-node"
	StorageCheck    Check = "storage"
	FormatCheck     Check = "format"
	DiskCheck       Check = "disk"
	FirmwareCheck   Check = "efi-disk"
	DriveCheck      Check = "cloud-init-drive"
	BootCheck       Check = "boot-order"
	NetworkCheck    Check = "network"
	CPUCheck        Check = "cpus"
	ModelCheck      Check = "cpu-model"
	MachineCheck    Check = "machine"
	MemoryCheck     Check = "memory"
	MappingCheck    Check = "mapping"
	MediumCheck     Check = "cd-rom"
	SnippetCheck    Check = "snippet"
	ReplicaCheck    Check = "replication"
	RootCheck       Check = "root-only"
	PrivilegesCheck Check = "privileges"
)

// A row is a check with the function that finds what is wrong, with its remedies. What cannot be read
// is not wrong.
type row struct {
	Check Check
	find  func(*creation)
}

// creationChecks is the table of what makes the creation of a VM fail.
var creationChecks = []row{
	{NodeCheck, (*creation).node},
	{TemplateCheck, (*creation).templates},
	{ImageCheck, (*creation).image},
	{LinkedCheck, (*creation).linked},
	{CrossNodeCheck, (*creation).crossNode},
	{StorageCheck, (*creation).storages},
	{FormatCheck, (*creation).formats},
	{DiskCheck, (*creation).disks},
	{FirmwareCheck, (*creation).firmware},
	{DriveCheck, (*creation).cloudInitDrive},
	{BootCheck, (*creation).boot},
	{NetworkCheck, (*creation).networks},
	{CPUCheck, (*creation).cpus},
	{ModelCheck, (*creation).model},
	{MachineCheck, (*creation).machine},
	{MemoryCheck, (*creation).memory},
	{MappingCheck, (*creation).mappings},
	{MediumCheck, (*creation).media},
	{SnippetCheck, (*creation).snippetFiles},
	{ReplicaCheck, (*creation).replication},
	{RootCheck, (*creation).rootOnly},
	{PrivilegesCheck, (*creation).privileges},
}

// containerChecks is the table of what makes the creation of a container fail.
var containerChecks = []row{
	{NodeCheck, (*creation).node},
	{ArchiveCheck, (*creation).source},
	{StorageCheck, (*creation).containerStorages},
	{NetworkCheck, (*creation).networks},
	{PrivilegesCheck, (*creation).containerPrivileges},
}

// withoutTemplate are the checks in which the template has no part: they also apply to a VM whose Template
// is not applied yet.
var withoutTemplate = []Check{StorageCheck, NetworkCheck}

// updateChecks are those that also apply to what the spec changes of a VM that exists,
// each with the attribute that it is about, or "" for several.
var updateChecks = map[Check]string{
	StorageCheck: "",
	FormatCheck:  "disk",
	DriveCheck:   "initialization",
	BootCheck:    "boot_order",
	NetworkCheck: "network_device",
	CPUCheck:     "cpu",
	ModelCheck:   "cpu",
	MemoryCheck:  "memory",
	MappingCheck: "",
	ReplicaCheck: "disk",
}

// restartChecks are those of what the next start of a VM needs, also where the VM that runs has it already.
var restartChecks = []row{
	{StorageCheck, (*creation).storages},
	{NetworkCheck, (*creation).bridges},
	{ModelCheck, (*creation).model},
	{MachineCheck, (*creation).machine},
	{MappingCheck, (*creation).mappings},
	{MediumCheck, (*creation).media},
	{SnippetCheck, (*creation).snippetFiles},
}

// containerRestartChecks are the same of a container.
var containerRestartChecks = []row{
	{StorageCheck, (*creation).mounted},
	{NetworkCheck, (*creation).bridges},
	{SnippetCheck, (*creation).snippetFiles},
}

// An Obstacle is what makes a creation or an update of a VM fail.
type Obstacle struct {
	Check    Check
	Reason   string // the same for VMs that are alike
	Evidence []string
	Remedies []Remedy
}

// An Unknown is what could not be found out about a creation, which may fail because of it.
type Unknown struct {
	Reason   string
	Remedies []Remedy // that grant the privilege with which it is known, if one is missing
}

// A Remedy is one way to remove an obstacle. Either it writes a property into the
// spec, or it has commands to run as root on any node.
type Remedy struct {
	What     string // what it does, without the name of the spec
	Field    string
	Value    *schema.Node // of Field; nil to remove it
	Text     string       // a line of the spec with a placeholder, where no value is known
	Commands []string
	Once     bool // another VM may have some of the commands, and they run once
	Converts int  // the VMID of the guest that the commands make a template, for good
}

// A creation is a VM that is about to be created, or updated, while it is checked.
type creation struct {
	inv      *cluster.Inventory
	vm       *schema.VM
	entry    *lock.VM
	on       string          // its node
	template *cluster.Guest  // nil if it is not known
	unmade   bool            // its template is one of a Template that is not applied yet
	current  *cluster.Guest  // the VM, if it exists
	restarts bool            // an update stops the VM and starts it again: what it runs with may be gone by now
	profile  *schema.Profile // of the VM, if it exists and what its profile ignores is known
	check    Check
	found    []Obstacle
	unknown  []Unknown
	values   map[string]*schema.Node // properties as the remedies change them
}

// newCreation is the creation of a VM on the node that its entry in the lock has.
func newCreation(inv *cluster.Inventory, v *schema.VM, e *lock.VM) *creation {
	return &creation{inv: inv, vm: v, entry: e, on: e.Node, values: map[string]*schema.Node{}}
}

// Creation returns what makes the creation of a VM or container fail, and what could not be found
// out. It returns nothing for one that only the lock has.
func Creation(inv *cluster.Inventory, v *schema.VM, e *lock.VM) (obstacles []Obstacle, unknown []Unknown) {
	if v == nil {
		return nil, nil
	}
	c, checks := newCreation(inv, v, e), creationChecks
	if v.IsContainer() {
		checks = containerChecks
	}
	for _, row := range checks {
		if c.unmade && !slices.Contains(withoutTemplate, row.Check) {
			continue
		}
		c.check = row.Check
		row.find(c)
		if len(c.found) > 0 && !c.unmade && (row.Check == NodeCheck || row.Check == TemplateCheck) {
			break // everything else depends on it
		}
	}
	return c.found, c.unknown
}

// Update returns what makes an update of a VM fail that exists. p is the profile of the
// VM, or nil: what it ignores is not updated.
func Update(inv *cluster.Inventory, v *schema.VM, e *lock.VM, g *cluster.Guest, p *schema.Profile) []Obstacle {
	if v == nil || g.Config == nil || len(g.Config.Raw) == 0 {
		return nil
	}
	c := &creation{inv: inv, vm: v, entry: e, on: g.Node, current: g, profile: p, values: map[string]*schema.Node{}}
	for _, row := range creationChecks {
		attribute, also := updateChecks[row.Check]
		if c.check = row.Check; also && (p == nil || !p.Ignores(attribute)) {
			row.find(c)
		}
	}
	return c.found
}

// Restart returns what makes the start fail after an update that stops a VM or container, on the node where it is then: it would
// stay off.
func Restart(inv *cluster.Inventory, v *schema.VM, e *lock.VM, g *cluster.Guest, p *schema.Profile) []Obstacle {
	if v == nil || e == nil || g == nil || g.Config == nil || len(g.Config.Raw) == 0 {
		return nil
	}
	c := &creation{inv: inv, vm: v, entry: e, on: g.Node, current: g, profile: p, restarts: true, values: map[string]*schema.Node{}}
	if p != nil && !c.ignores(guest.Node) {
		c.on = e.Node
	}
	checks := restartChecks
	if v.IsContainer() {
		checks = containerRestartChecks
	}
	for _, row := range checks {
		c.check = row.Check
		row.find(c)
	}
	return c.found
}

// Start returns what makes the next start of a guest fail that is stopped as it is configured.
func Start(inv *cluster.Inventory, g *cluster.Guest) []Obstacle {
	return Restart(inv, &schema.VM{Kind: g.Kind}, &lock.VM{}, g, &schema.Profile{IgnoreAll: true})
}

// ignores reports whether the profile of a guest that exists leaves a property as it is.
func (c *creation) ignores(key string) bool {
	f := schema.FieldOf(c.vm.Kind, key)
	return c.profile != nil && f != nil && c.profile.Ignores(f.Attribute())
}

// add records an obstacle.
func (c *creation) add(reason string, evidence []string, remedies ...Remedy) {
	c.found = append(c.found, Obstacle{c.check, reason, evidence, remedies})
}

// addUnknown records once what could not be found out.
func (c *creation) addUnknown(reason string, remedies ...Remedy) {
	if !slices.ContainsFunc(c.unknown, func(u Unknown) bool { return u.Reason == reason }) {
		c.unknown = append(c.unknown, Unknown{reason, remedies})
	}
}

// addHidden records what could not be found out because the token lacks a privilege.
func (c *creation) addHidden(what, at, privilege string) {
	c.addUnknown(fmt.Sprintf("whether %s is not known: the token lacks %s on %s", what, privilege, at), c.reads(at, privilege)...)
}

// reads is the remedy that grants a privilege to read something.
func (c *creation) reads(at, privilege string) []Remedy {
	if c.inv.Access == nil {
		return nil
	}
	return []Remedy{grant(c.inv.Access, []cluster.Missing{{Path: at, Privilege: privilege}})}
}

// get is a property of the VM, as the remedies found so far change it.
func (c *creation) get(field string) *schema.Node {
	if v, ok := c.values[field]; ok {
		return v
	}
	return c.vm.Values.Get(field)
}

// write is the remedy that writes a property.
func (c *creation) write(what, field string, value *schema.Node) Remedy {
	c.values[field] = value
	return Remedy{What: what, Field: field, Value: value}
}

// scalar is a number or a text as a property has it.
func scalar(shape schema.Shape, text string) *schema.Node {
	return schema.Scalar(schema.Pos{}, shape, text)
}

// set is a map with one value changed.
func set(n *schema.Node, key string, value *schema.Node) *schema.Node {
	return n.With(scalar(schema.ShapeString, key), value)
}

// replaceItem is a list with one element changed.
func replaceItem(list *schema.Node, i int, item *schema.Node) *schema.Node {
	out := *list
	out.Items = slices.Clone(list.Items)
	out.Items[i] = item
	return &out
}
