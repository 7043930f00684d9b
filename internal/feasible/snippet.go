package feasible

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// files reports whether a storage has files, as its type says: one that is not enabled for
// snippets may have some nevertheless.
func files(s *cluster.Storage) bool {
	return slices.Contains([]string{"dir", "nfs", "cifs", "btrfs", "glusterfs", "cephfs"}, s.Type)
}

// snippets are the storages of the snippets that a VM needs on its node: those of
// cloud-init when it starts, since a change of them replaces it, and the hook script. Of a
// VM that exists, only a hook script that changes counts.
func (c *creation) snippets() []storageUse {
	var out []storageUse
	on := func(field, key, volume string) {
		if v := pve.ParseVolume(volume); v.Storage != "" {
			out = append(out, storageUse{field: field, id: v.Storage, node: c.on, snippet: key})
		}
	}
	if ci := c.get(guest.CloudInit); c.current == nil && c.starts() {
		for _, f := range schema.VMField(guest.CloudInit).Fields {
			if f.Format == schema.Snippet {
				on(guest.CloudInit, f.Key, ci.Get(f.Key).Str())
			}
		}
	}
	if script := c.get(guest.Hookscript).Str(); c.current == nil || c.current.Config.Raw["hookscript"] != script {
		on(guest.Hookscript, guest.Hookscript, script)
	}
	return out
}

// otherSnippet is the remedy to use the same snippet of another storage.
func (c *creation) otherSnippet(u storageUse, names []string) Remedy {
	volume := func(n *schema.Node) *schema.Node {
		return scalar(schema.ShapeString, pve.Volume{Storage: names[0], Name: pve.ParseVolume(n.Str()).Name}.String())
	}
	value := c.get(u.field)
	if u.field == u.snippet {
		value = volume(value)
	} else {
		value = set(value, u.snippet, volume(value.Get(u.snippet)))
	}
	what := "copy the snippet to another storage of node " + u.node + ", one of " + strings.Join(names, ", ") + ", and write into SPEC"
	return c.write(what, u.field, value)
}
