// Package generator turns a project and its decisions into files: OpenTofu
// modules, Terragrunt units and stacks. It is the only package that writes HCL.
//
// HCL is built from hclwrite tokens, cty values and traversals, never from
// formatted text, so that every string from a spec stays a string. All files
// leave through one gate that checks their path, puts the header on, formats
// them and parses them back.
//
// The package is pure: same project, same decisions, same bytes.
package generator
