package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says whether a Problem stops a command.
type Severity string

// An error stops the command that met it; warnings alone do not.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Pos is a place in a file. Line and Col count from 1; Col counts characters.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"column"`
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

func (p Pos) compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// A Problem is something wrong with a file that its author can mend. Code is
// stable and listed in Codes; Path is where in the document, such as
// "vms.web01.cores"; Fix says how to mend it and may be empty.
type Problem struct {
	Pos
	Path     string   `json:"path,omitempty"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"`
}

func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s [%s]", p.Pos, p.Severity, p.Message, p.Code)
}

// SortProblems puts problems into their total order and drops repeats: one
// mistake in the defaults is one problem, however many VMs inherit it.
func SortProblems(ps []Problem) []Problem {
	out := slices.Clone(ps)
	slices.SortFunc(out, func(a, b Problem) int {
		return cmp.Or(a.compare(b.Pos), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(out, func(a, b Problem) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}

// HasErrors reports whether any problem stops the command.
func HasErrors(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == SeverityError })
}

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
	CodeEngine         = "engine-too-old"
	CodeWayOut         = "bad-way-out"
	CodeResolve        = "needs-resolve"
	CodeLock           = "bad-lock"
)
