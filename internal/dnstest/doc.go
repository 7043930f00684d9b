// Package dnstest runs a DNS server for tests: a zone on a loopback port that accepts
// updates (RFC 2136) signed with a new key. The server is BIND's named if that is
// installed, otherwise one inside the process that answers the same way. The tests of
// this package run on both.
//
// It never listens on or connects to an address other than 127.0.0.1, keeps its files
// in its own folder, which it removes, and stops only the process that it started.
package dnstest
