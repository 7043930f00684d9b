// Package templates holds the files that rendering starts from: skeletons of
// modules, units and root.hcl, and what `stackgen init` writes. Each is valid HCL
// or YAML; package generator fills in what depends on the specs.
package templates

import "embed"

// FS holds the files by their path in a project; starter/ is what init writes.
//
//go:embed root.hcl modules units all:starter
var FS embed.FS
