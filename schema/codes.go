package schema

// The codes of all problems. They are part of the output people match on.
const (
	CodeSyntax         = "yaml-syntax"
	CodeEmpty          = "empty-file"
	CodeDocuments      = "several-documents"
	CodeTooBig         = "too-big"
	CodeAlias          = "bad-alias"
	CodeDuplicateKey   = "duplicate-key"
	CodeVersion        = "api-version"
	CodeKind           = "bad-kind"
	CodeUnknownKey     = "unknown-key"
	CodeMissingKey     = "missing-key"
	CodeType           = "wrong-type"
	CodeRange          = "out-of-range"
	CodeValue          = "bad-value"
	CodePlaceholder    = "bad-placeholder"
	CodeSecret         = "secret"
	CodeFile           = "missing-file"
	CodeRoster         = "bad-roster"
	CodeNoProfile      = "unknown-profile"
	CodeProfileClash   = "profile-clash"
	CodeProfileNode    = "profile-without-node"
	CodeIgnored        = "ignored-change"
	CodeNoVMs          = "no-vms"
	CodeLargeStack     = "large-stack"
	CodeNoNode         = "no-node"
	CodeNoTemplate     = "no-template"
	CodeNoDNS          = "no-dns"
	CodeAgent          = "agent-needed"
	CodeGateway        = "bad-gateway"
	CodeAddress        = "bad-address"
	CodeDevice         = "device-clash"
	CodeHardware       = "bad-hardware"
	CodeVMIDClash      = "vmid-clash"
	CodeVMIDsExhausted = "vmids-exhausted"
	CodeNoVMIDs        = "no-vmids"
	CodeNameClash      = "name-clash"
	CodeKeyClash       = "key-clash"
	CodeAddressClash   = "address-clash"
	CodeMACClash       = "mac-clash"
	CodeDNSClash       = "dns-clash"
	CodePoolClash      = "pool-clash"
	CodeStackClash     = "stack-clash"
	CodePinClash       = "pin-clash"
	CodeSelfHosted     = "self-hosted"
	CodeBranchRef      = "branch-ref"
	CodeMovingImage    = "moving-image"
	CodeEngine         = "engine-too-old"
	CodeListClash      = "list-clash"
	CodeResolve        = "needs-resolve"
	CodeTemplate       = "bad-template"
	CodeLock           = "bad-lock"
	CodeUnread         = "unread-file"
)

// A CodeDoc explains a problem code in a sentence.
type CodeDoc struct{ Code, Doc string }

// Codes lists all problem codes, in the order of the constants.
var Codes = []CodeDoc{
	{CodeSyntax, "The file is not valid YAML."},
	{CodeEmpty, "The file contains no document."},
	{CodeDocuments, "The file contains more than one document."},
	{CodeTooBig, "The file, its expansion or a stack is too large."},
	{CodeAlias, "An alias or merge key cannot be expanded."},
	{CodeDuplicateKey, "A map contains a key twice."},
	{CodeVersion, "This program does not read the apiVersion."},
	{CodeKind, "The kind is missing or unknown."},
	{CodeUnknownKey, "The key is not known at this place."},
	{CodeMissingKey, "A required key is missing."},
	{CodeType, "The value has the wrong type."},
	{CodeRange, "The number is out of range."},
	{CodeValue, "The text does not have the form that the key needs, or contains control characters."},
	{CodePlaceholder, "A placeholder such as {n} or {key} is unknown or malformed."},
	{CodeSecret, "The file contains something that looks like a token or a private key. Specs are committed."},
	{CodeFile, "A file that the spec refers to cannot be read or has the wrong content, or the path of the spec cannot be recorded."},
	{CodeRoster, "The students of a class cannot be read from the spec or its roster."},
	{CodeNoProfile, "A guest uses a lifecycle profile that does not exist."},
	{CodeProfileClash, "One profile name has two definitions in a project."},
	{CodeProfileNode, "A profile does not ignore node_name: after a migration by hand, an apply would move the VM back."},
	{CodeIgnored, "A key is set, but the profile of the guest ignores its changes."},
	{CodeNoVMs, "The stack has no VM and no container."},
	{CodeLargeStack, "The stack has so many guests that a plan takes more than ten seconds."},
	{CodeNoNode, "A guest has no node, and no placement that finds one."},
	{CodeNoTemplate, "A VM has no template to clone and is not adopted."},
	{CodeNoDNS, "A guest has DNS records, but its stack has no dns."},
	{CodeAgent, "A VM with DNS records gets its address by DHCP, but the guest agent that reports the address is off."},
	{CodeGateway, "The gateway does not fit the address."},
	{CodeAddress, "The address cannot be used by a guest."},
	{CodeDevice, "Two devices of a VM use one slot."},
	{CodeHardware, "Hardware settings of a VM contradict each other."},
	{CodeVMIDClash, "Two guests use one VMID."},
	{CodeVMIDsExhausted, "The VMID range has no free number."},
	{CodeNoVMIDs, "A guest needs a VMID, but the stack has no range to allocate from."},
	{CodeNameClash, "Two guests have one name."},
	{CodeKeyClash, "Two guests of a stack have one key."},
	{CodeAddressClash, "Two guests have one static address."},
	{CodeMACClash, "Two network devices have one MAC address."},
	{CodeDNSClash, "Two guests have one DNS name."},
	{CodePoolClash, "Two stacks create one pool."},
	{CodeStackClash, "Two specs define one stack."},
	{CodePinClash, "A setting of the whole project has two values."},
	{CodeSelfHosted, "A stack contains the VM that its own state or DNS server runs on."},
	{CodeBranchRef, "The catalog's ref is a branch, so its content can change."},
	{CodeMovingImage, "The image of a Template has no checksum, or its URL is that of the latest image."},
	{CodeEngine, "The engine constraint allows versions that cannot run the output."},
	{CodeListClash, "The retired, forgotten and renamed lists contradict the spec or each other."},
	{CodeResolve, "The lock lacks a decision that needs the cluster."},
	{CodeTemplate, "The cluster has no such template, or several of the name, or a VM that is no template."},
	{CodeLock, "The lock file cannot be read or contradicts itself."},
	{CodeUnread,
		"A file has the name or the text of a spec, of settings or of a lock, but no command reads a file of that name or in that folder."},
}
