package guard

import (
	"fmt"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A container is `creation-only`, too, if its spec has a mount point that it does not have: the provider would replace
// it for one more, so that the modules ignore them after the creation.

// mountsMissing says which mount points of the spec a container lacks, and prints the line that adds them.
func (s *subject) mountsMissing() {
	c := s.guest.Config
	if s.Destroy || s.Stops() || s.match.VM == nil || c == nil {
		return
	}
	at, free := mountsOf(c.Raw), 0
	var options []string
	for _, m := range s.match.VM.Values.Get(guest.Mounts).List() {
		path := m.Get(guest.Path).Str()
		if at[path] {
			continue
		}
		for c.Raw[mountKey(free)] != "" {
			free++
		}
		options = append(options, "--"+mountKey(free)+" "+mountEntry(m))
		free++
		s.MadeWith = append(s.MadeWith, finding.Made{Property: guest.Mounts, Was: "none at " + path, Spec: path})
		s.Because("it has no mount point at %s, and the spec has one", path)
	}
	switch {
	case len(options) == 0:
		return
	case c.Digest == "":
		s.Next("have the line printed that adds it, with the cluster at hand", "stackgen preflight "+shell.Path(s.at.Spec))
	default: // Proxmox VE refuses a second run: it would give the container another volume, and unmount that of the first
		s.Next("add it: a new volume, also to a running container", set(s.guest, strings.Join(append(options, "--digest "+c.Digest), " ")))
	}
	if s.Kind == finding.Managed {
		s.Is(finding.CreationOnly, finding.Why("mounts-missing"))
	}
}

// mountsOf are the paths of the mount points in a configuration, whatever is mounted there.
func mountsOf(raw map[string]string) map[string]bool {
	out := map[string]bool{}
	for key, value := range raw {
		if bus, n := pve.SplitKey(key); bus == "mp" && n >= 0 {
			out["/"+strings.Trim(pve.Parse(value).Option("mp"), "/")] = true
		}
	}
	return out
}

func mountKey(n int) string { return fmt.Sprintf("mp%d", n) }

// mountEntry is the entry of a mount point with a new volume, as a creation sends it.
func mountEntry(m *schema.Node) string {
	out := fmt.Sprintf("%s:%s,mp=%s", m.Get(guest.Datastore).Str(), m.Get(guest.Size).Str(), m.Get(guest.Path).Str())
	if m.Get(guest.Backup).Bool() {
		out += ",backup=1"
	}
	return out
}
