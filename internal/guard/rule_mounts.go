package guard

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A container is `creation-only`, too, if its spec has a mount point that it does not have: the provider would replace
// it for one more, so that the modules ignore them after the creation.

// mountsMissing says which mount points of the spec a container lacks, and prints the line that adds the first one,
// or what is in its way: Proxmox VE may make some of several, and leave the others for the next start.
func (s *subject) mountsMissing() {
	c := s.guest.Config
	if s.Kind != finding.Managed || s.match.VM == nil || c == nil || slices.ContainsFunc(c.Pending, isMount) {
		return
	}
	has := mountsOf(c.Raw)
	var lacks []string
	var first *schema.Node
	for _, m := range s.match.VM.Values.Get(guest.Mounts).List() {
		if at := m.Get(guest.Path).Str(); !slices.Contains(has, at) {
			lacks, first = append(lacks, at), cmp.Or(first, m)
		}
	}
	if first == nil {
		return
	}
	spec := strings.Join(lacks, ", ")
	s.Is(finding.CreationOnly, finding.Why("mounts-missing"))
	s.MadeWith = append(s.MadeWith, finding.Made{Property: guest.Mounts, Was: "none at " + spec, Spec: spec})
	s.Because("it has no mount point at %s, and the spec has one there", spec)
	at, obstacles := first.Get(guest.Path).Str(), feasible.MountPoint(s.Inventory, s.guest, first)
	switch below := slices.IndexFunc(has, func(path string) bool { return strings.HasPrefix(path, at+"/") }); {
	case below >= 0:
		s.Next(fmt.Sprintf("%s is mounted below %s: move it in Proxmox VE before, while the container is off", has[below], at))
	case len(obstacles) > 0:
		for _, o := range obstacles {
			s.Because("the one at %s cannot be added: %s", at, strings.Join(append([]string{o.Reason}, o.Evidence...), "; "))
			for _, r := range o.Remedies {
				addRemedy(s.Finding, r, s.at.Spec, s.line)
			}
		}
		s.Next("write another datastore or size for it into " + s.at.Spec)
	case c.Digest == "":
		s.Next("have the line printed that adds it, with the cluster at hand", "stackgen preflight "+shell.Path(s.at.Spec))
	default: // Proxmox VE refuses a second run: it would give the container another volume, and unmount that of the first
		s.Next(fmt.Sprintf("add the one at %s: a new and empty volume, also in a running container, which hides what it has there now", at),
			set(s.guest, fmt.Sprintf("--%s %s --digest %s", freeMount(c.Raw), mountEntry(first), shell.Word(c.Digest))))
	}
	s.Next("or remove it from `mounts` in " + s.at.Spec)
}

// isMount reports whether a pending change is one of a mount point: what the container runs with is not what its
// configuration says.
func isMount(p cluster.Pending) bool {
	bus, n := pve.SplitKey(p.Key)
	return bus == "mp" && n >= 0
}

// mountsOf are the paths of the mount points in a configuration, whatever is mounted there.
func mountsOf(raw map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if bus, n := pve.SplitKey(key); bus == "mp" && n >= 0 {
			out = append(out, path.Clean("/"+pve.Parse(raw[key]).Option("mp")))
		}
	}
	return out
}

// freeMount is the first key that a mount point may have.
func freeMount(raw map[string]string) string {
	n := 0
	for raw[fmt.Sprintf("mp%d", n)] != "" {
		n++
	}
	return fmt.Sprintf("mp%d", n)
}

// mountEntry is the entry of a mount point with a new volume, as a creation sends it.
func mountEntry(m *schema.Node) string {
	out := fmt.Sprintf("%s:%s,mp=%s", m.Get(guest.Datastore).Str(), m.Get(guest.Size).Str(), m.Get(guest.Path).Str())
	if m.Get(guest.Backup).Bool() {
		out += ",backup=1"
	}
	return out
}
