// Package outputs turns the outputs of a stack's VM unit, with its spec and lock, into
// the files that people and other programs read: a registration as JSON and CSV, an
// Ansible inventory, a configuration of ssh, and lines for /etc/hosts.
//
// It reads nothing. What a state says is data: it is checked, quoted or refused, so
// that no value can end a line or begin another entry in one of the files.
package outputs
