package cluster

// Version is the version of the inventory's format.
const Version = 1

// An Inventory is one look at a cluster. It is what `stackgen snapshot` writes
// and every command that looks at the cluster accepts in its place. It holds no
// secret. Lists are sorted by their first field.
type Inventory struct {
	Version  int       `json:"version"`
	Taken    string    `json:"taken"` // RFC 3339, UTC
	Endpoint string    `json:"endpoint"`
	Release  string    `json:"release"`  // of Proxmox VE, such as 8.4.21
	Requests int       `json:"requests"` // that the look has cost
	Quorate  bool      `json:"quorate"`
	Nodes    []Node    `json:"nodes"`
	Guests   []Guest   `json:"guests"`
	Pools    []Pool    `json:"pools"`
	Storages []Storage `json:"storages"`
	Tasks    []Task    `json:"tasks"` // in flight only
	Free     []int     `json:"free"`  // VMIDs asked about that nothing has, for certain
	Gaps     []Gap     `json:"gaps"`
	Records  []Record  `json:"records"`
}

// A Node is one host of the cluster. Figures are zero where the token may not
// see them.
type Node struct {
	Name   string  `json:"name"`
	Online bool    `json:"online"`
	CPUs   int     `json:"cpus"`
	CPU    float64 `json:"cpu"`    // share in use, 0 to 1
	Memory int64   `json:"memory"` // bytes
	Used   int64   `json:"used"`   // bytes of memory
}

// The kinds of guests.
const (
	KindVM        = "qemu"
	KindContainer = "lxc"
)

// A Guest is a VM, container or template. Config is there for candidates only:
// guests that may be one of the project's VMs.
type Guest struct {
	VMID     int      `json:"vmid"`
	Node     string   `json:"node"`
	Kind     string   `json:"kind"`
	Template bool     `json:"template,omitempty"`
	Name     string   `json:"name"`
	Status   string   `json:"status"` // running, stopped, ..., unknown
	Tags     []string `json:"tags,omitempty"`
	Pool     string   `json:"pool,omitempty"`
	Lock     string   `json:"lock,omitempty"`
	HA       string   `json:"ha,omitempty"`     // state of its HA resource
	Uptime   int64    `json:"uptime,omitempty"` // seconds
	CPUs     float64  `json:"cpus,omitempty"`
	Memory   int64    `json:"memory,omitempty"` // bytes
	Disk     int64    `json:"disk,omitempty"`   // bytes of its root disk
	Config   *Config  `json:"config,omitempty"`
}

// What a guest's agent did when it was asked.
const (
	AgentAnswers = "answers"
	AgentSilent  = "silent"
)

// A Config is what a guest's configuration says of its identity, and every
// entry of it that holds no secret.
type Config struct {
	UUID    string   `json:"uuid,omitempty"` // smbios1
	GenID   string   `json:"vmgenid,omitempty"`
	MACs    []string `json:"macs,omitempty"`    // net0 first, upper case
	Created int64    `json:"created,omitempty"` // meta: ctime, seconds
	Agent   string   `json:"agent,omitempty"`   // of a running VM with the agent enabled: answers or silent
	Address []string `json:"address,omitempty"` // what its agent said, without loopback and link-local ones
	Disks   []string `json:"disks,omitempty"`   // such as scsi0=local-lvm:vm-100-disk-0,size=32G

	Password bool `json:"password,omitempty"` // cloud-init sets one; which is nowhere to be read

	Raw map[string]string `json:"raw"`
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
	Total   int64  `json:"total"` // bytes
	Used    int64  `json:"used"`  // bytes
}

// A Task is work in flight on a guest.
type Task struct {
	UPID string `json:"upid"`
	Node string `json:"node"`
	Type string `json:"type"` // qmclone, qmigrate, ...
	VMID int    `json:"vmid"` // a clone task carries the VMID of its source
	User string `json:"user"`
}

// A Gap is something the look could not see, so that nothing may be concluded
// from its absence. Fix is the command that closes it. Blind, BlindNames,
// BlindAgent and BlindPool say what a gap concerns.
type Gap struct {
	Path      string `json:"path"`                // ACL path such as /vms/123, or /nodes/pve2
	Privilege string `json:"privilege,omitempty"` // such as VM.Audit; empty for a node that is offline
	Reason    string `json:"reason"`
	Fix       string `json:"fix,omitempty"`
}

// A Record is what DNS answered for one of the project's names.
type Record struct {
	Name      string   `json:"name"` // with its final dot
	Addresses []string `json:"addresses,omitempty"`
	CNAME     string   `json:"cname,omitempty"`
	TTL       int      `json:"ttl,omitempty"`
	Server    string   `json:"server,omitempty"`
	Wildcard  bool     `json:"wildcard,omitempty"` // the name does not exist: a wildcard of the zone answers in its place
	Error     string   `json:"error,omitempty"`    // why nothing is known; empty and no address means there is none
}
