package pvesim

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed default.yaml
var defaultSeed []byte

//go:embed handmade.yaml
var handmadeVMs []byte

// Seed is the complete state of a cluster, in YAML and in memory. A saved state
// can be loaded as a seed.
type Seed struct {
	Version  string     `yaml:"version,omitempty"`
	Cluster  string     `yaml:"cluster,omitempty"` // name; empty for a single node
	CA       string     `yaml:"ca,omitempty"`      // id of its certificate authority, by default one that depends on the seed
	Number   uint64     `yaml:"number,omitempty"`
	Time     time.Time  `yaml:"time,omitempty"`
	Nodes    []*Node    `yaml:"nodes"`
	Storages []*Storage `yaml:"storages"`
	VNets    []*VNet    `yaml:"vnets,omitempty"`
	Volumes  []*Volume  `yaml:"volumes,omitempty"`
	Guests   []*Guest   `yaml:"guests,omitempty"`
	Reports  []*Report  `yaml:"reports,omitempty"`
	Pools    []*Pool    `yaml:"pools,omitempty"`
	Users    []*User    `yaml:"users"`
	Groups   []*Group   `yaml:"groups,omitempty"`
	Roles    []*Role    `yaml:"roles,omitempty"` // in addition to the built-in roles
	ACL      []*Grant   `yaml:"acl,omitempty"`
	HA       []*HAEntry `yaml:"ha,omitempty"`
	HAGroups []*HAGroup `yaml:"ha_groups,omitempty"`
	CPUs     []string   `yaml:"cpu_models,omitempty,flow"` // of the administrator, without custom-
	Mappings []*Mapping `yaml:"mappings,omitempty"`
	Jobs     []*Job     `yaml:"replication,omitempty"`
	HANodes  []string   `yaml:"ha_nodes,omitempty,flow"` // nodes whose HA agent has been active
	Tasks    []*Task    `yaml:"tasks,omitempty"`
	Faults   []*Fault   `yaml:"faults,omitempty"`

	RepoID  string            `yaml:"repoid,omitempty"`  // of the server's build
	Options map[string]string `yaml:"options,omitempty"` // of the data center

	OwnCertificate bool `yaml:"own_certificate,omitempty"` // the servers use a certificate of another authority

	Cleanup  time.Duration `yaml:"cleanup,omitempty"`  // from the end of a QEMU until `qm cleanup` asks for its lock; 0: before all others
	Starting time.Duration `yaml:"starting,omitempty"` // that the task of a start goes on while the VM runs already
}

// Node is one host of the cluster.
type Node struct {
	Name         string    `yaml:"name"`
	Address      string    `yaml:"address,omitempty"`
	CPUs         int       `yaml:"cpus,omitempty"`
	Memory       Size      `yaml:"memory,omitempty"`
	Disk         Size      `yaml:"disk,omitempty"`
	Load         Load      `yaml:"load,omitempty"`
	Bridges      []string  `yaml:"bridges,omitempty"`
	NewBridges   []string  `yaml:"new_bridges,omitempty"`   // that are configured, and that a reload of the network makes
	Portless     []string  `yaml:"portless,omitempty,flow"` // bridges without a physical port
	VLANAware    []string  `yaml:"vlan_aware,omitempty,flow"`
	DNS          []string  `yaml:"dns,omitempty,flow"`      // name servers
	Machines     []string  `yaml:"machines,omitempty,flow"` // versions of the machine types that its QEMU has, the newest first
	CGroup       int       `yaml:"cgroup,omitempty"`        // version of its control groups, by default 2
	NoConsole    bool      `yaml:"no_console,omitempty"`    // the programs of text consoles are not installed
	NoMail       bool      `yaml:"no_mail,omitempty"`       // the node has no program that sends mail, so backups fail
	NoGrow       bool      `yaml:"no_grow,omitempty"`       // it refuses to let a mounted file system grow
	NoOVMF       bool      `yaml:"no_ovmf,omitempty"`       // the firmware's images are not installed
	BareEmulator bool      `yaml:"bare_emulator,omitempty"` // without the additions of Proxmox VE, so it reports less of a guest
	State        NodeState `yaml:"state,omitempty"`

	id    int
	since time.Time
	phase time.Duration
	last  time.Time
	boot  time.Time
	lost  bool

	index     int // the number of indexes of finished tasks that were full
	indexSize int // of the current one, in bytes
}

// VNet is a virtual network of an SDN zone. Nodes are those of the zone; none are
// all.
type VNet struct {
	ID        string   `yaml:"id"`
	Zone      string   `yaml:"zone"`
	Nodes     []string `yaml:"nodes,omitempty,flow"`
	VLANAware bool     `yaml:"vlan_aware,omitempty"`
}

// Mapping is a resource mapping: devices or directories of nodes under one name. Type is pci, usb or dir.
type Mapping struct {
	Type  string   `yaml:"type"`
	ID    string   `yaml:"id"`
	Nodes []string `yaml:"nodes,flow"` // that have the device or directory
}

// Job is a replication job: it copies the disks of a guest to another node.
type Job struct {
	Guest  int    `yaml:"guest"`
	Target string `yaml:"target"`
}

// Load is the load of a node without its guests.
type Load struct {
	CPU    float64 `yaml:"cpu,omitempty"`
	Memory Size    `yaml:"memory,omitempty"`
	Disk   Size    `yaml:"disk,omitempty"`
}

// Storage is one storage definition.
type Storage struct {
	ID        string   `yaml:"id"`
	Type      string   `yaml:"type"`
	Shared    bool     `yaml:"shared,omitempty"`
	Content   []string `yaml:"content"`
	Nodes     []string `yaml:"nodes,omitempty"`
	Path      string   `yaml:"path,omitempty"`
	VG        string   `yaml:"vg,omitempty"`
	Pool      string   `yaml:"pool,omitempty"`
	Chain     bool     `yaml:"snapshot-as-volume-chain,omitempty"` // each snapshot of a qcow2 image is a file of its own
	Size      Size     `yaml:"size,omitempty"`
	Used      Size     `yaml:"used,omitempty"`
	Reserved  Size     `yaml:"reserved,omitempty"` // neither used nor available: a reserve of ext4, or of a quota
	Bandwidth Size     `yaml:"bandwidth,omitempty"`
	Full      bool     `yaml:"full,omitempty"`
	Disabled  bool     `yaml:"disabled,omitempty"`
	Offline   []string `yaml:"offline,omitempty,flow"` // nodes that cannot reach it
}

// Volume is one disk image or file on a storage.
type Volume struct {
	ID      string    `yaml:"id"`
	Node    string    `yaml:"node,omitempty"`
	VMID    int       `yaml:"vmid,omitempty"`
	Size    Size      `yaml:"size"`
	Format  string    `yaml:"format,omitempty"`
	Content string    `yaml:"content,omitempty"`
	Parent  string    `yaml:"parent,omitempty"`
	FS      Size      `yaml:"filesystem,omitempty"` // what a file system has that did not grow with the volume
	Created time.Time `yaml:"created,omitempty"`

	Disk Size              `yaml:"disk,omitempty"` // in an image to import, if the file has another size
	Sums map[string]string `yaml:"sums,omitempty"` // checksums of a file by algorithm
}

// Guest is a VM or a container.
type Guest struct {
	VMID      int               `yaml:"vmid"`
	Type      string            `yaml:"type,omitempty"`
	Node      string            `yaml:"node"`
	Config    map[string]string `yaml:"config"`
	Pending   map[string]string `yaml:"pending,omitempty"`
	Deleted   map[string]string `yaml:"pending_delete,omitempty"`
	CloudInit map[string]string `yaml:"cloudinit,omitempty"` // what the cloud-init drive has, where the configuration differs
	Running   bool              `yaml:"running,omitempty"`
	Paused    bool              `yaml:"paused,omitempty"`
	Started   time.Time         `yaml:"started,omitempty"`
	Agent     Agent             `yaml:"agent,omitempty"`
	Snapshots []*Snapshot       `yaml:"snapshots,omitempty"`
	Usage     float64           `yaml:"usage,omitempty"`
	Silent    bool              `yaml:"unreported,omitempty"` // no node has reported it yet

	pid       int
	host      int                // the last number of the address that a VM has from the DHCP server
	prelaunch bool               // a paused guest that was reset
	leases    map[string][]lease // addresses of a container that runs, by its NIC
}

// Report is what a node last reported about a guest, if it has changed since.
type Report struct {
	VMID     int    `yaml:"vmid"`
	Name     string `yaml:"name"`
	Status   string `yaml:"status"`
	MaxMem   int64  `yaml:"maxmem"`
	MaxDisk  int64  `yaml:"maxdisk"`
	MaxCPU   int    `yaml:"maxcpu"`
	Template bool   `yaml:"template,omitempty"`
}

// Snapshot is a saved configuration.
type Snapshot struct {
	Name        string            `yaml:"name"`
	Parent      string            `yaml:"parent,omitempty"`
	Description string            `yaml:"description,omitempty"`
	Time        time.Time         `yaml:"time"`
	Config      map[string]string `yaml:"config"`
}

// Agent says how the guest agent behaves: absent (never responds), silent (the same to a client),
// present, or refuses (it responds, and may not report addresses). A container has none, and one
// that is deaf does not stop for a shutdown.
type Agent struct {
	Mode       string           `yaml:"mode,omitempty"`
	Interfaces []AgentInterface `yaml:"interfaces,omitempty"`
	Hostname   string           `yaml:"hostname,omitempty"`
}

// AgentInterface is one network interface that the agent reports.
type AgentInterface struct {
	Name      string   `yaml:"name"`
	MAC       string   `yaml:"mac,omitempty"`
	Addresses []string `yaml:"addresses,omitempty"`
}

// Pool is a resource pool.
type Pool struct {
	ID      string   `yaml:"id"`
	Comment string   `yaml:"comment,omitempty"`
	Guests  []int    `yaml:"guests,omitempty,flow"`
	Storage []string `yaml:"storage,omitempty,flow"`
}

// User is an account with its tokens.
type User struct {
	ID       string   `yaml:"id"`
	Comment  string   `yaml:"comment,omitempty"`
	Disabled bool     `yaml:"disabled,omitempty"`
	Expire   int64    `yaml:"expire,omitempty"` // seconds since the epoch, 0 for never
	First    string   `yaml:"firstname,omitempty"`
	Last     string   `yaml:"lastname,omitempty"`
	Email    string   `yaml:"email,omitempty"`
	Keys     string   `yaml:"keys,omitempty"`
	Password string   `yaml:"password,omitempty"`
	Groups   []string `yaml:"groups,omitempty"`
	Tokens   []*Token `yaml:"tokens,omitempty"`
}

// Group is a group of users.
type Group struct {
	ID      string `yaml:"id"`
	Comment string `yaml:"comment,omitempty"`
}

// Token is an API token of a user.
type Token struct {
	ID      string `yaml:"id"`
	Secret  string `yaml:"secret"`
	Privsep bool   `yaml:"privsep,omitempty"`
	Comment string `yaml:"comment,omitempty"`
	Expire  int64  `yaml:"expire,omitempty"` // seconds since the epoch, 0 for never
	Revoked bool   `yaml:"revoked,omitempty"`
}

// Role is a set of privileges defined by an administrator.
type Role struct {
	ID         string   `yaml:"id"`
	Privileges []string `yaml:"privileges,flow"`
}

// Grant is one entry of the access control list. Type is user, group or token.
type Grant struct {
	Path        string `yaml:"path"`
	Type        string `yaml:"type,omitempty"`
	To          string `yaml:"to"`
	Role        string `yaml:"role"`
	NoPropagate bool   `yaml:"no_propagate,omitempty"`
}

// parseSeed decodes a seed strictly: an unknown key is an error.
func parseSeed(src []byte) (*Seed, error) {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	s := &Seed{}
	if err := dec.Decode(s); err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	return s, nil
}

// ParseSeed decodes a seed from YAML.
func ParseSeed(src []byte) (*Seed, error) { return parseSeed(src) }

// DefaultSeed returns the cluster of a simulator without a seed.
func DefaultSeed() (*Seed, error) { return parseSeed(defaultSeed) }

// Handmade is the name of HandmadeSeed.
const Handmade = "handmade"

// HandmadeSeed returns the nodes, storages and templates of DefaultSeed with VMs that people
// made by hand.
func HandmadeSeed() (*Seed, error) {
	s, err := parseSeed(defaultSeed)
	if err != nil {
		return nil, err
	}
	vms, err := parseSeed(handmadeVMs)
	if err != nil {
		return nil, err
	}
	s.Guests = slices.DeleteFunc(s.Guests, func(g *Guest) bool { return g.Config["template"] != "1" })
	s.Guests, s.Pools = append(s.Guests, vms.Guests...), append(s.Pools, vms.Pools...)
	return s, nil
}
