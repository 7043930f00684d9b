package pve

import "strings"

// An Operation is what a task of Proxmox VE does to a guest.
type Operation int

// The operations. A task of any other type is Other.
const (
	Other Operation = iota
	Console
	Backup
	Clone // the task has the VMID of the source
	Create
	Restore
	Configure
	Resize
	MoveDisk
	Migrate
	Start
	Stop
	Reboot
	Rollback
	Convert // to a template
	Destroy
	Download // of a file; the task has no VMID
)

// operations has the types of tasks, of qemu-server, pve-manager and pve-ha-manager.
var operations = map[string]Operation{
	"vncproxy":   Console,
	"spiceproxy": Console,
	"termproxy":  Console,
	"vncshell":   Console,
	"spiceshell": Console,
	"vzdump":     Backup,
	"qmclone":    Clone,
	"qmcreate":   Create,
	"qmrestore":  Restore,
	"qmconfig":   Configure,
	"resize":     Resize,
	"qmmove":     MoveDisk,
	"qmigrate":   Migrate,
	"hamigrate":  Migrate,
	"qmstart":    Start,
	"hastart":    Start,
	"qmstop":     Stop,
	"qmshutdown": Stop,
	"hastop":     Stop,
	"qmreboot":   Reboot,
	"qmrollback": Rollback,
	"qmtemplate": Convert,
	"qmdestroy":  Destroy,

	"vzcreate":   Create,
	"vzclone":    Clone,
	"vzrestore":  Restore,
	"vzmigrate":  Migrate,
	"vzstart":    Start,
	"vzstop":     Stop,
	"vzshutdown": Stop,
	"vzreboot":   Reboot,
	"vzrollback": Rollback,
	"vztemplate": Convert,
	"vzdestroy":  Destroy,

	"download": Download,
}

// IsContainerTask reports whether a type of task is about a container: vzclone.
func IsContainerTask(task string) bool {
	return strings.HasPrefix(task, "vz") && operations[task] != Backup
}

// OperationOf returns the operation of a type of task: Clone for qmclone.
func OperationOf(task string) Operation { return operations[task] }
