package proxmox

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// readMappings reads the resource mappings of the kinds that a spec or a candidate has. A list has only those that the
// credentials see, so what they may do is asked for one that is missing: an entry for it alone may take that away.
func (r *reader) readMappings(ctx context.Context) {
	names := r.mappingNames()
	for _, kind := range []string{"dir", "pci", "usb"} {
		var list []mapping
		if len(names[kind]) == 0 || r.get(ctx, "/cluster/mapping/"+kind, &list) != nil {
			continue // then nothing is known of them
		}
		all := cluster.Mappings{Kind: kind}
		for _, m := range list {
			all.List = append(all.List, m.plain())
		}
		slices.SortFunc(all.List, func(a, b cluster.Mapping) int { return strings.Compare(a.Name, b.Name) })
		r.inv.Mappings = append(r.inv.Mappings, all)
		for _, name := range names[kind] {
			at := cluster.MappingPath(kind, name)
			if m, _ := r.inv.Mapping(kind, name); m == nil && r.rights.Has(at, cluster.MappingUse) {
				r.readPath(ctx, at)
			}
		}
	}
}

// mappingNames are the names of the resource mappings that specs and candidates have, by kind.
func (r *reader) mappingNames() map[string][]string {
	names := map[string][]string{}
	add := func(kind, name string) {
		if !slices.Contains(names[kind], name) {
			names[kind] = append(names[kind], name)
		}
	}
	for _, m := range r.wanted.Mappings {
		add(m.Kind, m.Name)
	}
	for _, g := range r.guests {
		if g.Config == nil {
			continue
		}
		for key, value := range g.Config.Raw {
			if kind, name := cluster.MappingOf(key, value); kind != "" {
				add(kind, name)
			}
		}
	}
	return names
}

// mapping is a resource mapping as Proxmox VE lists it.
type mapping struct {
	ID  string   `json:"id"`
	Map []string `json:"map"` // node=pve1,id=0951:1666
}

// plain is the mapping as an inventory has it.
func (m mapping) plain() cluster.Mapping {
	out := cluster.Mapping{Name: m.ID}
	for _, entry := range m.Map {
		out.Nodes = append(out.Nodes, pve.Parse(entry).Option("node"))
	}
	slices.Sort(out.Nodes)
	out.Nodes = slices.Compact(out.Nodes)
	return out
}

// readPath reads what the credentials may do on one path.
func (r *reader) readPath(ctx context.Context, at string) {
	var own rights
	if err := r.get(ctx, "/access/permissions?path="+url.QueryEscape(at), &own); err == nil {
		r.addRights(at, own)
	}
}
