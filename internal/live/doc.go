// Package live shows a running apply or destroy: as rows that change on a terminal, as
// lines for logs, or as JSON objects for other programs. docs/progress.md describes
// the JSON. It also asks the questions of commands.
//
// It decides nothing: package progress keeps the state of the run. Text of the cluster
// and of tools is made harmless by package report before it is written.
package live
