package feasible

import (
	"fmt"
	"maps"
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

// Snippets are the storages of the snippets that a spec names.
func Snippets(v *schema.VM) (storages []string) {
	script, files := specSnippets(v.Values)
	for _, s := range slices.Concat(script, files) {
		storages = append(storages, s.Storage)
	}
	return storages
}

// specSnippets are the snippets that a spec names: the script of the hooks, if it has one, and what is written to the cloud-init
// drive.
func specSnippets(values *schema.Node) (script, files []pve.Volume) {
	if v := pve.ParseVolume(values.Get(guest.Hookscript).Str()); v.Storage != "" {
		script = append(script, v)
	}
	for _, f := range schema.VMField(guest.CloudInit).Fields {
		if v := pve.ParseVolume(values.Get(guest.CloudInit).Get(f.Key).Str()); f.Format == schema.Snippet && v.Storage != "" {
			files = append(files, v)
		}
	}
	return script, files
}

// startSnippets are the snippets that the next start of a guest needs. Those of cloud-init stay as they are, since a change of
// them replaces the VM; a clone has those of its template if its spec names none. The provider removes the script of a template.
func (c *creation) startSnippets() []pve.Volume {
	raw := c.configuration()
	if c.current != nil && (c.vm.IsContainer() || c.ignores(guest.Hookscript)) {
		return pve.Snippets(raw)
	}
	raw = maps.Clone(raw)
	delete(raw, guest.Hookscript)
	script, files := specSnippets(c.vm.Values)
	if c.current != nil || len(files) == 0 {
		files = pve.Snippets(raw)
	}
	return append(script, files...)
}

// snippetFiles checks that the snippets exist which a start needs: without the script of its hooks, or what is written to its
// cloud-init drive, Proxmox VE does not start a guest.
func (c *creation) snippetFiles() {
	if c.current == nil && !c.starts() {
		return
	}
	for _, v := range c.startSnippets() {
		name, is := strings.CutPrefix(v.Name, "snippets/")
		if !is || !c.lacksFile(c.inv.Snippet, v.Storage, name) {
			continue
		}
		c.add(fmt.Sprintf("its snippet %s does not exist on node %s, so Proxmox VE refuses to start it", v, c.on), nil,
			Remedy{What: fmt.Sprintf("copy the snippet to storage %s of node %s; then run preflight again", v.Storage, c.on)})
	}
}
