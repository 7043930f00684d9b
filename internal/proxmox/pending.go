package proxmox

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/secret"
)

// A setting is one entry of the configuration of a VM: the value that it runs with, and
// what the next start applies. A deletion by force has another number.
type setting struct {
	Key     string           `json:"key"`
	Value   *json.RawMessage `json:"value"`
	Pending *json.RawMessage `json:"pending"`
	Delete  number           `json:"delete"`
}

// readSettings reads the configuration of a guest with its pending changes applied, as
// GET config has it, and the pending changes. Those of a VM are in one response.
func (r *reader) readSettings(ctx context.Context, g *cluster.Guest) (raw map[string]string, pending []cluster.Pending, err error) {
	raw = map[string]string{}
	var settings []setting
	if g.Kind != guest.VM { // the list of settings leaves out the lines for LXC itself
		var entries map[string]json.RawMessage
		if err := r.get(ctx, configPath(g), &entries); err != nil {
			return nil, nil, err
		}
		for key, value := range entries {
			raw[key] = plain(value)
		}
	}
	if err := r.get(ctx, g.Path("pending"), &settings); err != nil {
		return nil, nil, err
	}
	for _, s := range settings {
		value := s.Value
		if s.Pending != nil {
			value = s.Pending
		}
		if g.Kind == guest.VM && value != nil && s.Delete == 0 {
			raw[s.Key] = plain(*value)
		}
		if s.Pending != nil || s.Delete != 0 {
			pending = append(pending, s.change())
		}
	}
	slices.SortFunc(pending, func(a, b cluster.Pending) int { return compareKeys(a.Key, b.Key) })
	return raw, pending, nil
}

// change is the pending change of a setting. Values of secrets are masked and say nothing.
func (s *setting) change() cluster.Pending {
	p := cluster.Pending{Key: s.Key, Delete: s.Delete != 0}
	if s.Key == passwordKey {
		p.Key = "cloud-init password"
		return p
	}
	if s.Value != nil {
		p.Value = secret.Redact(strings.TrimSpace(plain(*s.Value)))
	}
	if s.Pending != nil && !p.Delete {
		p.New = secret.Redact(strings.TrimSpace(plain(*s.Pending)))
	}
	return p
}
