// Package render turns a project into the changes that a render makes to its
// folder. They are computed once; to write, check or show them is to read them in
// three ways.
//
// It never writes before all files are rendered and compared, and it writes the
// lock first: the other files can be rendered from it again.
package render
