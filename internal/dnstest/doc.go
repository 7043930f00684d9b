// Package dnstest runs a DNS server for tests: a zone on a loopback port that takes
// updates (RFC 2136) signed with a key made for the occasion. It is BIND's named
// where that is installed, and otherwise a server inside the process that answers
// the same way; the same tests hold for both.
//
// It never listens or asks beyond 127.0.0.1, keeps its files in a folder of its own
// that it removes, and stops no process but the one it started.
package dnstest
