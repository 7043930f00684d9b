package lock

import (
	"fmt"
	"strings"

	"stackgen/schema"
)

// spellingNote shows the keys of new students whose names are no keys. VM names and DNS
// records are made from them.
func (d *stackDecider) spellingNote(added Ordered[VM]) {
	isNew := map[string]bool{}
	for _, e := range added {
		isNew[e.Key] = true
	}
	var changed []string
	for _, v := range d.stack.VMs {
		if v.Spelt && isNew[v.Key] {
			changed = append(changed, fmt.Sprintf("%q is %s", d.nameOf(schema.Member{Name: v.Member, Email: v.Email}), v.Key))
		}
	}
	if len(changed) > 0 {
		d.note("%s: keys made from names: %s", d.stack.Name, some(changed))
	}
}

// respeltNote says whose names have another spelling now. They have the same VMs.
func (d *stackDecider) respeltNote() {
	if len(d.respelt) > 0 {
		d.note("%s: corrected names, which keep their VMs: %s", d.stack.Name, some(d.respelt))
	}
}

// some lists five of many texts, and how many more the lock has.
func some(all []string) string {
	n := len(all)
	more := ""
	if n > 5 {
		more = fmt.Sprintf(", and %d more in %s", n-5, File)
	}
	return strings.Join(all[:min(n, 5)], ", ") + more
}
