package finding

import "slices"

// A Kind is what was found: the verdict on one VM, pool, record, unit or stack.
type Kind string

// What guard finds out about an apply.
const (
	Managed      Kind = "managed"
	Create       Kind = "create"
	Adopt        Kind = "adopt"
	Moved        Kind = "moved"
	Migrate      Kind = "migrate"           // the next apply migrates it to the node of its spec
	Settling     Kind = "settling"          // managed, and the next apply sets what an import cannot read
	Pending      Kind = "pending"           // managed, and a change waits for a restart
	OldTemplate  Kind = "outdated-template" // managed, and made from another template than the spec says
	CreationOnly Kind = "creation-only"     // managed, and the spec has another value of what acts at creation only
	Retiring     Kind = "retiring"
	Orphan       Kind = "orphan"
	Ambiguous    Kind = "ambiguous"
	Conflict     Kind = "conflict"
	Gone         Kind = "gone"
	WouldHarm    Kind = "would-harm" // an update that the spec does not ask for
	WouldDestroy Kind = "would-destroy"
	NotFound     Kind = "not-found"
	CannotCreate Kind = "cannot-create"
	Busy         Kind = "busy"
	Unknown      Kind = "unknown"
)

// What drift finds out about a change of a plan. A change may also be Pending, Moved,
// Migrate, Create, Gone or Unknown.
const (
	Noise            Kind = "noise"         // an apply leaves it as it is
	ProviderOnly     Kind = "provider-only" // an apply changes what the provider does, and nothing else
	Live             Kind = "live"          // at once, without a restart
	Power            Kind = "power"         // an apply starts it, stops it, or needs it off
	Restart          Kind = "restart"
	DiskLoss         Kind = "disk-loss" // an apply detaches a disk or network device, or empties one
	Replace          Kind = "replace"
	Destroy          Kind = "destroy"
	CreateOfExisting Kind = "create-of-existing"
	Forget           Kind = "forget"
	Import           Kind = "import"
)

// What a render refuses.
const (
	Removed    Kind = "removed"     // in the lock, and no longer in the specs
	OtherVM    Kind = "other-vm"    // the key would belong to another VM
	OtherPool  Kind = "other-pool"  // the stack would create another pool
	StateMoved Kind = "state-moved" // the state would be somewhere else
)

// What blocks everything of a stack or unit.
const (
	OtherCluster Kind = "other-cluster" // the lock records the stack in another cluster
	OtherState   Kind = "other-state"   // the lock records another state of the unit
)

// What keeps a command from doing what it is asked for.
const (
	Unrendered Kind = "unrendered" // the spec or the lock was changed after the last render
	Misled     Kind = "misled"     // a variable, an argument or an added file changes what the run does
	Unmatched  Kind = "unmatched"  // a VM's hardware was not written into its spec
)

// A Case is which case of its kind a finding is, where something is decided by it. Its
// reason says the same in words, for people.
type Case string

// The cases. All other findings have none.
const (
	HalfMade  Case = "half-made"  // Adopt: an apply cloned the VM, and was interrupted before it configured it
	StaleNode Case = "stale-node" // Moved: a state has the node of before, and an import of the container corrects it
	LeftClone Case = "left-clone" // Busy: a clone that is in no state, and that a destroy leaves
	OpenClone Case = "open-clone" // Busy: a clone of a template container that lacks its MAC addresses; an apply completes it
	NotRead   Case = "not-read"   // Unknown: the lists have a guest, and its name or configuration could not be read yet

	SilentAgent Case = "silent-agent" // Unknown: the guest is the VM, and a plan would wait for its agent
	OtherGuest  Case = "other-guest"  // Conflict: another guest has its VMID, or the id that its state has
	OtherVMID   Case = "other-vmid"   // Retiring: another VMID has the guest, so that no destroy reaches it
)

// Kinds are all kinds, in the order in which they are counted.
var Kinds = []Kind{
	Managed, Create, Adopt, Moved, Migrate, Settling, Pending, OldTemplate, CreationOnly, Retiring, Orphan, Ambiguous, Conflict, Gone,
	WouldHarm, WouldDestroy, NotFound, CannotCreate, Busy, Unknown,
	Noise, ProviderOnly, Live, Power, Restart, DiskLoss, Replace, Destroy, CreateOfExisting, Forget, Import,
	OtherCluster, OtherState, Removed, OtherVM, OtherPool, StateMoved, Unrendered, Misled, Unmatched,
}

// Exists reports whether the kind says for certain that the cluster has what the finding
// is about, and that it is ours.
func (k Kind) Exists() bool {
	return slices.Contains([]Kind{Managed, Moved, Migrate, Settling, Pending, OldTemplate, CreationOnly, WouldHarm}, k)
}
