// Package cmd turns command lines into calls, and their results into reports and
// exit codes. There is one file for each command; flags.go, env.go and arguments.go
// have what they share.
//
// A command decides nothing and formats nothing: it parses its flags, makes one call
// and prints one report.
package cmd
