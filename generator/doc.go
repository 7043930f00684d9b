// Package generator turns a project and its decisions into files: OpenTofu
// modules, Terragrunt units and stacks. It is the only package that writes HCL.
//
// HCL is built from hclwrite tokens, cty values and traversals, never from
// formatted text, so that every string from a spec stays a string. Every file has
// a header, a path inside the project, and the layout of hclwrite.Format; Parse
// parses it before it is written.
//
// The package is pure: the same project and decisions give the same bytes.
package generator
