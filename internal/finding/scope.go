package finding

// A Scope is where findings may be: the units, nodes and VMs that were looked at, and how
// much of what belongs to the specs they manage.
type Scope struct {
	Units    []ScopeUnit `json:"units"`
	Nodes    []ScopeNode `json:"nodes"`
	VMs      []ScopeVM   `json:"vms"` // all of the stacks, with and without findings
	Coverage Coverage    `json:"coverage"`
}

// A ScopeUnit is a unit of a stack.
type ScopeUnit struct {
	Stack     string `json:"stack"`
	Unit      string `json:"unit"`
	Resources int    `json:"resources"`
	Planned   bool   `json:"planned"` // false: its differences are not known
}

// A ScopeNode is a node of the cluster.
type ScopeNode struct {
	Name   string `json:"name"`
	Online bool   `json:"online"`
}

// A ScopeVM is a VM of a spec. Node is empty if the cluster does not have the VM.
type ScopeVM struct {
	Stack string `json:"stack"`
	Key   string `json:"key"`
	VMID  int    `json:"vmid"`
	Node  string `json:"node"`

	Container bool `json:"container,omitempty"`
}

// Coverage is which guests of the specs' pools, tags and VMID ranges the specs manage.
type Coverage struct {
	Managed   int         `json:"managed"`
	Unmanaged []Unmanaged `json:"unmanaged"`
	Steps     []Step      `json:"next"` // that bring them into specs
}

// An Unmanaged is a guest that no spec manages.
type Unmanaged struct {
	VMID int    `json:"vmid"`
	Name string `json:"name"`
	Node string `json:"node"`
	Why  string `json:"why"` // it is counted: in pool lab
}
