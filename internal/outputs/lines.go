package outputs

import (
	"fmt"
	"slices"
	"strings"
)

// ssh is a configuration of ssh. All values in it were checked: none has a space, a
// pattern, a token or a line end.
func (r *Registration) ssh() []byte {
	var b strings.Builder
	b.WriteString(r.comment())
	for _, v := range r.VMs {
		if v.IPv4 == "" {
			fmt.Fprintf(&b, "\n# %s has no address.\n", v.Name)
			continue
		}
		fmt.Fprintf(&b, "\nHost %s\n  HostName %s\n", strings.Join(v.hostNames(true), " "), v.IPv4)
		if v.User != "" {
			fmt.Fprintf(&b, "  User %s\n", v.User)
		}
	}
	return []byte(b.String())
}

// hosts are lines for /etc/hosts: the name with a domain comes first.
func (r *Registration) hosts() []byte {
	var b strings.Builder
	b.WriteString(r.comment())
	for _, v := range r.VMs {
		if v.IPv4 == "" {
			fmt.Fprintf(&b, "# %s has no address.\n", v.Name)
			continue
		}
		fmt.Fprintf(&b, "%s\t%s\n", v.IPv4, strings.Join(v.hostNames(false), " "))
	}
	return []byte(b.String())
}

// hostNames are the names of a VM: its own, before or after those of its records.
func (v *VM) hostNames(ownFirst bool) []string {
	others := slices.DeleteFunc(slices.Clone(v.names), func(name string) bool { return name == v.Name })
	if ownFirst {
		return append([]string{v.Name}, others...)
	}
	return append(others, v.Name)
}
