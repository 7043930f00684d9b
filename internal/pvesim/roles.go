package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// privileges returns every privilege of a version, and its built-in roles.
func privileges(version string) (all []string, roles map[string][]string) {
	agent := "VM.Monitor"
	agentAudit := ""
	if version == "9" {
		agent = "VM.GuestAgent.FileRead,VM.GuestAgent.FileSystemMgmt,VM.GuestAgent.FileWrite,VM.GuestAgent.Unrestricted,VM.Replicate"
		agentAudit = "VM.GuestAgent.Audit,"
	}
	vmUser := agentAudit + "VM.Audit,VM.Backup,VM.Config.CDROM,VM.Config.Cloudinit,VM.Console,VM.PowerMgmt"
	vmAdmin := vmUser + ",VM.Allocate,VM.Clone,VM.Config.CPU,VM.Config.Disk,VM.Config.HWType,VM.Config.Memory," +
		"VM.Config.Network,VM.Config.Options,VM.Migrate,VM.Snapshot,VM.Snapshot.Rollback," + agent
	dsUser := "Datastore.AllocateSpace,Datastore.Audit"
	dsAdmin := dsUser + ",Datastore.Allocate,Datastore.AllocateTemplate"
	audit := "Datastore.Audit,Mapping.Audit,Pool.Audit,SDN.Audit,Sys.Audit,VM.Audit"
	admin := vmAdmin + "," + dsAdmin + ",Group.Allocate,Mapping.Audit,Mapping.Use,Pool.Allocate,Pool.Audit," +
		"Realm.AllocateUser,SDN.Allocate,SDN.Audit,SDN.Use,Sys.Audit,Sys.Console,Sys.Syslog,User.Modify"
	everything := admin + ",Mapping.Modify,Permissions.Modify,Realm.Allocate,Sys.AccessNetwork,Sys.Incoming,Sys.Modify,Sys.PowerMgmt"
	roles = map[string][]string{}
	for name, list := range map[string]string{
		"Administrator": everything, "NoAccess": "", "PVEAdmin": admin, "PVEAuditor": agentAudit + audit,
		"PVEDatastoreAdmin": dsAdmin, "PVEDatastoreUser": dsUser,
		"PVEMappingAdmin": "Mapping.Audit,Mapping.Modify,Mapping.Use", "PVEMappingUser": "Mapping.Audit,Mapping.Use",
		"PVEPoolAdmin": "Pool.Allocate,Pool.Audit", "PVEPoolUser": "Pool.Audit",
		"PVESDNAdmin": "SDN.Allocate,SDN.Audit,SDN.Use", "PVESDNUser": "SDN.Audit,SDN.Use",
		"PVESysAdmin": "Sys.Audit,Sys.Console,Sys.Syslog", "PVETemplateUser": "VM.Audit,VM.Clone",
		"PVEUserAdmin": "Group.Allocate,Realm.AllocateUser,User.Modify", "PVEVMAdmin": vmAdmin, "PVEVMUser": vmUser,
	} {
		roles[name] = strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	}
	return roles["Administrator"], roles
}

// RoleOf returns the built-in role with exactly these privileges, or "".
func RoleOf(version string, privs []string) string {
	_, roles := privileges(version)
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if len(roles[name]) != len(privs) || len(privs) == 0 {
			continue
		}
		all := true
		for _, p := range privs {
			all = all && slices.Contains(roles[name], p)
		}
		if all {
			return name
		}
	}
	return ""
}

// BuiltIn reports whether a role is one of Proxmox VE.
func BuiltIn(version, role string) bool {
	_, roles := privileges(version)
	_, ok := roles[role]
	return ok
}

// RoleHas reports whether a built-in role has a privilege.
func RoleHas(version, role, priv string) bool {
	_, roles := privileges(version)
	return slices.Contains(roles[role], priv)
}

// SmallestRole returns the built-in role with the fewest privileges that has
// one, or "".
func SmallestRole(version, priv string) string {
	_, roles := privileges(version)
	best := ""
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if slices.Contains(roles[name], priv) && (best == "" || len(roles[name]) < len(roles[best])) {
			best = name
		}
	}
	return best
}
