package schema

// An Effect is what an update of an attribute does to a VM that runs, or to a pool or a
// record set. A VM that is off has the new value at once, except that Replace, Never
// and Detach are the same.
type Effect string

// Effects of an update. The provider restarts or stops a running VM only if its
// reboot_after_update is true; without it, Restart waits for a restart, and what
// needs the VM off fails.
const (
	Live            Effect = "live"             // has the new value at once
	Grow            Effect = "grow"             // a larger value at once; a smaller one fails
	Replug          Effect = "replug"           // the device is unplugged and plugged in again
	Pending         Effect = "pending"          // has the new value after the next restart, which the provider never causes
	Restart         Effect = "restart"          // has the new value after the next restart, which the provider causes
	NeedlessRestart Effect = "needless-restart" // has the new value at once, and the provider restarts it nevertheless
	PowerOff        Effect = "power-off"        // the provider stops it for the update, and starts it again
	Move            Effect = "move"             // a disk moves to another datastore while the VM is off
	Power           Effect = "power"            // starts or stops the VM
	Migrate         Effect = "migrate"          // moves the VM to another node if migrate is true, and replaces it otherwise
	Detach          Effect = "detach"           // the disk is detached, and remains as unused; an added one is empty
	Unplug          Effect = "unplug"           // the VM loses the network device
	Replace         Effect = "replace"          // the VM is destroyed and created again
	Never           Effect = "never"            // the provider does not apply it: every later plan has it again
	ProviderOnly    Effect = "provider-only"    // changes only what the provider does; one request that sets the name
	Creation        Effect = "creation"         // acts at the creation only
	Noise           Effect = "noise"            // is read, and never sent
)

// A Dependency is what an effect depends on.
type Dependency string

// What effects depend on.
const (
	RebootAfterUpdate Dependency = "reboot_after_update" // the provider restarts or stops the VM only if it is true
	Hotplug           Dependency = "hotplug"             // the kinds of devices that a running VM takes and releases
	Agent             Dependency = "agent"               // a guest whose agent answers shuts down and releases devices
	Running           Dependency = "running"             // a VM that is off has the new value when it starts
)

// An effectRow is an effect in words, for the documentation.
type effectRow struct {
	effect  Effect
	title   string
	doc     string
	depends []Dependency
}

// effectRows have all effects, the worst first.
var effectRows = []effectRow{
	{Replace, "Replaces it",
		"OpenTofu destroys the resource and creates another one. A VM loses its disks. The plan shows the replacement.", nil},
	{Detach, "Detaches a disk",
		"The disk is detached and remains in the configuration as unused; nothing deletes it. An added disk is empty.",
		[]Dependency{Hotplug, Agent, Running}},
	{Unplug, "Removes a network device", "The VM loses the network device.", []Dependency{Hotplug, Agent, Running}},
	{Never, "Is never applied", "The provider does not send the change, or not all of it: every later plan has it again.", nil},
	{Move, "Moves a disk",
		"The provider stops the VM, moves the disk to the other datastore, and starts the VM again. " +
			"With `reboot_after_update = false`, the apply of a running VM fails.",
		[]Dependency{RebootAfterUpdate, Agent, Running}},
	{PowerOff, "Needs the VM off",
		"The provider stops the VM for the update, and starts it again. With `reboot_after_update = false`, the apply of a running VM fails.",
		[]Dependency{RebootAfterUpdate, Agent, Running}},
	{Restart, "Restarts the VM",
		"The VM has the new value after a restart. The provider restarts it: " +
			"the guest shuts down if its agent is enabled; otherwise Proxmox VE stops it hard. " +
			"With `reboot_after_update = false`, the change waits for a restart by somebody else.",
		[]Dependency{RebootAfterUpdate, Agent, Running}},
	{NeedlessRestart, "Restarts the VM needlessly",
		"The VM has the new value at once, and the provider restarts it nevertheless. With `reboot_after_update = false`, it does not.",
		[]Dependency{RebootAfterUpdate, Agent, Running}},
	{Power, "Starts or stops the VM", "The provider starts the VM, or shuts it down. The built-in profiles ignore the attribute.", nil},
	{Migrate, "Migrates the VM",
		"The provider migrates the VM to the other node if `migrate` is true, and replaces it otherwise. " +
			"The built-in profiles ignore the attribute.", nil},
	{Pending, "Waits for a restart",
		"Proxmox VE keeps the new value as pending until the next start. The provider does not restart the VM for it.", []Dependency{Running}},
	{Replug, "Unplugs and plugs in again",
		"The device is removed and added again while the VM runs. " +
			"If the guest does not release it, the change waits for a restart, and the apply fails.",
		[]Dependency{Hotplug, Agent, Running}},
	{Grow, "Grows a disk",
		"A larger disk is there at once; the guest must extend its file system. A smaller value fails: a disk cannot shrink.",
		[]Dependency{Hotplug, Running}},
	{Live, "At once", "It has the new value at once. Nothing restarts.", nil},
	{ProviderOnly, "Only the provider",
		"Proxmox VE does not have the attribute. The update is one request that sets the name to what it is.", nil},
	{Creation, "At the creation only",
		"The attribute acts when the VM is created. A later change of it does nothing: the modules ignore it, or the provider does.", nil},
	{Noise, "Is read only", "The provider reads the attribute and never sends it. A difference is no change.", nil},
}
