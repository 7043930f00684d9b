package discover

import (
	"fmt"
	"strings"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// key gives each VM its key: its name, as far as a key can have it. Where several VMs would
// have one key, all of them have their VMID in it.
func (p *proposer) key() {
	for _, s := range p.stacks {
		used, count := p.usedKeys(s), map[string]int{}
		for _, m := range s.members {
			m.key = label(m.guest.Name)
			count[m.key]++
		}
		for _, m := range s.members {
			if m.key == "" || schema.Reserved(m.key) || count[m.key] > 1 || used(m.key) {
				m.key = m.numbered()
			}
		}
		seen := map[string]bool{}
		for _, m := range s.members { // web-101 may be a name, too
			for seen[m.key] || used(m.key) {
				m.key = m.numbered()
			}
			seen[m.key] = true
		}
	}
}

// numbered is the key of a guest with its VMID.
func (m *member) numbered() string {
	end, key := fmt.Sprintf("-%d", m.guest.VMID), m.key
	switch {
	case key == "" && m.isContainer():
		key = "ct"
	case key == "":
		key = "vm"
	}
	return strings.TrimRight(key[:min(len(key), longest-len(end))], "-") + end
}

// usedKeys reports whether a stack has a key already, in its spec or in the lock.
func (p *proposer) usedKeys(s *stack) func(key string) bool {
	var l *lock.Stack
	if l = p.Lock.Stacks.Get(s.name); l == nil {
		l = &lock.Stack{}
	}
	return func(key string) bool {
		return l.VMs.Get(key) != nil || l.Had(key) || s.existing != nil && vmOf(s.existing, key) != nil
	}
}
