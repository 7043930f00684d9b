// Package schema turns the bytes of YAML specs into a Project: stacks with
// every VM fully resolved, or every problem in them with its position.
//
// The tables in table_*.go are the one definition of what a spec may say. The
// parser, the defaults, the JSON Schema, the reference documentation and, for
// VM fields, the OpenTofu module's variable and body all follow from them.
//
// The package never opens a file, asks a cluster or decides anything that has
// to be remembered: files that specs refer to are handed in, decisions live in
// package lock.
package schema
