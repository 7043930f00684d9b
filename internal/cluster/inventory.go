package cluster

import (
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
)

// Version is the version of the inventory's format.
const Version = 1

// An Inventory is the content of a cluster at one time. `stackgen snapshot` writes
// it, and every command that reads the cluster also accepts it as a file. It
// contains no secrets. Lists are sorted by their first field.
type Inventory struct {
	Version  int       `json:"version"`
	Taken    string    `json:"taken"` // RFC 3339, UTC
	Endpoint string    `json:"endpoint"`
	Address  string    `json:"address,omitempty"` // IP address of the server that responded
	CA       string    `json:"ca,omitempty"`      // id of the cluster's own certificate authority
	Cluster  string    `json:"cluster,omitempty"` // name of the cluster; empty for a single node, and without Sys.Audit
	Release  string    `json:"release"`           // version of Proxmox VE, such as 8.4.21
	Requests int       `json:"requests"`          // number of requests sent
	Quorate  bool      `json:"quorate"`
	Nodes    []Node    `json:"nodes"`
	Guests   []Guest   `json:"guests"`
	Pools    []Pool    `json:"pools"`
	Storages []Storage `json:"storages"`
	Tasks    []Task    `json:"tasks"` // running tasks only
	Free     []int     `json:"free"`  // wanted VMIDs that certainly no guest has
	Gaps     []Gap     `json:"gaps"`
	Records  []Record  `json:"records"`

	Datastores []Datastore `json:"datastores,omitzero"` // definitions of storages; nil if they were not read
	Access     *Access     `json:"access,omitempty"`    // nil in an older inventory

	Images   []Files `json:"images,omitempty"`   // of the storages to which Templates download
	Archives []Files `json:"archives,omitempty"` // of the storages from which containers are made that do not exist

	ISOs []Files `json:"isos,omitempty"` // of the storages from which candidates have CD-ROM images

	Snippets []Files `json:"snippets,omitempty"` // of the storages from which candidates, or VMs that do not exist, have one

	Replication []Replication `json:"replication,omitempty"` // of guests that have jobs, if a candidate can have one

	Unclaimed []Unclaimed `json:"unclaimed,omitempty"` // of VMs that may be destroyed, where guests could not be read

	CPUModels []string `json:"cpu_models,omitzero"` // of the administrator: custom-...; nil if no spec has one, or they cannot be seen

	Mappings []Mappings `json:"mappings,omitempty"` // of the kinds that a spec or a candidate has
}

// A Node is one host of the cluster. Numbers are zero if the token lacks
// Sys.Audit.
type Node struct {
	Name    string  `json:"name"`
	Address string  `json:"address,omitempty"` // empty without Sys.Audit
	Online  bool    `json:"online"`            // and it answers
	Silent  string  `json:"silent,omitempty"`  // why it does not answer, although the cluster reports it as online
	CPUs    int     `json:"cpus"`
	CPU     float64 `json:"cpu"`    // load, 0 to 1
	Memory  int64   `json:"memory"` // bytes
	Used    int64   `json:"used"`   // bytes of memory in use

	Networks []Network `json:"networks,omitzero"` // nil if they were not read

	Machines []string `json:"machines,omitempty"` // types of its QEMU, such as pc-q35-9.2, if a spec or a candidate has one with a version
}

// A Network is a bridge of a node, or a virtual network that it has. Its Type is that
// of Proxmox VE: bridge, OVSBridge or vnet.
type Network struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Zone string `json:"zone,omitempty"` // of a virtual network, if it was needed and could be read

	Inactive bool `json:"inactive,omitempty"` // a bridge that is configured, and that the node does not have yet, or not any more

	NoVLAN   bool `json:"no_vlan,omitempty"`   // it is not VLAN-aware and has no port for a VLAN tag: Proxmox VE connects no NIC with one
	NoTrunks bool `json:"no_trunks,omitempty"` // it is not VLAN-aware: Proxmox VE connects no NIC with trunks
}

// HasNetwork reports whether a node has a bridge or virtual network, and it is active. Configured says that it has it otherwise.
func (n *Node) HasNetwork(name string) (has, configured bool) {
	i := slices.IndexFunc(n.Networks, func(b Network) bool { return b.Name == name })
	return i >= 0 && !n.Networks[i].Inactive, i >= 0 && n.Networks[i].Inactive
}

// RefusesVLANs reports whether a node has a bridge or virtual network to which Proxmox VE does not connect a NIC with these VLANs.
func (n *Node) RefusesVLANs(name string, tagged, trunked bool) bool {
	i := slices.IndexFunc(n.Networks, func(b Network) bool { return b.Name == name })
	return i >= 0 && (tagged && n.Networks[i].NoVLAN || trunked && n.Networks[i].NoTrunks)
}

// A Datastore is the definition of a storage. An Inventory also has those that are
// disabled, or on no node.
type Datastore struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Content  string   `json:"content"`
	Shared   bool     `json:"shared,omitempty"`
	Disabled bool     `json:"disabled,omitempty"`
	Nodes    []string `json:"nodes,omitempty"` // empty for all nodes
	Chain    bool     `json:"chain,omitempty"` // its option snapshot-as-volume-chain: each snapshot of a qcow2 image is a volume of its own
}

// Files are the files of one content that a storage has, as a node sees it. Only what Proxmox VE has
// listed is in an inventory: it refuses the list to a token that sees no files there.
type Files struct {
	Storage string `json:"storage"`
	Node    string `json:"node"`
	Files   []File `json:"files,omitempty"` // by name
}

// A File is one of them.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size,omitempty"` // bytes
}

// Replication are the replication jobs of a guest.
type Replication struct {
	VMID    int      `json:"vmid"`
	Targets []string `json:"targets"` // nodes to which they copy its disks
}

// ReplicatesTo are the nodes to which jobs copy the disks of a guest.
func (inv *Inventory) ReplicatesTo(vmid int) []string {
	for _, r := range inv.Replication {
		if r.VMID == vmid {
			return r.Targets
		}
	}
	return nil
}

// A Guest is a VM, container or template. Only candidates have a Config: guests
// that may be VMs of the project, and their templates. Other guests have an Identity
// if a VM of the project was not found under its VMID.
type Guest struct {
	VMID     int        `json:"vmid"`
	Node     string     `json:"node"`
	Kind     guest.Kind `json:"kind"`
	Template bool       `json:"template,omitempty"`
	Name     string     `json:"name"`
	Status   string     `json:"status"` // running, stopped, ..., unknown
	Tags     []string   `json:"tags,omitempty"`
	Pool     string     `json:"pool,omitempty"`
	Lock     string     `json:"lock,omitempty"`
	HA       string     `json:"ha,omitempty"`     // state of its HA resource
	Uptime   int64      `json:"uptime,omitempty"` // seconds
	CPUs     float64    `json:"cpus,omitempty"`
	Memory   int64      `json:"memory,omitempty"` // bytes
	Disk     int64      `json:"disk,omitempty"`   // bytes of its root disk
	Config   *Config    `json:"config,omitempty"`

	Identity *Identity `json:"identity,omitempty"` // of a guest without a Config, if it was read
}

// Replaced is the inventory with what a later one says of some VMIDs, instead of its own: their guests,
// whether they are free, and what of them could not be read; and with the archives that it has.
func (inv *Inventory) Replaced(now *Inventory, vmids []int) *Inventory {
	out := *inv
	out.Guests = slices.DeleteFunc(slices.Clone(inv.Guests), func(g Guest) bool { return slices.Contains(vmids, g.VMID) })
	for _, g := range now.Guests {
		if slices.Contains(vmids, g.VMID) {
			out.Guests = append(out.Guests, g)
		}
	}
	slices.SortFunc(out.Guests, func(a, b Guest) int { return a.VMID - b.VMID })
	out.Free = slices.DeleteFunc(slices.Clone(inv.Free), func(vmid int) bool {
		return slices.Contains(vmids, vmid) && !slices.Contains(now.Free, vmid)
	})
	out.Archives = now.Archives
	out.Gaps = slices.Clone(inv.Gaps)
	for _, vmid := range vmids {
		for _, gap := range now.GapsForVM(vmid) {
			if !slices.Contains(out.Gaps, gap) {
				out.Gaps = append(out.Gaps, gap)
			}
		}
	}
	return &out
}

// Identified is the inventory with what a later one says of the guests of which it has neither a Config nor an
// Identity.
func (inv *Inventory) Identified(now *Inventory) *Inventory {
	out := *inv
	out.Guests = slices.Clone(inv.Guests)
	for i := range out.Guests {
		if g := &out.Guests[i]; g.Config == nil && g.Identity == nil {
			if is := now.Guest(g.VMID); is != nil {
				g.Identity = is.Identity
			}
		}
	}
	return &out
}

// What is the guest in a word: VM, container or template.
func (g *Guest) What() string {
	if g.Template {
		return "template"
	}
	return g.Kind.Name()
}

// Path is the path of the guest, or of a part of it, in the API of Proxmox VE.
func (g *Guest) Path(part ...string) string { return g.Kind.Path(g.Node, g.VMID, part...) }

// An Identity is what tells a guest from others with its VMID or name.
type Identity struct {
	UUID string   `json:"uuid,omitempty"` // smbios1
	MACs []string `json:"macs,omitempty"` // net0 first, upper case

	Volumes map[string]string `json:"volumes,omitempty"` // those of its entries that belong to other guests

	Addresses map[string]string `json:"addresses,omitempty"` // static ones, and the network of each, such as vmbr0.20
}

// StaticAddresses are the static addresses in the configuration of a guest, as far as it was read, and the network of each.
func (g *Guest) StaticAddresses() map[string]string {
	switch {
	case g.Config != nil:
		return pve.StaticAddresses(g.Config.Raw)
	case g.Identity != nil:
		return g.Identity.Addresses
	}
	return nil
}

// Borrowed is a volume of one guest in the configuration of another one.
type Borrowed struct {
	By     *Guest
	Entry  string // of By, such as scsi1
	Volume string
}

// Borrowed are the volumes that guests have from others, by the VMID to which they belong, as far
// as their configurations were read. Proxmox VE deletes them with the guest of that VMID.
func (inv *Inventory) Borrowed() map[int][]Borrowed {
	out := map[int][]Borrowed{}
	for i := range inv.Guests {
		g := &inv.Guests[i]
		var has map[string]string
		switch {
		case g.Config != nil:
			has = pve.VolumesOfOthers(g.VMID, g.Config.Raw)
		case g.Identity != nil:
			has = g.Identity.Volumes
		}
		for _, entry := range slices.Sorted(maps.Keys(has)) {
			owner := pve.VolumeOwner(has[entry])
			out[owner] = append(out[owner], Borrowed{g, entry, has[entry]})
		}
	}
	return out
}

// Unclaimed are the volumes with the VMID of a VM that neither its configuration nor a snapshot of it has. Another
// guest may have one.
type Unclaimed struct {
	VMID    int      `json:"vmid"`
	Volumes []string `json:"volumes,omitempty"`
	Gaps    []Gap    `json:"gaps,omitempty"` // because of which there may be more
}

// UnclaimedBy returns the unclaimed volumes of a VM, or nil if there are none.
func (inv *Inventory) UnclaimedBy(vmid int) *Unclaimed {
	i := slices.IndexFunc(inv.Unclaimed, func(u Unclaimed) bool { return u.VMID == vmid })
	if i < 0 {
		return nil
	}
	return &inv.Unclaimed[i]
}

// The results of querying a guest agent.
const (
	AgentAnswers   = "answers"    // and reports an address
	AgentNoAddress = "no-address" // it answers, and reports none but those of the loopback and of links
	AgentSilent    = "silent"
	AgentRefuses   = "refuses" // it answers, and its configuration in the guest forbids it to report addresses
)

// A Config is the configuration of a guest: the parts that identify it, and all
// entries that are not secret.
type Config struct {
	UUID    string   `json:"uuid,omitempty"` // smbios1
	GenID   string   `json:"vmgenid,omitempty"`
	MACs    []string `json:"macs,omitempty"`          // net0 first, upper case
	Created int64    `json:"created,omitempty"`       // ctime in meta, seconds since 1970
	Agent   string   `json:"agent,omitempty"`         // one of those above; empty if the agent was not queried
	Refusal string   `json:"agent_refusal,omitempty"` // what an agent that refuses says
	Address []string `json:"address,omitempty"`       // that the agent reports, of network devices first, without loopback and link-local
	Disks   []string `json:"disks,omitempty"`         // such as scsi0=local-lvm:vm-100-disk-0,size=32G

	Digest   string `json:"-"`                  // of a container: Proxmox VE refuses a change with another one
	Password bool   `json:"password,omitempty"` // cloud-init sets a password; its value cannot be read

	Raw     map[string]string `json:"raw"`               // with the pending changes applied, as the provider reads it
	Pending []Pending         `json:"pending,omitempty"` // net2 before net10

	// The newest first. They are read only of a guest that an apply may move, with no parent in Raw.
	Snapshots []string `json:"snapshots,omitempty"`
}

// Snapshot is the name of a snapshot of the guest: the one that it comes from, or the newest; ""
// if it has none. After a rollback to the first snapshot and the deletion of that one, a guest
// comes from none, and has the later ones still.
func (c *Config) Snapshot() string {
	if c.Raw[snapshotBefore] != "" || len(c.Snapshots) == 0 {
		return c.Raw[snapshotBefore]
	}
	return c.Snapshots[0]
}

// Now are the entries with which the guest runs: Raw without the changes that wait for its next start. Proxmox VE
// judges a change of a running guest by them, and the provider by Raw.
func (c *Config) Now() map[string]string {
	now := maps.Clone(c.Raw)
	for _, p := range c.Pending {
		switch {
		case p.Value == "" && p.New == "" && !p.Delete: // a secret
		case p.Value == "":
			delete(now, p.Key)
		default:
			now[p.Key] = p.Value
		}
	}
	return now
}

// snapshotBefore is the entry of a configuration that names the snapshot which the guest comes from.
const snapshotBefore = "parent"

// A Pending is a change of one entry that Proxmox VE applies when the guest starts the next
// time. Value is empty for a new entry, New for one that is deleted, and both for a secret.
type Pending struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"` // that the guest runs with
	New    string `json:"new,omitempty"`
	Delete bool   `json:"delete,omitempty"`
}

// PendingKeys are the entries that changes are of.
func PendingKeys(pending []Pending) (keys []string) {
	for _, p := range pending {
		keys = append(keys, p.Key)
	}
	return keys
}

// A Pool is a resource pool with the VMIDs of its members.
type Pool struct {
	ID      string `json:"id"`
	Comment string `json:"comment,omitempty"`
	Members []int  `json:"members,omitempty"`
}

// A Storage is one storage on one node.
type Storage struct {
	ID      string `json:"id"`
	Node    string `json:"node"`
	Type    string `json:"type"`
	Shared  bool   `json:"shared"`
	Content string `json:"content"`
	Active  bool   `json:"active"`
	Total   int64  `json:"total"`           // bytes
	Used    int64  `json:"used"`            // bytes
	Avail   *int64 `json:"avail,omitempty"` // bytes that new volumes can have; nil if it was not read
}

// A Task is a running task.
type Task struct {
	UPID string `json:"upid"`
	Node string `json:"node"`
	Type string `json:"type"` // qmclone, qmigrate, ...
	VMID int    `json:"vmid"` // a clone task carries the VMID of its source
	User string `json:"user"`
}

// Subject is what the task is about, by its UPID: the VMID of a guest, or the name of a file that is
// downloaded. It is empty if the UPID has none.
func (t *Task) Subject() string {
	const at = 6 // UPID:node:pid:pstart:starttime:type:subject:user:
	parts := strings.Split(t.UPID, ":")
	if len(parts) <= at {
		return ""
	}
	return parts[at]
}

// A Gap is something that could not be read, so its absence from the inventory
// proves nothing. Fix is the command that closes the gap. GapsForVM,
// GapsForAgent, GapsForNames and GapsForPool select gaps.
type Gap struct {
	Path      string `json:"path"`                // ACL path such as /vms/123, or /nodes/pve2
	Privilege string `json:"privilege,omitempty"` // such as VM.Audit; empty if a node is offline or a guest could not be read
	Reason    string `json:"reason"`
	Fix       string `json:"fix,omitempty"`
}

// A Record is the DNS answer for one name of the project.
type Record struct {
	Name      string   `json:"name"` // with its final dot
	Addresses []string `json:"addresses,omitempty"`
	CNAME     string   `json:"cname,omitempty"`
	TTL       int      `json:"ttl,omitempty"`
	Server    string   `json:"server,omitempty"`
	Wildcard  bool     `json:"wildcard,omitempty"` // the name does not exist; a wildcard record matches it
	Error     string   `json:"error,omitempty"`    // why the query failed; empty, with no address, if the name has none
}
