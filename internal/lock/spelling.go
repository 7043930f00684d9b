package lock

import (
	"fmt"
	"strings"
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
			changed = append(changed, fmt.Sprintf("%q is %s", v.Member, v.Key))
		}
	}
	n := len(changed)
	if n == 0 {
		return
	}
	more := ""
	if n > 5 {
		more = fmt.Sprintf(", and %d more in %s", n-5, File)
	}
	d.note("%s: keys made from names: %s%s", d.stack.Name, strings.Join(changed[:min(n, 5)], ", "), more)
}
