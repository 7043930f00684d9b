package effect

// A Harm is what an update does that no spec asks for: a reason of a finding.
type Harm string

// The harms.
const (
	Detaches Harm = "an apply would detach a disk that the spec does not have"
	Shares   Harm = "an apply would attach the volume of another disk as a disk that the spec adds"
	Abandons Harm = "an apply would add an empty disk instead of attaching the volume that the disk had"
	Empties  Harm = "an apply would attach an empty disk where one was detached by hand or by a reset, or never added"
	Unplugs  Harm = "an apply would remove a network device that the spec does not have"
	Moves    Harm = "an apply would move devices of the running VM to other numbers, and its spec does not permit that"
	// The provider reads a disk that only the state has as one without an interface, and updates no such list.
	Lost    Harm = "an apply would fail halfway: the state has a disk that was detached by hand"
	Unadded Harm = "an apply would fail halfway: the state has a disk that an apply which failed did not add to the VM"

	BootsFrom Harm = "an apply would fail: the VM boots from a disk that it would detach"
	Shrinks   Harm = "an apply would fail: a disk is larger than the spec says, and cannot shrink"
	Fails     Harm = "an apply would fail: the provider neither moves nor resizes the disk of a linked clone"
	// The provider looks at the name of the volume, after it has sent the rest of the update.
	FailsForeign Harm = "an apply would fail halfway: the provider neither moves nor resizes a disk that has the volume of another guest"
	// Proxmox VE refuses to move a disk and delete its source if a snapshot has the source. The provider asks for
	// it after it has stopped the VM, and leaves it off.
	Snapshots Harm = "an apply would fail halfway: Proxmox VE does not move the disk of a VM with snapshots"
	// Proxmox VE looks at the protection that a VM has before the request, not at the one that the same request sets. The
	// provider asks for it after it has stopped the VM for its TPM or cloud-init drive, and leaves it off.
	Protected Harm = "an apply would fail halfway: Proxmox VE removes no drive of a protected VM"
	// The provider moves a disk and has Proxmox VE delete the source, which asks no other guest.
	Lends       Harm = "an apply would move a disk and delete its volume, which another guest has, too"
	Forgets     Harm = "an apply would replace the EFI disk by a new one, which has no boot entries"
	ForgetsKeys Harm = "an apply would replace the TPM state by a new one, which has no keys"
	MovesBack   Harm = "an apply would move a disk back that was moved by hand, or that an apply which failed did not move"
	Restarts    Harm = "an apply would restart it, and its spec does not permit that"
	Stops       Harm = "an apply needs it off, and its spec does not permit to stop it"
	Together    Harm = "an apply would fail halfway: the provider does not grow a disk of a running VM together with a change " +
		"that needs a restart, and its spec does not permit that"
	// Proxmox VE counts the cores with which the VM runs, and refuses the request after it has taken the rest of it.
	TooManyCPUs Harm = "an apply would fail halfway: Proxmox VE gives a running VM no more CPUs than it has had cores since its start"
	Apart       Harm = "an apply would fail: the provider does not migrate a running VM that the HA manager has together with a " +
		"change of its devices"
	Waits Harm = "an apply would wait for the QEMU guest agent that it enables and that answers only after a restart, " +
		"and its spec does not permit that"
	Needless Harm = "an apply would restart it although no change of the VM needs that"
	Repeats  Harm = "every apply would change it again: the provider never removes the value"
	Replaces Harm = "an apply would destroy it and create another one"
	NotKnown Harm = "an apply would change what this version of stackgen does not know"
)
