package sample

import "stackgen/internal/finding"

var (
	apply  = finding.Do("to have it as the spec says, apply", "stackgen apply specs/homelab.yaml")
	accept = finding.Do("to keep it as it is, write it into the spec", "stackgen drift --accept specs/homelab.yaml")
)

// common are the cases that large clusters have many of.
var common = []change{memoryByHand, tagsByHand, coresOfSpec, addresses}

var (
	memoryByHand = change{finding.Restart, finding.Outdated, "changed by hand; an apply sets it back with a restart",
		finding.Change{Attribute: "memory.dedicated", Property: "memory", Unit: "MiB", Applied: "8192", Real: "10240", Spec: "8192",
			Effect: "restart", Does: "after a restart", Cause: finding.ByHand, Accept: "memory: 10240"},
		"Proxmox VE has 10240 MiB, %s says 8192", []finding.Step{apply, accept}}
	tagsByHand = change{finding.Live, finding.Outdated, "changed by hand; an apply sets it back at once",
		finding.Change{Attribute: "tags", Property: "tags", Applied: "web", Real: "urgent, web", Spec: "web",
			Effect: "live", Does: "at once", Cause: finding.ByHand, Accept: "tags: [urgent, web]"},
		"Proxmox VE has urgent, web; %s says web", []finding.Step{apply, accept}}
	coresOfSpec = change{finding.Restart, finding.Outdated, "the spec was changed, and not applied yet",
		finding.Change{Attribute: "cpu.cores", Property: "cores", Applied: "2", Real: "2", Spec: "4",
			Effect: "restart", Does: "after a restart", Cause: finding.BySpec, Accept: "cores: 2"},
		"Proxmox VE has 2, %s says 4", []finding.Step{apply}}
	addresses = change{finding.Noise, finding.OK, "it is only read, and an apply changes nothing",
		finding.Change{Attribute: "ipv4_addresses", Applied: "192.0.2.17", Real: "192.0.2.40",
			Effect: "noise", Does: "in the state only", Cause: finding.ByNobody},
		"the agent reported 192.0.2.17 and reports 192.0.2.40",
		[]finding.Step{finding.Do("an apply records it", "stackgen apply specs/homelab.yaml")}}
)

// cases have every verdict.
var cases = []change{
	{finding.DiskLoss, finding.Blocked, "an apply would detach a disk that was added by hand",
		finding.Change{Attribute: "disk.scsi1", Property: "scsi1", Real: "local-lvm:vm-disk-1, 200 GiB",
			Effect: "detach", Does: "detaches the disk", Cause: finding.ByHand,
			Accept: "disks: [{interface: scsi0, size: 32}, {interface: scsi1, size: 200, datastore: local-lvm}]"},
		"Proxmox VE has scsi1, and %s does not",
		[]finding.Step{accept, finding.Do("or detach it yourself, after a backup", "qm set 2103 --delete scsi1")}},
	memoryByHand,
	tagsByHand,
	{finding.Replace, finding.Blocked, "the plan destroys it and creates another one",
		finding.Change{Attribute: "initialization.user_data_file_id", Property: "cloud_init.user_data",
			Applied: "local:snippets/base.yaml", Real: "local:snippets/base.yaml", Spec: "local:snippets/base-v2.yaml",
			Effect: "replace", Does: "replaces it by a new one", Cause: finding.BySpec, NoAccept: "the spec has the wanted value already"},
		"%s says local:snippets/base-v2.yaml, and a running VM cannot take another one",
		[]finding.Step{finding.Do("put the old value back into the spec", "cloud_init: {user_data: local:snippets/base.yaml}")}},
	coresOfSpec,
	addresses,
	{finding.Gone, finding.Blocked, "it was deleted by hand, or the token does not see it any more: the plan creates it again",
		finding.Change{Does: "creates an empty one", Cause: finding.ByHand}, "proxmox_virtual_environment_vm.this, %s",
		[]finding.Step{
			finding.Do("restore it", "qmrestore BACKUP 2145"),
			finding.Do("or remove it from the specs", "retired: [web10]", "stackgen render"),
		}},
	{finding.Destroy, finding.Blocked, "the plan destroys it",
		finding.Change{Does: "destroys it", Cause: finding.BySpec}, "proxmox_virtual_environment_vm.this, %s",
		[]finding.Step{finding.Do("do not apply: find out why", "stackgen preflight specs/homelab.yaml")}},
	{finding.CreateOfExisting, finding.Blocked, "the plan creates it, and it exists already",
		finding.Change{Does: "fails", Cause: finding.BySpec}, "proxmox_virtual_environment_vm.this, %s",
		[]finding.Step{finding.Do("import it first", "stackgen import-blocks")}},
	{finding.Forget, finding.Blocked, "the plan removes it from the state, and leaves it in the cluster",
		finding.Change{Does: "leaves it unmanaged", Cause: finding.BySpec}, "proxmox_virtual_environment_vm.this, %s", nil},
	{finding.Unknown, finding.Blocked, "the table of effects does not know the attribute",
		finding.Change{Attribute: "cpu.quota", Applied: "1", Real: "1", Spec: "2", Cause: finding.NotKnown},
		"Proxmox VE has 1, %s says 2", nil},
	{finding.Unknown, finding.Failed, "it could not be planned, so its differences are not known",
		finding.Change{Cause: finding.NotKnown}, "Error acquiring the state lock, %s",
		[]finding.Step{finding.Do("wait for the other run, then run drift again")}},
	{finding.Power, finding.Outdated, "changed by hand; the spec permits that an apply stops it",
		finding.Change{Attribute: "tpm_state", Property: "tpm", Applied: "v2.0", Spec: "v2.0",
			Effect: "power-off", Does: "stops it and starts it again", Cause: finding.ByHand},
		"Proxmox VE has none, %s says v2.0", []finding.Step{apply, accept}},
	{finding.Migrate, finding.Outdated, "the spec was changed, and not applied yet",
		finding.Change{Attribute: "node_name", Property: "node", Applied: "pve1", Real: "pve1", Spec: "pve2",
			Effect: "migrate", Does: "migrates it", Cause: finding.BySpec},
		"Proxmox VE has pve1, %s says pve2", []finding.Step{apply}},
	{finding.Moved, finding.Outdated, "it was migrated by hand, and its profile leaves it there",
		finding.Change{Attribute: "node_name", Property: "node", Applied: "pve1", Real: "pve3",
			Effect: "migrate", Does: "stays", Cause: finding.ByHand},
		"Proxmox VE has pve3, %s says pve1", nil},
	{finding.Create, finding.Outdated, "the spec has it, and no apply has created it yet",
		finding.Change{Does: "creates it", Cause: finding.BySpec}, "%s", []finding.Step{apply}},
	{finding.Import, finding.Outdated, "an apply imports it into the state",
		finding.Change{Does: "changes nothing", Cause: finding.BySpec}, "%s", []finding.Step{apply}},
	{finding.Pending, finding.Outdated, "it waits for a restart",
		finding.Change{Attribute: "memory.dedicated", Property: "memory", Unit: "MiB", Applied: "4096", Real: "4096", Spec: "4096",
			Does: "after a restart", Cause: finding.ByHand},
		"it runs with 2048 MiB, %s", []finding.Step{finding.Do("restart it", "qm reboot 2110")}},
	{finding.ProviderOnly, finding.Outdated, "it changes what the provider does",
		finding.Change{Attribute: "stop_on_destroy", Applied: "false", Real: "false", Spec: "true",
			Effect: "provider-only", Does: "in the state only", Cause: finding.ByNobody},
		"the state has false", []finding.Step{apply}},
	{finding.Live, finding.Outdated, "known until the move to the new network",
		finding.Change{Attribute: "description", Property: "description", Applied: "web", Real: "web, do not touch", Spec: "web",
			Does: "at once", Cause: finding.ByHand,
			Known: &finding.Known{Reason: "until the move to the new network", Expires: "2026-12-31"}},
		"%s", []finding.Step{apply}},
	{finding.Live, finding.Outdated, "changed by hand; an apply sets it back at once",
		finding.Change{Attribute: "startup.order", Property: "startup", Applied: "2", Real: "3", Spec: "2",
			Does: "at once", Cause: finding.ByHand,
			Known: &finding.Known{Reason: "while the storage is repaired", Expires: "2026-10-31", Expired: true}},
		"%s", []finding.Step{apply, accept}},
	{finding.Restart, finding.Outdated, "changed by hand; an apply sets it back with a restart",
		finding.Change{Attribute: "initialization.user_account.password", Property: "cloud_init.password", Sensitive: true,
			Does: "after a restart", Cause: finding.ByBoth},
		"%s sets another one", []finding.Step{apply}},
}
