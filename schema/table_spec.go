package schema

import (
	"slices"
	"strconv"

	"stackgen/guest"
)

// APIVersion is the version of the specs this package reads.
const APIVersion = "stackgen/v1"

// SettingsFile holds the settings that all specs of a project share.
const SettingsFile = "stackgen.yaml"

// The kinds of documents.
const (
	KindProject  = "Project"
	KindStack    = "Stack"
	KindClass    = "Class"
	KindTemplate = "Template"
)

// AllKinds are the kinds of documents, specs first.
var AllKinds = []string{KindStack, KindClass, KindTemplate, KindProject}

// fieldsOf returns the keys that a document of a kind may have.
func fieldsOf(kind string) []Field {
	head := []Field{
		{Key: "apiVersion", Type: String, Enum: []string{APIVersion}, Required: true, Doc: "Version of this format."},
		{Key: "kind", Type: String, Enum: []string{kind}, Required: true, Doc: "What the document is."},
	}
	name := Field{Key: "name", Type: String, Format: "label", Required: true, Doc: "Name of the stack; part of its state key and of VM names."}
	switch kind {
	case KindProject:
		return slices.Concat(head, sharedFields, projectFields)
	case KindClass:
		return slices.Concat(head, []Field{name}, sharedFields, classGroups, stackFields, classFields)
	case KindTemplate:
		name.Format, name.Doc = "stackname", "Name of the template, which `template` of VMs names; part of its state key and of the names of its VMs."
		return slices.Concat(head, []Field{name}, templateShared(), templateSpecFields)
	default:
		return slices.Concat(head, []Field{name}, sharedFields, stackGroups, stackFields, containerKeys)
	}
}

// sharedFields are keys of every kind; all specs inherit those of the Project.
var sharedFields = []Field{
	{Key: "environment", Type: String, Format: "label", Doc: "Part of the state key, and `{env}` in naming."},
	{Key: "engine", Type: Object, Fields: engineFields, Doc: "Versions that the output runs on. The output enforces them; a constraint that allows versions the output does not run on is an error."},
	{Key: "providers", Type: Object, Fields: providerFields, Doc: "Provider versions, for the whole project."},
	{Key: "catalog", Type: Object, Fields: catalogFields, Doc: "Take modules and units from a Git repository instead of rendering them. The repository is a project too: it has what its own specs use."},
	{Key: "backend", Type: Object, Fields: backendFields, Doc: "Storage of the state, under the key `[prefix/][environment/]<stack>/<unit>/tofu.tfstate`."},
	{Key: "proxmox", Type: Object, Fields: proxmoxFields, Doc: "The cluster. Without it, the `PROXMOX_VE_*` variables set it. Credentials always come from them."},
	{Key: "dns", Type: Object, Fields: dnsFields, Doc: "Publish a record for every VM, by RFC 2136 updates. The secret is only in `DNS_UPDATE_KEYSECRET`."},
	{Key: "pool", Type: Object, Fields: poolFields, Doc: "The pool that VMs join."},
	{Key: "naming", Type: Object, Fields: namingFields, Doc: "Names of VMs without a `name`."},
	{Key: "profiles", Type: Map, KeyIs: "profile", Elem: &Field{Type: Object, Fields: profileFields}, Doc: "Lifecycle profiles in addition to the built-in `default`, `protected` and `adopted`. A name has one meaning in a project."},
	{Key: "vmids", Type: String, Format: "range", Doc: "Range to allocate VMIDs from. A VM gets the lowest free VMID once and keeps it."},
	{Key: "guard", Type: String, Enum: []string{"full", "fast", "off"}, Default: "full", Doc: "What the hooks of the units check before an apply or destroy; a run reads the cluster once for all units. `fast`: the same as `stackgen preflight --no-plan` for the stack. `full`: also the plan of the unit. The plans of containers and templates are always judged. `off`: nothing, and `stackgen preflight` reports it."},
	{Key: "apply", Type: Object, Fields: applyFields, Doc: "How OpenTofu applies and destroys the VMs of a stack."},
	{Key: "defaults", Type: Object, Fields: defaultsFields, Doc: "Properties for all VMs. Containers inherit those that they have, too, except for `template`, `networks` and `os_type`."},
}

// containerKeys are the keys of a Stack that a Class does not have.
var containerKeys = []Field{
	{Key: containersKey, Type: Map, KeyIs: "key", Elem: &Field{Type: Object, Fields: ContainerFields}, Doc: "Containers (LXC), by key. Keys, names and VMIDs are shared with VMs."},
}

var defaultsFields = append(slices.Clone(VMFields),
	Field{Key: containersKey, Type: Object, Fields: ContainerFields, Doc: "Properties for all containers."})

// stackGroups are the groups of a Stack, and classGroups those of a Class.
var (
	stackGroups = []Field{{Key: "groups", Type: Map, KeyIs: "key", Ordinals: true, Elem: &Field{Type: Object, Fields: kindGroupFields, Containers: containerGroupFields}, Doc: "Numbered VMs, or numbered containers. " + ordinalDoc}}
	classGroups = []Field{{Key: "groups", Type: Map, KeyIs: "key", Ordinals: true, Elem: &Field{Type: Object, Fields: groupFields}, Doc: "Numbered VMs. " + ordinalDoc}}
)

const ordinalDoc = "`{n}` in a group's text is the ordinal, counted from 1; `{10+n}` is arithmetic on it, `{n:02}` has two digits."

var stackFields = []Field{
	{Key: "vms", Type: Map, KeyIs: "key", Elem: &Field{Type: Object, Fields: VMFields}, Doc: "Single VMs, by key. The key is part of the VM's address in the state: to change it, list it under renamed."},
	{Key: guest.Checkpoint, Type: Bool, Doc: "`checkpoint` of all VMs; that of a VM, a group or `defaults` wins."},
	{Key: "rollout", Type: Object, Fields: rolloutFields, Doc: "How `stackgen rebuild` replaces several VMs: in waves, each after all VMs of the one before are healthy. Without it, all at the same time, and without a check. The options of that command override it."},
	{Key: "outputs", Type: Object, Fields: outputsFields, Doc: "Where `stackgen outputs` writes what other programs read."},
	{Key: "retired", Type: List, Elem: &Field{Type: String, Format: "label"}, Doc: "Keys of VMs, or names of units, to destroy. Remove an entry after the apply, when `stackgen apply` or `resolve` has recorded that it does not exist any more."},
	{Key: "forgotten", Type: List, Elem: &Field{Type: String, Format: "label"}, Doc: "Keys of VMs, or names of units, that stackgen no longer manages and does not destroy. Their VMIDs stay reserved until `stackgen apply` or `resolve` has seen that they are gone."},
	{Key: "renamed", Type: Map, KeyIs: "key", Elem: &Field{Type: String, Format: "key"}, Doc: "Old key to new key of VMs that get another key. An old key is free again after `stackgen apply`, or an apply with Terragrunt and `stackgen resolve`. A name from the naming pattern changes with the key."},
}

var projectFields = []Field{
	{Key: "retired", Type: Object, Fields: waysFields, Doc: "Stacks to destroy. Remove an entry after the apply, when `stackgen apply` or `resolve` has recorded that nothing of it exists any more."},
	{Key: "forgotten", Type: Object, Fields: waysFields, Doc: "Stacks that stackgen no longer manages and does not destroy. The VMIDs of their VMs stay reserved until `stackgen apply` or `resolve` has seen that the VMs are gone."},
	{Key: "renamed", Type: Object, Fields: renamedFields, Doc: "Stacks that get another name. Render prints the commands that move their state; a name from the naming pattern changes with the name of the stack."},
}

var waysFields = []Field{
	{Key: "stacks", Type: List, Elem: &Field{Type: String, Format: "stackname"}, Doc: "Names of stacks."},
}

var renamedFields = []Field{
	{Key: "stacks", Type: Map, KeyIs: "stackname", Elem: &Field{Type: String, Format: "stackname"}, Doc: "Old name to new name of stacks."},
}

var engineFields = []Field{
	{Key: "opentofu", Type: String, Format: "constraint", Default: `">= 1.10"`, Doc: "OpenTofu."},
	{Key: "terragrunt", Type: String, Format: "constraint", Default: `">= 1.1"`, Doc: "Terragrunt."},
}

var providerFields = []Field{
	{Key: "proxmox", Type: String, Format: "constraint", Default: `"0.111.1"`, Doc: "bpg/proxmox. Its minor versions break; pin it exactly."},
	{Key: "dns", Type: String, Format: "constraint", Default: `">= 3.4, < 4"`, Doc: "hashicorp/dns."},
}

var catalogFields = []Field{
	{Key: "source", Type: String, Format: "line", Required: true, Doc: "Git repository, as Git or OpenTofu accepts it."},
	{Key: "ref", Type: String, Format: "line", Required: true, Doc: "A tag or commit. A branch gets a warning, because it moves."},
}

var backendFields = []Field{
	{Key: "type", Type: String, Enum: []string{"local", "s3"}, Default: "local", Doc: "`local` keeps the state in `.state/`."},
	{Key: "bucket", Type: String, Format: "bucket", Doc: "S3 bucket."},
	{Key: "region", Type: String, Format: "id", Doc: "S3 region."},
	{Key: "endpoint", Type: String, Format: "url", Doc: "S3 endpoint, for servers that are not AWS."},
	{Key: "path_style", Type: Bool, Doc: "Path-style requests, which most S3 servers other than AWS need."},
	{Key: "lock", Type: Bool, Default: "true", Doc: "Lock the state with a lock file in the bucket."},
	{Key: "prefix", Type: String, Format: "prefix", Doc: "First part of the state key."},
}

var proxmoxFields = []Field{
	{Key: "endpoint", Type: String, Format: "endpoint", Doc: "URL of the API."},
	{Key: "insecure", Type: Bool, Default: "false", Doc: "Do not verify the server's certificate."},
	{Key: "ca_file", Type: String, Format: "line", Doc: "Certificate authority of the server, a file relative to the spec."},
}

var dnsFields = []Field{
	{Key: "zone", Type: String, Format: "zone", Required: true, Doc: "The zone, with or without the trailing dot."},
	{Key: "server", Type: String, Format: "host", Required: true, Doc: "The primary server of the zone."},
	{Key: "port", Type: Int, Min: 1, Max: 65535, Default: "53", Doc: "Port of the server."},
	{Key: "ttl", Type: Int, Min: 1, Max: 2147483647, Default: "300", Doc: "TTL of records in seconds."},
	{Key: "tsig", Type: Object, Fields: tsigFields, Doc: "The key that signs updates."},
	{Key: "mode", Type: String, Enum: []string{"per-vm", "per-stack"}, Default: "per-vm", Doc: "One DNS unit for each VM, or one for the whole stack. The guide to DNS compares them, and says how to change a live stack."},
}

var tsigFields = []Field{
	{Key: "key_name", Type: String, Format: "keyname", Required: true, Doc: "Name of the key, with its final dot."},
	{Key: "algorithm", Type: String, Enum: []string{"hmac-md5", "hmac-sha1", "hmac-sha256", "hmac-sha512"}, Default: "hmac-sha256", Doc: "Algorithm of the key."},
}

var poolFields = []Field{
	{Key: "id", Type: String, Format: "pool", Required: true, Doc: "Id of the pool."},
	{Key: "create", Type: Bool, Default: "false", Doc: "This stack creates and owns the pool."},
	{Key: "comment", Type: String, Format: "line", Doc: "Comment of the pool."},
}

var namingFields = []Field{
	{Key: "pattern", Type: String, Format: "pattern", Default: `"{stack}-{key}"`, Doc: "Pattern of {stack}, {key}, {env} and {n}, or {n:02}."},
}

var profileFields = []Field{
	{Key: "ignore_changes", Type: List, Elem: &Field{Type: String, Enum: ignorable()}, Default: "[node_name, started]", Doc: "Attributes of the VM resource whose changes are ignored; `clone` is always ignored, and so is what no property sets, such as `rng`: a VM keeps what it has. [all] ignores every change."},
	{Key: "prevent_destroy", Type: Bool, Default: "false", Doc: "Refuse every plan that destroys a VM of the profile."},
}

// groupFields are the keys of a group of VMs. In a Stack, a group has a kind.
var (
	groupFields          = groupOf(VMFields)
	kindGroupFields      = append([]Field{kindOfGroup}, groupFields...)
	containerGroupFields = append([]Field{kindOfGroup}, groupOf(ContainerFields)...)
)

// kindKey is the key of a group that says what its members are: vmKind or containerKind.
const (
	kindKey       = "kind"
	vmKind        = "vm"
	containerKind = "container"
)

var kindOfGroup = Field{Key: kindKey, Type: String, Fixed: true, Enum: []string{vmKind, containerKind}, Default: vmKind,
	Doc: "What the members are, which decides the keys of the group. A key never changes its kind."}

// groupOf are the keys of a group whose members have some properties.
func groupOf(members []Field) []Field {
	return append([]Field{
		{Key: "count", Type: Int, Max: maxVMs, Required: true, Doc: "Number of members."},
		{Key: "key", Type: String, Format: "groupkey", Doc: "Pattern of the members' keys. Without it, the group's name and the ordinal."},
		{Key: "overrides", Type: Map, KeyIs: "key", Elem: &Field{Type: Object, Fields: members}, Doc: "Properties of single members of the group, by key."},
	}, members...)
}

var classFields = []Field{
	{Key: "template", Type: Object, ShortInt: "vmid", Short: "name", Whole: true, OneOf: []string{"vmid", "name"}, Fields: templateFields, Doc: "Template of all VMs; the same as under `defaults`."},
	{Key: "clone", Type: String, Enum: []string{"full", "linked", "auto"}, Doc: "Clone mode of all VMs; the same as under `defaults`."},
	{Key: "placement", Type: Object, Short: "strategy", Fields: placementFields, Doc: "Placement of all VMs; the same as under `defaults`."},
	{Key: "teacher", Type: Object, Fields: VMFields, Doc: "The teacher's VM; its key is `teacher`."},
	{Key: "students", Type: Object, Ordinals: true, Fields: studentsFields, Doc: "The students' VMs."},
	{Key: "corrected", Type: Map, KeyIs: "line", Elem: &Field{Type: String, Format: "line"}, Doc: "Former name to name of students whose names were corrected in the roster: they keep their VMs. Case, accents and apostrophes need no line. Where two have one name: `Ana Prva <ana@school.example>`."},
}

var studentsFields = append([]Field{
	{Key: "count", Type: Int, Max: maxVMs, Doc: "Number of students. To retire one of them, list its key under `retired` and lower the count: the others keep theirs."},
	{Key: "roster", Type: List, Elem: &Field{Type: String, Format: "line"}, Doc: "The students' names, instead of a count. Their order does not matter: the lock has each student's ordinal."},
	{Key: "roster_file", Type: String, Format: "line", Doc: "A CSV file in UTF-8 with a header line and a column `name`, relative to the spec, instead of a count. Commas, semicolons or TABs separate its fields; the other columns go into the registration. Students of one name need an e-mail address each, in a column such as `email`."},
	{Key: "key", Type: String, Format: "memberkey", Doc: "Pattern of the keys. Without it student{n}, or {name} with a roster. {name} is the name in lower-case Latin letters, digits and hyphens, with a number if several names would be the same; for a name in another script, it is student{n}."},
	{Key: "overrides", Type: Map, KeyIs: "key", Elem: &Field{Type: Object, Fields: VMFields}, Doc: "Properties of single students' VMs, by key."},
}, VMFields...)

// templateShared are the shared keys that a Template has.
func templateShared() []Field {
	var out []Field
	for _, f := range sharedFields {
		if !slices.Contains([]string{"dns", "pool", "naming", "profiles", "defaults", "catalog"}, f.Key) {
			out = append(out, f)
		}
	}
	return out
}

var templateSpecFields = []Field{
	{Key: "image", Type: Object, Required: true, Fields: imageFields, Doc: "The image of this release. The nodes download it."},
	{Key: guest.Release, Type: String, Format: "release", Required: true, Doc: "Name of this release, such as the date of the image. Another release makes further templates, beside those of earlier ones."},
	{Key: guest.Nodes, Type: List, Elem: &Field{Type: String, Format: "node"}, Required: true, Doc: "The nodes that get the template: each node with clones if `datastore` is local, one node if it is shared."},
	{Key: guest.Datastore, Type: String, Format: "storage", Required: true, Doc: "Datastore of the disk."},
	{Key: "download", Type: String, Format: "storage", Required: true, Doc: "Datastore of the image: a file storage of each node with the content `import`."},
	{Key: guest.Size, Type: Int, Min: 1, Max: 1048576, Default: "8", Unit: "GiB", Doc: "Size of the disk in GiB, at least that of the image. Clones can be larger, not smaller."},
	{Key: guest.Interface, Type: String, Format: "disk", Default: "scsi0", Doc: "Interface of the disk."},
	{Key: "hardware", Type: Object, Fields: templateHardware(), Doc: "Properties of the template, as of a VM. They act at its creation: another release has what the spec says then."},
	{Key: "keep", Type: Int, Min: 1, Max: 1000, Default: "2", Doc: "Number of releases, the newest first, that a render does not list as removable."},
	{Key: "retired", Type: List, Elem: &Field{Type: String, Format: "key"}, Doc: "Releases to destroy, or keys of single templates. Remove an entry after the apply, when `stackgen apply` or `resolve` has recorded that it does not exist any more."},
	{Key: "forgotten", Type: List, Elem: &Field{Type: String, Format: "key"}, Doc: "Releases, or keys of single templates, that stackgen no longer manages and does not destroy."},
}

var imageFields = []Field{
	{Key: "url", Type: String, Format: "line", Required: true, Doc: "URL of the image, without a user and without a token. The nodes download it."},
	{Key: "checksum", Type: String, Format: "checksum", Doc: "Its checksum as ALGORITHM:HEX, such as sha256:.... Without it, the right image cannot be told from another one."},
	{Key: "file_name", Type: String, Format: "imagefile", Required: true, Doc: "Name of the file on the datastore, with the release in it. It ends in .qcow2, .raw or .vmdk, as the content of the image is."},
}

var applyFields = []Field{
	{Key: "parallelism", Type: Int, Min: 1, Max: 100, Default: strconv.Itoa(defaultParallelism), Doc: "Number of VMs that OpenTofu works on at the same time, in each stack: the `-parallelism` of its applies and destroys. At 10, full clones on shared storage fail with lock timeouts; linked clones do not. `terragrunt stack run apply -- -parallelism=N` overrides it once."},
}

var outputsFields = []Field{
	{Key: "registration", Type: String, Format: "registration", Doc: "A JSON file that lists the stack's VMs, relative to the project; the other formats are beside it. `stackgen outputs` without paths writes the stacks that have it, or all stacks if none has; its default is `registration/<stack>.json`."},
}
